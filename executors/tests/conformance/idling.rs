//! Idle pools cost nothing.

use super::{
    subject::{Crew, with_pool},
    tools::names_of,
};
use crate::support::{child::Child, threads, watchdog::until};
use executors::Pool;
use std::{env, thread, time::Duration};

/// The processor time of eight sleeping workers in a period is below a thousandth of it.
pub(crate) fn sleeping_workers_use_no_processor_time(subject: &impl Crew) {
    /// Set this to measure for longer than it is polite in a run of all tests.
    const SECONDS: &str = "EXECUTORS_IDLE_SECONDS";
    const WORKERS: usize = 8;
    let seconds = env::var(SECONDS).map_or(2, |text| text.parse().expect("EXECUTORS_IDLE_SECONDS is a number"));
    let period = Duration::from_secs(seconds);
    Child::default().run(|| {
        let pool = subject.builder().threads(WORKERS).name("idle").build().expect("eight threads");
        assert_eq!(names_of(&pool, WORKERS).len(), WORKERS, "all workers have worked");
        until("all workers are idle", || pool.stats().idle == WORKERS);
        // From idle to asleep it is a few microseconds; what that costs is part of the measured price.
        let Some(before) = threads::processor_time("idle") else { return };
        thread::sleep(period);
        let used = threads::processor_time("idle").expect("it was there before") - before;
        assert!(used < period / 1000, "{used:?} of {period:?} were spent on nothing");
        assert!(before > Duration::ZERO, "the measurement works");
    });
}

/// After the rest everybody is woken, all at once or one after the other.
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
