//! Running a future to its end on the calling thread.

use crate::{
    containment::{contain, guard},
    local,
    sync::{
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Release},
        },
        thread::{self, Thread},
    },
};
use std::{
    future::Future,
    panic::resume_unwind,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

/// Polls `future` on this thread until it is done. While it is pending, and has not been woken, the thread
/// [blocks](local::blocking). A panic in its `Drop` is caught, as for a future that a pool polls.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(Some(future));
    let result = contain(|| poll_to_end(future.as_mut().as_pin_mut().expect("it is there until it has ended")));
    guard(|| future.set(None));
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

fn poll_to_end<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    let alarm = Arc::new(Alarm { sleeper: thread::current(), has_rung: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&alarm));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending if alarm.take_ring() => {} // it goes on at once, and does not block
            Poll::Pending => local::blocking(|| alarm.wait()),
        }
    }
}

/// Remembers that it has rung: an unpark of the thread may be consumed by something else that parks, such as a future
/// that blocks in its `poll`.
struct Alarm {
    sleeper: Thread,
    has_rung: AtomicBool,
}

impl Alarm {
    fn wait(&self) {
        while !self.take_ring() {
            thread::park();
        }
    }

    /// Whether it has rung since it was last asked; it forgets that.
    ///
    /// Acquire: pairs with the Release in `wake_by_ref`, so the next poll sees what it was woken for. If several have
    /// rung since the last, it sees that of each: all of them are read-modify-writes, which this one reads from.
    fn take_ring(&self) -> bool {
        self.has_rung.swap(false, Acquire)
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.swap(true, Release);
        self.sleeper.unpark();
    }
}
