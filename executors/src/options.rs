//! The options of a pool: plain data, and the one place where Cargo features become defaults.

use crate::{
    containment::Contained,
    error::{BuildError, BuildErrorKind},
};
use std::{any::Any, env, fmt, num::NonZeroUsize, panic::AssertUnwindSafe, sync::Arc, thread, time::Duration};

/// Environment variable that sets the number of threads of a pool for which none is chosen: a number from 1 to
/// 1 048 575, with or without space around it. With any other value, also an empty one, such a pool is not built:
/// `build` returns an error that names the variable and its value, and `default` panics. Only `compat::rusty_pool`
/// ignores the variable, as the crate rusty_pool does.
pub const THREADS_VARIABLE: &str = "EXECUTORS_NUM_THREADS";

/// The features that this crate was built with. Cargo unifies those that all dependents ask for, so only the crate
/// itself knows them: programs that measure it should record them.
///
/// # Examples
///
/// ```
/// println!("executors with {}", executors::features().collect::<Vec<_>>().join(", "));
/// ```
pub fn features() -> impl Iterator<Item = &'static str> {
    FEATURES.iter().filter(|(_, chosen)| *chosen).map(|(name, _)| *name)
}

/// All features, and whether each is enabled.
const FEATURES: &[(&str, bool)] = &[
    ("threadpool-exec", cfg!(feature = "threadpool-exec")),
    ("cb-channel-exec", cfg!(feature = "cb-channel-exec")),
    ("workstealing-exec", cfg!(feature = "workstealing-exec")),
    ("elastic-exec", cfg!(feature = "elastic-exec")),
    ("burst-exec", cfg!(feature = "burst-exec")),
    ("dispatcher-exec", cfg!(feature = "dispatcher-exec")),
    ("compat-burst-pool", cfg!(feature = "compat-burst-pool")),
    ("compat-rusty-pool", cfg!(feature = "compat-rusty-pool")),
    ("compat-rusty-pool-async", cfg!(feature = "compat-rusty-pool-async")),
    ("defaults", cfg!(feature = "defaults")),
    ("ws-timed-fairness", cfg!(feature = "ws-timed-fairness")),
    ("ws-no-park", cfg!(feature = "ws-no-park")),
    ("thread-pinning", cfg!(feature = "thread-pinning")),
    ("numa-aware", cfg!(feature = "numa-aware")),
    ("produce-metrics", cfg!(feature = "produce-metrics")),
];

/// The most threads that a pool can have. Operating systems refuse threads long before that, but what a pool keeps for
/// each thread is allocated before the system is asked; and the parker counts in 20 bits.
pub(crate) const MAX_THREADS: usize = (1 << 20) - 1;

/// What a worker does when there is nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Idle {
    /// Search for jobs for about `spin`, then sleep until one arrives. Only one worker of a pool searches at a time,
    /// and yields its core now and then; the others sleep at once, and so does that one where jobs are rare. Unless
    /// `spin` is zero, a worker that has had a job and has not slept yet searches for longer, and so does one whose
    /// pool is closed.
    ///
    /// In the work-stealing pool and the dispatcher, a worker that was woken in vain may *nap*. During a nap, which
    /// takes half a millisecond at most, a lone job may wait if the job that spawned it blocks.
    ///
    /// The [contract][budget] has the rules, with their numbers, which may change.
    ///
    /// [budget]: https://github.com/Bathtor/rust-executors/blob/master/docs/contract.md#the-spin-budget
    Park {
        /// How long to search. With zero, workers always sleep at once; more than a few microseconds costs CPU time at
        /// the end of each burst and gains little.
        spin: Duration,
    },
    /// Never sleep: search again and again, and yield the core to other threads in between. For the shortest reaction,
    /// at the price of a busy core for each worker.
    Spin,
}

impl Idle {
    /// Sleep after a short search. This is the default, with the exceptions listed at
    /// [`Builder::idle`](crate::Builder::idle).
    ///
    /// 5 us is about the price of one wake-up: up to that point, searching costs no more than sleeping would have.
    pub const PARK: Idle = Idle::Park { spin: Duration::from_micros(5) };

    /// The default of the work-stealing pool, by the crate's features.
    pub(crate) const STEALING_DEFAULT: Idle = if cfg!(feature = "ws-no-park") { Idle::Spin } else { Idle::PARK };
}

/// When a worker goes on from the jobs that are nearest to it to others: in the work-stealing pool, from its own to
/// those from outside. [`Builder::fairness`](crate::Builder::fairness) says what that means in other pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fairness {
    /// When about this much time has passed since the last look. The worker reads the clock only when it looks. If the
    /// jobs since its last look together took a quarter of this time or more, it looks again after one job; otherwise
    /// after twice as many as last time, at most 61. So a look is late by at most the time that the jobs between two
    /// looks take, which is long only where long jobs follow short ones.
    Timed(Duration),
    /// After this many jobs. Zero counts as one.
    Counted(u32),
}

