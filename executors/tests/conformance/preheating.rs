//! Threads that start when they are needed.

use super::subject::{Crew, with};
use crate::support::{
    child::{Child, ballast},
    gate::Gate,
    log_book,
    watchdog::until,
};
use executors::{Executor, Pool, try_execute_locally};
use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

/// Preheated threads are there from the beginning, and others do not start for jobs for which a worker is free.
pub(crate) fn one_job_at_a_time_needs_few_threads(subject: &impl Crew) {
    for preheat in [0, 2] {
        with(subject.builder().threads(6).preheat(preheat).build().expect("possible"), |pool| {
            let workers = || pool.stats().workers;
            assert_eq!(workers(), preheat.max(1));
            for _ in 0..100 {
                pool.submit(|| ()).wait().expect("it runs");
                pool.join().expect("this is no worker");
                until("it sleeps", || pool.stats().idle == workers());
            }
            assert!(workers() <= preheat.max(1) + 1, "{} threads for one job at a time", workers());
        });
    }
}

/// Jobs from several threads that wait for each other.
pub(crate) fn no_needed_thread_is_missed(subject: &impl Crew) {
    for _ in 0..50 {
        with(subject.builder().threads(4).preheat(1).build().expect("possible"), |pool| {
            let meeting = Arc::new(Barrier::new(4));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let meeting = Arc::clone(&meeting);
                        pool.execute(move || _ = meeting.wait());
                    });
                }
            });
            pool.join().expect("this is no worker");
            assert_eq!(pool.stats().workers, 4);
        });
    }
}

/// Threads that have not started, or are on their way, do not delay a pool's end.
pub(crate) fn a_pool_may_end_before_its_threads_come(subject: &impl Crew) {
    for jobs in 0..3 {
        let ran = Arc::new(AtomicUsize::new(0));
        with(subject.builder().threads(8).preheat(1).build().expect("possible"), |pool| {
            for _ in 0..jobs {
                let ran = Arc::clone(&ran);
                pool.execute(move || _ = ran.fetch_add(1, SeqCst));
            }
        });
        assert_eq!(ran.load(SeqCst), jobs);
    }
}

pub(crate) fn preheating_more_threads_than_there_are_starts_all(subject: &impl Crew) {
    with(subject.builder().threads(4).preheat(usize::MAX).build().expect("possible"), |pool| {
        assert_eq!(pool.stats().workers, 4);
    });
}

/// A hook that takes long holds up its own thread only.
pub(crate) fn a_job_does_not_wait_for_a_hook(subject: &impl Crew) {
    let gate = Gate::default();
    let builder = subject.builder().threads(4).preheat(1);
    let slow = {
        let gate = gate.clone();
        move |worker| {
            if worker == 0 {
                gate.pass();
            }
        }
    };
    with(builder.on_start(slow).build().expect("possible"), |pool| {
        pool.submit(move || gate.open()).wait().expect("it runs on another");
    });
}

/// The end waits for a hook, and for the job that it submits.
pub(crate) fn a_hook_may_wait_for_its_job_while_the_pool_closes(subject: &impl Crew) {
    for _ in 0..20 {
        let ran = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ran);
        let hook = move |worker| {
            if worker == 0 {
                let (tell, told) = mpsc::channel();
                try_execute_locally(move || tell.send(()).expect("the hook listens"))
                    .unwrap_or_else(|_| panic!("taken"));
                told.recv().expect("the job tells");
                count.fetch_add(1, SeqCst);
            }
        };
        with(subject.builder().threads(4).preheat(1).on_start(hook).build().expect("possible"), |_pool| ());
        assert_eq!(ran.load(SeqCst), 1);
    }
}

/// The system has no room for another stack at first, and later it has: no seat is lost.
pub(crate) fn a_refused_thread_comes_later(subject: &impl Crew) {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    const STACK: usize = 256 << 20;
    const JOBS: usize = 1000;
    Child::default().address_space(4 << 30).run(|| {
        log_book::open();
        let builder = subject.builder().threads(3).preheat(1).name("few").stack_size(STACK);
        with(builder.build().expect("there is room for one"), |pool| {
            let ballast = ballast(STACK / 2);
            let (gate, begun) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
            let give = || {
                let (gate, begun) = (gate.clone(), Arc::clone(&begun));
                pool.execute(move || {
                    begun.fetch_add(1, SeqCst);
                    gate.pass();
                });
            };
            give();
            until("the first has begun", || begun.load(SeqCst) == 1);
            (0..JOBS).for_each(|_| give());
            let refusals = || log_book::of_all_threads("few goes on without worker 1").len();
            let refused = refusals();
            assert!((2..JOBS / 10).contains(&refused), "{refused}: there are pauses after refusals");
            assert_eq!(pool.stats().workers, 1);
            drop(ballast);
            until("two more have come", || {
                give();
                begun.load(SeqCst) == 3
            });
            assert_eq!((refusals(), pool.stats().workers), (refused, 3));
            gate.open();
        });
    });
}
