//! What the contract is tested on.
//!
//! A subject is a kind of executor together with its policies. Topics that need a builder ask for a [`Crew`]; where a
//! pool cannot do what a topic is about, it is left out of that topic's list in `conformance.rs`, not excused here.

use crate::support::watchdog::{PATIENCE, Watchdog};
use executors::{Build, Builder, Pool, run_now::RunNowExecutor};
use std::fmt::Debug;

/// A kind of executor.
pub(crate) trait Subject: Sync {
    type Pool: Pool + Debug + 'static;

    /// What a second `shutdown` says.
    const SHUT_DOWN_AGAIN: &str = "Pool is already shutting down!";

    /// An executor with that many threads, if it has threads.
    fn pool(&self, threads: usize) -> Self::Pool;
}

/// A pool with threads that can be built in several ways.
pub(crate) trait Crew: Subject<Pool: Build> {
    /// A builder with all of the subject's policies set.
    fn builder(&self) -> Builder<Self::Pool>;

    /// Numbers of threads to try: one, few, and those around the limits of the parkers.
    fn sizes(&self) -> &'static [usize];

    /// How many of `wanted` threads this subject should be asked for.
    fn at_most(&self, wanted: usize) -> usize {
        wanted.min(*self.sizes().last().expect("every subject has a size"))
    }
}

/// Lends a pool to `body`, watches over it, and then ends it in order.
pub(crate) fn with_pool<S: Subject>(subject: &S, threads: usize, body: impl FnOnce(&S::Pool)) {
    with(subject.pool(threads), body);
}

/// [`with_pool`] for a pool that is built already.
pub(crate) fn with<P: Pool + Debug + 'static>(pool: P, body: impl FnOnce(&P)) {
    let _watchdog = watch(&pool);
    body(&pool);
    end(&pool);
}

fn watch<P: Pool + Debug + 'static>(pool: &P) -> Watchdog {
    let suspect = pool.clone();
    Watchdog::new(Box::new(move || format!("{:?}\n{suspect:?}", suspect.stats())))
}

fn end(pool: &impl Pool) {
    let report = pool.shutdown_timeout(PATIENCE).expect("a pool without blocked jobs ends");
    assert_eq!((report.running, report.queued), (0, 0), "nothing is left after the end: {report:?}");
}

/// Runs everything at once, on the caller's thread: the plain executor that the others are compared with.
pub(crate) struct RunNow;

impl Subject for RunNow {
    type Pool = RunNowExecutor;

    const SHUT_DOWN_AGAIN: &str = "Pool was already shut down!";

    fn pool(&self, _threads: usize) -> RunNowExecutor {
        RunNowExecutor::new()
    }
}

/// Implements the traits for a subject whose builder is `$builder`.
#[cfg(feature = "_futures")]
macro_rules! crew {
    (
        [$($generics:tt)*] $subject:ty, $pool:ty, |$this:ident| $builder:expr, $sizes:expr
        $(, $shut_down_again:expr)?
    ) => {
        impl<$($generics)*> Subject for $subject {
            type Pool = $pool;

            $(const SHUT_DOWN_AGAIN: &str = $shut_down_again;)?

            fn pool(&self, threads: usize) -> $pool {
                self.builder().threads(threads).build().expect("this many threads are possible")
            }
        }

        impl<$($generics)*> Crew for $subject {
            fn builder(&self) -> Builder<$pool> {
                let $this = self;
                $builder
            }

            fn sizes(&self) -> &'static [usize] {
                let $this = self;
                $sizes
            }
        }
    };
}

/// Sizes for a pool that takes any number of threads.
#[cfg(feature = "_futures")]
pub(crate) const ANY: &[usize] = &[1, 2, 8, 33, 64, 65, 100];

/// Sizes for a pool whose parker serves up to 64 threads.
#[cfg(feature = "workstealing-exec")]
pub(crate) const UP_TO_64: &[usize] = &[1, 2, 8, 33, 64];

/// Sizes for a pool whose parker serves up to 32 threads.
#[cfg(feature = "workstealing-exec")]
pub(crate) const UP_TO_32: &[usize] = &[1, 2, 8, 32];

/// Sizes for policies that have nothing to do with the number of threads.
#[cfg(any(
    feature = "workstealing-exec",
    feature = "burst-exec",
    feature = "dispatcher-exec",
    feature = "elastic-exec"
))]
pub(crate) const FEW: &[usize] = &[1, 2, 8];

#[cfg(feature = "cb-channel-exec")]
mod channel {
    use super::{Builder, Crew, Subject};
    use executors::{Idle, Placement, crossbeam_channel_pool::ThreadPool};

    pub(crate) struct Channel {
        pub(crate) idle: Idle,
        pub(crate) placement: Placement,
        pub(crate) sizes: &'static [usize],
    }

    crew!(
        [] Channel, ThreadPool,
        |this| ThreadPool::builder().idle(this.idle).placement(this.placement.clone()), this.sizes
    );
}
#[cfg(feature = "cb-channel-exec")]
pub(crate) use channel::Channel;

#[cfg(feature = "workstealing-exec")]
mod stealing {
    use super::{Builder, Crew, Subject};
    use executors::{
        Fairness, Idle, Placement,
        crossbeam_workstealing_pool::ThreadPool,
        parker::{DynParker, Parker},
    };
    use std::fmt::Debug;

