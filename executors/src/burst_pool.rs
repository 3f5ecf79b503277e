//! A thread pool for long quiet, and then many jobs at once that must start now.
//!
//! Each worker has a mailbox of its own. Who submits deals jobs round robin to idle workers, and wakes each of them
//! itself: no queue that all fall upon, no worker that wakes the next. An idle worker is claimed for one job, so of as
//! many jobs as there are idle workers none waits for another. What becomes of a job when all are busy is the pool's
//! [`WhenBusy`]. How it is done, and why nothing is lost, is in `burst_pool/README.md` of the sources.
//!
//! There are two kinds:
//!
//! - [`BurstPool<T>`](BurstPool) takes values. Each worker has a handler of its own, given to
//!   [`spawn`](BurstPool::spawn).
//! - [`ThreadPool`] takes closures, and is an [`Executor`](crate::Executor) like the others.
//!
//! A worker that has nothing to do takes what lies in the mailboxes of others ([`stealing`](crate::Builder::stealing)),
//! so that jobs of uneven length do not wait behind a busy worker while another is idle. Without that, what was dealt
//! to a worker is run by this one and in order.
//!
//! On Linux its workers ask for short [time slices](crate::Builder::time_slice), so that a worker that is called begins
//! at once although another thread, such as the one that called it, is at work on that core.
//!
//! # Examples
//!
//! ```
//! use executors::burst_pool::BurstPool;
//! use std::sync::mpsc::channel;
//!
//! let mut pool = BurstPool::new();
//! let (tell, told) = channel();
//! for worker in 0..4 {
//!     let tell = tell.clone();
//!     pool.spawn(move |value: u32| tell.send((worker, value)).unwrap());
//! }
//! for value in 0..4 {
//!     pool.send(value).unwrap();
//! }
//! let mut values: Vec<u32> = told.iter().take(4).map(|(_worker, value)| value).collect();
//! values.sort_unstable();
//! assert_eq!(values, [0, 1, 2, 3]);
//! pool.shutdown().unwrap();
//! ```

mod error;
mod handle;
mod pool;
mod team;
mod when_busy;

pub use error::BurstError;
pub use pool::BurstPool;
pub use when_busy::WhenBusy;

use crate::{
    builder::{Build, Builder, sealed::Recipe},
    crew::Charter,
    error::BuildError,
    mailbox::Mailboxes,
    options::{Fairness, Idle, Options},
    parker,
    pool::{impl_futures_executor, impl_pool},
    source::mail::{MailSource, Theft},
    time_slice,
};
use handle::{Crew, Handle};
use std::{sync::Arc, time::Duration};

const CHARTER: Charter = Charter {
    label: "burst_pool",
    thread_name: |worker| format!("burst-pool-worker-{worker}"),
    // After a burst comes quiet: to look for more would only take a core from the workers that are still to come.
    idle: Idle::Park { spin: Duration::ZERO },
    // As in the channel pool.
    fairness: Fairness::Counted(1024),
    // A job is to start now, whoever is at work.
    time_slice: Some(time_slice::SHORTEST),
};

/// What only burst pools let their users choose.
#[derive(Debug, Clone, Copy)]
pub struct Extra {
    when_busy: WhenBusy,
    steals: bool,
}

impl Extra {
    const DEFAULT: Extra = Extra { when_busy: WhenBusy::Queue, steals: true };

    /// Where a dealer that finds nobody idle puts its job all the same, it is better not to look at a thief. Where it
    /// would be told that all are busy, that has to be true.
    fn theft(self) -> Theft {
        match (self.steals, self.when_busy) {
            (false, _) => Theft::Never,
            (true, WhenBusy::Queue) => Theft::OnOwnAccount,
            (true, WhenBusy::GiveBack | WhenBusy::Block { .. }) => Theft::OnOthersAccount,
        }
    }
}

