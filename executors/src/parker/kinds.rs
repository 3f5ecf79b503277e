//! The parkers of this crate. They differ in their types, and all keep the state of their pool in an [`IdleSet`].

use super::{Origin, ParkResult, Parker, idle::IdleSet};
use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

/// A parker for up to 32 threads.
#[must_use]
pub fn small() -> StaticParker<SmallThreadData> {
    StaticParker::new()
}

/// A parker for up to 64 threads.
#[must_use]
pub fn large() -> StaticParker<LargeThreadData> {
    StaticParker::new()
}

/// A parker for any number of threads.
#[must_use]
pub fn dynamic() -> StaticParker<DynamicThreadData> {
    StaticParker::new()
}

/// A parker for any number of threads, of which those that have slept longest can leave: see `IdleSet::last_first`.
#[cfg(feature = "elastic-exec")]
pub(crate) fn last_first() -> StaticParker<DynamicThreadData> {
    StaticParker::of(IdleSet::last_first())
}

/// A parker for any number of threads that are called for many jobs at once: see `IdleSet::for_bursts`.
#[cfg(feature = "burst-exec")]
pub(crate) fn for_bursts() -> StaticParker<DynamicThreadData> {
    StaticParker::of(IdleSet::for_bursts())
}

/// [`for_bursts`] on the given number of cores, for models that depend on it.
#[cfg(all(test, executors_loom, feature = "burst-exec"))]
pub(crate) fn for_bursts_on(cores: usize) -> StaticParker<DynamicThreadData> {
    StaticParker::of(IdleSet::for_bursts().on(cores))
}

/// What distinguishes the types of [`StaticParker`]. Implemented by [`BoundedThreadData`].
///
/// The methods are those of 0.10, whose parkers kept their state behind them. Now all parkers keep it in the same way,
/// and nothing calls these methods.
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

    /// See [`Parker::unpark_all`].
    fn unpark_all(&self);
}

/// Says in the type of a [`StaticParker`] that it serves up to `MAX` threads; `usize::MAX` means any number. The type
/// has no values.
///
/// Named by its aliases [`SmallThreadData`], [`LargeThreadData`] and [`DynamicThreadData`].
#[derive(Debug)]
pub enum BoundedThreadData<const MAX: usize> {}

/// Up to 32 threads.
pub type SmallThreadData = BoundedThreadData<32>;

/// Up to 64 threads.
pub type LargeThreadData = BoundedThreadData<64>;

/// Any number of threads.
pub type DynamicThreadData = BoundedThreadData<{ usize::MAX }>;

impl<const MAX: usize> BoundedThreadData<MAX> {
    /// The largest number of threads that this parker serves.
    pub const MAX_THREADS: usize = MAX;
}

impl<const MAX: usize> ThreadData for BoundedThreadData<MAX> {
    fn max_threads(&self) -> Option<usize> {
        match *self {}
    }

    fn init(&self, _thread_id: usize) {
        match *self {}
    }

    fn prepare_park(&self, _thread_id: usize) {
        match *self {}
    }

    fn abort_park(&self, _thread_id: usize) {
        match *self {}
    }

    fn park(&self, _thread_id: usize) -> ParkResult {
        match *self {}
    }

    fn all_awake(&self) -> bool {
        match *self {}
    }

    fn unpark_one(&self) {
        match *self {}
    }

    fn unpark_all(&self) {
        match *self {}
    }
}

/// A parker whose kind is known at run time only. Made by [`StaticParker::dynamic`].
#[derive(Clone, Debug)]
pub struct DynParker {
    set: Arc<IdleSet>,
}

impl DynParker {
    fn of(set: IdleSet) -> Self {
        DynParker { set: Arc::new(set) }
    }
}

/// A parker whose kind is known at compile time. Made by [`small`], [`large`] and [`dynamic`].
#[derive(Debug)]
pub struct StaticParker<T>
where
    T: ThreadData + Sync + Send + 'static,
{
    set: Arc<IdleSet>,
    kind: PhantomData<fn() -> T>,
}

impl<const MAX: usize> StaticParker<BoundedThreadData<MAX>> {
    fn new() -> Self {
        StaticParker::of(IdleSet::new((MAX < usize::MAX).then_some(MAX)))
    }
}

impl<T> StaticParker<T>
where
    T: ThreadData + Sync + Send + 'static,
{
    fn of(set: IdleSet) -> Self {
        StaticParker { set: Arc::new(set), kind: PhantomData }
    }

    /// Erases the kind of the parker from its type.
    ///
    /// # Errors
    ///
    /// Returns the parker itself if it has been cloned, because the clones would keep their type.
    pub fn dynamic(self) -> Result<DynParker, Self> {
        // The only reference: no other thread can clone it.
        if Arc::strong_count(&self.set) == 1 { Ok(DynParker { set: self.set }) } else { Err(self) }
    }
}

