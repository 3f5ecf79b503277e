//! Idle pools cost nothing.

use super::{
    subject::{Crew, with_pool},
    tools::{Life, names_of},
};
use crate::support::{
    child::Child,
    gate::Gate,
    threads,
    watchdog::{PATIENCE, until, within},
};
use executors::{Executor, Idle, Pool};
use std::{
    env, mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// Once all workers are asleep, the processor time that they use in a period, all together, is below a thousandth of
/// it. A worker that woke up a thousand times a second would be found in a quarter of a second.
pub(crate) fn sleeping_workers_use_no_processor_time(subject: &impl Crew) {
    /// Set this to measure for longer than is polite in a run of all tests.
    const SECONDS: &str = "EXECUTORS_IDLE_SECONDS";
    let workers = subject.at_most(64);
    let seconds = env::var(SECONDS).map_or(0.25, |text| text.parse().expect("EXECUTORS_IDLE_SECONDS is a number"));
    let period = Duration::from_secs_f64(seconds);
    Child::default().run(|| {
        let pool = subject.builder().threads(workers).name("idle").build().expect("the subject allows this many");
        assert_eq!(names_of(&pool, workers).len(), workers, "all workers have worked");
        let are_asleep = || threads::all_asleep("idle").is_none_or(|asleep| asleep);
        until("all workers are asleep", || pool.stats().idle == workers && are_asleep());
        // A worker that wakes up does so in each period; what workers had left to do before they slept is in the first.
        let mut least = Duration::MAX;
        for _ in 0..4 {
            let Some(before) = threads::processor_time("idle") else { return };
            thread::sleep(period); // the time is what is measured
            let used = threads::processor_time("idle").expect("it was there before") - before;
            assert!(before > Duration::ZERO, "the measurement works");
            least = least.min(used);
            if least < period / 1000 {
                return;
            }
        }
        panic!("{least:?} of {period:?} were spent on nothing");
    });
}

/// A worker that has run two jobs in a row and has nothing to do any more goes on looking for 5 us: it takes hardly
/// more processor time than one that does not look. (What is found here is one that looks thirty times as long. One
/// that never stops is never seen asleep.)
pub(crate) fn spinning_ends_soon(subject: &impl Crew) {
    // Both workers may look, without optimisation each look takes longer, and on cores that share one unit each takes
    // twice as long while the other looks: the difference was 60 us once.
    const LIMIT: Duration = Duration::from_micros(150);
    Child::default().run(|| {
        // A worker that looks for too long does so each time; what a busy machine adds comes and goes.
        let mut least = [Duration::MAX; 2];
        for round in 0..150 {
            for (least, idle) in least.iter_mut().zip([Idle::Park { spin: Duration::ZERO }, Idle::PARK]) {
                let Some(used) = time_of_a_pair(subject, idle) else { return };
                *least = used.min(*least);
            }
            if round >= 5 && least[1] < least[0] + LIMIT {
                return;
            }
        }
        panic!("a job and its successor take {:?} without looking around, and {:?} with it", least[0], least[1]);
    });
}

/// The workers' processor time for a job that submits another, from sleep to sleep; the median of some.
fn time_of_a_pair(subject: &impl Crew, idle: Idle) -> Option<Duration> {
    let pool = subject.builder().threads(2).name("idle").idle(idle).build().expect("two threads");
    let asleep = || threads::all_asleep("idle").is_none_or(|asleep| asleep);
    assert_eq!(names_of(&pool, 2).len(), 2, "all workers have worked");
    until("all workers are asleep", asleep);
    let mut before = threads::processor_time("idle")?;
    assert!(before > Duration::ZERO, "the measurement works");
    let mut times: Vec<_> = (0..15)
        .map(|_| {
            let clone = pool.clone();
            let second = pool.submit(move || clone.submit(|| ())).wait().expect("no panic");
            second.wait().expect("no panic");
            until("all workers are asleep", asleep);
            let now = threads::processor_time("idle").expect("it was there before");
            now - mem::replace(&mut before, now)
        })
        .collect();
    times.sort_unstable();
    pool.shutdown_timeout(PATIENCE).expect("nothing is left");
    Some(times[times.len() / 2])
}

/// While one job follows the other in a closed pool, a worker without a job naps; it does not look all the time.
pub(crate) fn workers_sleep_beside_a_chain_that_a_closed_pool_drains(subject: &impl Crew) {
    const PERIOD: Duration = Duration::from_millis(100);
    /// As a multiple of one worker's time. A worker that looked all the time would take as much again.
    const LIMIT: f64 = 1.25;

    fn hop(pool: &(impl Pool + Clone + 'static), stop: Arc<AtomicBool>) {
        if !stop.load(Relaxed) {
            let next = pool.clone();
            pool.execute(move || hop(&next, stop));
        }
    }

    Child::default().run(|| {
        let pool = subject.builder().threads(2).name("idle").build().expect("two threads");
        assert_eq!(names_of(&pool, 2).len(), 2, "all workers have worked");
        let stop = Arc::default();
        pool.execute({
            let (pool, stop) = (pool.clone(), Arc::clone(&stop));
            move || {
                pool.shutdown_async();
                hop(&pool, stop);
            }
        });
        // A worker that looks all the time does so in each period; how often a nap ends with a theft comes and goes.
        let mut periods = Vec::new();
        let are_enough = |periods: &[f64]| periods.iter().filter(|&&cores| cores < LIMIT).count() >= 3;
        while !are_enough(&periods) && periods.len() < 20 {
            let (begin, before) = (Instant::now(), threads::processor_time("idle"));
            thread::sleep(PERIOD); // the time is what is measured
            let used = threads::processor_time("idle").zip(before).map(|(after, before)| after - before);
            periods.push(used.unwrap_or_default().as_secs_f64() / begin.elapsed().as_secs_f64());
        }
        stop.store(true, Relaxed);
        assert!(are_enough(&periods), "two threads used this many cores while one had jobs: {periods:.2?}");
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    });
}

/// A worker that would look for jobs for ever becomes idle when a thread waits for that, and stops at the end.
pub(crate) fn a_worker_that_looks_for_long_keeps_no_thread_waiting(subject: &impl Crew) {
    let idle = Idle::Park { spin: Duration::MAX };
    let pool = subject.builder().threads(2).idle(idle).build().expect("two threads");
    for _ in 0..3 {
        let local = pool.clone();
        pool.execute(move || (0..10).for_each(|_| local.execute(|| ())));
        assert_eq!(pool.join_timeout(PATIENCE), Ok(()));
    }
    pool.execute(|| ());
    pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
}

/// A worker closes its pool before it looks for jobs for ever, if a job of its own has dropped the last handle.
pub(crate) fn a_worker_that_looks_for_long_closes_its_pool(subject: &impl Crew) {
    within(|| {
        let (life, gate, idle) = (Life::new(), Gate::default(), Idle::Park { spin: Duration::MAX });
        let mark = life.mark();
        let builder = subject.builder().threads(2).idle(idle).panic_handler(move |_| drop(mark.clone()));
        let pool = builder.build().expect("two threads");
        let (last, dropped) = (pool.clone(), gate.clone());
        pool.execute(move || {
            dropped.pass();
            drop(last);
        });
        drop(pool);
        gate.open();
        life.until_over();
    });
}

/// A submitter that again and again gives one job and waits for all finds the worker looking: it need not be called.
pub(crate) fn a_worker_goes_on_looking_while_a_thread_waits_for_all_jobs(subject: &impl Crew) {
    let idle = Idle::Park { spin: Duration::MAX };
    let pool = subject.builder().threads(1).idle(idle).build().expect("one thread");
    let give_and_wait = || {
        pool.execute(|| ());
        assert_eq!(pool.join_timeout(PATIENCE), Ok(()));
        pool.stats().wake_ups
    };
    let calls = give_and_wait();
    assert_eq!((0..20).map(|_| give_and_wait()).max(), Some(calls));
    pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
}

/// After a rest, all workers are woken, all at once or one after the other.
pub(crate) fn sleeping_workers_wake_up(subject: &impl Crew) {
    let threads = subject.at_most(8);
    with_pool(subject, threads, |pool| {
        for _ in 0..20 {
            assert_eq!(names_of(pool, threads).len(), threads);
            until("all workers are idle", || pool.stats().idle == threads);
            assert_eq!(pool.submit(|| 1).wait().expect("no panic"), 1);
            until("all workers are idle", || pool.stats().idle == threads);
        }
    });
}