impl Fairness {
    /// A look about every millisecond, or sooner; the default of the work-stealing pool with the feature
    /// `ws-timed-fairness`.
    pub const TIMED: Fairness = Fairness::Timed(Duration::from_millis(1));

    /// A look every 61 jobs, a number that coincides with few programs' own rhythms; the default of the dispatcher, and
    /// of the work-stealing pool without the feature `ws-timed-fairness`.
    pub const COUNTED: Fairness = Fairness::Counted(61);

    /// The default of the work-stealing pool, by the crate's features.
    pub(crate) const STEALING_DEFAULT: Fairness =
        if cfg!(feature = "ws-timed-fairness") { Fairness::TIMED } else { Fairness::COUNTED };
}

/// Where workers run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Placement {
    /// With the feature `thread-pinning`, one worker on each core that the process may use (the main thread's cores,
    /// and those of the thread that builds the pool), and further workers unpinned; without it, and on systems where
    /// threads cannot be pinned (such as macOS), no pinning. An elastic pool and a `BurstPool`, whose number of workers
    /// varies, pin none by default; a `ThreadPoolExecutor` cannot pin any.
    ///
    /// A pool with fewer threads than cores takes the first cores, and so does each further pool: two pinned pools
    /// compete for the same ones, unless each is given its own as [`Cores`](Self::Cores). The feature is on if any
    /// crate of the program enables it; a library that should not depend on that builds its pools as
    /// [`Floating`](Self::Floating).
    #[default]
    Auto,
    /// Wherever the operating system likes; on Linux, on the cores on which the thread that builds the pool may run at
    /// that time, whichever thread starts the worker. (The starter may be pinned itself: a pinned worker, and any
    /// thread that submits a job, may start other workers.)
    Floating,
    /// The first worker on the first of these cores (numbered as by the operating system), and so on; workers beyond
    /// the end of the list are not pinned, as with `Floating`. Cores that the process may not use (see `Auto`) are a
    /// [`BuildError`](crate::BuildError); so is this choice without the feature `thread-pinning`, and where threads
    /// cannot be pinned (such as on macOS).
    Cores(Vec<usize>),
}

/// What a user gives to a pool to be called.
///
/// Unwind safety is asserted so that pools are unwind-safe, as those of 0.10 were. Workers call hooks and handlers
/// inside their own containment; what these share with the rest of the program is `Sync`, and does not concern a pool's
/// handle.
pub(crate) type Callback<F> = Arc<AssertUnwindSafe<Contained<Box<F>>>>;

pub(crate) fn callback<F: ?Sized>(function: Box<F>) -> Callback<F> {
    Arc::new(AssertUnwindSafe(Contained::new(function)))
}

/// Called when a worker starts or stops, with the worker's index.
pub(crate) type WorkerHook = Callback<dyn Fn(usize) + Send + Sync>;

/// Called with the payload of a job's panic.
pub(crate) type PanicHandler = Callback<dyn Fn(&(dyn Any + Send)) + Send + Sync>;

/// Everything that can be chosen about a pool.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) threads: Option<usize>,
    pub(crate) preheat: Option<usize>,
    pub(crate) name: Option<String>,
    /// Makes the name of a thread, in a pool that has a name.
    pub(crate) thread_names: fn(&str, usize) -> String,
    pub(crate) stack_size: Option<usize>,
    pub(crate) on_start: Option<WorkerHook>,
    pub(crate) on_stop: Option<WorkerHook>,
    pub(crate) panic_handler: Option<PanicHandler>,
    pub(crate) idle: Option<Idle>,
    pub(crate) fairness: Option<Fairness>,
    pub(crate) time_slice: Option<Duration>,
    pub(crate) placement: Placement,
}

impl Options {
    pub(crate) const fn new() -> Self {
        Options {
            threads: None,
            preheat: None,
            name: None,
            thread_names: |name, worker| format!("{name}-{worker}"),
            stack_size: None,
            on_start: None,
            on_stop: None,
            panic_handler: None,
            idle: None,
            fairness: None,
            time_slice: None,
            placement: Placement::Auto,
        }
    }

    pub(crate) fn with_threads(threads: usize) -> Self {
        Options { threads: Some(threads), ..Options::new() }
    }

    /// A worker on each of `cores`, and `floating` more that are not pinned.
    #[cfg(feature = "thread-pinning")]
    pub(crate) fn with_cores(cores: &[core_affinity::CoreId], floating: usize) -> Self {
        let placement = Placement::Cores(cores.iter().map(|core| core.id).collect());
        Options { placement, ..Options::with_threads(cores.len().saturating_add(floating)) }
    }

