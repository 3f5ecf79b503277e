//! Why a pool cannot be built.

use crate::options::MAX_THREADS;
use std::{error::Error, fmt, io};

/// Why a pool could not be built.
///
/// The message names the option, its value (unless the pool cannot honour that option at all) and the remedy.
#[derive(Debug)]
pub struct BuildError(BuildErrorKind);

#[derive(Debug)]
pub(crate) enum BuildErrorKind {
    NoThreads {
        option: &'static str,
    },
    TooManyThreads {
        option: &'static str,
        asked: usize,
    },
    TooManyWorkers,
    ParkerTooSmall {
        asked: usize,
        limit: usize,
    },
    CoreAboveMax {
        core: usize,
        max: usize,
    },
    NoKeepAlive,
    NothingToDiscard,
    ClosedToWorkers,
    NameWithNul {
        name: String,
    },
    NoSuchCore {
        core: usize,
        available: Vec<usize>,
    },
    Unsupported {
        option: &'static str,
        pool: &'static str,
        remedy: &'static str,
    },
    Environment {
        variable: &'static str,
        value: String,
    },
    /// `worker` is the one that could not be started, if that is known.
    Spawn {
        worker: Option<usize>,
        threads: usize,
        source: io::Error,
    },
    /// A reason that only one kind of pool has, in its own words.
    OfOneKind(Box<dyn Error + Send + Sync>),
}

impl From<BuildErrorKind> for BuildError {
    fn from(kind: BuildErrorKind) -> Self {
        BuildError(kind)
    }
}

impl BuildError {
    /// For a reason that only one kind of pool has.
    #[cfg(feature = "dispatcher-exec")]
    pub(crate) fn of_one_kind(reason: impl Error + Send + Sync + 'static) -> Self {
        BuildErrorKind::OfOneKind(Box::new(reason)).into()
    }

    /// Whether the operating system refused to create a thread.
    ///
    /// Trying again later, or with fewer threads, can succeed. If `build` has returned this, the workers that had been
    /// created are gone again (those of a `ThreadPoolExecutor` are soon); after `BurstPool::try_spawn`, those of
    /// earlier calls are still there.
    #[must_use]
    pub fn is_thread_refused(&self) -> bool {
        matches!(self.0, BuildErrorKind::Spawn { .. })
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BuildErrorKind::NoThreads { option } => {
                write!(f, "a pool of 0 threads (option `{option}`) can run nothing: ask for at least 1")
            }
            BuildErrorKind::TooManyThreads { option, asked } => write!(
                f,
                "{asked} threads were asked for (option `{option}`), but no pool can have more than {MAX_THREADS}: ask \
                 for fewer"
            ),
            BuildErrorKind::TooManyWorkers => write!(
                f,
                "the pool has {MAX_THREADS} workers, and no pool can have more: spawn others on another pool"
            ),
            BuildErrorKind::ParkerTooSmall { asked, limit } => write!(
                f,
                "{asked} threads were asked for, but the parker of this pool serves at most {limit}: \
                 ask for fewer, or use `parker::dynamic()`"
            ),
            BuildErrorKind::CoreAboveMax { core, max } => write!(
                f,
                "a core of {core} workers was asked for in a pool of at most {max}: raise `max`, or lower `core` \
                 (where one of them is not given, `threads` stands for it)"
            ),
            BuildErrorKind::NoKeepAlive => f.write_str(
                "keep_alive is 0, so each job beyond the core would start a new thread: ask for at least some milliseconds",
            ),
            BuildErrorKind::NothingToDiscard => f.write_str(
                "`Saturation::DiscardOldest` with a queue of 0 has nothing to discard: give it a queue of at least 1",
            ),
            BuildErrorKind::ClosedToWorkers => {
                f.write_str("the pool is closed and takes no more workers: make a new one, or spawn before the shutdown")
            }
            BuildErrorKind::NameWithNul { name } => {
                write!(f, "the thread name {name:?} contains a NUL character: remove it")
            }
            BuildErrorKind::NoSuchCore { core, available } => write!(
                f,
                "core {core} was asked for, but this process may run on cores {available:?} only: choose among these"
            ),
            BuildErrorKind::Unsupported { option, pool, remedy } => {
                write!(f, "{pool} cannot honour the option `{option}`: {remedy}")
            }
            BuildErrorKind::Environment { variable, value } => {
                write!(f, "{variable} is set to {value:?}: set it to a whole number from 1 to {MAX_THREADS}, or unset it")
            }
            BuildErrorKind::Spawn { worker, threads, source } => {
                match worker {
                    Some(worker) => write!(f, "the operating system refused thread {} of {threads}", worker + 1)?,
                    None if *threads == 1 => write!(f, "the operating system refused a thread")?,
                    None => write!(f, "the operating system refused one of {threads} threads")?,
                }
                write!(f, " ({source}): ask for fewer threads, smaller stacks, or raise the limit of the process")
            }
            BuildErrorKind::OfOneKind(reason) => reason.fmt(f),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            BuildErrorKind::Spawn { source, .. } => Some(source),
            _ => None,
        }
    }
}
