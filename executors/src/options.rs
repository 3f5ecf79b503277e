//! What a user may choose about a pool: plain data, and the one place where Cargo features become defaults.

use crate::{
    containment::Contained,
    error::{BuildError, BuildErrorKind},
};
use std::{any::Any, env, fmt, num::NonZeroUsize, panic::AssertUnwindSafe, sync::Arc, thread, time::Duration};

/// Environment variable that overrides the number of threads of a pool that is not given one.
pub const THREADS_VARIABLE: &str = "EXECUTORS_NUM_THREADS";

/// The features that this crate was built with. Cargo joins those that all dependents ask for, so only the crate itself
/// knows them: programs that measure it should write them down.
///
/// # Examples
///
/// ```
/// println!("executors with {}", executors::features().collect::<Vec<_>>().join(", "));
/// ```
pub fn features() -> impl Iterator<Item = &'static str> {
    FEATURES.iter().filter(|(_, chosen)| *chosen).map(|(name, _)| *name)
}

/// All features, and which of them were chosen.
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

/// No pool has more threads. Operating systems refuse long before, but what a pool keeps for each is made before they
/// are asked; and the parker counts in 20 bits.
pub(crate) const MAX_THREADS: usize = (1 << 20) - 1;

/// What a worker does when there is nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Idle {
    /// Look for jobs for about `spin`, then sleep until one arrives. Only one worker of a pool looks at a time, and
    /// lets other threads have its core now and then; the others sleep at once. If somebody begins to wait for all jobs
    /// while a worker looks, it looks for `spin` once more.
    ///
    /// A worker also sleeps at once if jobs come seldom: if it has run no more than eight since its last long sleep (or
    /// its start), and since its last sleep only one, which it did not find by looking. A sleep is long if it takes,
    /// with the jobs behind it, 200 us or more; with a longer `spin` as long as that, and then workers look behind
    /// every shorter one.
    ///
    /// Before its first sleep a worker looks for 50 us, if that is more than `spin`. Where there is a core for each of
    /// the pool's threads, it does so even beside others that look, and once more when the pool is closed.
    ///
    /// In the work-stealing pool and the dispatcher a worker that was woken for a job that was alone at the worker that
    /// spawned it, and came too late for it, naps for 50 to 500 us. During the nap such jobs wake nobody. So if the
    /// worker that spawned one blocks meanwhile, that job may wait for the end of the nap.
    Park {
        /// How long to look. Zero sleeps at once, at any time; more than a few microseconds costs CPU at the end of
        /// each burst and gains little.
        spin: Duration,
    },
    /// Never sleep: look again and again, giving the core to other threads in between. For the shortest reaction, at
    /// the price of a busy core for each worker.
    Spin,
}

impl Idle {
    /// Sleep after a short look; the default without the feature `ws-no-park`.
    ///
    /// 5 us are about the price of one wake-up, the point up to which looking is not dearer than sleeping would have
    /// been.
    pub const PARK: Idle = Idle::Park { spin: Duration::from_micros(5) };

    /// What the crate's features ask for in the work-stealing pool.
    pub(crate) const STEALING_DEFAULT: Idle = if cfg!(feature = "ws-no-park") { Idle::Spin } else { Idle::PARK };
}

/// When a worker that has jobs of its own looks for jobs from outside all the same.
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
    /// A look about every millisecond, or sooner; the default with the feature `ws-timed-fairness`.
    pub const TIMED: Fairness = Fairness::Timed(Duration::from_millis(1));

    /// A look every 61 jobs, a number that falls into step with few programs' own rhythms; the default without the
    /// feature `ws-timed-fairness`.
    pub const COUNTED: Fairness = Fairness::Counted(61);

    /// What the crate's features ask for in the work-stealing pool.
    pub(crate) const STEALING_DEFAULT: Fairness =
        if cfg!(feature = "ws-timed-fairness") { Fairness::TIMED } else { Fairness::COUNTED };
}

