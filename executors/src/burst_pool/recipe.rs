//! The options of a burst pool, and how one for closures is built.

use super::{
    CHARTER, ThreadPool, WhenBusy,
    handle::{CrewHandle, Handle},
};
use crate::{
    builder::{Build, Builder, sealed::Recipe},
    crew::{Setup, Terms},
    error::BuildError,
    mailbox::Mailboxes,
    options::Options,
    parker,
    source::mail::{MailSource, Theft},
};
use std::sync::Arc;

/// The options that only burst pools have.
#[derive(Debug, Clone, Copy)]
pub struct BurstOptions {
    pub(super) when_busy: WhenBusy,
    steals: bool,
}

impl BurstOptions {
    pub(super) const DEFAULT: BurstOptions = BurstOptions { when_busy: WhenBusy::Queue, steals: true };

    /// With `Refuse` and `Block` a thief that claims itself could make all workers count as busy while one is idle: see
    /// `burst_pool/README.md`.
    pub(super) fn theft(self) -> Theft {
        match (self.steals, self.when_busy) {
            (false, _) => Theft::Never,
            (true, WhenBusy::Queue) => Theft::OnOwnAccount,
            (true, WhenBusy::Refuse | WhenBusy::Block { .. }) => Theft::OnOthersAccount,
        }
    }
}

/// Options that both kinds of burst pools have, and no other pool.
impl<P: Build<Extra = BurstOptions>> Builder<P> {
    /// What happens to a job when no worker is idle. The default is [`WhenBusy::Queue`].
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Pool, burst_pool::{ThreadPool, WhenBusy}};
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering::Relaxed}};
    ///
    /// // The submitter waits for an idle worker, however long that takes.
    /// let when_busy = WhenBusy::Block { timeout: None };
    /// let pool = ThreadPool::builder().threads(2).when_busy(when_busy).build()?;
    /// let done = Arc::new(AtomicUsize::new(0));
    /// for _ in 0..10 {
    ///     let done = done.clone();
    ///     pool.execute(move || _ = done.fetch_add(1, Relaxed));
    /// }
    /// pool.shutdown()?;
    /// assert_eq!(done.load(Relaxed), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn when_busy(mut self, when_busy: WhenBusy) -> Self {
        self.extra.when_busy = when_busy;
        self
    }

    /// Whether a worker that has nothing to do takes jobs that were dealt to others and have not begun; by default it
    /// does.
    ///
    /// Without stealing, a job may wait behind one that takes long, or for ever behind one that waits for it, even
    /// though another worker is idle. `stealing(false)` is for jobs of equal length that never wait for each other, and
    /// are to run on the worker to which they were dealt. Two do not: a job that another job of the pool waits for by
    /// [`TaskHandle::wait`](crate::TaskHandle::wait) may run on that one's worker, ahead of others; and a job that
    /// comes in while the pool closes may run when its worker has left. (In the second case, a value of a `BurstPool`
    /// goes to the handler of a worker that has left, or else of the first.)
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::BurstPool;
    /// use std::sync::mpsc::channel;
    ///
    /// let mut pool = BurstPool::builder().stealing(false).build()?;
    /// let (tell, told) = channel();
    /// for worker in 0..2 {
    ///     let tell = tell.clone();
    ///     pool.spawn(move |value| tell.send((worker, value)).unwrap());
    /// }
    /// pool.send_all(["one", "two"])?;
    /// pool.join()?;
    /// let mut handled: Vec<_> = told.try_iter().collect();
    /// handled.sort_unstable();
    /// assert_eq!(handled, [(0, "one"), (1, "two")], "each by the worker that it was dealt to");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stealing(mut self, steals: bool) -> Self {
        self.extra.steals = steals;
        self
    }
}

impl Build for ThreadPool {}

impl Recipe for ThreadPool {
    type Extra = BurstOptions;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, extra: BurstOptions) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        options.refuse_preheat(
            CHARTER.label,
            "leave it out: all its threads start in `build`, as jobs are dealt to them",
        )?;
        let (terms, parker) = (Terms::fixed(options.thread_count()?), parker::for_bursts());
        let source = MailSource::new(Arc::new(Mailboxes::new(terms.core)), extra.theft());
        let crew = CrewHandle::start(Setup { terms, cold: 0..0, source, parker, charter: CHARTER, options })?;
        Ok(ThreadPool { handle: Handle::new(crew, extra.when_busy) })
    }
}