    /// The number of threads asked for, else the environment's, else one for each core that the caller may use.
    pub(crate) fn thread_count(&self) -> Result<usize, BuildError> {
        let threads = match self.threads {
            Some(threads) => threads,
            None => default_threads()?,
        };
        check_threads("threads", threads)
    }

    /// The seats of those of `threads` workers that start when they are needed, in a pool where all share their jobs.
    /// `idle` is what that kind of pool does by default when there is nothing to do.
    #[cfg(any(feature = "cb-channel-exec", feature = "workstealing-exec"))]
    pub(crate) fn cold_seats(&self, threads: usize, idle: Idle) -> std::ops::Range<usize> {
        // Whoever lets threads spin pays CPU time so that no job waits; so none should wait for a thread to start.
        let spins = self.idle.unwrap_or(idle) == Idle::Spin;
        let preheat = self.preheat.unwrap_or(if spins { threads } else { 1 });
        preheat.clamp(1, threads)..threads
    }

    /// Refuses the option, for a pool that starts its threads in another way; `remedy` says what to do instead.
    #[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
    pub(crate) fn refuse_preheat(&self, pool: &'static str, remedy: &'static str) -> Result<(), BuildError> {
        match self.preheat {
            Some(_) => Err(BuildErrorKind::Unsupported { option: "preheat", pool, remedy }.into()),
            None => Ok(()),
        }
    }

    /// Checks, and completes, the options of a pool whose threads come one by one: how many there will be is not known,
    /// so one for each core would make no sense.
    #[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
    pub(crate) fn prepare_for_any_number_of_threads(
        &mut self,
        pool: &'static str,
        thread_name: fn(usize) -> String,
    ) -> Result<(), BuildError> {
        self.placement.check(pool)?;
        if self.placement == Placement::Auto {
            self.placement = Placement::Floating;
        }
        // Otherwise a name that a thread cannot have would be noticed only with the first of them.
        self.thread_name(0, thread_name).map(drop)
    }

    /// The name of thread `worker`: `fallback` if the user gave none, else their name and the worker's number.
    pub(crate) fn thread_name(
        &self,
        worker: usize,
        fallback: impl FnOnce(usize) -> String,
    ) -> Result<String, BuildError> {
        let name = match &self.name {
            Some(name) => (self.thread_names)(name, worker),
            None => fallback(worker),
        };
        without_nul(name)
    }
}

/// Gives a thread's `name` back if it has no NUL, which the operating system does not accept.
pub(crate) fn without_nul(name: String) -> Result<String, BuildError> {
    if name.contains('\0') { Err(BuildErrorKind::NameWithNul { name }.into()) } else { Ok(name) }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("threads", &self.threads)
            .field("preheat", &self.preheat)
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .field("idle", &self.idle)
            .field("fairness", &self.fairness)
            .field("time_slice", &self.time_slice)
            .field("placement", &self.placement)
            .finish_non_exhaustive()
    }
}

/// Gives `threads` back, which `option` asks for, if a pool can have that many.
pub(crate) fn check_threads(option: &'static str, threads: usize) -> Result<usize, BuildError> {
    match threads {
        0 => Err(BuildErrorKind::NoThreads { option }.into()),
        1..=MAX_THREADS => Ok(threads),
        _ => Err(BuildErrorKind::TooManyThreads { option, asked: threads }.into()),
    }
}

/// The environment's choice, else the number of cores that the calling thread may use (cgroup quota and affinity
/// included). Workers that are not pinned may run there, too; `Placement::Auto` pins to the cores of the process.
fn default_threads() -> Result<usize, BuildError> {
    match env::var(THREADS_VARIABLE) {
        Ok(value) => match value.trim().parse() {
            Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
            _ => Err(BuildErrorKind::Environment { variable: THREADS_VARIABLE, value }.into()),
        },
        Err(env::VarError::NotUnicode(value)) => {
            let value = value.to_string_lossy().into_owned();
            Err(BuildErrorKind::Environment { variable: THREADS_VARIABLE, value }.into())
        }
        Err(env::VarError::NotPresent) => Ok(thread::available_parallelism().map_or(1, NonZeroUsize::get)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_features_are_known() {
        let manifest = include_str!("../Cargo.toml");
        let (_, section) = manifest.split_once("\n[features]\n").expect("it has features");
        // The published manifest was written by cargo: without comments, and in another order.
        if !manifest.starts_with("# THIS FILE IS AUTOMATICALLY GENERATED") {
            let (section, _) = section.split_once("\n# What 0.10.0's optional dependencies").expect("they do nothing");
            let names = section.lines().filter_map(|line| Some(line.split_once(" = ")?.0));
            let names: Vec<&str> = names.filter(|name| *name != "default" && !name.starts_with('_')).collect();
            assert_eq!(names, FEATURES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        }
        assert_eq!(features().any(|name| name == "ws-no-park"), cfg!(feature = "ws-no-park"));
    }
}
