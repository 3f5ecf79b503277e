//! Executors in processes of their own, so that one which hangs or crashes ends nothing but itself.
//!
//! A [`Host`] calls this program anew, with the command line that orders what is under way: the *guest* plans the same
//! runs, and of these serves one executor of one run. It reads turns, a line of JSON each, and answers with what it
//! measured. It stays for its share of the run (`--processes`), as a process that has just begun has yet to get its
//! memory from the system, and that would be measured with the executor. A guest that does not answer in time is
//! killed.

mod guest;
mod host;
mod service;

pub use self::{
    guest::{Failures, Guest},
    host::{Host, VARIABLE},
    service::{Service, serve},
};