/// Where workers run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Placement {
    /// With the feature `thread-pinning` one worker on each core that the process may use, further workers unpinned;
    /// without it no pinning. An elastic pool and a `BurstPool`, whose workers are now more and now fewer, pin nobody
    /// by themselves; a `ThreadPoolExecutor` cannot.
    #[default]
    Auto,
    /// Wherever the operating system likes; on Linux on those cores on which the thread that builds the pool may run at
    /// that time, whoever starts the worker's thread. That one may itself be pinned: a worker that is, and any thread
    /// that gives a job, may start others.
    Floating,
    /// The first worker on the first of these cores (numbered as the operating system does), and so on; workers beyond
    /// the end of the list are not pinned, as with `Floating`. Needs the feature `thread-pinning`.
    Cores(Vec<usize>),
}

/// Called when a worker starts or stops, with the worker's index.
pub(crate) type WorkerHook = Arc<AssertUnwindSafe<Contained<Box<dyn Fn(usize) + Send + Sync>>>>;

/// Called with what a job threw.
///
/// Unwind safety is asserted here and above so that pools have it, as those of 0.10 did. Workers call hooks and
/// handlers inside their own containment; what these share with the rest of the program is `Sync`, and no concern of a
/// pool's handle.
pub(crate) type PanicHandler = Arc<AssertUnwindSafe<Contained<Box<dyn Fn(&(dyn Any + Send)) + Send + Sync>>>>;

/// All that can be chosen about a pool.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) threads: Option<usize>,
    pub(crate) preheat: Option<usize>,
    pub(crate) name: Option<String>,
    /// The name of a thread of a pool that has a name.
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

    /// A worker on each of `cores`, and `floating` more.
    #[cfg(feature = "thread-pinning")]
    pub(crate) fn with_cores(cores: &[core_affinity::CoreId], floating: usize) -> Self {
        let placement = Placement::Cores(cores.iter().map(|core| core.id).collect());
        Options { placement, ..Options::with_threads(cores.len().saturating_add(floating)) }
    }

    /// The number of threads asked for, else the environment's, else one for each core that the process may use.
    pub(crate) fn thread_count(&self) -> Result<usize, BuildError> {
        let threads = match self.threads {
            Some(threads) => threads,
            None => default_threads()?,
        };
        check_threads(threads)
    }

    /// The seats of those of `threads` that come when they are needed, in a pool where all share their jobs. `idle` is
    /// what that kind of pool does when there is nothing to do.
    #[cfg(any(feature = "cb-channel-exec", feature = "workstealing-exec"))]
    pub(crate) fn cold_seats(&self, threads: usize, idle: Idle) -> std::ops::Range<usize> {
        // Who spins is never seen to be free: each of the first jobs would bring a thread.
        let spins = self.idle.unwrap_or(idle) == Idle::Spin;
        let preheat = self.preheat.unwrap_or(if spins { threads } else { 1 });
        preheat.clamp(1, threads)..threads
    }

    /// For a pool that starts its threads otherwise; `remedy` says how.
    #[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
    pub(crate) fn refuse_preheat(&self, pool: &'static str, remedy: &'static str) -> Result<(), BuildError> {
        match self.preheat {
            Some(_) => Err(BuildErrorKind::Unsupported { option: "preheat", pool, remedy }.into()),
            None => Ok(()),
        }
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

/// A thread's `name`, which the operating system wants without a NUL.
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

/// Gives `threads` back if a pool can have so many.
pub(crate) fn check_threads(threads: usize) -> Result<usize, BuildError> {
    match threads {
        0 => Err(BuildErrorKind::NoThreads.into()),
        1..=MAX_THREADS => Ok(threads),
        _ => Err(BuildErrorKind::TooManyThreads { asked: threads, limit: MAX_THREADS }.into()),
    }
}

/// The environment's choice, else the cores that this process may use (cgroup quota and affinity included).
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
        // What is published was written by cargo: without comments, and in another order.
        if !manifest.starts_with("# THIS FILE IS AUTOMATICALLY GENERATED") {
            let (section, _) = section.split_once("\n# What 0.10.0's optional dependencies").expect("they do nothing");
            let names = section.lines().filter_map(|line| Some(line.split_once(" = ")?.0));
            let names: Vec<&str> = names.filter(|name| *name != "default" && !name.starts_with('_')).collect();
            assert_eq!(names, FEATURES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        }
        assert_eq!(features().any(|name| name == "ws-no-park"), cfg!(feature = "ws-no-park"));
    }
}
