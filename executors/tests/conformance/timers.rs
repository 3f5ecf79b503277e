//! Jobs that are given to an executor later, with a clock that stands still until it is advanced.

use super::{
    subject::{Crew, Subject, with, with_pool},
    tools::{Counter, Life, Witness, occupy, panic_quietly},
};
use crate::support::{
    case,
    gate::Gate,
    log_book,
    watchdog::{until, within},
};
use executors::{
    Executor, Pool, TaskError,
    timer::{ManualClock, Periodic, Timer, TimerError},
};
use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

const SECOND: Duration = Duration::from_secs(1);

/// Advances the clock, and waits until the jobs that are due have run.
fn advance(clock: &ManualClock, pool: &impl Pool, by: Duration) {
    clock.advance(by);
    pool.join().expect("this is no worker");
}

pub(crate) fn a_job_runs_after_its_delay(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let later = timer.after(10 * SECOND, pool, || 7).expect("a thread");
        let never = timer.after(Duration::MAX, pool, || 8).expect("a thread");
        advance(&clock, pool, 10 * SECOND - Duration::from_nanos(1));
        assert!(!later.is_finished());
        advance(&clock, pool, Duration::from_nanos(1));
        assert!(later.is_finished());
        assert_eq!(later.wait().expect("no panic"), 7);
        assert_eq!(timer.after(Duration::ZERO, pool, || 9).expect("a thread").wait().expect("no panic"), 9);
        let thrown: Result<(), _> = {
            let handle = timer.after(SECOND, pool, || panic_quietly("expected")).expect("a thread");
            clock.advance(SECOND);
            handle.wait()
        };
        assert!(matches!(thrown, Err(TaskError::Panicked(_))));
        assert!(never.cancel());
    });
}

/// Two jobs that become due after the close: only their handles and the log say so.
pub(crate) fn jobs_that_come_too_late_are_dropped_with_a_warning(subject: &impl Crew) {
    log_book::open();
    let name = format!("late-{}", case::name());
    with(subject.builder().threads(1).name(&*name).build().expect("one thread"), |pool| {
        let (timer, clock) = Timer::manual();
        let once = timer.after(SECOND, pool, || ()).expect("a thread");
        let beat = timer.at_fixed_rate(SECOND, pool, || ()).expect("a thread");
        pool.shutdown_async();
        assert!(!once.is_finished() && beat.is_scheduled(), "their time has not come");
        clock.advance(SECOND);
        assert!(matches!(once.wait(), Err(TaskError::Dropped)));
        assert!(!beat.is_scheduled());
        let entries = log_book::of_all_threads(&name);
        assert_eq!(entries.iter().map(|(level, _)| *level).collect::<Vec<_>>(), [log::Level::Warn; 2], "{entries:?}");
    });
}

/// The worker that waits blocks, though it could run the job at once.
pub(crate) fn a_job_that_waits_leaves_that_of_a_timer_to_others(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 1);
        let (timer, clock) = Timer::manual();
        let due = timer.after(SECOND, pool, || thread::current().id()).expect("a thread");
        let ([begun, given], (tell, told)) = ([(); 2].map(|()| Gate::default()), mpsc::channel());
        let waiter = pool.submit({
            let [begun, given] = [&begun, &given].map(Gate::clone);
            move || {
                begun.open();
                given.pass();
                let due = due.wait_timeout(Duration::from_millis(1)).expect_err("the other worker is busy");
                tell.send(()).expect("the test listens");
                (due.wait().expect("the other worker runs it"), thread::current().id())
            }
        });
        begun.pass();
        clock.advance(SECOND);
        until("the pool has it", || pool.stats().queued == 1);
        given.open();
        let timed_out = told.recv();
        gate.open();
        let (ran, waited) = waiter.wait().expect("no panic");
        assert!(timed_out.is_ok() && ran != waited);
    });
}

/// In the order of their times, in whatever order they were scheduled.
pub(crate) fn jobs_come_up_in_order(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let (timer, clock) = Timer::manual();
        let order = Arc::new(Mutex::new(Vec::new()));
        for delay in [5, 3, 9, 3, 1, 5] {
            let order = Arc::clone(&order);
            let job = move || {
                order.lock().expect("no panic under this lock").push(delay);
            };
            timer.after(delay * SECOND, pool, job).expect("a thread").detach();
        }
        for _ in 0..9 {
            advance(&clock, pool, SECOND);
        }
        assert_eq!(*order.lock().expect("no panic under this lock"), [1, 3, 3, 5, 5, 9]);
    });
}

