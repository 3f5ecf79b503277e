//! The channel of the crate `burst-pool`, and that of this workspace behind the same interface, with a thread for each
//! receiver.

use super::{PATIENCE, Pool, departures::Departures};
use crate::failure::Failure;
use std::{
    cell::RefCell,
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The jobs that a worker has given to its pool while all workers were busy.
    static KEPT: RefCell<Option<VecDeque<Job>>> = const { RefCell::new(None) };
}

fn run_jobs(mut receive: impl FnMut() -> Option<Box<Job>>) {
    KEPT.set(Some(VecDeque::new()));
    while let Some(job) = receive() {
        job();
        while let Some(job) = KEPT.with_borrow_mut(|kept| kept.as_mut()?.pop_front()) {
            job();
        }
    }
}

fn keep(job: Box<Job>) -> Option<Box<Job>> {
    KEPT.with_borrow_mut(|kept| match kept {
        Some(kept) => {
            kept.push_back(*job);
            None
        }
        None => Some(job),
    })
}

/// An adapter called `$adapter` for the `Sender` of `$channels`.
///
/// Gives a job to a receiver that waits, and wakes it: `enqueue`, then `wake_all`. If none waits, the channel returns
/// the job; a submitter from outside then tries again, and a worker keeps the job for itself.
macro_rules! adapter {
    ($(#[$meta:meta])* $adapter:ident, $($channels:ident)::+) => {
        $(#[$meta])*
        #[derive(Clone)]
        pub(in crate::registry) struct $adapter {
            sender: Arc<Mutex<Option<$($channels)::+::Sender<Job>>>>,
            /// Jobs that it was given.
            given: Arc<AtomicUsize>,
            /// Jobs that have ended.
            ended: Departures,
            threads: usize,
            departures: Departures,
        }

        impl $adapter {
            pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
                let mut sender = $($channels)::+::Sender::new();
                let departures = Departures::default();
                for _ in 0..threads {
                    let (mut receiver, departures) = (sender.mk_receiver(), departures.clone());
                    let run = move || {
                        run_jobs(|| receiver.recv().ok());
                        departures.count_one();
                    };
                    thread::Builder::new().spawn(run).map_err(|error| Failure::of_build(&error))?;
                }
                Ok($adapter {
                    sender: Arc::new(Mutex::new(Some(sender))),
                    given: Arc::default(),
                    ended: Departures::default(),
                    threads,
                    departures,
                })
            }

            /// Returns the job if no receiver waits for one.
            fn try_send(&self, job: Box<Job>) -> Option<Box<Job>> {
                let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
                let sender = sender.as_mut()?;
                let refused = sender.enqueue(job);
                if refused.is_none() {
                    sender.wake_all();
                }
                refused
            }
        }

        impl Pool for $adapter {
            fn spawn<F>(&self, job: F)
            where
                F: FnOnce() + Send + 'static,
            {
                // Relaxed: a job that gives another publishes this by its end.
                self.given.fetch_add(1, Ordering::Relaxed);
                let ended = self.ended.clone();
                let mut job: Box<Job> = Box::new(Box::new(move || {
                    job();
                    ended.count_one();
                }));
                let mut first_refusal = None;
                while let Some(refused) = self.try_send(job).and_then(keep) {
                    let begin: &Instant = first_refusal.get_or_insert_with(Instant::now);
                    assert!(begin.elapsed() < PATIENCE, "no receiver is left, or none waits");
                    job = refused;
                    thread::yield_now();
                }
            }

            fn finish(&self) -> Result<(), String> {
                let mut given = 0;
                // Jobs that were waited for may have given others.
                while given < self.given.load(Ordering::Relaxed) {
                    given = self.given.load(Ordering::Relaxed);
                    let ended = || format!("only {} of {given} jobs have ended", self.ended.so_far());
                    self.ended.wait_for(given).map_err(|_| ended())?;
                }
                drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
                self.departures.wait_for(self.threads)
            }
        }
    };
}

#[cfg(peers_burst_pool)]
adapter!(
    /// In version 0.5.1, a receiver that looks at its slot at the moment when it is chosen can find it empty, and
    /// panics. Then its job is lost, the receivers that still wait never sleep again, and the run fails: sooner or
    /// later under a steady load, seldom in `wake`.
    BurstPool,
    burst_pool
);
adapter!(CompatBurstPool, executors::compat::burst_pool);

#[cfg(test)]
mod tests {
    use super::*;

    fn give_hops(pool: &CompatBurstPool, hops: usize, ran: Arc<AtomicUsize>) {
        let own = pool.clone();
        pool.spawn(move || {
            ran.fetch_add(1, Ordering::Relaxed);
            if hops > 1 {
                give_hops(&own, hops - 1, ran);
            }
        });
    }

    #[test]
    fn jobs_that_are_given_by_jobs_while_it_finishes_are_waited_for() {
        let (pool, ran) = (CompatBurstPool::new(2).expect("built"), Arc::default());
        give_hops(&pool, 10_000, Arc::clone(&ran));
        pool.finish().expect("in time");
        assert_eq!(ran.load(Ordering::Relaxed), 10_000);
    }
}
