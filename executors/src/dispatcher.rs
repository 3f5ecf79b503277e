//! One set of threads shared by subpools, each with a limit of its own; with priorities, and jobs bound to one thread.
//!
//! A [`Dispatcher`] has a fixed number of threads. Its jobs belong to *subpools*, of three kinds:
//!
//! - the **CPU subpool**, which always exists: at most as many of its jobs run at a time as
//!   [`cpu_limit`](Builder::cpu_limit) says, by default one for each core;
//! - **subpools with a limit** ([`subpool`](Builder::subpool)), for jobs that wait for something: files, sockets, a
//!   server that takes a limited number of calls;
//! - **bound subpools** ([`bound_subpool`](Builder::bound_subpool)), whose jobs all run on one thread, in order (with
//!   an exception during the close, described there): for what must not leave its thread.
//!
//! A full or paused subpool holds up no other: its jobs wait without waking or occupying a thread. A worker that has
//! run a job takes the next one that it may run itself, from whichever subpool.
//!
//! A [`Subpool`] is an [`Executor`](crate::Executor) like any pool of this crate. It gives its jobs a [`Priority`]
//! ([`with_priority`](Subpool::with_priority)): among all jobs that may run, the highest goes first; within a priority,
//! jobs of a subpool start in the order in which they were submitted, except those of the CPU subpool with
//! [`Priority::NORMAL`]. These keep that order only with [`strict_order`](Builder::strict_order): without it, even jobs
//! of one submitter may overtake each other.
//!
//! Lower priorities are not starved: after 61 jobs, or the number in [`Fairness::Counted`], a worker takes one from the
//! waiting subpools and priorities in turn. There are [bounds](#how-long-a-low-priority-waits) on how long a job waits.
//!
//! How this is done, and why no job is overlooked, is described in [a README][readme] of the sources.
//!
//! [readme]: https://github.com/Bathtor/rust-executors/blob/master/executors/src/dispatcher/README.md
//!
//! # How long a low priority waits
//!
//! After `A` jobs a worker takes one from the waiting subpools in turn, and after `A` jobs of one subpool it takes one
//! from that subpool's priorities in turn. In the bounds
//!
//! - `A` is the number in [`Fairness::Counted`], 61 by default,
//! - `L` is how many priorities of the subpool have jobs, 5 at most,
//! - `W` is how many threads run jobs of the subpool,
//! - `S` is how many subpools have jobs.
//!
//! For a job that is the first of its priority in its subpool:
//!
//! - At most `(A + 2) * (L + W)` other jobs of its subpool begin before it (567 with 4 threads, if all priorities have
//!   jobs). That holds for full subpools, too, and for any limit.
//! - While there is room in its subpool, no thread begins more than `(A + 1) * (S + 1)` jobs, of however many other
//!   subpools and whatever priority, until one of the subpool begins in its turn.
//!
//! In the CPU subpool the jobs of [`Priority::NORMAL`] have a turn as a whole; among themselves they have the order of
//! the work-stealing pool. A job that is run by the job that waits for it counts together with that one, as one.
//!
//! # Examples
//!
//! ```
//! use executors::{Pool, dispatcher::{Dispatcher, Priority}};
//!
//! let dispatcher = Dispatcher::builder().threads(4).subpool("disk", 2).bound_subpool("window").build()?;
//! let (cpu, disk, window) = (dispatcher.cpu(), dispatcher.subpool("disk")?, dispatcher.subpool("window")?);
//!
//! let urgent = cpu.with_priority(Priority::HIGH);
//! let sum = urgent.submit(|| (1..=10).sum::<u32>());
//! let line = disk.submit(|| "read from a file");
//! let id = |_| window.submit(|| std::thread::current().id()).wait().unwrap();
//! assert_eq!(id(1), id(2));
//! assert_eq!((sum.wait()?, line.wait()?), (55, "read from a file"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod misfit;
mod priority;
mod recipe;
mod subpool;

pub use error::{LimitError, PriorityError, UnknownSubpoolError};
pub use priority::Priority;
pub use subpool::{Subpool, SubpoolStatus};

use crate::{
    backing::{impl_futures_executor, impl_pool},
    builder::Builder,
    crew::{self, Charter},
    options::{Fairness, Idle},
    parker::TwoParkers,
    source::dispatch::{self, DispatchSource},
    time_slice::TimeSlice,
};
use recipe::Extra;
use std::fmt;

const CHARTER: Charter = Charter {
    label: "dispatcher",
    thread_name: |worker| format!("dispatcher-worker-{worker}"),
    idle: Idle::PARK,
    fairness: Fairness::COUNTED,
    time_slice: TimeSlice::Usual,
};

/// The name of the subpool for jobs that compute, which every dispatcher has.
pub const CPU: &str = "cpu";

/// How many subpools with limits a dispatcher can have, the CPU subpool included. Bound subpools do not count.
pub const MAX_SUBPOOLS: usize = dispatch::SLOTS;

type CrewHandle = crew::Handle<DispatchSource, TwoParkers>;

