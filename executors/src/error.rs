//! Everything that can go wrong, typed.

use std::{any::Any, error::Error, fmt, io, sync::Mutex, time::Duration};

/// Why a pool could not be built.
///
/// The message names the option, its value and the remedy.
#[derive(Debug)]
pub struct BuildError(BuildErrorKind);

#[derive(Debug)]
pub(crate) enum BuildErrorKind {
    NoThreads,
    TooManyThreads {
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
    SubpoolTwice {
        name: String,
    },
    TooManySubpools {
        asked: usize,
        limit: usize,
    },
    NoLimit {
        subpool: String,
    },
    TooManyBound {
        bound: usize,
        threads: usize,
    },
    AllReserved {
        reserve: usize,
        threads: usize,
    },
    ReservedForNothing {
        reserve: usize,
        bound: usize,
    },
    TooManyPreheated {
        preheat: usize,
        threads: usize,
    },
    UnknownMain {
        name: String,
        known: Vec<String>,
    },
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
}

impl From<BuildErrorKind> for BuildError {
    fn from(kind: BuildErrorKind) -> Self {
        BuildError(kind)
    }
}

impl BuildError {
    /// Whether the operating system refused to create a thread.
    ///
    /// Trying again later, or with fewer threads, can succeed; the workers that had been created are gone again.
    #[must_use]
    pub fn is_thread_refused(&self) -> bool {
        matches!(self.0, BuildErrorKind::Spawn { .. })
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BuildErrorKind::NoThreads => write!(f, "a pool of 0 threads can run nothing: ask for at least 1"),
            BuildErrorKind::TooManyThreads { asked, limit } => write!(
                f,
                "{asked} threads were asked for, but this pool can have at most {limit}: \
                 ask for fewer, or, if the limit is that of its parker, use `parker::dynamic()`"
            ),
            BuildErrorKind::CoreAboveMax { core, max } => write!(
                f,
                "a core of {core} workers was asked for in a pool of at most {max}: raise `max`, or lower `core`"
            ),
            BuildErrorKind::NoKeepAlive => f.write_str(
                "keep_alive is 0, so that each job beyond the core would cost a thread: ask for some milliseconds at least",
            ),
            BuildErrorKind::NothingToDiscard => f.write_str(
                "`Saturation::DiscardOldest` with a queue of 0 has nothing to discard: give it a queue of at least 1",
            ),
            BuildErrorKind::ClosedToWorkers => {
                f.write_str("the pool is closed and takes no more workers: make a new one, or spawn before the shutdown")
            }
            BuildErrorKind::SubpoolTwice { name } => {
                write!(f, "there are two subpools called {name:?} (\"cpu\" is always there): rename one")
            }
            BuildErrorKind::TooManySubpools { asked, limit } => write!(
                f,
                "{asked} subpools share the threads of the dispatcher, but only {limit} can, the CPU subpool included: \
                 merge some, or build a second dispatcher"
            ),
            BuildErrorKind::NoLimit { subpool } => {
                write!(f, "with a limit of 0 the subpool {subpool:?} could run nothing: ask for at least 1, or pause it")
            }
            BuildErrorKind::TooManyBound { bound, threads } => write!(
                f,
                "{bound} subpools are to be bound to a thread each, but there are only {threads} threads: ask for more, \
                 or bind fewer subpools"
            ),
            BuildErrorKind::AllReserved { reserve, threads } => write!(
                f,
                "{reserve} of {threads} threads are reserved for bound subpools, so that none is left for the others: \
                 ask for more threads, or reserve fewer"
            ),
            BuildErrorKind::ReservedForNothing { reserve, bound } => write!(
                f,
                "{reserve} threads are reserved for bound subpools, of which there are {bound}: reserve at most as many"
            ),
            BuildErrorKind::TooManyPreheated { preheat, threads } => write!(
                f,
                "{preheat} threads are to be preheated, but there are only {threads}: preheat at most as many, or ask \
                 for more threads"
            ),
            BuildErrorKind::UnknownMain { name, known } => {
                write!(f, "the main subpool is to be {name:?}, but there are only {known:?}: add it, or choose one of these")
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
                write!(f, "{variable} is set to {value:?}: set it to a whole number of at least 1, or unset it")
            }
            BuildErrorKind::Spawn { worker, threads, source } => {
                match worker {
                    Some(worker) => write!(f, "the operating system refused thread {} of {threads}", worker + 1)?,
                    None => write!(f, "the operating system refused one of {threads} threads")?,
                }
                write!(f, " ({source}): ask for fewer threads, smaller stacks, or raise the limit of the process")
            }
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

/// The pool does not accept the job, as it is closed, or full and built to refuse jobs then; here it is back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected<F>(pub F);

impl<F> Rejected<F> {
    /// The job, which did not run.
    #[must_use = "dropping the job loses it; ignore the error instead if that is what you want"]
    pub fn into_job(self) -> F {
        self.0
    }
}

impl<F> fmt::Debug for Rejected<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").finish_non_exhaustive()
    }
}

impl<F> fmt::Display for Rejected<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pool is closed, or full, and did not take the job")
    }
}

