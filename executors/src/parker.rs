//! Putting workers to sleep, and waking the right number of them.
//!
//! A pool asks its [`Parker`] for this. Use one of [`small`], [`large`] and [`dynamic`], or implement the trait. All
//! three share one protocol, whose rules and proof are in `parker/README.md` of the sources; they differ in the number
//! of threads they serve.
//!
//! A parker serves one pool: do not hand clones of one parker to several.
//!
//! # Examples
//!
//! ```
//! use executors::{crossbeam_workstealing_pool::ThreadPool, parker, Executor};
//!
//! let pool = ThreadPool::new(4, parker::small());
//! pool.execute(|| println!("woken for this"));
//! pool.shutdown().unwrap();
//! ```

mod idle;
#[cfg(feature = "_crew")]
mod slumber;
mod word;

#[cfg(feature = "_crew")]
pub(crate) use slumber::sleep;

use idle::IdleSet;
use std::{fmt, sync::Arc, time::Duration};

/// A parker for up to 32 threads.
#[must_use]
pub fn small() -> StaticParker<SmallThreadData> {
    StaticParker::new(BoundedThreadData::new())
}

/// A parker for up to 64 threads.
#[must_use]
pub fn large() -> StaticParker<LargeThreadData> {
    StaticParker::new(BoundedThreadData::new())
}

/// A parker for any number of threads.
#[must_use]
pub fn dynamic() -> StaticParker<DynamicThreadData> {
    StaticParker::new(BoundedThreadData::new())
}

/// How an attempt to park ended.
#[derive(Clone, Debug, Copy, PartialEq, Eq)]
pub enum ParkResult {
    /// The thread did not park and is still prepared: try again.
    Retry,
    /// The thread did not park and is no longer prepared: look for work before the next attempt.
    Abort,
    /// The thread parked, was woken, and is no longer prepared.
    Woken,
}

/// Where a job that needs a worker came from. Treat what you do not know as [`Outside`](Origin::Outside).
#[derive(Clone, Debug, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// From a thread that is not a worker of the pool.
    Outside,
    /// From a worker of the pool, which will come to it itself if nobody else does.
    Inside,
    /// From a worker of the pool that has no other job waiting: most often the next of a chain. Unless the worker
    /// blocks, it will come to it next.
    Alone,
}

/// Lets the workers of a pool sleep until there is work.
///
/// The required methods are the mechanism: who sleeps, and waking them. The others are *events* that the pool reports,
/// and naps; with them a parker can wake fewer threads than there are jobs. Their provided bodies are right, if not
/// thrifty: every job wakes somebody. A parker that wraps another forwards all of them: they count on each other.
///
/// A method that panics while a job is given to the pool is a panic of who gives it, though the job is in. In any other
/// case it takes the worker that called it out of the pool: an `error!` says so, its stop hook is called, and
/// [`init`](Self::init) once more, so that it does not pass for a sleeper. Jobs that wait at the worker are left to the
/// others, if there are any; one that it has just taken, and not begun, is dropped.
pub trait Parker: Sync + Send + Clone {
    /// The largest number of threads that this parker serves; `None` if there is no limit.
    fn max_threads(&self) -> Option<usize>;

    /// Makes the calling thread number `thread_id`, awake whatever it was before.
    ///
    /// # Panics
    ///
    /// May panic if `thread_id` is not below [`max_threads`](Self::max_threads).
    fn init(&self, thread_id: usize);

    /// Announces that thread `thread_id`, the caller, is about to sleep.
    ///
    /// After this the caller must look for work once more, and then either [`abort_park`](Self::abort_park) or
    /// [`park`](Self::park): whoever brings work later sees the announcement.
    fn prepare_park(&self, thread_id: usize);

    /// Takes the announcement back.
    fn abort_park(&self, thread_id: usize);

    /// Sleeps until woken. May return early; the result tells what state the caller is in.
    fn park(&self, thread_id: usize) -> ParkResult;

    /// Wakes one thread that has announced its sleep, if there is one.
    fn unpark_one(&self);

    /// Wakes thread `thread_id`, if it has announced its sleep. For jobs that one thread has to run; the pool issues a
    /// sequentially consistent fence before. Returns whether this call woke it. The provided body wakes all, and does
    /// not know.
    fn unpark(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        self.unpark_all();
        false
    }

    /// Wakes all threads that have announced their sleep. The pool issues a sequentially consistent fence before.
    fn unpark_all(&self);

    /// [`prepare_park`](Self::prepare_park) for a worker that was woken, or has napped, for nothing. If this returns
    /// `true`, the caller will [`nap`](Self::nap) or [`abort_park`](Self::abort_park) instead of parking, and until
    /// then the parker need not wake anybody for jobs of [`Origin::Alone`]. Both end the nap before they return,
    /// and so does [`init`](Self::init). A napper can be woken like any sleeper.
    fn prepare_nap(&self, thread_id: usize) -> bool {
        self.prepare_park(thread_id);
        false
    }

