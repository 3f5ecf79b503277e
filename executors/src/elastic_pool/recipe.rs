//! The options of an elastic pool, and how it is built.

use super::{CHARTER, Growth, KEEP_ALIVE, Saturation, ThreadPool, handle::Handle};
use crate::{
    builder::{Build, Builder, sealed::Recipe},
    crew::Terms,
    error::{BuildError, BuildErrorKind},
    options::{MAX_THREADS, Options, check_threads},
};
use std::time::Duration;

/// The options that only an elastic pool has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra {
    core: Option<usize>,
    max: Option<usize>,
    keep_alive: Option<Duration>,
    growth: Growth,
    saturation: Saturation,
}

impl Extra {
    fn terms(&self, options: &Options) -> Result<Terms, BuildError> {
        if let Some(threads) = options.threads {
            check_threads("threads", threads)?;
        }
        let (core, max) = match (self.core, self.max, options.threads) {
            (Some(core), Some(max), _) => (core, max),
            (Some(core), None, Some(threads)) => (core, threads),
            (None, Some(max), Some(threads)) => (threads, max),
            (None, None, Some(threads)) => (threads, threads),
            (Some(core), None, None) => (core, core.saturating_mul(2).clamp(1, MAX_THREADS)),
            (None, Some(max), None) => (options.thread_count()?.min(max), max),
            (None, None, None) => {
                let core = options.thread_count()?;
                (core, core.saturating_mul(2).min(MAX_THREADS))
            }
        };
        check_threads("max", max)?;
        check_threads("core", core.max(1))?;
        if core > max {
            return Err(BuildErrorKind::CoreAboveMax { core, max }.into());
        }
        let keep_alive = self.keep_alive.unwrap_or(KEEP_ALIVE);
        if keep_alive.is_zero() {
            return Err(BuildErrorKind::NoKeepAlive.into());
        }
        Ok(Terms { core, max, only_replaces: self.growth == Growth::WhenBlocked, keep_alive })
    }
}

/// Options that only an elastic pool has.
impl Builder<ThreadPool> {
    /// How many workers stay, once jobs have brought them. The default is `threads`, or the default number of threads
    /// of other pools (but no more than [`max`](Self::max)).
    ///
    /// If both this and [`max`](Self::max) are called, the number in `threads` makes no difference (but must be one
    /// that a pool can have).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::elastic_pool::ThreadPool;
    ///
    /// let pool = ThreadPool::builder().core(2).max(4).build()?;
    /// pool.start_core_threads();
    /// assert_eq!(pool.worker_count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn core(mut self, workers: usize) -> Self {
        self.extra.core = Some(workers);
        self
    }

    /// How many workers there are at most. The default is `threads`, or twice the core (1 if that is 0). If it is 0, or
    /// less than the core, [`build`](Self::build) returns an error.
    ///
    /// A worker that leaves no longer counts when its stop hook is called, so another may start before that hook ends:
    /// more threads than this may be between the start of their start hook and the end of their stop hook.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::elastic_pool::ThreadPool;
    ///
    /// assert!(ThreadPool::builder().max(1000).build().is_ok(), "no thread is there yet");
    /// assert!(ThreadPool::builder().core(2).max(1).build().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max(mut self, workers: usize) -> Self {
        self.extra.max = Some(workers);
        self
    }

    /// How long a worker beyond the core stays idle before it leaves. The default is [`KEEP_ALIVE`]. With zero,
    /// [`build`](Self::build) returns an error.
    ///
    /// A worker that fell asleep while there were no more than the core sleeps on if others are hired meanwhile, until
    /// it is woken. So while jobs keep those others at work, the pool may have up to `core` more threads, all asleep,
    /// than it needs. When the others have been idle for so long, they leave, and only the core is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, elastic_pool::ThreadPool};
    /// use std::{thread, time::Duration};
    ///
    /// let pool = ThreadPool::builder().core(0).max(1).keep_alive(Duration::from_millis(1)).build()?;
    /// pool.submit(|| ()).wait()?;
    /// while pool.worker_count() > 0 {
    ///     thread::yield_now();
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_alive(mut self, keep_alive: Duration) -> Self {
        self.extra.keep_alive = Some(keep_alive);
        self
    }

    /// When the pool grows beyond its core. The default is [`Growth::WhenBusy`].
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, elastic_pool::{Growth, ThreadPool, blocking}};
    /// use std::sync::mpsc;
    ///
    /// let pool = ThreadPool::builder().core(1).max(2).growth(Growth::WhenBlocked).build()?;
    /// let (tell, told) = mpsc::channel();
    /// let waits = pool.submit(move || blocking(|| told.recv()));
    /// pool.submit(move || tell.send(7)).wait()?.expect("the other listens");
    /// assert_eq!(waits.wait()?, Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn growth(mut self, growth: Growth) -> Self {
        self.extra.growth = growth;
        self
    }

    /// What happens to a job when the maximum is reached and all workers are busy. The default is
    /// [`Saturation::Queue`]. With [`Saturation::DiscardOldest`] and a queue of 0, [`build`](Self::build) returns an
    /// error.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, elastic_pool::{Saturation, ThreadPool}};
    /// use std::{sync::mpsc, thread};
    ///
    /// let saturation = Saturation::RunOnCaller { queue: 0 };
    /// let pool = ThreadPool::builder().threads(1).when_saturated(saturation).build()?;
    /// let (tell, told) = mpsc::channel::<()>();
    /// pool.execute(move || assert!(told.recv().is_err()));
    /// // The only worker is busy, and no job may wait.
    /// let here = thread::current().id();
    /// pool.execute(move || assert_eq!(thread::current().id(), here));
    /// drop(tell);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn when_saturated(mut self, saturation: Saturation) -> Self {
        self.extra.saturation = saturation;
        self
    }
}

impl Build for ThreadPool {}

impl Recipe for ThreadPool {
    type Extra = Extra;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(mut options: Options, extra: Extra) -> Result<Self, BuildError> {
        options.refuse_preheat(CHARTER.label, "call `start_core_threads` on the pool")?;
        let terms = extra.terms(&options)?;
        if extra.saturation == (Saturation::DiscardOldest { queue: 0 }) {
            return Err(BuildErrorKind::NothingToDiscard.into());
        }
        options.prepare_for_any_number_of_threads(CHARTER.label, CHARTER.thread_name)?;
        Ok(ThreadPool { handle: Handle::new(terms, extra.saturation, options) })
    }
}