pub(crate) fn a_delayed_job_can_be_cancelled(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let (ran, dropped) = (Counter::default(), Counter::default());
        let handles: Vec<_> = (0..10)
            .map(|_| {
                let (ran, witness) = (ran.clone(), Witness(dropped.clone()));
                let job = move || {
                    let _captured = &witness;
                    ran.add();
                };
                timer.after(SECOND, pool, job).expect("a thread")
            })
            .collect();
        for (number, handle) in (1..).zip(&handles[..9]) {
            assert!(handle.cancel());
            assert_eq!(dropped.get(), number);
        }
        assert!(format!("{timer:?}").contains("scheduled: 1"), "a cancelled job is forgotten: {timer:?}");
        advance(&clock, pool, SECOND);
        assert_eq!((ran.get(), dropped.get()), (1, 10));
        for (number, handle) in handles.into_iter().enumerate() {
            assert_eq!(matches!(handle.wait(), Err(TaskError::Cancelled)), number < 9);
        }
    });
}

/// On the grid of its period; runs that were missed are not made up for.
pub(crate) fn a_rate_keeps_to_its_times(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        clock.advance(SECOND / 3);
        let runs = Counter::default();
        let count = runs.clone();
        let beat = timer.at_fixed_rate(10 * SECOND, pool, move || count.add()).expect("a thread");
        let expect = |by, total| {
            advance(&clock, pool, by);
            assert_eq!(runs.get(), total, "at {:?}", clock.now());
        };
        expect(9 * SECOND, 0);
        expect(SECOND, 1);
        expect(10 * SECOND, 2);
        // At 37 s: one run, that of 30 s.
        expect(17 * SECOND, 3);
        expect(2 * SECOND, 3);
        expect(SECOND, 4);
        expect(1000 * SECOND, 5);
        assert!(beat.is_scheduled());
        assert!(beat.cancel());
        assert!(!beat.is_scheduled() && !beat.cancel());
        expect(100 * SECOND, 5);
    });
}

/// The first time may come sooner or later than the others.
pub(crate) fn a_repetition_may_begin_at_any_time(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for (first, runs_by_second) in [(Duration::ZERO, [1, 1, 2, 2, 3]), (3 * SECOND, [0, 0, 0, 1, 1])] {
            let (timer, clock) = Timer::manual();
            let (rate, delay) = (Counter::default(), Counter::default());
            let (count_rate, count_delay) = (rate.clone(), delay.clone());
            let handles = [
                timer.at_fixed_rate_after(first, 2 * SECOND, pool, move || count_rate.add()).expect("a thread"),
                timer.with_fixed_delay_after(first, 2 * SECOND, pool, move || count_delay.add()).expect("a thread"),
            ];
            for (second, runs) in runs_by_second.into_iter().enumerate() {
                advance(&clock, pool, if second == 0 { Duration::ZERO } else { SECOND });
                assert_eq!((rate.get(), delay.get()), (runs, runs), "{first:?}, {second} s");
            }
            assert!(handles.iter().all(Periodic::cancel));
            let zero = timer.at_fixed_rate_after(first, Duration::ZERO, pool, || ()).expect_err("no period");
            assert!(matches!(zero, TimerError::ZeroPeriod));
        }
    });
}

/// A time beyond the end of the clock never comes, even when the clock has reached its end.
pub(crate) fn a_repetition_ends_with_time(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for jump in [Duration::MAX, Duration::MAX - SECOND] {
            let (timer, clock) = Timer::manual();
            let runs = Counter::default();
            let count = |runs: &Counter| {
                let runs = runs.clone();
                move || runs.add()
            };
            let rate = timer.at_fixed_rate(SECOND / 2, pool, count(&runs)).expect("a thread");
            let delay = timer.with_fixed_delay(SECOND / 2, pool, count(&runs)).expect("a thread");
            let once = timer.after(SECOND, pool, count(&runs)).expect("a thread");
            let never = timer.after(Duration::MAX, pool, count(&runs)).expect("a thread");
            advance(&clock, pool, jump);
            assert_eq!(runs.get(), 3);
            once.wait().expect("no panic");
            advance(&clock, pool, SECOND);
            // Each of the two may run once more at the end, or not; in any case, no more than that.
            assert!(runs.get() <= 5);
            let total = runs.get();
            advance(&clock, pool, Duration::MAX);
            assert_eq!((clock.now(), runs.get()), (Duration::MAX, total));
            assert!(!never.is_finished() && never.cancel());
            assert!(rate.cancel() && delay.cancel());
        }
    });
}

/// The delay begins with the end of each run, whenever that was.
pub(crate) fn a_delay_counts_from_the_end(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let runs = Counter::default();
        let count = runs.clone();
        let poll = timer.with_fixed_delay(10 * SECOND, pool, move || count.add()).expect("a thread");
        let expect = |by, total| {
            advance(&clock, pool, by);
            assert_eq!(runs.get(), total, "at {:?}", clock.now());
        };
        expect(10 * SECOND, 1);
        expect(17 * SECOND, 2);
        // Counted from 27 s.
        expect(9 * SECOND, 2);
        expect(SECOND, 3);
        assert!(poll.cancel());
        expect(100 * SECOND, 3);
    });
}