/// What only burst pools have.
impl<P: Build + Recipe<Extra = Extra>> Builder<P> {
    /// What becomes of a job when no worker is idle. The default is [`WhenBusy::Queue`].
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Pool, burst_pool::{ThreadPool, WhenBusy}};
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering::Relaxed}};
    ///
    /// // Who submits waits for an idle worker, however long that takes.
    /// let when_busy = WhenBusy::Block { timeout: None };
    /// let pool = ThreadPool::builder().threads(2).when_busy(when_busy).build()?;
    /// let done = Arc::new(AtomicUsize::new(0));
    /// for _ in 0..10 {
    ///     let done = done.clone();
    ///     pool.execute(move || _ = done.fetch_add(1, Relaxed));
    /// }
    /// pool.shutdown()?;
    /// assert_eq!(done.load(Relaxed), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn when_busy(mut self, when_busy: WhenBusy) -> Self {
        self.extra.when_busy = when_busy;
        self
    }

    /// Whether a worker that has nothing to do takes what was dealt to others and has not begun; by default it does.
    ///
    /// Without it a job may wait behind one that takes long, or for ever behind one that waits for it, though another
    /// worker is idle: for jobs that are of one length, never wait for each other, and must run where they were dealt
    /// to.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::BurstPool;
    /// use std::sync::mpsc::channel;
    ///
    /// let mut pool = BurstPool::builder().stealing(false).build()?;
    /// let (tell, told) = channel();
    /// for worker in 0..2 {
    ///     let tell = tell.clone();
    ///     pool.spawn(move |value| tell.send((worker, value)).unwrap());
    /// }
    /// pool.send_all(["one", "two"])?;
    /// pool.join()?;
    /// let mut handled: Vec<_> = told.try_iter().collect();
    /// handled.sort_unstable();
    /// assert_eq!(handled, [(0, "one"), (1, "two")], "each by the worker that it was dealt to");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stealing(mut self, steals: bool) -> Self {
        self.extra.steals = steals;
        self
    }
}

/// A handle to a burst pool that runs closures. See the [module](self).
///
/// Handles are cheap to clone. When the last one is dropped, the pool closes, runs what it has accepted, and its
/// threads end; nobody waits for that.
///
/// # Examples
///
/// ```
/// use executors::{Executor, Pool, burst_pool::ThreadPool};
///
/// let pool = ThreadPool::new(10);
/// let handles: Vec<_> = (0..10).map(|n| pool.submit(move || n * n)).collect();
/// let squares: u32 = handles.into_iter().map(|handle| handle.wait().unwrap()).sum();
/// assert_eq!(squares, 285);
/// pool.shutdown().unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "a pool that is dropped at once runs nothing more"]
pub struct ThreadPool {
    handle: Handle<false>,
}

impl ThreadPool {
    /// Starts a pool of `threads` workers.
    ///
    /// With the feature `thread-pinning` there is one worker on each core, as far as they go round; further ones float.
    ///
    /// # Panics
    ///
    /// If `threads` is 0, or the operating system refuses a thread; [`builder`](Self::builder) returns an error
    /// instead.
    pub fn new(threads: usize) -> ThreadPool {
        Self::builder().threads(threads).build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Chooses threads, name, hooks and policies.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, burst_pool::{BurstError, ThreadPool, WhenBusy}};
    ///
    /// let pool = ThreadPool::builder().threads(1).when_busy(WhenBusy::GiveBack).build()?;
    /// let (tell, told) = std::sync::mpsc::channel::<()>();
    /// pool.offer(move || assert!(told.recv().is_err())).expect("the worker is idle");
    /// assert!(matches!(pool.offer(|| ()), Err(BurstError::Busy(_job))));
    /// drop(tell);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<ThreadPool> {
        Builder::new(Extra::DEFAULT)
    }

    /// Gives a job to the pool, and tells why if it is not accepted.
    ///
    /// Blocks only with [`WhenBusy::Block`].
    ///
    /// # Errors
    ///
    /// [`BurstError`] with the job inside.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, burst_pool::{BurstError, ThreadPool}};
    ///
    /// let pool = ThreadPool::new(1);
    /// assert!(pool.offer(|| println!("in time")).is_ok());
    /// pool.shutdown_async();
    /// assert!(matches!(pool.offer(|| println!("too late")), Err(BurstError::Closed(_job))));
    /// ```
    #[inline]
    pub fn offer<F: FnOnce() + Send + 'static>(&self, job: F) -> Result<(), BurstError<F>> {
        self.handle.offer(job, |job| job)
    }
}

impl Build for ThreadPool {}

impl Recipe for ThreadPool {
    type Extra = Extra;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, extra: Extra) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        let threads = options.thread_count()?;
        let boxes = Arc::new(Mailboxes::new(threads));
        let source = MailSource::new(Arc::clone(&boxes), extra.theft());
        let crew = Crew::start(threads, source, parker::dynamic(), CHARTER, options)?;
        Ok(ThreadPool { handle: Handle::new(crew, boxes, extra.when_busy) })
    }
}

/// A pool with one worker for each core that the process may use, or as many as `EXECUTORS_NUM_THREADS` says.
///
/// # Panics
///
/// If the operating system refuses a thread, or the variable is not a number of at least 1.
#[cfg(feature = "defaults")]
impl Default for ThreadPool {
    fn default() -> Self {
        Self::builder().build().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPool);
impl_futures_executor!(ThreadPool);
