//! A handle to a part of a dispatcher.

use super::{CrewHandle, LimitError, Priority};
use crate::{
    backing::{impl_futures_executor, impl_pool},
    source::dispatch::Reading,
};
use std::fmt;

/// A handle to a subpool of a [`Dispatcher`](super::Dispatcher).
///
/// It is an [`Executor`](crate::Executor), a [`Pool`](crate::Pool) and a [`FuturesExecutor`](crate::FuturesExecutor).
/// What is given to it runs in this subpool, with the handle's priority: jobs, all steps of futures, and jobs that
/// these give by [`try_execute_locally`](crate::try_execute_locally). (Those of a job that is run by the job that waits
/// for it have the latter's priority.)
///
/// The threads, their start and their end belong to the dispatcher: `shutdown` and related methods close the whole
/// dispatcher, `join` waits for all of its jobs, and [`stats`](crate::Pool::stats) counts them.
/// [`status`](Self::status) is about the subpool alone.
///
/// A job that waits for a [`TaskHandle`](crate::TaskHandle) of its own subpool runs that job itself, if it has not
/// begun. Waiting for a job of another subpool blocks the thread until another worker has run it; and if that subpool
/// is bound to this very thread, for ever. A thread that is [reserved](crate::Builder::reserve) for it runs no job that
/// could wait so. A job that blocks counts among those that its subpool runs. So if all of these wait for jobs of other
/// subpools, which wait for further jobs of this one, they wait for ever: await such handles in futures.
#[derive(Clone)]
#[must_use = "a handle to a subpool does nothing by itself: give it jobs"]
pub struct Subpool {
    handle: CrewHandle,
}

/// What a subpool does at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubpoolStatus {
    /// How many of its jobs may run at a time; 1 048 575 if the limit was set higher.
    pub limit: usize,
    /// Workers that run one of its jobs, have just run one, or are about to. Exceeds `limit` only after the limit was
    /// lowered, until enough jobs have ended.
    pub running: usize,
    /// Jobs that have not begun, of all priorities.
    pub queued: usize,
    /// Whether it is paused.
    pub paused: bool,
}

impl Subpool {
    pub(super) fn new(handle: CrewHandle) -> Self {
        Subpool { handle }
    }

    fn number(&self) -> usize {
        self.handle.address().subpool()
    }

    /// Its name.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::{CPU, Dispatcher};
    ///
    /// assert_eq!(Dispatcher::new(1).cpu().name(), CPU);
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.handle.source().names()[self.number()]
    }

    /// The same subpool, for jobs of that `priority`.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::{Dispatcher, Priority}};
    ///
    /// let cpu = Dispatcher::new(1).cpu();
    /// cpu.pause();
    /// let later = cpu.with_priority(Priority::LOW).submit(std::time::Instant::now);
    /// let sooner = cpu.with_priority(Priority::HIGH).submit(std::time::Instant::now);
    /// cpu.resume();
    /// assert!(sooner.wait()? <= later.wait()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_priority(&self, priority: Priority) -> Subpool {
        let address = self.handle.source().address(self.number(), priority.level());
        Subpool::new(self.handle.with_address(address))
    }

    /// The priority that this handle gives to jobs.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::{Dispatcher, Priority};
    ///
    /// let cpu = Dispatcher::new(1).cpu();
    /// assert_eq!(cpu.priority(), Priority::NORMAL);
    /// assert_eq!(cpu.with_priority(Priority::HIGH).priority(), Priority::HIGH);
    /// ```
    #[must_use]
    pub fn priority(&self) -> Priority {
        Priority::ALL[self.handle.address().level()]
    }

    /// Keeps jobs from beginning, until [`resume`](Self::resume) or the close of the dispatcher. Does not wait.
    ///
    /// Jobs that have begun go on, and a worker that is about to take a job of the subpool may still begin it. Once
    /// [`status`](Self::status) shows that none is `running`, none will begin. Submitting goes on as before; the jobs
    /// wait, and `join` waits for them. On a closed dispatcher this has no effect.
    ///
    /// Pauses do not nest: one `resume` ends all of them.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::Dispatcher};
    ///
    /// let cpu = Dispatcher::new(1).cpu();
    /// cpu.pause();
    /// let later = cpu.submit(|| "later");
    /// assert!(cpu.is_paused() && !later.is_finished());
    /// cpu.resume();
    /// assert_eq!(later.wait()?, "later");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pause(&self) {
        self.handle.call_by(|source| source.pause(self.number()));
    }

    /// Lets jobs begin again.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::Dispatcher};
    ///
    /// let dispatcher = Dispatcher::builder().threads(1).subpool("mail", 1).build()?;
    /// let mail = dispatcher.subpool("mail")?;
    /// mail.pause();
    /// let sent = mail.submit(|| "sent");
    /// // The others go on.
    /// assert_eq!(dispatcher.cpu().submit(|| 1).wait()?, 1);
    /// mail.resume();
    /// assert_eq!(sent.wait()?, "sent");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resume(&self) {
        self.handle.call_by(|source| source.resume(self.number()));
    }

    /// Whether it is paused.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Dispatcher;
    ///
    /// let cpu = Dispatcher::new(1).cpu();
    /// assert!(!cpu.is_paused());
    /// cpu.pause();
    /// assert!(cpu.clone().is_paused(), "that is the same subpool");
    /// ```
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.read().is_paused
    }

    /// Changes how many jobs may run at a time. A limit above the number of threads has the same effect as that number.
    ///
    /// If more are running now, none begins until enough have ended; but as with [`pause`](Self::pause), workers that
    /// are about to take a job may still begin it.
    ///
    /// # Errors
    ///
    /// If `limit` is 0, or not 1 and the subpool is bound to a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Dispatcher;
    ///
    /// let dispatcher = Dispatcher::builder().threads(8).subpool("disk", 2).build()?;
    /// let disk = dispatcher.subpool("disk")?;
    /// disk.set_limit(4)?;
    /// assert_eq!(disk.status().limit, 4);
    /// assert!(disk.set_limit(0).is_err(), "`pause` does that");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_limit(&self, limit: usize) -> Result<(), LimitError> {
        let subpool = self.number();
        if limit == 0 {
            return Err(LimitError::zero(self.name()));
        }
        if self.handle.source().is_bound(subpool) {
            return if limit == 1 { Ok(()) } else { Err(LimitError::bound(self.name(), limit)) };
        }
        self.handle.call_by(|source| source.set_limit(subpool, limit));
        Ok(())
    }

    /// A snapshot of the subpool. Jobs and workers of the whole dispatcher are counted by
    /// [`stats`](crate::Pool::stats).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, dispatcher::Dispatcher};
    ///
    /// let dispatcher = Dispatcher::builder().threads(1).subpool("mail", 1).build()?;
    /// let mail = dispatcher.subpool("mail")?;
    /// mail.pause();
    /// mail.execute(|| println!("when it goes on"));
    /// let status = mail.status();
    /// assert_eq!((status.limit, status.running, status.queued, status.paused), (1, 0, 1, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn status(&self) -> SubpoolStatus {
        let Reading { limit, running, queued, is_paused } = self.read();
        SubpoolStatus { limit, running, queued, paused: is_paused }
    }

    fn read(&self) -> Reading {
        self.handle.source().read(self.number())
    }
}

impl fmt::Debug for Subpool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subpool")
            .field("name", &self.name())
            .field("priority", &self.priority())
            .field("status", &self.status())
            .field("dispatcher", &self.handle)
            .finish()
    }
}

impl_pool!(Subpool);
impl_futures_executor!(Subpool);