pub(crate) fn a_repetition_survives_panics(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let runs = Counter::default();
        for rate in [true, false] {
            let count = runs.clone();
            let job = move || {
                count.add();
                panic_quietly("expected");
            };
            let repeated =
                if rate { timer.at_fixed_rate(SECOND, pool, job) } else { timer.with_fixed_delay(SECOND, pool, job) };
            repeated.expect("a thread").detach();
        }
        for number in 1..=5 {
            advance(&clock, pool, SECOND);
            assert_eq!((runs.get(), pool.stats().panicked), (2 * number, 2 * number as u64));
        }
        pool.shutdown_async();
        clock.advance(SECOND);
    });
}

/// Until then the job has not ended, so a time that comes meanwhile is skipped.
pub(crate) fn a_panic_is_reported_before_the_job_is_given_again(subject: &impl Crew) {
    let [reached, left] = [(); 2].map(|()| Gate::default());
    let builder = subject.builder().threads(1).panic_handler({
        let (reached, left) = (reached.clone(), left.clone());
        move |_| {
            reached.open();
            left.pass();
        }
    });
    with(builder.build().expect("one thread"), |pool| {
        let (timer, clock) = Timer::manual();
        let runs = Counter::default();
        let count = runs.clone();
        let job = move || {
            count.add();
            panic_quietly("expected");
        };
        let beat = timer.at_fixed_rate(SECOND, pool, job).expect("a thread");
        clock.advance(SECOND);
        reached.pass();
        clock.advance(SECOND);
        assert_eq!((pool.stats().queued, beat.is_scheduled()), (0, true));
        left.open();
        pool.join().expect("this is no worker");
        assert_eq!(runs.get(), 1);
        advance(&clock, pool, SECOND);
        assert_eq!(runs.get(), 2);
        assert!(beat.cancel());
    });
}

pub(crate) fn a_period_of_zero_is_refused(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, _clock) = Timer::manual();
        let dropped = Counter::default();
        let witness = Witness(dropped.clone());
        let job = move || {
            let _captured = &witness;
        };
        let error = timer.at_fixed_rate(Duration::ZERO, pool, job).expect_err("no pause");
        assert!(matches!(error, TimerError::ZeroPeriod), "{error}");
        assert_eq!(dropped.get(), 1);
        let error = timer.with_fixed_delay(Duration::ZERO, pool, || ()).expect_err("no pause");
        assert!(error.to_string().contains("at least 1 ns"), "{error}");
    });
}

/// What is due then is dropped, its handle says so, and the timer does not try again.
pub(crate) fn a_closed_executor_ends_scheduled_jobs(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let (runs, dropped) = (Counter::default(), Counter::default());
        let job = || {
            let (runs, witness) = (runs.clone(), Witness(dropped.clone()));
            move || {
                let _captured = &witness;
                runs.add();
            }
        };
        let once = timer.after(2 * SECOND, pool, job()).expect("a thread");
        let rate = timer.at_fixed_rate(2 * SECOND, pool, job()).expect("a thread");
        let delay = timer.with_fixed_delay(SECOND, pool, job()).expect("a thread");
        advance(&clock, pool, SECOND);
        assert_eq!(runs.get(), 1);
        pool.shutdown_async();
        assert!(rate.is_scheduled() && delay.is_scheduled());
        clock.advance(SECOND);
        assert!(!rate.is_scheduled() && !delay.is_scheduled());
        assert!(!rate.cancel() && !delay.cancel());
        assert!(matches!(once.wait(), Err(TaskError::Dropped)));
        assert_eq!((runs.get(), dropped.get()), (1, 3));
        assert!(format!("{timer:?}").contains("scheduled: 0"), "{timer:?}");
    });
}

/// A job that outlasts its period does not run twice at a time, and is not given to the executor meanwhile.
pub(crate) fn a_repetition_does_not_overlap(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let (begun, has_begun) = mpsc::channel();
        let gates: Vec<_> = (0..3).map(|_| Gate::default()).collect();
        let mut passing = gates.clone().into_iter();
        let job = move || {
            begun.send(()).expect("the test waits");
            if let Some(gate) = passing.next() {
                gate.pass();
            }
        };
        let beat = timer.at_fixed_rate(SECOND, pool, job).expect("a thread");
        for gate in gates {
            clock.advance(SECOND);
            has_begun.recv().expect("it begins");
            for _ in 0..10 {
                clock.advance(SECOND / 2);
            }
            assert_eq!((pool.stats().running, pool.stats().queued), (1, 0));
            assert!(has_begun.try_recv().is_err(), "one at a time");
            gate.open();
            pool.join().expect("this is no worker");
            assert!(has_begun.try_recv().is_err(), "a run that was passed over is not made up for");
        }
        assert!(beat.cancel());
    });
}

