//! What happens when an elastic pool is full.

use std::time::Duration;

/// What happens to a new job when the maximum of workers is reached and all are busy.
///
/// In each case `queue` jobs may wait; the choice is about the next one. Steps of futures, and jobs submitted with
/// [`try_execute_locally`](crate::try_execute_locally), are not refused: they continue what was accepted before. They
/// wait in the queue whatever its bound.
///
/// With [`Growth::WhenBlocked`](super::Growth::WhenBlocked) a job without a worker waits even if the maximum is not
/// reached, and places of workers that do not exist are places to wait: up to `max - core + queue` jobs may wait (one
/// less if the core is empty, because one worker comes nevertheless).
///
/// What is bounded is the number of accepted jobs that have not ended: `max` and `queue` together, whatever keeps the
/// workers busy. (Jobs that `RunOnCaller` runs on their submitters do not count.) Where workers run steps of futures or
/// such local jobs, as many more jobs may wait. A job gives its room back only after its handle has reported its end: a
/// thread that submits the next job as soon as it sees that may still find the pool full, but not after
/// [`join`](crate::Pool::join).
///
/// # Examples
///
/// ```
/// use executors::{Executor, Pool, elastic_pool::{Saturation, ThreadPool}};
/// use std::{sync::mpsc, thread, time::Duration};
///
/// // One job runs, and one waits.
/// let saturated = |saturation| {
///     let pool = ThreadPool::builder().threads(1).when_saturated(saturation).build()?;
///     let ((begin, begun), (tell, told)) = (mpsc::channel(), mpsc::channel::<()>());
///     pool.execute(move || {
///         begin.send(()).expect("it is waited for");
///         assert!(told.recv().is_err());
///     });
///     begun.recv().expect("it begins");
///     let waits = pool.submit(|| thread::current().id());
///     Ok::<_, executors::BuildError>((pool, waits, tell))
/// };
///
/// let (pool, waits, tell) = saturated(Saturation::Refuse { queue: 1 })?;
/// assert!(pool.try_execute(|| ()).is_err());
/// drop(tell);
/// # waits.wait()?;
///
/// let (pool, waits, tell) = saturated(Saturation::Block { queue: 1, timeout: Some(Duration::from_millis(1)) })?;
/// assert!(pool.try_execute(|| ()).is_err(), "there is no room in this time");
/// drop(tell);
/// # waits.wait()?;
///
/// let (pool, waits, tell) = saturated(Saturation::RunOnCaller { queue: 1 })?;
/// assert_eq!(pool.submit(|| thread::current().id()).wait()?, thread::current().id());
/// drop(tell);
/// # waits.wait()?;
///
/// let (pool, waits, tell) = saturated(Saturation::DiscardOldest { queue: 1 })?;
/// assert!(pool.try_execute(|| ()).is_ok());
/// assert!(waits.wait().is_err(), "it was dropped for the other");
/// drop(tell);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Saturation {
    /// It waits, however many others do.
    #[default]
    Queue,
    /// It is refused: [`try_execute`](crate::Pool::try_execute) gives it back, `execute` drops it with a `warn!`, and
    /// the handle that `submit` returns reports [`TaskError::Dropped`](crate::TaskError::Dropped).
    Refuse {
        /// How many jobs may wait.
        queue: usize,
    },
    /// Its submitter waits for room. If the timeout is up first, or the pool is closed, the job is refused: given back
    /// or dropped, as with [`Refuse`](Self::Refuse).
    ///
    /// Submitters that wait have no order: whichever looks first gets the room, and it may be one that has just come.
    ///
    /// A job that submits another one waits, too: if all workers do so, all wait until the timeout is up. Of the ways
    /// to close the pool only `shutdown_now` ends the wait of a job.
    Block {
        /// How many jobs may wait.
        queue: usize,
        /// How long the submitter waits; `None` means as long as it takes.
        timeout: Option<Duration>,
    },
    /// Its submitter runs it, before the call returns.
    ///
    /// A job that submits another one runs it within itself: a chain in which each job submits the next may take stack
    /// for each of them.
    RunOnCaller {
        /// How many jobs may wait.
        queue: usize,
    },
    /// The job that has waited longest is dropped in its favour, and counted as discarded.
    ///
    /// The handle of such a job reports [`TaskError::Dropped`](crate::TaskError::Dropped). Steps of futures, and jobs
    /// submitted with `try_execute_locally`, are not dropped, however long they have waited: they are not bounded, so
    /// dropping them would make no room. Workers take from these and from the other jobs in turn.
    ///
    /// If no job waits, because all that have room run (some in place of threads that the system refused), the
    /// submitter waits for room; or it runs the job, if it is itself in a job that runs in place of such a thread.
    DiscardOldest {
        /// How many jobs may wait; at least 1.
        queue: usize,
    },
}

impl Saturation {
    /// How many jobs may wait, if there is a bound.
    pub(super) fn queue(self) -> Option<usize> {
        match self {
            Saturation::Queue => None,
            Saturation::Refuse { queue }
            | Saturation::Block { queue, .. }
            | Saturation::RunOnCaller { queue }
            | Saturation::DiscardOldest { queue } => Some(queue),
        }
    }
}
