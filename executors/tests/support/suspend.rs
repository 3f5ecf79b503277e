//! A future that lets others run.

use std::{future::poll_fn, task::Poll};

/// Wakes itself and yields, once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
