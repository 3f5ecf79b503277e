//! What an errand does on one thread.

use super::{By, Site, first_step};
use std::{
    future::{Future, pending, poll_fn},
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    task::{Poll, Waker},
};

type Job = Box<dyn FnOnce() + Send>;

/// Where steps wait, each with who has put it.
#[derive(Clone, Default)]
struct Queue(Arc<Mutex<Vec<(Job, By)>>>);

impl Queue {
    fn take(&self) -> Vec<(Job, By)> {
        mem::take(&mut *self.0.lock().expect("no panic under this lock"))
    }

    /// Runs the only step that waits, and returns who has put it.
    fn run_one(&self) -> By {
        let mut steps = self.take();
        let (step, by) = steps.pop().expect("a step waits");
        assert!(steps.is_empty());
        step();
        by
    }

    fn is_empty(&self) -> bool {
        self.0.lock().expect("no panic under this lock").is_empty()
    }

    /// The first step of an errand whose site is this queue.
    fn first_step(&self, is_here: bool, future: impl Future<Output = ()> + Send + 'static) -> Job {
        Box::new(first_step(future, Local { queue: self.clone(), is_here }))
    }
}

struct Local {
    queue: Queue,
    is_here: bool,
}

// SAFETY: `put` uses the site before the step is put only.
unsafe impl Site for Local {
    fn is_here(&self) -> bool {
        self.is_here
    }

    unsafe fn put(site: *const Self, step: impl FnOnce() + Send + 'static, by: By) {
        // SAFETY: the caller vouches for it.
        let queue = unsafe { &*site }.queue.clone();
        queue.0.lock().expect("no panic under this lock").push((Box::new(step), by));
    }
}

/// Counts drops.
#[derive(Clone, Default)]
struct Drops(Arc<AtomicUsize>);

impl Drops {
    fn get(&self) -> usize {
        self.0.load(Relaxed)
    }
}

struct Witness(Drops);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Relaxed);
    }
}

/// A future that sends its waker with each poll, and ends with the last of so many.
fn sends_wakers(polls: usize, drops: &Drops) -> (impl Future<Output = ()> + Send + 'static, mpsc::Receiver<Waker>) {
    let ((send, sent), witness, mut left) = (mpsc::channel(), Witness(drops.clone()), polls);
    let future = poll_fn(move |context| {
        let _captured = &witness;
        left -= 1;
        if left == 0 {
            return Poll::Ready(());
        }
        send.send(context.waker().clone()).expect("the test listens");
        Poll::Pending
    });
    (future, sent)
}

fn wake_and_use_up(waker: Waker) {
    waker.wake();
}

/// On a thread that is where steps run, and on another.
fn wherever(test: fn(bool)) {
    for is_here in [true, false] {
        test(is_here);
    }
}

#[test]
fn a_wake_up_puts_one_step() {
    wherever(|is_here| {
        let (queue, drops) = (Queue::default(), Drops::default());
        let (future, wakers) = sends_wakers(3, &drops);
        queue.first_step(is_here, future)();
        assert!(queue.is_empty(), "it sleeps");
        let waker = wakers.recv().expect("it is polled");
        waker.wake_by_ref();
        wake_and_use_up(waker.clone());
        assert_eq!(queue.run_one(), By::Waker);
        // What was noted before the step has begun is answered by it.
        assert!(queue.is_empty() && drops.get() == 0);
        assert!(wakers.recv().expect("it is polled").will_wake(&waker));
        waker.wake();
        queue.run_one();
        assert_eq!(drops.get(), 1);
    });
}

#[test]
fn a_future_that_wakes_itself_is_put_at_the_end_of_its_step() {
    wherever(|is_here| {
        for by_value in [false, true] {
            let queue = Queue::default();
            let mut polls = 0;
            let future = poll_fn(move |context| {
                polls += 1;
                if by_value {
                    wake_and_use_up(context.waker().clone());
                } else {
                    context.waker().wake_by_ref();
                    context.waker().wake_by_ref();
                }
                if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
            });
            queue.first_step(is_here, future)();
            assert_eq!([queue.run_one(), queue.run_one()], [By::Step; 2]);
            assert!(queue.is_empty(), "it has ended, woken or not");
        }
    });
}

/// A step within the poll of another future, which it wakes.
#[test]
fn a_poll_within_a_poll_wakes_the_outer_future() {
    let (outer, inner) = (Queue::default(), Queue::default());
    let (own, mut polls) = (inner.clone(), 0);
    let future = poll_fn(move |context| {
        polls += 1;
        if polls == 2 {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        own.first_step(true, async move { waker.wake() })();
        Poll::Pending
    });
    outer.first_step(true, future)();
    assert_eq!(outer.run_one(), By::Step, "it was woken while it was polled");
    assert!(outer.is_empty() && inner.is_empty());
}

#[test]
fn a_future_without_wakers_is_dropped_by_its_step() {
    let (queue, drops) = (Queue::default(), Drops::default());
    let witness = Witness(drops.clone());
    let future = async move {
        let _captured = &witness;
        pending::<()>().await;
    };
    queue.first_step(true, future)();
    assert!(queue.is_empty() && drops.get() == 1);
}

#[test]
fn a_future_that_has_lost_its_wakers_is_dropped_by_a_last_step() {
    wherever(|is_here| {
        for runs in [true, false] {
            let (queue, drops) = (Queue::default(), Drops::default());
            let (future, wakers) = sends_wakers(9, &drops);
            queue.first_step(is_here, future)();
            drop(wakers.recv().expect("it is polled"));
            assert_eq!(drops.get(), 0, "not by the thread that drops the waker");
            if runs {
                assert_eq!(queue.run_one(), By::Waker);
            } else {
                drop(queue.take());
            }
            assert!(wakers.recv().is_err(), "it is not polled");
            assert!(queue.is_empty() && drops.get() == 1);
        }
    });
}

#[test]
fn a_waker_may_outlive_the_future() {
    wherever(|is_here| {
        let (queue, drops) = (Queue::default(), Drops::default());
        let (future, wakers) = sends_wakers(9, &drops);
        queue.first_step(is_here, future)();
        let waker = wakers.recv().expect("it is polled");
        waker.wake_by_ref();
        drop(queue.take());
        assert_eq!(drops.get(), 1, "the step was dropped");
        waker.wake_by_ref();
        wake_and_use_up(waker.clone());
        drop(waker);
        assert!(queue.is_empty() && drops.get() == 1);
    });
}

#[test]
fn a_panic_ends_the_future() {
    let (queue, drops) = (Queue::default(), Drops::default());
    let witness = Witness(drops.clone());
    let (send, sent) = mpsc::channel();
    let future = poll_fn(move |context| -> Poll<()> {
        let _captured = &witness;
        send.send(context.waker().clone()).expect("the test listens");
        std::panic::resume_unwind(Box::new("as the test wants it"))
    });
    queue.first_step(true, future)();
    assert_eq!(drops.get(), 1);
    sent.recv().expect("it is polled").wake();
    assert!(queue.is_empty());
}
