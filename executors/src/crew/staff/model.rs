//! Models of the roll alone, with a count in place of the queue: the promise of an idle worker, and its end.

use super::{RollWord, Terms};
use crate::sync::{
    atomic::{
        AtomicUsize,
        Ordering::{AcqRel, Acquire, SeqCst},
        fence,
    },
    check, thread,
};
use std::{sync::Arc, time::Duration};

struct Crew {
    roll: RollWord,
    waiting: AtomicUsize,
    terms: Terms,
}

impl Crew {
    /// With this many `workers`, all idle.
    fn new(workers: usize, max: usize) -> Arc<Self> {
        let terms = Terms { core: 0, max, only_replaces: false, keep_alive: Duration::ZERO };
        let crew = Crew { roll: RollWord::new(), waiting: AtomicUsize::new(0), terms };
        (0..workers).for_each(|_| assert!(crew.roll.hire(crew.roll.read())));
        Arc::new(crew)
    }

    fn put(&self) {
        self.waiting.fetch_add(1, AcqRel);
        fence(SeqCst);
        while self.hire() {}
    }

    fn hire(&self) -> bool {
        self.terms.hire(&self.roll, || self.waiting.load(Acquire), false)
    }

    /// Becomes active, takes a job, which is there, and is busy. (Without a look at the number of jobs: a thread that
    /// loads before it stores hides from loom what others have loaded before.)
    fn take(&self) {
        self.roll.become_active();
        assert!(self.waiting.fetch_sub(1, AcqRel) > 0);
        self.roll.become_busy();
        fence(SeqCst);
        while self.hire() {}
    }

    fn live(&self) -> usize {
        self.roll.read().live()
    }
}

/// Two submitters, one idle worker: one more is hired, and not two.
#[test]
fn two_jobs_have_two_workers() {
    check(3, || {
        let crew = Crew::new(1, 3);
        let other = thread::spawn({
            let crew = Arc::clone(&crew);
            move || crew.put()
        });
        crew.put();
        other.join().unwrap();
        assert_eq!(crew.live(), 2);
    });
}

/// Two submitters, one idle worker, and a job that it is promised to: two more are hired. Neither submitter may take
/// the worker that the other hires for one more idle worker.
#[test]
fn three_jobs_have_three_workers() {
    check(3, || {
        let crew = Crew::new(1, 4);
        crew.put();
        let other = thread::spawn({
            let crew = Arc::clone(&crew);
            move || crew.put()
        });
        crew.put();
        other.join().unwrap();
        assert_eq!(crew.live(), 3);
    });
}

/// The idle worker takes the job that it is promised to while another one comes in.
#[test]
fn a_worker_that_takes_a_job_is_not_counted_on() {
    check(3, || {
        let crew = Crew::new(1, 3);
        crew.put();
        let worker = thread::spawn({
            let crew = Arc::clone(&crew);
            move || crew.take()
        });
        crew.put();
        worker.join().unwrap();
        assert_eq!((crew.live(), crew.roll.read().idle()), (2, 1));
    });
}

/// Two idle workers take the jobs that they are promised to while another one comes in.
#[test]
fn two_workers_that_take_jobs_are_not_counted_on() {
    check(2, || {
        let crew = Crew::new(2, 4);
        crew.put();
        crew.put();
        let workers = [(); 2].map(|()| {
            let crew = Arc::clone(&crew);
            thread::spawn(move || crew.take())
        });
        crew.put();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!((crew.live(), crew.roll.read().idle()), (3, 1));
    });
}

/// The only worker there may be leaves while a job comes in: it is hired again, by itself or by the submitter, but only
/// once.
#[test]
fn a_place_that_becomes_free_is_taken_once() {
    check(3, || {
        let crew = Crew::new(1, 1);
        crew.roll.become_active();
        let worker = thread::spawn({
            let crew = Arc::clone(&crew);
            move || {
                assert!(crew.roll.resign(0).is_some());
                fence(SeqCst);
                crew.hire();
            }
        });
        crew.put();
        worker.join().unwrap();
        assert_eq!((crew.live(), crew.roll.read().idle()), (1, 1));
    });
}

/// Of two workers, where the core is one, only the first to resign leaves.
#[test]
fn the_core_stays() {
    check(3, || {
        let crew = Crew::new(2, 2);
        let resign = |crew: &Crew| {
            crew.roll.become_active();
            crew.roll.resign(1).is_some()
        };
        let other = thread::spawn({
            let crew = Arc::clone(&crew);
            move || resign(&crew)
        });
        let left = resign(&crew) as usize + other.join().unwrap() as usize;
        assert_eq!((left, crew.live()), (1, 1));
    });
}