impl<F> Error for Rejected<F> {}

/// Implements what is the same for all errors that have one variant for each reason, and what was refused in each:
/// giving that back, and saying the reason without a word about it.
#[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
macro_rules! impl_refusal {
    ($error:ident, $(#[doc = $doc:literal])+ $into:ident { $($reason:ident: $text:literal,)+ }) => {
        impl<T> $error<T> {
            $(#[doc = $doc])+
            #[must_use = "dropping it loses it; ignore the error instead if that is what you want"]
            pub fn $into(self) -> T {
                match self {
                    $($error::$reason(refused))|+ => refused,
                }
            }
        }

        impl<T> std::fmt::Debug for $error<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($error::$reason(_) => concat!(stringify!($reason), "(..)"),)+
                })
            }
        }

        impl<T> std::fmt::Display for $error<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($error::$reason(_) => $text,)+
                })
            }
        }

        impl<T> std::error::Error for $error<T> {}
    };
}
#[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
pub(crate) use impl_refusal;

/// Why waiting for a pool to become idle ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The caller is a worker of the pool it would wait for, so the pool could never become idle.
    FromWorker,
    /// Jobs were still queued or running when the time was up.
    TimedOut,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitError::FromWorker => {
                "a worker cannot wait for its own pool to become idle: wait from another thread, \
                 or wait for single jobs with `submit`"
            }
            WaitError::TimedOut => "jobs were still queued or running when the time was up",
        })
    }
}

impl Error for WaitError {}

/// What a shutdown has found and done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Jobs that have run to their end, or to a panic, since the pool was built.
    pub finished: u64,
    /// Jobs dropped since the pool was built: by [`shutdown_now`](crate::Pool::shutdown_now), and in favour of others
    /// by a pool that is built to discard the oldest.
    pub discarded: u64,
    /// Jobs that were still running when the report was made.
    pub running: usize,
    /// Jobs that were still waiting when the report was made.
    pub queued: usize,
}

/// Why a shutdown did not see the pool's end.
///
/// The pool is closed in any case, and what it accepted goes on running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShutdownError {
    /// The caller is a worker of the pool, and would wait for itself.
    FromWorker,
    /// The time was up before everything had run.
    TimedOut {
        /// How long was waited.
        waited: Duration,
        /// Workers that have not left yet.
        workers: usize,
        /// The state of the jobs at that moment.
        report: ShutdownReport,
    },
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShutdownError::FromWorker => write!(
                f,
                "a worker cannot wait for the end of its own pool: the pool is closed, wait from another thread"
            ),
            ShutdownError::TimedOut { waited, workers, report } => write!(
                f,
                "after {waited:?} {workers} workers have not left yet ({} jobs running, {} queued)",
                report.running, report.queued
            ),
        }
    }
}

impl Error for ShutdownError {}

impl ShutdownError {
    /// What the methods of [`Executor`](crate::Executor) say of it.
    pub(crate) fn into_message(self) -> String {
        match self {
            ShutdownError::FromWorker => self.to_string(),
            ShutdownError::TimedOut { workers, .. } => {
                format!("Pool failed to shut down in time. {workers} threads remaining.")
            }
        }
    }
}

