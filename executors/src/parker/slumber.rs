//! How a thread sleeps after it has announced that: steps W3 to W5 of `parker/README.md`, the same for all.

use super::{ParkResult, Parker};
use crate::sync::{
    atomic::{Ordering::SeqCst, fence},
    thread,
};
use std::time::Duration;

/// Sleeps until woken, or for as long as `limit` says if that is less, unless a last check shows that there `is_cause`
/// to stay awake. Thread `thread_id`, the caller, has announced its sleep, and is no longer prepared afterwards.
pub(crate) fn sleep(
    parker: &impl Parker,
    thread_id: usize,
    is_cause: impl Fn() -> bool,
    limit: impl Fn() -> Option<Duration>,
) {
    // Pairs with the fence between a cause and the check whether a thread sleeps: either that check sees the
    // announcement, or we see the cause.
    fence(SeqCst);
    loop {
        if is_cause() {
            return parker.abort_park(thread_id);
        }
        if let Some(duration) = limit() {
            parker.nap(thread_id, duration);
            // Pairs with the fence of a submitter that has called nobody because this thread napped (N4): that one's
            // job is seen by the search that follows.
            return fence(SeqCst);
        }
        match parker.park(thread_id) {
            ParkResult::Retry => thread::yield_now(),
            ParkResult::Abort | ParkResult::Woken => return,
        }
    }
}
