//! What happens when all workers of a burst pool are busy.

use std::time::Duration;

/// What happens to a new job when no worker is idle.
///
/// Steps of futures, including the first, and jobs submitted with [`try_execute_locally`](crate::try_execute_locally)
/// are queued in any case. With `Refuse` and `Block`, a worker that has taken such a job from another's mailbox may
/// count as idle while it runs that, and be dealt a job, which then waits until this worker or another one is free.
///
/// A worker is idle again only after the handle of its job has reported the end: a thread that submits the next job as
/// soon as it sees that may still find all workers busy, but not after [`join`](crate::Pool::join).
///
/// # Examples
///
/// ```
/// use executors::burst_pool::{BurstError, BurstPool, WhenBusy};
/// use std::{sync::mpsc::channel, time::Duration};
///
/// let when_busy = WhenBusy::Block { timeout: Some(Duration::from_millis(1)) };
/// let mut pool = BurstPool::builder().when_busy(when_busy).build()?;
/// let (tell, told) = channel::<()>();
/// pool.spawn(move |_value| assert!(told.recv().is_err()));
/// pool.send(1)?;
/// assert_eq!(pool.send(2), Err(BurstError::Busy(2)), "for a millisecond the worker was not idle");
/// drop(tell);
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenBusy {
    /// It goes to the worker with the fewest jobs.
    #[default]
    Queue,
    /// It is refused: [`BurstPool::send`](super::BurstPool::send) and [`try_execute`](crate::Pool::try_execute) give it
    /// back, `execute` drops it with a `warn!`, and the handle that `submit` returns reports
    /// [`TaskError::Dropped`](crate::TaskError::Dropped).
    Refuse,
    /// Its submitter waits until a worker is idle, and that worker gets it. If the timeout is up first, or the pool is
    /// closed, the job is refused, as with [`Refuse`](Self::Refuse).
    ///
    /// A job that submits another one waits, too: if all workers do so, all wait until the timeout is up. Of the ways
    /// to close the pool only `shutdown_now` ends the wait of a job.
    Block {
        /// How long the submitter waits; `None` means as long as it takes.
        timeout: Option<Duration>,
    },
}
