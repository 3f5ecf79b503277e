//! The thread of a timer, and the clock of the machine.

mod support;

use executors::{
    CanExecute, Executor, Pool,
    run_now::RunNowExecutor,
    timer::{Timer, TimerError},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use support::{
    case,
    child::{Child, ballast},
    on_drop::OnDrop,
    threads,
    watchdog::{until, within},
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// An executor that is not of this library, and drops each job. It may be one that is full, or one that is closed.
#[derive(Clone, Default)]
struct Refuses {
    given: Arc<AtomicUsize>,
    is_full: Arc<AtomicBool>,
}

impl CanExecute for Refuses {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        self.given.fetch_add(1, SeqCst);
        drop(job);
    }
}

impl Executor for Refuses {
    fn shutdown_async(&self) {}

    fn shutdown_borrowed(&self) -> Result<(), String> {
        Ok(())
    }

    fn may_accept_later(&self) -> bool {
        self.is_full.load(SeqCst)
    }
}

#[test]
fn an_executor_of_another_crate_says_whether_a_job_that_it_dropped_comes_again() {
    within(|| {
        let ((timer, clock), executor) = (Timer::manual(), Refuses::default());
        executor.is_full.store(true, SeqCst);
        let beat = timer.at_fixed_rate(HOUR, &executor, || ()).expect("a thread");
        (0..2).for_each(|_| clock.advance(HOUR));
        assert!(beat.is_scheduled());
        executor.is_full.store(false, SeqCst);
        (0..2).for_each(|_| clock.advance(HOUR));
        assert!(!beat.is_scheduled());
        assert_eq!(executor.given.load(SeqCst), 3, "not again after the one that was dropped for good");
    });
}

/// No thread until the first use, one for all timers, and none when nothing is scheduled and no timer is left that
/// could change that.
#[test]
fn timers_share_at_most_one_thread() {
    case::begin(concat!(module_path!(), "::timers_share_at_most_one_thread"));
    let noise = Child::default().run(|| {
        let executor = RunNowExecutor::new();
        let Some(before) = threads::count() else { return };
        let timers: Vec<_> = (0..10).map(|_| Timer::shared()).collect();
        assert_eq!(threads::count(), Some(before), "nothing is scheduled");
        let mut handles: Vec<_> =
            timers.iter().map(|timer| timer.after(HOUR, &executor, || ()).expect("a thread")).collect();
        let beat = Timer::shared().at_fixed_rate(HOUR, &executor, || ()).expect("a thread");
        assert_eq!(threads::count(), Some(before + 1));
        timers[0].after(Duration::ZERO, &executor, || ()).expect("a thread").wait().expect("no panic");
        assert!(handles.drain(1..).all(|handle| handle.cancel()));
        assert!(beat.cancel());
        drop(timers);
        assert_eq!(threads::count(), Some(before + 1), "one job is still scheduled");
        assert!(handles[0].cancel());
        until("the thread is gone", || threads::count() == Some(before));

        // And once more.
        let again = Timer::shared();
        again.after(Duration::ZERO, &executor, || ()).expect("a thread").wait().expect("no panic");
        assert_eq!(threads::count(), Some(before + 1));
        drop(again);
        until("the thread is gone", || threads::count() == Some(before));
    });
    assert_eq!(noise, "");
}

#[test]
fn a_refused_thread_is_an_error() {
    case::begin(concat!(module_path!(), "::a_refused_thread_is_an_error"));
    let child = Child::default().address_space(2 << 30).variable("RUST_MIN_STACK", "268435456");
    child.run(|| {
        if !cfg!(target_os = "linux") {
            return;
        }
        // There is no room for another stack.
        let ballast = ballast(128 << 20);
        let dropped = Arc::new(());
        let (first, second) = (Arc::clone(&dropped), Arc::clone(&dropped));
        let timer = Timer::new();
        let error = timer.after(Duration::ZERO, &RunNowExecutor::new(), move || drop(first)).expect_err("no thread");
        assert!(matches!(error, TimerError::ThreadRefused(_)), "{error}");
        let second = move || {
            let _captured = &second;
        };
        let error = timer.with_fixed_delay(HOUR, &RunNowExecutor::new(), second).expect_err("no thread");
        assert!(error.to_string().contains("raise the limit"), "{error}");
        assert_eq!(Arc::strong_count(&dropped), 1);
        drop(ballast);
        timer.after(Duration::ZERO, &RunNowExecutor::new(), || ()).expect("a thread").wait().expect("no panic");
    });
}

#[test]
fn no_job_comes_up_too_early() {
    within(|| {
        let executor = RunNowExecutor::new();
        let timer = Timer::new();
        let start = Instant::now();
        let waits: Vec<_> = [7, 1, 12, 3, 3]
            .map(Duration::from_millis)
            .map(|delay| (delay, timer.after(delay, &executor, move || start.elapsed()).expect("a thread")))
            .into();
        for (delay, handle) in waits {
            assert!(handle.wait().expect("no panic") >= delay);
        }
        let (tell, told) = mpsc::channel();
        let start = Instant::now();
        let period = Duration::from_millis(2);
        let job = move || tell.send(start.elapsed()).unwrap_or_default();
        let beat = timer.at_fixed_rate(period, &executor, job).expect("a thread");
        for (number, elapsed) in (1..).zip(told.iter().take(5)) {
            assert!(elapsed >= period * number, "run {number} after {elapsed:?}");
        }
        assert!(beat.cancel());
        // The sender is dropped with the job, so this ends.
        assert!(told.iter().all(|elapsed| elapsed >= 5 * period));
    });
}

/// An executor that panics when it is given a job.
#[derive(Clone)]
struct Fragile;

impl CanExecute for Fragile {
    fn execute_job(&self, _job: Box<dyn FnOnce() + Send + 'static>) {
        std::panic::resume_unwind(Box::new("expected"));
    }
}

impl Executor for Fragile {
    fn shutdown_async(&self) {}

    fn shutdown_borrowed(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Its jobs are dropped; those for other executors run nevertheless.
#[test]
fn an_executor_that_panics_is_survived() {
    within(|| {
        let (timer, clock) = Timer::manual();
        let broken = timer.after(HOUR, &Fragile, || ()).expect("a thread");
        let beat = timer.at_fixed_rate(HOUR, &Fragile, || ()).expect("a thread");
        let executor = RunNowExecutor::new();
        let sound = timer.after(HOUR, &executor, || 7).expect("a thread");
        clock.advance(HOUR);
        assert_eq!(sound.wait().expect("no panic"), 7);
        assert!(broken.wait().is_err());
        assert!(!beat.is_scheduled());
    });
}

/// An executor that panics when a clone of it is dropped.
struct Brittle {
    is_clone: bool,
}

impl Clone for Brittle {
    fn clone(&self) -> Self {
        Brittle { is_clone: true }
    }
}

impl Drop for Brittle {
    fn drop(&mut self) {
        if self.is_clone {
            std::panic::resume_unwind(Box::new("expected"));
        }
    }
}

impl CanExecute for Brittle {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        job();
    }
}

impl Executor for Brittle {
    fn shutdown_async(&self) {}

    fn shutdown_borrowed(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Neither panic reaches the thread that cancels the job, nor do both end the process.
#[test]
fn an_executor_and_a_job_may_both_panic_when_they_are_dropped() {
    case::begin(concat!(module_path!(), "::an_executor_and_a_job_may_both_panic_when_they_are_dropped"));
    Child::default().run(|| {
        let bomb = OnDrop::new(|| std::panic::resume_unwind(Box::new("expected")));
        let job = move || {
            let _owned = &bomb;
        };
        let beat = Timer::new().at_fixed_rate(HOUR, &Brittle { is_clone: false }, job).expect("a thread");
        assert!(beat.cancel());
    });
}

/// In the timer's own thread: schedule, cancel, move the clock, drop the last handle.
#[test]
fn jobs_may_use_their_timer() {
    within(|| {
        let executor = RunNowExecutor::new();
        let (timer, clock) = Timer::manual();
        let clock = Arc::new(clock);
        let (tell, told) = mpsc::channel();
        let (inner, inner_executor, inner_clock) = (timer.clone(), executor.clone(), Arc::clone(&clock));
        let never = timer.at_fixed_rate(3 * HOUR, &executor, || unreachable!("it is cancelled")).expect("a thread");
        let other = never.clone();
        let job = move || {
            assert!(other.cancel());
            let later = inner.after(HOUR, &inner_executor, move || tell.send("later").expect("the test waits"));
            later.expect("a thread").detach();
            drop(inner);
            inner_clock.advance(HOUR);
        };
        let handle = timer.after(HOUR, &executor, job).expect("a thread");
        drop(timer);
        clock.advance(HOUR);
        handle.wait().expect("no panic");
        assert_eq!(told.recv(), Ok("later"));
        assert!(!never.cancel());
    });
}

/// Thousands of jobs, scheduled and cancelled by several threads at once: each runs or is cancelled.
#[test]
fn many_threads_may_schedule_and_cancel() {
    within(|| {
        let timer = Timer::shared();
        let executor = RunNowExecutor::new();
        let runs = Arc::new(AtomicUsize::new(0));
        let cancelled: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|seed| {
                    let (timer, executor, runs) = (timer.clone(), executor.clone(), Arc::clone(&runs));
                    scope.spawn(move || {
                        let schedule = |number: u64| {
                            let runs = Arc::clone(&runs);
                            let delay = Duration::from_micros((number * 37 + seed) % 500);
                            let job = move || runs.fetch_add(1, SeqCst);
                            timer.after(delay, &executor, job).expect("a thread")
                        };
                        let handles: Vec<_> = (0..1000_u64).map(schedule).collect();
                        let cancelled = handles.iter().rev().step_by(2).filter(|handle| handle.cancel()).count();
                        let errors =
                            handles.into_iter().map(|handle| usize::from(handle.wait().is_err())).sum::<usize>();
                        assert_eq!(errors, cancelled);
                        cancelled
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(runs.load(SeqCst) + cancelled, 4000);
        executor.join().expect("this is no worker");
    });
}
