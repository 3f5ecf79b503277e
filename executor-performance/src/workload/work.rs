//! What jobs do besides passing their chain on.

use std::{sync::Arc, time::Duration};

/// What each job of a relay does, and when chains and producers are done. All jobs share it: whatever they write to it
/// is measured with them.
pub trait Work: Send + Sync + 'static {
    /// Done by each job before it gives its successor to the executor.
    fn before(&self) {}

    /// Done by each job after that.
    fn after(&self) {}

    /// Whether neither does anything: then jobs need not call them.
    fn is_nothing(&self) -> bool {
        false
    }

    /// How long that takes in each job, if it is known and to be subtracted from the measured time.
    fn time(&self) -> Duration {
        Duration::ZERO
    }

    /// Each job asks this first: whether its chain may go on. If not, the chain ends with this job.
    fn goes_on(&self) -> bool {
        true
    }

    /// Done by each producer once it has given all its jobs to the executor.
    fn producer_is_done(&self) {}
}

/// No work.
impl Work for () {
    fn is_nothing(&self) -> bool {
        true
    }
}

/// For callers that look at the work while it is done.
impl<W: Work> Work for Arc<W> {
    fn before(&self) {
        W::before(self);
    }

    fn after(&self) {
        W::after(self);
    }

    fn is_nothing(&self) -> bool {
        W::is_nothing(self)
    }

    fn time(&self) -> Duration {
        W::time(self)
    }

    fn goes_on(&self) -> bool {
        W::goes_on(self)
    }

    fn producer_is_done(&self) {
        W::producer_is_done(self);
    }
}