#[cfg(all(test, target_os = "linux", feature = "cb-channel-exec", feature = "elastic-exec", not(executors_loom)))]
impl StaticParker<DynamicThreadData> {
    /// How many threads there are, as far as the parker knows.
    pub(crate) fn members(&self) -> usize {
        self.set.members()
    }
}

impl<T> Clone for StaticParker<T>
where
    T: ThreadData + Sync + Send + 'static,
{
    fn clone(&self) -> Self {
        StaticParker { set: Arc::clone(&self.set), kind: PhantomData }
    }
}

/// Implements the methods of [`Parker`] that are about one thread: by the thread's set, and its number there.
/// `self.place_of(thread_id)` returns both.
macro_rules! parker_by_place {
    () => {
        fn init(&self, thread_id: usize) {
            let (set, number) = self.place_of(thread_id);
            set.init(number);
        }

        fn leave(&self, thread_id: usize) {
            let (set, number) = self.place_of(thread_id);
            set.leave(number);
        }

        fn prepare_park(&self, thread_id: usize) {
            let (set, number) = self.place_of(thread_id);
            set.prepare_park(number);
        }

        fn abort_park(&self, thread_id: usize) {
            let (set, number) = self.place_of(thread_id);
            set.abort_park(number);
        }

        fn park(&self, thread_id: usize) -> ParkResult {
            let (set, number) = self.place_of(thread_id);
            set.park(number)
        }

        fn unpark(&self, thread_id: usize) {
            let (set, number) = self.place_of(thread_id);
            set.unpark(number);
        }

        fn prepare_nap(&self, thread_id: usize) -> bool {
            let (set, number) = self.place_of(thread_id);
            set.prepare_nap(number)
        }

        fn nap(&self, thread_id: usize, duration: Duration) {
            let (set, number) = self.place_of(thread_id);
            set.nap(number, duration);
        }

        fn start_looking(&self, thread_id: usize) -> bool {
            self.place_of(thread_id).0.start_looking()
        }

        fn stop_looking(&self, thread_id: usize) -> bool {
            self.place_of(thread_id).0.stop_looking()
        }

        fn step_aside(&self, thread_id: usize) -> bool {
            self.place_of(thread_id).0.step_aside()
        }

        fn come_back(&self, thread_id: usize) {
            self.place_of(thread_id).0.come_back();
        }
    };
}

/// Implements the methods of [`Parker`] that are about jobs which any of the threads in `self.jobs_set()` may run, by
/// that set.
macro_rules! parker_by_jobs {
    () => {
        fn unpark_one(&self) {
            self.jobs_set().unpark_one();
        }

        fn is_anybody_free(&self) -> bool {
            self.jobs_set().is_anybody_free()
        }

        #[inline(always)]
        fn is_anybody_asleep(&self) -> bool {
            self.jobs_set().is_anybody_asleep()
        }

        #[inline(always)]
        fn needs_call(&self, origin: Origin) -> bool {
            self.jobs_set().needs_call(origin)
        }

        #[inline(always)]
        fn job_arrived(&self, origin: Origin) {
            self.jobs_set().job_arrived(origin);
        }

        #[inline]
        fn is_one_coming(&self) -> bool {
            self.jobs_set().is_one_coming()
        }

        fn give_way(&self) {
            self.jobs_set().give_way();
        }

        fn go_on(&self) -> bool {
            self.jobs_set().go_on()
        }
    };
}

#[cfg(feature = "dispatcher-exec")]
pub(super) use {parker_by_jobs, parker_by_place};

/// Implements [`Parker`] for a type around one `set`.
macro_rules! impl_parker_by_set {
    ($parker:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? $parker {
            #[inline(always)]
            fn place_of(&self, thread_id: usize) -> (&IdleSet, usize) {
                (&self.set, thread_id)
            }

            #[inline(always)]
            fn jobs_set(&self) -> &IdleSet {
                &self.set
            }
        }

        impl $(<$($generics)+>)? Parker for $parker {
            parker_by_place!();
            parker_by_jobs!();

            fn for_pool(&self) -> Self {
                Self::of(self.set.like())
            }

            fn max_threads(&self) -> Option<usize> {
                self.set.max_threads()
            }

            fn unpark_all(&self) {
                self.set.unpark_all();
            }

            fn wake_ups(&self) -> u64 {
                self.set.wake_ups()
            }
        }
    };
}

impl_parker_by_set!(DynParker);
impl_parker_by_set!(StaticParker<T>, T: ThreadData + Send + Sync + 'static);