/// When `cancel` has returned, nothing begins, not even what waits in the executor's queue.
pub(crate) fn a_repetition_can_be_cancelled_in_each_stage(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let (runs, dropped) = (Counter::default(), Counter::default());
        let repeat = |gate: Option<Gate>| {
            let (runs, witness) = (runs.clone(), Witness(dropped.clone()));
            let job = move || {
                let _captured = &witness;
                runs.add();
                if let Some(gate) = &gate {
                    gate.pass();
                }
            };
            timer.with_fixed_delay(SECOND, pool, job).expect("a thread")
        };

        let waiting = repeat(None);
        assert!(waiting.cancel() && !waiting.cancel());
        assert_eq!((runs.get(), dropped.get()), (0, 1));

        let queued = repeat(None);
        let workers = occupy(pool, 2);
        clock.advance(SECOND);
        assert!(queued.cancel() && !queued.cancel() && !queued.is_scheduled());
        workers.open();
        pool.join().expect("this is no worker");
        assert_eq!((runs.get(), dropped.get()), (0, 2));

        let gate = Gate::default();
        let running = repeat(Some(gate.clone()));
        clock.advance(SECOND);
        until("it runs", || runs.get() == 1);
        assert!(running.cancel() && !running.cancel());
        gate.open();
        advance(&clock, pool, 5 * SECOND);
        assert_eq!((runs.get(), dropped.get()), (1, 3));
    });
}

/// A pool that is over has dropped the repetition it had, and the timer has forgotten it.
pub(crate) fn a_discarded_repetition_is_over(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        let gate = occupy(pool, 2);
        let beat = timer.at_fixed_rate(SECOND, pool, || ()).expect("a thread");
        clock.advance(SECOND);
        assert!(beat.is_scheduled());
        pool.shutdown_now();
        gate.open();
        until("the pool has dropped it", || !beat.is_scheduled());
    });
}

/// A repetition keeps its pool and its timer alive without any other handle, until it is cancelled.
pub(crate) fn a_repetition_owns_a_handle(subject: &impl Subject) {
    within(|| {
        let (timer, clock) = Timer::manual();
        let pool = subject.pool(1);
        let (runs, life) = (Counter::default(), Life::new());
        let (count, mark) = (runs.clone(), life.mark());
        let beat = timer.at_fixed_rate(SECOND, &pool, move || {
            let _captured = &mark;
            count.add();
        });
        drop((timer, pool));
        until("it has run three times", || {
            clock.advance(SECOND);
            runs.get() >= 3
        });
        assert!(beat.expect("a thread").cancel());
        life.until_over();
    });
}

/// Cancelled by several threads while it becomes due: it ends once, and nothing begins afterwards.
pub(crate) fn cancelling_races_with_the_time(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (timer, clock) = Timer::manual();
        for _ in 0..200 {
            let (runs, dropped) = (Counter::default(), Counter::default());
            let (count, witness) = (runs.clone(), Witness(dropped.clone()));
            let once = {
                let (count, witness) = (count.clone(), Witness(dropped.clone()));
                timer
                    .after(SECOND, pool, move || {
                        let _captured = &witness;
                        count.add();
                    })
                    .expect("a thread")
            };
            let beat = timer
                .with_fixed_delay(SECOND, pool, move || {
                    let _captured = &witness;
                    count.add();
                })
                .expect("a thread");
            let (cancelled, ended) = std::thread::scope(|scope| {
                let cancel = scope.spawn(|| usize::from(once.cancel()));
                let ends: Vec<_> = (0..2).map(|_| scope.spawn(|| usize::from(beat.cancel()))).collect();
                clock.advance(SECOND);
                let ended: usize = ends.into_iter().map(|end| end.join().expect("no panic")).sum();
                (cancel.join().expect("no panic"), ended)
            });
            assert_eq!(ended, 1);
            assert_eq!(matches!(once.wait(), Err(TaskError::Cancelled)), cancelled == 1);
            pool.join().expect("this is no worker");
            let total = runs.get();
            assert!((1 - cancelled..=2 - cancelled).contains(&total), "{total} runs, {cancelled} cancelled");
            advance(&clock, pool, 2 * SECOND);
            assert_eq!((runs.get(), dropped.get()), (total, 2));
        }
        assert!(format!("{timer:?}").contains("scheduled: 0"), "{timer:?}");
    });
}
