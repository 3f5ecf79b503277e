//! Models of the idle protocol alone. Those in `crew/model.rs` let real workers follow it; here the steps are fewer,
//! and more of their interleavings are explored.

use super::IdleSet;
use crate::{
    parker::{Origin, ParkResult},
    sync::{
        Arc, Gate,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
            fence,
        },
        check, thread,
    },
};
use std::time::Duration;

/// A pool whose jobs are all alike.
struct Toy {
    idle: IdleSet,
    jobs: AtomicUsize,
    /// How many jobs are to be taken before `done` opens.
    awaited: AtomicUsize,
    done: Gate,
    closed: AtomicBool,
    /// Whether workers step aside before they sleep.
    steps_aside: bool,
}

impl Toy {
    /// Starts `workers`, lets `submit` bring `jobs` jobs, and waits until they are taken.
    fn run(workers: usize, jobs: usize, submit: impl FnOnce(&Arc<Toy>)) {
        Toy::run_with(false, workers, jobs, submit);
    }

    fn run_with(steps_aside: bool, workers: usize, jobs: usize, submit: impl FnOnce(&Arc<Toy>)) {
        let toy = Arc::new(Toy {
            idle: IdleSet::new(None),
            jobs: AtomicUsize::new(0),
            awaited: AtomicUsize::new(jobs),
            done: Gate::default(),
            closed: AtomicBool::new(false),
            steps_aside,
        });
        let threads: Vec<_> = (0..workers)
            .map(|worker| {
                let toy = Arc::clone(&toy);
                thread::spawn(move || toy.work(worker))
            })
            .collect();
        submit(&toy);
        toy.done.pass();
        // No worker has to be woken for a job any more, so all may leave. How they do is not explored.
        loom::skip_branch();
        toy.closed.store(true, Relaxed);
        fence(SeqCst);
        toy.idle.unpark_all();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        toy.idle.assert_all_awake();
    }

    /// S2 and S3, as in `Crew::announce`.
    fn submit(&self, origin: Origin) {
        self.jobs.fetch_add(1, Release);
        fence(SeqCst);
        self.idle.job_arrived(origin);
    }

    /// As `Crew::gives_way`, whether or not a worker comes.
    fn submit_giving_way(&self) {
        self.jobs.fetch_add(1, Release);
        fence(SeqCst);
        self.idle.give_way();
        thread::yield_now();
        if self.idle.go_on() {
            fence(SeqCst);
            if self.has_jobs() {
                self.idle.job_arrived(Origin::Outside);
            }
        }
    }

    /// As `Worker::work`.
    fn work(&self, worker: usize) {
        self.idle.init(worker);
        while self.look_for_job(worker) {
            if self.awaited.fetch_sub(1, AcqRel) == 1 {
                self.done.open();
            }
        }
    }

    /// As `Worker::look_for_job`. False means that the pool is closed.
    fn look_for_job(&self, worker: usize) -> bool {
        self.idle.start_looking();
        if self.steps_aside && self.idle.step_aside() {
            thread::yield_now();
            self.idle.come_back();
        }
        let mut nap = false;
        loop {
            self.sleep(worker, nap);
            let over = self.closed.load(Relaxed);
            fence(SeqCst);
            if self.search() {
                self.found();
                return true;
            }
            if over {
                self.idle.stop_looking();
                return false;
            }
            nap = !nap;
        }
    }

    /// As `Worker::found`.
    fn found(&self) {
        if self.idle.stop_looking() {
            fence(SeqCst);
            if self.has_jobs() {
                self.idle.job_arrived(Origin::Waiting);
            }
        }
    }

    /// As `Worker::sleep`.
    fn sleep(&self, worker: usize, nap: bool) {
        if !nap {
            self.idle.prepare_park(worker);
        }
        let nap = nap && self.idle.prepare_nap(worker);
        self.idle.stop_looking();
        fence(SeqCst);
        // A napper leaves jobs that are alone for later, and there are no others then.
        if !nap && self.has_jobs() || self.closed.load(Relaxed) {
            self.idle.abort_park(worker);
        } else if nap {
            self.idle.nap(worker, Duration::ZERO);
        } else {
            assert!(matches!(self.idle.park(worker), ParkResult::Woken));
        }
        self.idle.start_looking();
    }

    fn search(&self) -> bool {
        self.jobs.fetch_update(AcqRel, Acquire, |jobs| jobs.checked_sub(1)).is_ok()
    }

    fn has_jobs(&self) -> bool {
        self.jobs.load(Acquire) > 0
    }
}

fn jobs_of_one_submitter_are_taken(origin: Origin) {
    check(3, move || {
        Toy::run(2, 2, |toy| {
            toy.submit(origin);
            toy.submit(origin);
        });
    });
}

