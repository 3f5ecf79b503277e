//! How long random programs are run, and which.

use std::{
    env,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant, SystemTime},
};

/// The variable that holds the seed of the first program.
pub(crate) const SEED: &str = "EXECUTORS_STRESS_SEED";

/// The value of an environment variable.
pub(crate) fn number_from_environment(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, which is not a number")))
}

/// Programs that differ in their seeds, for some time.
pub(crate) struct Programs {
    first: u64,
    next: AtomicU64,
    end: Instant,
}

impl Programs {
    /// For so many seconds, unless the environment says otherwise.
    pub(crate) fn for_seconds(default: u64) -> Self {
        let time = Duration::from_secs(number_from_environment("EXECUTORS_STRESS_SECONDS").unwrap_or(default));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is later than 1970");
        let first = number_from_environment(SEED).unwrap_or(now.as_micros() as u64);
        println!("the first program is {SEED}={first}");
        Programs { first, next: AtomicU64::new(first), end: Instant::now() + time }
    }

    /// Runs one after the other until the time is up; one at least, however busy the machine is. May be called by
    /// several threads.
    pub(crate) fn run(&self, program: impl Fn(u64)) {
        loop {
            program(self.next.fetch_add(1, Relaxed));
            if Instant::now() >= self.end {
                return;
            }
        }
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        println!("{} programs were begun", self.next.load(Relaxed) - self.first);
    }
}
