//! Executors in processes of their own, so that one that hangs or crashes ends only itself.
//!
//! A [`Host`] starts this program again, with the command line that orders what is under way: this *guest* plans the
//! same runs, and serves one executor of one of them. It reads turns, a line of JSON each, and answers with what it
//! measured. It stays for its share of the run (`--processes`), because a process that has just begun has yet to get
//! its memory from the system, and that would be measured with the executor. A guest that does not answer in time is
//! killed.

mod guest;
mod host;
mod service;

pub use self::{
    guest::{Failures, Guest},
    host::{Host, VARIABLE},
    service::{Service, serve},
};
