//! What happens at an elastic pool's bounds.

use std::time::Duration;

/// What becomes of a new job when the maximum of workers is reached and all are busy.
///
/// `queue` jobs may wait in each case; the choice is about the one after. Steps of futures, and jobs given by
/// [`try_execute_locally`](crate::try_execute_locally), are not refused: they go on what was accepted before. They wait
/// in the queue whatever its bound.
///
/// With [`Growth::WhenBlocked`](super::Growth::WhenBlocked) a job that has no worker waits even if the maximum is not
/// reached, and places of workers that are not there are places to wait: up to `max - core + queue` jobs may wait.
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
    /// It waits, with as many others as there are.
    #[default]
    Queue,
    /// It is refused: [`ThreadPool::offer`](super::ThreadPool::offer) and `try_execute` give it back, `execute` drops
    /// it with a `warn!`, and the handle that `submit` gives reports
    /// [`TaskError::Dropped`](crate::TaskError::Dropped).
    Refuse {
        /// How many jobs may wait.
        queue: usize,
    },
    /// Its submitter waits for room. If the time is up first, or the pool is closed, the job is refused: given back or
    /// dropped, as with [`Refuse`](Self::Refuse).
    ///
    /// A job that submits another one waits, too: if all workers do so, they all wait for the timeout.
    Block {
        /// How many jobs may wait.
        queue: usize,
        /// How long the submitter waits; `None` is for as long as it takes.
        timeout: Option<Duration>,
    },
    /// Its submitter runs it, before the call returns.
    ///
    /// A job that submits another one runs that within itself: where each job of a chain submits the next, that may
    /// take stack for each.
    RunOnCaller {
        /// How many jobs may wait.
        queue: usize,
    },
    /// The job that has waited longest is dropped in its favour, and counted as discarded.
    ///
    /// The handle of such a job reports [`TaskError::Dropped`](crate::TaskError::Dropped). Steps of futures, and jobs
    /// given by `try_execute_locally`, are not dropped, however long they have waited: no bound is set to them, so that
    /// would make no room. They and the other jobs are run in turn.
    ///
    /// If none waits, as all who have room run (some in place of threads that the system refused), its submitter waits
    /// for room; or runs it, if the submitter is itself in a job that runs in place of such a thread.
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
