//! The door: delays the exits of threads, so that they do not overlap.

use crate::placement::core_count;
use std::{
    hint,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Where the threads of this process leave it.
///
/// When a thread has done its work, the system takes its memory away, and tells all cores on which the process runs.
/// Two threads that end at the same time wait for each other in that, and each of the cores waits for both: that takes
/// several times as long as one after the other (`docs/results/creation.md`, "Many threads that end").
pub(super) struct Door {
    epoch: OnceLock<Instant>,
    /// When it is free, in nanoseconds since the epoch. Relaxed: nothing else depends on this time.
    free: AtomicU64,
}

pub(super) static DOOR: Door = Door { epoch: OnceLock::new(), free: AtomicU64::new(0) };

/// How long a thread takes to be gone.
const PASSAGE: Duration = Duration::from_micros(10);

/// The longest that a thread waits, so that where many can end at the same time, they do not burn their cores.
const PATIENCE: Duration = PASSAGE.saturating_mul(4);

impl Door {
    /// Waits until the threads that came before are gone, but not for long. To be called by a thread that is about to
    /// end.
    pub(super) fn pass(&self) {
        // It was measured on Linux only; on one core no other thread could leave meanwhile; and what a model does must
        // not depend on the clock.
        if !cfg!(target_os = "linux") || core_count() == 1 || cfg!(executors_loom) {
            return;
        }
        let epoch = self.epoch.get_or_init(Instant::now);
        let now = nanos(epoch.elapsed());
        let latest = now + nanos(PATIENCE);
        let turn = |free: u64| free.clamp(now, latest);
        let free = self.free.fetch_update(Relaxed, Relaxed, |free| Some(turn(free) + nanos(PASSAGE)));
        let turn = turn(free.unwrap_or_else(|free| free));
        if turn > now {
            while nanos(epoch.elapsed()) < turn {
                hint::spin_loop();
            }
        }
    }
}

/// Enough for some centuries.
fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_for_those_before_it_but_not_for_long() {
        if core_count() == 1 {
            println!("skipped: there is one core");
            return;
        }
        let door = Door { epoch: OnceLock::new(), free: AtomicU64::new(0) };
        let passes = || {
            let begin = Instant::now();
            door.pass();
            begin.elapsed()
        };
        passes();
        let epoch = *door.epoch.get().expect("a thread has passed");
        let begin = epoch.elapsed();
        (0..10).for_each(|_| _ = passes());
        assert!(epoch.elapsed() - begin >= 9 * PASSAGE, "each waits until the one before has gone");
        door.free.store(u64::MAX / 2, Relaxed);
        assert!(passes() >= PATIENCE);
        assert!(door.free.load(Relaxed) < u64::MAX / 2, "a later thread does not wait for one that was let in at once");
    }
}