    /// Sleeps until woken, at most about `duration`. The caller is no longer prepared afterwards, and looks for work.
    ///
    /// Called only if [`prepare_nap`](Self::prepare_nap) returned `true`. (Elastic pools, whose parker is always one of
    /// this module, also call it in place of [`park`](Self::park), for workers that leave when the time is up.)
    fn nap(&self, thread_id: usize, duration: Duration) {
        let _ = duration;
        self.abort_park(thread_id);
    }

    /// Event: a job was made visible to all workers, and a sequentially consistent fence has followed.
    ///
    /// Must make sure that some worker looks for it.
    fn job_arrived(&self, origin: Origin) {
        let _ = origin;
        self.unpark_one();
    }

    /// Event: worker `thread_id` has run out of jobs and looks for some, or was woken and does.
    ///
    /// Returns whether it should go on looking for a while before it sleeps.
    fn start_looking(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        true
    }

    /// Event: worker `thread_id` has stopped looking, because it found a job or because it has announced its sleep.
    ///
    /// Returns whether nobody looks any more, so that the caller has to see to it that nothing visible is overlooked.
    fn stop_looking(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        true
    }

    /// How many times threads were woken so far; zero if the parker does not count.
    fn wake_ups(&self) -> u64 {
        0
    }
}

/// What a [`StaticParker`] or [`DynParker`] keeps about its threads; the methods are those of [`Parker`].
///
/// Its implementations are those of this module.
pub trait ThreadData: fmt::Debug {
    /// See [`Parker::max_threads`].
    fn max_threads(&self) -> Option<usize>;

    /// See [`Parker::init`].
    fn init(&self, thread_id: usize);

    /// See [`Parker::prepare_park`].
    fn prepare_park(&self, thread_id: usize);

    /// See [`Parker::abort_park`].
    fn abort_park(&self, thread_id: usize);

    /// See [`Parker::park`].
    fn park(&self, thread_id: usize) -> ParkResult;

    /// Whether no thread has announced its sleep.
    fn all_awake(&self) -> bool;

    /// See [`Parker::unpark_one`].
    fn unpark_one(&self);

    /// See [`Parker::unpark`].
    fn unpark(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        self.unpark_all();
        false
    }

    /// See [`Parker::unpark_all`].
    fn unpark_all(&self);

    /// See [`Parker::prepare_nap`].
    fn prepare_nap(&self, thread_id: usize) -> bool {
        self.prepare_park(thread_id);
        false
    }

    /// See [`Parker::nap`].
    fn nap(&self, thread_id: usize, duration: Duration) {
        let _ = duration;
        self.abort_park(thread_id);
    }

    /// See [`Parker::job_arrived`].
    fn job_arrived(&self, origin: Origin) {
        let _ = origin;
        self.unpark_one();
    }

    /// See [`Parker::start_looking`].
    fn start_looking(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        true
    }

    /// See [`Parker::stop_looking`].
    fn stop_looking(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        true
    }

    /// See [`Parker::wake_ups`].
    fn wake_ups(&self) -> u64 {
        0
    }

    /// What does all of the above, if it is of this module: every job asks it whether somebody sleeps.
    #[doc(hidden)]
    fn idle_set(&self) -> Option<&Arc<IdleSet>> {
        None
    }
}

/// Parker state for up to `MAX` threads; `usize::MAX` means any number.
///
/// Named by its aliases [`SmallThreadData`], [`LargeThreadData`] and [`DynamicThreadData`].
#[derive(Debug)]
pub struct BoundedThreadData<const MAX: usize>(Arc<IdleSet>);

/// Parker state for up to 32 threads.
pub type SmallThreadData = BoundedThreadData<32>;

/// Parker state for up to 64 threads.
pub type LargeThreadData = BoundedThreadData<64>;

/// Parker state for any number of threads.
pub type DynamicThreadData = BoundedThreadData<{ usize::MAX }>;

impl<const MAX: usize> BoundedThreadData<MAX> {
    /// The largest number of threads that this parker serves.
    pub const MAX_THREADS: usize = MAX;

    fn new() -> Self {
        BoundedThreadData(Arc::new(IdleSet::new()))
    }
}

impl<const MAX: usize> ThreadData for BoundedThreadData<MAX> {
    fn max_threads(&self) -> Option<usize> {
        (MAX < usize::MAX).then_some(MAX)
    }

    fn init(&self, thread_id: usize) {
        assert!(thread_id < MAX, "this parker serves threads below {MAX}, not thread {thread_id}");
        self.0.init(thread_id);
    }

    fn prepare_park(&self, thread_id: usize) {
        self.0.prepare_park(thread_id);
    }

    fn abort_park(&self, thread_id: usize) {
        self.0.abort_park(thread_id);
    }

