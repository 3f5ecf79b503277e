//! A user's parker that panics takes the worker that called it out of the pool, and nothing else.

use super::tools::{Counter, panic_quietly};
use crate::support::{
    naive_parker::NaiveParker,
    watchdog::{until, within},
};
use executors::{
    Executor, Idle, Pool, TaskError,
    crossbeam_workstealing_pool::ThreadPool,
    parker::{ParkResult, Parker},
};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

/// What workers tell their parker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    StartLooking,
    StopLooking,
    Prepare,
    Park,
}

/// Panics once, at the next event of the kind that was chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brittle {
    parker: NaiveParker,
    fuse: Arc<Mutex<Option<Event>>>,
    parked: Arc<AtomicUsize>,
}

impl Brittle {
    fn light(&self, event: Event) {
        *self.fuse.lock().expect("no panic under this lock") = Some(event);
    }

    fn happens(&self, event: Event) {
        let is_it = self.fuse.lock().expect("no panic under this lock").take_if(|fuse| *fuse == event).is_some();
        if is_it {
            panic_quietly("a parker");
        }
    }
}

impl Parker for Brittle {
    fn max_threads(&self) -> Option<usize> {
        self.parker.max_threads()
    }

    fn init(&self, thread_id: usize) {
        self.parker.init(thread_id);
    }

    fn prepare_park(&self, thread_id: usize) {
        self.parker.prepare_park(thread_id);
        self.happens(Event::Prepare);
    }

    fn abort_park(&self, thread_id: usize) {
        self.parker.abort_park(thread_id);
    }

    fn park(&self, thread_id: usize) -> ParkResult {
        self.happens(Event::Park);
        self.parked.fetch_add(1, SeqCst);
        let result = self.parker.park(thread_id);
        self.parked.fetch_sub(1, SeqCst);
        result
    }

    fn unpark_one(&self) {
        self.parker.unpark_one();
    }

    fn unpark_all(&self) {
        self.parker.unpark_all();
    }

    fn start_looking(&self, thread_id: usize) -> bool {
        self.happens(Event::StartLooking);
        self.parker.start_looking(thread_id)
    }

    fn stop_looking(&self, thread_id: usize) -> bool {
        self.happens(Event::StopLooking);
        self.parker.stop_looking(thread_id)
    }
}

/// A pool of two workers, and how many of them have stopped.
fn pool_with(parker: &Brittle) -> (ThreadPool<Brittle>, Counter) {
    let stopped = Counter::default();
    let count = stopped.clone();
    let builder = ThreadPool::builder()
        .threads(2)
        .preheat(2)
        .idle(Idle::PARK)
        .parker(parker.clone())
        .on_stop(move |_| count.add());
    (builder.build().expect("two threads"), stopped)
}

/// One worker is left, and does what two did before.
fn goes_on_with_one(pool: &ThreadPool<Brittle>, stopped: &Counter) {
    pool.join().expect("this is no worker");
    until("one worker is gone", || pool.stats().workers == 1);
    assert_eq!(stopped.get(), 1, "the hook was called for it");
    for number in 0..10 {
        assert_eq!(pool.submit(move || number).wait().expect("no panic"), number);
    }
    pool.join().expect("this is no worker");
    pool.shutdown_borrowed().expect("nothing blocks");
    assert_eq!(stopped.get(), 2);
}

pub(crate) fn a_worker_that_is_lost_is_counted_out(subject: &impl Fn() -> Brittle) {
    for event in [Event::StartLooking, Event::StopLooking, Event::Prepare, Event::Park] {
        within(|| {
            let parker = subject();
            let (pool, stopped) = pool_with(&parker);
            pool.execute(move || parker.light(event));
            goes_on_with_one(&pool, &stopped);
        });
    }
}

pub(crate) fn a_job_in_the_hand_of_a_lost_worker_is_dropped(subject: &impl Fn() -> Brittle) {
    within(|| {
        let parker = subject();
        let (pool, stopped) = pool_with(&parker);
        until("both workers are asleep", || parker.parked.load(SeqCst) == 2);
        parker.light(Event::StopLooking);
        assert!(matches!(pool.submit(|| ()).wait(), Err(TaskError::Dropped)));
        goes_on_with_one(&pool, &stopped);
    });
}

/// Who closes a pool without workers declares its end.
pub(crate) fn a_pool_that_has_lost_all_workers_ends(subject: &impl Fn() -> Brittle) {
    within(|| {
        let parker = subject();
        let (pool, stopped) = pool_with(&parker);
        for left in [1, 0] {
            let parker = parker.clone();
            pool.execute(move || parker.light(Event::StartLooking));
            until("another worker is gone", || pool.stats().workers == left);
        }
        pool.join().expect("this is no worker");
        pool.shutdown_borrowed().expect("nobody is left");
        assert_eq!(stopped.get(), 2);
    });
}
