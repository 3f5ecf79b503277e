//! The report of a shutdown, and why it may not have seen the pool's end.

use std::{error::Error, fmt, time::Duration};

/// What a shutdown has found and done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Jobs that have run to their end, or to a panic, since the pool was built. One that was cancelled before it began
    /// counts as finished once its turn has come.
    pub finished: u64,
    /// Jobs dropped since the pool was built, as in [`Stats::discarded`](crate::Stats::discarded).
    pub discarded: u64,
    /// Jobs that were still running when the report was made, as in [`Stats::running`](crate::Stats::running).
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
    #[non_exhaustive]
    TimedOut {
        /// How long the caller was ready to wait.
        waited: Duration,
        /// Workers that have not left yet (of a `RunNowExecutor` or a `ThreadPoolExecutor`, jobs that run); 0 if other
        /// threads run jobs in their place, or if jobs have no worker left.
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
                "a worker cannot wait for the end of its own pool: the pool has been closed; wait from another thread"
            ),
            ShutdownError::TimedOut { waited, workers, report: ShutdownReport { running, queued, .. } } => {
                write!(f, "after {waited:?}, ")?;
                match workers {
                    0 => f.write_str("jobs of the pool have not ended yet")?,
                    1 => f.write_str("1 worker has not left yet")?,
                    _ => write!(f, "{workers} workers have not left yet")?,
                }
                write!(
                    f,
                    " (jobs running: {running}, queued: {queued}): wait again by `shutdown_timeout`, or drop what is queued \
                     by `shutdown_now`"
                )
            }
        }
    }
}

impl Error for ShutdownError {}

impl ShutdownError {
    /// The message that the methods of [`Executor`](crate::Executor) give for it.
    pub(crate) fn into_message(self) -> String {
        match self {
            ShutdownError::FromWorker => self.to_string(),
            ShutdownError::TimedOut { workers, .. } => {
                format!("Pool failed to shut down in time. {workers} threads remaining.")
            }
        }
    }
}
