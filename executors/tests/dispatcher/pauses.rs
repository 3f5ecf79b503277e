//! Subpools that are paused.

use super::tools::{Room, chain, end, watched};
use crate::support::watchdog::{PATIENCE, until, watch};
use executors::{
    Executor, Pool, WaitError,
    dispatcher::{Dispatcher, Priority},
    timer::Timer,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    time::Duration,
};

#[test]
fn nothing_runs_while_a_subpool_is_paused() {
    let builder = Dispatcher::builder().threads(3).cpu_limit(2).subpool("some", 2).subpool("other", 1);
    let dispatcher = builder.bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let other = dispatcher.subpool("other").expect("it was built");
    for name in ["cpu", "some", "bound"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        let (done, jobs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        chain(subpool.clone(), &done, &jobs);
        for _ in 0..20 {
            subpool.pause();
            assert!(subpool.is_paused());
            until("its last job has ended", || subpool.status().running == 0);
            let (before, woken) = (jobs.load(SeqCst), dispatcher.stats().wake_ups);
            chain(subpool.clone(), &done, &jobs);
            chain(subpool.with_priority(Priority::HIGHEST), &done, &jobs);
            assert!(dispatcher.stats().wake_ups <= woken + 1, "a worker was woken for paused jobs of {name}");
            // The other subpools go on, on all shared threads.
            for _ in 0..50 {
                other.submit(|| ()).wait().expect("it runs");
            }
            assert_eq!(jobs.load(SeqCst), before + 2, "only those of {name} that began here");
            assert!(matches!(dispatcher.join_timeout(Duration::from_millis(1)), Err(WaitError::TimedOut)));
            subpool.resume();
            until("it goes on", || jobs.load(SeqCst) > before + 100);
        }
        done.store(true, SeqCst);
        dispatcher.join().expect("this is no worker");
    }
    end(dispatcher);
}

#[test]
fn pauses_do_not_nest() {
    let dispatcher = Dispatcher::new(1);
    let _watchdog = watched(&dispatcher);
    let cpu = dispatcher.cpu();
    cpu.pause();
    dispatcher.cpu().pause();
    let paused = cpu.submit(|| ());
    assert!(!paused.is_finished());
    cpu.resume();
    assert!(!cpu.is_paused());
    paused.wait().expect("it runs");
    drop(cpu);
    end(dispatcher);
}

/// While it waits, its further runs are passed over.
#[test]
fn a_job_that_is_repeated_is_withheld_once() {
    const SECOND: Duration = Duration::from_secs(1);
    let dispatcher =
        Dispatcher::builder().threads(2).subpool("some", 2).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    for name in ["cpu", "some", "bound"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        let ((timer, clock), runs) = (Timer::manual(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&runs);
        subpool.pause();
        let beat = timer.at_fixed_rate(SECOND, &subpool, move || _ = count.fetch_add(1, SeqCst)).expect("a thread");
        for _ in 0..10 {
            clock.advance(SECOND);
            assert_eq!((subpool.status().queued, runs.load(SeqCst)), (1, 0), "in {name}");
        }
        subpool.resume();
        dispatcher.join().expect("this is no worker");
        assert_eq!((subpool.status().queued, runs.load(SeqCst)), (0, 1), "in {name}");
        clock.advance(SECOND);
        dispatcher.join().expect("this is no worker");
        assert_eq!(runs.load(SeqCst), 2, "in {name} it goes on");
        assert!(beat.cancel());
    }
    end(dispatcher);
}

#[test]
fn the_close_lifts_pauses_and_no_limits() {
    let dispatcher =
        Dispatcher::builder().threads(4).subpool("some", 1).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (ran, some) = (Arc::new(AtomicUsize::new(0)), Room::default());
    for name in ["cpu", "some", "bound"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        subpool.pause();
        for _ in 0..100 {
            let (ran, room) = (Arc::clone(&ran), if name == "some" { some.clone() } else { Room::default() });
            subpool.execute(move || {
                room.enter();
                ran.fetch_add(1, SeqCst);
            });
        }
    }
    let paused = dispatcher.cpu();
    let report = dispatcher.shutdown_timeout(PATIENCE).expect("it drains");
    assert_eq!((report.finished, ran.load(SeqCst)), (300, 300));
    assert_eq!(some.most(), 1, "the limit is as it was");
    paused.pause();
    assert!(!paused.is_paused(), "it is closed");
}

/// Though the worker that runs the waiting job has dropped handles.
#[test]
fn a_job_may_wait_for_one_that_only_the_drop_of_the_last_handle_lets_run() {
    let (mark, done) = (Arc::new(()), Arc::new(AtomicBool::new(false)));
    let (weak, finished) = (Arc::downgrade(&mark), Arc::clone(&done));
    let builder = Dispatcher::builder().threads(2).subpool("some", 1).panic_handler(move |_| drop(mark.clone()));
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watch();
    let (some, (tell, told), (ask, asked)) =
        (dispatcher.subpool("some").expect("it was built"), mpsc::channel(), mpsc::channel());
    some.pause();
    some.execute(move || tell.send(()).expect("the other job waits"));
    dispatcher.execute({
        let own = dispatcher.clone();
        move || {
            (0..3).for_each(|_| drop(own.clone()));
            drop(own);
            ask.send(()).expect("the test listens");
            finished.store(told.recv() == Ok(()), SeqCst);
        }
    });
    assert_eq!(asked.recv(), Ok(()));
    drop((dispatcher, some));
    until("all threads have left", || weak.strong_count() == 0);
    assert!(done.load(SeqCst));
}

#[test]
fn paused_jobs_can_be_discarded() {
    let dispatcher = Dispatcher::builder().threads(2).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let bound = dispatcher.subpool("bound").expect("it was built");
    bound.pause();
    let handle = bound.submit(|| ());
    assert_eq!(dispatcher.shutdown_now().discarded, 1);
    assert!(handle.wait().is_err());
    end(dispatcher);
}
