//! Models of the ledger.

use super::Ledger;
use crate::sync::{
    Arc, Gate,
    atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
    check, thread,
};

/// A pool of two workers, one of which runs a job that submits a job to the other.
#[derive(Default)]
struct Pool {
    given: Gate,
    waiting: AtomicUsize,
    has_run: [AtomicBool; 2],
    closed: AtomicBool,
}

fn pool() -> Arc<(Ledger, Pool)> {
    Arc::new((Ledger::new(2), Pool::default()))
}

impl Pool {
    fn run(&self, job: usize) {
        self.has_run[job].store(true, Relaxed); // the ledger alone must make it visible
    }

    fn all_have_run(&self) -> bool {
        self.has_run.iter().all(|job| job.load(Relaxed))
    }
}

fn a_waiter_sees_all_jobs(asks_the_queue: bool) {
    check(3, move || {
        let shared = pool();
        shared.0.accept_outside();
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (ledger, pool) = &*shared;
                    if worker == 0 {
                        ledger.accept_inside(0);
                        pool.waiting.fetch_add(1, SeqCst);
                        pool.given.open();
                    } else {
                        pool.given.pass();
                        pool.waiting.fetch_sub(1, SeqCst);
                    }
                    pool.run(worker);
                    ledger.end(worker, || asks_the_queue && pool.waiting.load(Relaxed) > 0);
                })
            })
            .collect();
        let (ledger, pool) = &*shared;
        assert!(ledger.await_quiet(None, || true));
        assert!(pool.all_have_run());
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(ledger.outstanding(), 0);
    });
}

#[test]
fn a_waiter_sees_the_job_that_a_job_submitted() {
    a_waiter_sees_all_jobs(false);
}

#[test]
fn a_waiter_is_told_of_the_end_though_workers_trust_the_queue() {
    a_waiter_sees_all_jobs(true);
}

#[test]
fn a_closer_that_waits_has_seen_every_accepted_job() {
    check(3, || {
        let shared = pool();
        let submitter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (ledger, pool) = &*shared;
                ledger.accept_outside();
                if pool.closed.load(SeqCst) {
                    ledger.strike();
                    return false;
                }
                pool.run(0);
                ledger.end(0, || false);
                true
            })
        };
        let (ledger, pool) = &*shared;
        pool.closed.store(true, SeqCst);
        assert!(ledger.await_quiet(None, || true));
        let has_run = pool.has_run[0].load(Relaxed);
        assert_eq!(has_run, submitter.join().unwrap(), "a job was accepted that the closer has not seen");
    });
}