#[test]
fn jobs_from_outside_are_taken() {
    jobs_of_one_submitter_are_taken(Origin::Outside);
}

#[test]
fn jobs_from_inside_are_taken() {
    jobs_of_one_submitter_are_taken(Origin::Inside);
}

/// Jobs come while a worker is aside, or both want to be. At the end no thread counts as called, or as looking.
#[test]
fn jobs_are_taken_by_a_worker_that_has_stepped_aside() {
    check(2, || {
        Toy::run_with(true, 2, 2, |toy| {
            toy.submit(Origin::Outside);
            toy.submit(Origin::Outside);
        });
    });
}

/// A submitter relies on another that gives way; a worker that arrives meanwhile relies on it, too.
fn jobs_are_taken_though_a_submitter_gives_way(workers: usize, preemptions: usize) {
    check(preemptions, move || {
        Toy::run(workers, 2, |toy| {
            let other = thread::spawn({
                let toy = Arc::clone(toy);
                move || toy.submit(Origin::Outside)
            });
            toy.submit_giving_way();
            other.join().unwrap();
        });
    });
}

#[test]
fn jobs_are_taken_by_one_though_a_submitter_gives_way() {
    jobs_are_taken_though_a_submitter_gives_way(1, 3);
}

#[test]
fn jobs_are_taken_by_two_though_a_submitter_gives_way() {
    jobs_are_taken_though_a_submitter_gives_way(2, 2);
}

/// The first job is taken back, so that the worker that was called for it comes in vain, and naps. The second must not
/// be overlooked.
#[test]
fn a_lone_job_is_taken_after_a_nap() {
    check(3, || {
        Toy::run(1, 1, |toy| {
            toy.submit(Origin::Alone);
            if toy.search() {
                toy.submit(Origin::Alone);
            }
        });
    });
}

#[test]
fn jobs_of_two_submitters_are_taken() {
    check(3, || {
        Toy::run(1, 2, |toy| {
            let other = thread::spawn({
                let toy = Arc::clone(toy);
                move || toy.submit(Origin::Inside)
            });
            toy.submit(Origin::Outside);
            other.join().unwrap();
        });
    });
}

/// Sleepers that wait for a change without looking for jobs, as users of a parker may.
struct Sleepers {
    idle: IdleSet,
    change: AtomicUsize,
}

impl Sleepers {
    fn new() -> Arc<Self> {
        Arc::new(Sleepers { idle: IdleSet::new(None), change: AtomicUsize::new(0) })
    }

    /// Sleeps until `change` is at least `target`.
    fn sleep(&self, worker: usize, target: usize) {
        loop {
            self.idle.prepare_park(worker);
            if self.change.load(Acquire) >= target {
                self.idle.abort_park(worker);
                return;
            }
            assert!(matches!(self.idle.park(worker), ParkResult::Woken));
        }
    }

    fn change(&self) {
        self.change.fetch_add(1, Release);
    }
}

#[test]
fn all_sleepers_wake() {
    check(3, || {
        let sleepers = Sleepers::new();
        let threads: Vec<_> = (0..2)
            .map(|worker| {
                let sleepers = Arc::clone(&sleepers);
                thread::spawn(move || sleepers.sleep(worker, 1))
            })
            .collect();
        sleepers.change();
        sleepers.idle.unpark_all();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        sleepers.idle.assert_all_awake();
    });
}

/// Each call may come between an announcement and its withdrawal; the token that it leaves must not end a later sleep.
#[test]
fn a_call_counts_once() {
    check(3, || {
        let sleepers = Sleepers::new();
        let sleeper = thread::spawn({
            let sleepers = Arc::clone(&sleepers);
            move || {
                sleepers.idle.prepare_park(0);
                sleepers.idle.abort_park(0);
                sleepers.sleep(0, 1);
                sleepers.sleep(0, 2);
            }
        });
        for _ in 0..2 {
            sleepers.change();
            sleepers.idle.unpark_all();
        }
        sleeper.join().unwrap();
        sleepers.idle.assert_all_awake();
    });
}

#[test]
fn one_of_two_sleepers_wakes() {
    check(3, || {
        let sleepers = Sleepers::new();
        let threads: Vec<_> = (0..2)
            .map(|worker| {
                let sleepers = Arc::clone(&sleepers);
                thread::spawn(move || {
                    sleepers.sleep(worker, 1);
                    sleepers.idle.unpark_one();
                })
            })
            .collect();
        sleepers.change();
        sleepers.idle.unpark_one();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        sleepers.idle.assert_all_awake();
    });
}