/// Why a job's result will never come.
#[derive(Debug)]
#[non_exhaustive]
pub enum TaskError {
    /// The job panicked; the payload is inside.
    Panicked(Panic),
    /// The job was cancelled before it began.
    Cancelled,
    /// The pool dropped the job without running it: it was closed, or full and built to refuse jobs then; or it had
    /// accepted the job and discarded it, in a [`shutdown_now`](crate::Pool::shutdown_now) or in favour of others. Of
    /// a future also: the pool came to its end before the future did.
    Dropped,
    /// The caller *is* the job it waits for, directly or further down on the same stack.
    WouldDeadlock,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Panicked(panic) => write!(f, "the job panicked: {}", panic.message()),
            TaskError::Cancelled => f.write_str("the job was cancelled before it began"),
            TaskError::Dropped => f.write_str("the pool dropped the job without running it to its end"),
            TaskError::WouldDeadlock => f.write_str("a job cannot wait for its own result"),
        }
    }
}

impl Error for TaskError {}

/// Why a job that may fail has no value: it returned an error, or it did not come to that.
///
/// The result of a job that returns a `Result` is a result in a result. [`flatten`](Self::flatten) makes one of it that
/// the combinators of the crate `futures` understand, and `?`. Beside its two cases there is no other.
///
/// # Examples
///
/// ```
/// use executors::*;
/// use executors::crossbeam_workstealing_pool::small_pool;
/// use futures::{FutureExt, TryFutureExt, executor::block_on};
///
/// let pool = small_pool(2);
/// let parse = |text: &'static str| pool.submit(move || text.parse::<u8>());
/// assert_eq!(Failure::flatten(parse("7").wait()).unwrap(), 7);
///
/// let failed = Failure::flatten(parse("7000").wait()).unwrap_err();
/// assert!(matches!(failed, Failure::Returned(_)));
///
/// let lost = Failure::flatten(pool.submit(|| -> Result<u8, ()> { panic!("no luck") }).wait()).unwrap_err();
/// assert!(matches!(lost, Failure::Lost(TaskError::Panicked(_))));
///
/// let chain = parse("7").map(Failure::flatten).and_then(|seven| async move { Ok(seven + 1) });
/// assert_eq!(block_on(chain).unwrap(), 8);
/// pool.shutdown().unwrap();
/// ```
#[derive(Debug)]
pub enum Failure<E> {
    /// The job ran, and returned this error.
    Returned(E),
    /// The job returned nothing: it panicked, was cancelled, or was dropped.
    Lost(TaskError),
}

impl<E> Failure<E> {
    /// Makes one result of the two that a job which may fail has.
    ///
    /// # Errors
    ///
    /// Whichever there is.
    pub fn flatten<T>(result: Result<Result<T, E>, TaskError>) -> Result<T, Failure<E>> {
        result.map_err(Failure::Lost)?.map_err(Failure::Returned)
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Returned(error) => error.fmt(f),
            Failure::Lost(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for Failure<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Failure::Returned(error) => error.source(),
            Failure::Lost(error) => error.source(),
        }
    }
}

/// What a job threw when it panicked.
///
/// # Examples
///
/// ```
/// use executors::*;
///
/// let pool = crossbeam_workstealing_pool::small_pool(1);
/// let Err(TaskError::Panicked(panic)) = pool.submit(|| panic!("no luck")).wait() else { unreachable!() };
/// assert_eq!(panic.to_string(), "no luck");
/// assert_eq!(panic.into_payload().downcast_ref(), Some(&"no luck"));
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Panic {
    /// The mutex is never locked while shared: it only makes the payload, which is not `Sync`, shareable.
    payload: Mutex<Box<dyn Any + Send>>,
    message: String,
}

impl Panic {
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = message_of(&*payload).to_owned();
        Panic { payload: Mutex::new(payload), message }
    }

    /// The panic's message, or a remark that it had none.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The payload, to be examined or passed to [`std::panic::resume_unwind`].
    #[must_use]
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.payload.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Its message.
impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// So that `?` passes it on, once it is taken out of a [`TaskError`].
impl Error for Panic {}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.message).finish()
    }
}

/// The text of a panic payload, as far as it has one.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "(a payload that is not text)"
    }
}