    fn park(&self, thread_id: usize) -> ParkResult {
        self.0.park(thread_id)
    }

    fn all_awake(&self) -> bool {
        self.0.all_awake()
    }

    fn unpark_one(&self) {
        self.0.unpark_one();
    }

    fn unpark(&self, thread_id: usize) -> bool {
        self.0.unpark(thread_id)
    }

    fn unpark_all(&self) {
        self.0.unpark_all();
    }

    fn prepare_nap(&self, thread_id: usize) -> bool {
        self.0.prepare_nap(thread_id)
    }

    fn nap(&self, thread_id: usize, duration: Duration) {
        self.0.nap(thread_id, duration);
    }

    #[inline(always)]
    fn job_arrived(&self, origin: Origin) {
        self.0.job_arrived(origin);
    }

    fn start_looking(&self, _thread_id: usize) -> bool {
        self.0.start_looking()
    }

    fn stop_looking(&self, _thread_id: usize) -> bool {
        self.0.stop_looking()
    }

    fn wake_ups(&self) -> u64 {
        self.0.wake_ups()
    }

    fn idle_set(&self) -> Option<&Arc<IdleSet>> {
        Some(&self.0)
    }
}

/// Implements [`Parker`] by the [`ThreadData`] behind `self.data`, but for [`Parker::job_arrived`].
macro_rules! parker_by_data {
    () => {
        fn max_threads(&self) -> Option<usize> {
            self.data.max_threads()
        }

        fn init(&self, thread_id: usize) {
            self.data.init(thread_id);
        }

        fn prepare_park(&self, thread_id: usize) {
            self.data.prepare_park(thread_id);
        }

        fn abort_park(&self, thread_id: usize) {
            self.data.abort_park(thread_id);
        }

        fn park(&self, thread_id: usize) -> ParkResult {
            self.data.park(thread_id)
        }

        fn unpark_one(&self) {
            self.data.unpark_one();
        }

        fn unpark(&self, thread_id: usize) -> bool {
            self.data.unpark(thread_id)
        }

        fn unpark_all(&self) {
            self.data.unpark_all();
        }

        fn prepare_nap(&self, thread_id: usize) -> bool {
            self.data.prepare_nap(thread_id)
        }

        fn nap(&self, thread_id: usize, duration: Duration) {
            self.data.nap(thread_id, duration);
        }

        fn start_looking(&self, thread_id: usize) -> bool {
            self.data.start_looking(thread_id)
        }

        fn stop_looking(&self, thread_id: usize) -> bool {
            self.data.stop_looking(thread_id)
        }

        fn wake_ups(&self) -> u64 {
            self.data.wake_ups()
        }
    };
}

/// A parker whose kind is known at run time only. Made by [`StaticParker::dynamic`].
#[derive(Clone, Debug)]
pub struct DynParker {
    data: Arc<dyn ThreadData + Sync + Send>,
    /// That of `data`, so that a job costs no virtual call.
    idle: Option<Arc<IdleSet>>,
}

impl Parker for DynParker {
    parker_by_data!();

    #[inline(always)]
    fn job_arrived(&self, origin: Origin) {
        match &self.idle {
            Some(idle) => idle.job_arrived(origin),
            None => self.data.job_arrived(origin),
        }
    }
}

/// A parker whose kind is known at compile time. Made by [`small`], [`large`] and [`dynamic`].
#[derive(Debug)]
pub struct StaticParker<T>
where
    T: ThreadData + Sync + Send + 'static,
{
    data: Arc<T>,
}

impl<T> StaticParker<T>
where
    T: ThreadData + Sync + Send + 'static,
{
    fn new(data: T) -> StaticParker<T> {
        StaticParker { data: Arc::new(data) }
    }

    /// Forgets the kind of the parker at compile time.
    ///
    /// # Errors
    ///
    /// Gives the parker back if it has been cloned, because the clones would not know.
    pub fn dynamic(self) -> Result<DynParker, Self> {
        match Arc::try_unwrap(self.data) {
            Ok(data) => Ok(DynParker { idle: data.idle_set().cloned(), data: Arc::new(data) }),
            Err(data) => Err(StaticParker { data }),
        }
    }
}

impl<const MAX: usize> StaticParker<BoundedThreadData<MAX>> {
    /// Whether some thread is asleep, or will look for jobs without being called once more.
    pub(crate) fn is_anybody_free(&self) -> bool {
        self.data.0.is_anybody_free()
    }
}

impl<T> Clone for StaticParker<T>
where
    T: ThreadData + Sync + Send + 'static,
{
    fn clone(&self) -> Self {
        StaticParker { data: Arc::clone(&self.data) }
    }
}

impl<T> Parker for StaticParker<T>
where
    T: ThreadData + Send + Sync + 'static,
{
    parker_by_data!();

    #[inline(always)]
    fn job_arrived(&self, origin: Origin) {
        self.data.job_arrived(origin);
    }
}