    pub(crate) struct Stealing<P: Parker + Debug + 'static> {
        /// Gives the builder its parker.
        pub(crate) equip: fn(Builder<ThreadPool<DynParker>>) -> Builder<ThreadPool<P>>,
        pub(crate) idle: Idle,
        pub(crate) fairness: Fairness,
        pub(crate) placement: Placement,
        pub(crate) sizes: &'static [usize],
    }

    crew!(
        [P: Parker + Debug + 'static] Stealing<P>, ThreadPool<P>,
        |this| (this.equip)(ThreadPool::builder())
            .idle(this.idle)
            .fairness(this.fairness)
            .placement(this.placement.clone()),
        this.sizes
    );
}
#[cfg(feature = "workstealing-exec")]
pub(crate) use stealing::Stealing;

#[cfg(feature = "threadpool-exec")]
mod threadpool {
    use super::{ANY, Builder, Crew, Subject};
    use executors::threadpool_executor::ThreadPoolExecutor;

    pub(crate) struct Threadpool;

    crew!(
        [] Threadpool, ThreadPoolExecutor, |_this| ThreadPoolExecutor::builder(), ANY, "Pool was already shut down!"
    );
}
#[cfg(feature = "threadpool-exec")]
pub(crate) use threadpool::Threadpool;

#[cfg(feature = "burst-exec")]
mod burst {
    use super::{Builder, Crew, Subject};
    use executors::{
        Idle, Placement,
        burst_pool::{ThreadPool, WhenBusy},
    };

    pub(crate) struct Burst {
        pub(crate) idle: Idle,
        pub(crate) steals: bool,
        pub(crate) when_busy: WhenBusy,
        pub(crate) placement: Placement,
        pub(crate) sizes: &'static [usize],
    }

    crew!(
        [] Burst, ThreadPool,
        |this| ThreadPool::builder()
            .idle(this.idle)
            .stealing(this.steals)
            .when_busy(this.when_busy)
            .placement(this.placement.clone()),
        this.sizes
    );
}
#[cfg(feature = "burst-exec")]
pub(crate) use burst::Burst;

#[cfg(feature = "dispatcher-exec")]
mod dispatched {
    use super::{Builder, Crew, Subject};
    use executors::{
        Fairness, Idle, Placement,
        dispatcher::{Dispatcher, Priority, Subpool},
    };

    /// With limits that no number of threads reaches, except for the subpools called "serial" and "bound".
    pub(crate) struct Dispatched {
        pub(crate) main: (&'static str, Priority),
        /// Gives the builder what only a dispatcher has.
        pub(crate) equip: fn(Builder<Dispatcher>) -> Builder<Dispatcher>,
        pub(crate) idle: Idle,
        pub(crate) fairness: Fairness,
        pub(crate) placement: Placement,
        pub(crate) sizes: &'static [usize],
    }

    crew!(
        [] Dispatched, Dispatcher,
        |this| {
            let builder = (this.equip)(Dispatcher::builder()).cpu_limit(usize::MAX);
            let builder = builder.subpool("limited", 1000).subpool("serial", 1);
            // The bound thread runs other jobs, too, so that all threads are as the topics expect.
            if this.main.0 == "bound" { builder.bound_subpool("bound").reserve(0) } else { builder }
        }
            .main_subpool(this.main.0, this.main.1)
            .idle(this.idle)
            .fairness(this.fairness)
            .placement(this.placement.clone()),
        this.sizes
    );

    /// A subpool, through its own handle.
    pub(crate) struct Part(pub(crate) &'static str);

    impl Subject for Part {
        type Pool = Subpool;

        fn pool(&self, threads: usize) -> Subpool {
            let builder = Dispatcher::builder().threads(threads + 1).cpu_limit(usize::MAX);
            let builder = builder.subpool("limited", 2).subpool("serial", 1).bound_subpool("bound");
            let dispatcher = builder.build().expect("a subject can be built");
            dispatcher.subpool(self.0).expect("it was built")
        }
    }
}
#[cfg(feature = "dispatcher-exec")]
pub(crate) use dispatched::{Dispatched, Part};

#[cfg(feature = "elastic-exec")]
mod elastic {
    use super::{Builder, Crew, Subject};
    use executors::{
        Idle,
        elastic_pool::{Growth, Saturation, ThreadPool},
    };
    use std::time::Duration;

    /// Its maximum is the number of threads that it is asked for, so that it does what the topics ask of a pool of that
    /// size; its core is as large, unless it has none.
    pub(crate) struct Elastic {
        /// It has no core, and its workers leave as soon as they are idle.
        pub(crate) leaves: bool,
        pub(crate) idle: Idle,
        pub(crate) growth: Growth,
        pub(crate) saturation: Saturation,
        pub(crate) sizes: &'static [usize],
    }

    crew!(
        [] Elastic, ThreadPool,
        |this| {
            let builder =
                ThreadPool::builder().idle(this.idle).growth(this.growth).when_saturated(this.saturation);
            if this.leaves { builder.core(0).keep_alive(Duration::from_nanos(1)) } else { builder }
        },
        this.sizes
    );
}
#[cfg(feature = "elastic-exec")]
pub(crate) use elastic::Elastic;