/// A handle to a dispatcher. See the [module](self).
///
/// Handles are cheap to clone, and so are those to subpools; all are handles to the same threads. When the last one is
/// dropped, the dispatcher closes, runs what it has accepted, and its threads end; the drop does not wait for that.
///
/// It is a [`Pool`](crate::Pool), too: jobs that are given to it go to its CPU subpool, or to the subpool that
/// [`main_subpool`](Builder::main_subpool) names.
#[derive(Clone)]
#[must_use = "a dispatcher that is dropped at once runs nothing more"]
pub struct Dispatcher {
    handle: CrewHandle,
}

impl Dispatcher {
    /// A dispatcher of `threads` threads with a CPU subpool only.
    ///
    /// At most as many jobs run at a time as there are cores that the process may use, even if `threads` is more: that
    /// is the CPU subpool's limit. For jobs that block, raise it with `builder().threads(n).cpu_limit(n)`
    /// ([`cpu_limit`](Builder::cpu_limit)), or [`set_limit`](Subpool::set_limit).
    ///
    /// # Panics
    ///
    /// If `threads` is 0 or more than 1 048 575, or the operating system refuses a thread; [`builder`](Self::builder)
    /// returns an error instead.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::Dispatcher};
    ///
    /// let dispatcher = Dispatcher::new(2);
    /// assert_eq!(dispatcher.submit(|| 6 * 7).wait()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(threads: usize) -> Dispatcher {
        Self::builder().threads(threads).build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Chooses threads, subpools, name, hooks and policies.
    ///
    /// `threads` is the number of all threads, those reserved for bound subpools included. Without it there is one
    /// thread for each core that the caller may use, or as many as `EXECUTORS_NUM_THREADS` says, plus the reserved
    /// ones. Subpools whose jobs block take threads from the others: with as many threads as the limits add up to, no
    /// job waits for a thread.
    ///
    /// The only `fairness` that a dispatcher can honour is [`Fairness::Counted`]: after that number of jobs a worker
    /// takes its next one from the waiting subpools and priorities in turn, see the [module](self).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, dispatcher::Dispatcher};
    ///
    /// let dispatcher = Dispatcher::builder()
    ///     .threads(12)
    ///     .cpu_limit(4)
    ///     .subpool("disk", 6)
    ///     .bound_subpool("window")
    ///     .name("app")
    ///     .build()?;
    /// dispatcher.subpool("disk")?.execute(|| println!("one of six"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<Dispatcher> {
        Builder::new(Extra::default())
    }

    /// The subpool for jobs that compute.
    ///
    /// Its jobs of [`Priority::NORMAL`] are queued as in the [work-stealing pool](crate::crossbeam_workstealing_pool),
    /// which costs least: what a worker's jobs submit goes to that worker's own queue, so there is no order among
    /// workers. Where order matters, name a subpool, which has one queue for each priority, first in, first out; or ask
    /// for [`strict_order`](Builder::strict_order), which gives this subpool such a queue, too.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::Dispatcher};
    ///
    /// let cpu = Dispatcher::builder().threads(4).cpu_limit(2).build()?.cpu();
    /// assert_eq!((cpu.name(), cpu.status().limit), ("cpu", 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cpu(&self) -> Subpool {
        self.handle_to(dispatch::CPU)
    }

    /// The subpool called `name`.
    ///
    /// # Errors
    ///
    /// [`UnknownSubpoolError`] if there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::Dispatcher};
    ///
    /// let dispatcher = Dispatcher::builder().threads(2).subpool("disk", 1).build()?;
    /// assert_eq!(dispatcher.subpool("disk")?.submit(|| "read").wait()?, "read");
    /// let error = dispatcher.subpool("dsik").unwrap_err();
    /// assert!(error.to_string().contains(r#"no subpool "dsik": it was built with ["cpu", "disk"]"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subpool(&self, name: &str) -> Result<Subpool, UnknownSubpoolError> {
        let names = self.handle.source().names();
        match names.iter().position(|known| known == name) {
            Some(subpool) => Ok(self.handle_to(subpool)),
            None => Err(UnknownSubpoolError::new(name, names)),
        }
    }

    /// The names of all subpools.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Dispatcher;
    ///
    /// let dispatcher = Dispatcher::builder().threads(2).subpool("disk", 1).bound_subpool("window").build()?;
    /// assert_eq!(dispatcher.subpools().collect::<Vec<_>>(), ["cpu", "disk", "window"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subpools(&self) -> impl Iterator<Item = &str> {
        self.handle.source().names().iter().map(String::as_str)
    }

    fn handle_to(&self, subpool: usize) -> Subpool {
        let address = self.handle.source().address(subpool, Priority::NORMAL.level());
        Subpool::new(self.handle.with_address(address))
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher")
            .field("subpools", &self.handle.source().names())
            .field("source", self.handle.source())
            .field("crew", &self.handle)
            .finish()
    }
}

/// A dispatcher with a CPU subpool only, and one thread for each core that the caller may use, or as many as
/// `EXECUTORS_NUM_THREADS` says.
///
/// # Panics
///
/// If the operating system refuses a thread, or the variable is not a number from 1 to 1 048 575.
#[cfg(feature = "defaults")]
impl Default for Dispatcher {
    fn default() -> Self {
        Self::builder().build().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(Dispatcher);
impl_futures_executor!(Dispatcher);
