//! Two threads on two cores that hand one cache line back and forth, and how long one way takes.

use crossbeam_utils::CachePadded;
use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

/// How many round trips are timed together, so that reading the clock does not count.
const BATCH: u32 = 16;

/// How many batches are timed. The shortest is what it takes; the others were disturbed.
const BATCHES: u32 = 40;

/// No batch begins after this time: if it has passed, other threads want one of the cores.
const LONG: Duration = Duration::from_millis(2);

/// With fewer batches than this, it is not known how long it takes undisturbed.
const ENOUGH: u32 = 10;

/// How many nanoseconds a cache line takes from the first core that this process may use to the last, or back. `None`
/// if there is only one core, if other threads keep the cores busy, or if threads cannot be started or pinned.
///
/// Takes about 100 to 500 us, depending on how far the cores are apart; longer if other threads want them.
pub(super) fn handover_ns() -> Option<f64> {
    let [first, last] = system::outermost()?;
    let rally = Rally::default();
    thread::scope(|scope| {
        let returning = thread::Builder::new().spawn_scoped(scope, || {
            let stays = system::stays_on(last);
            rally.returns();
            stays
        });
        let returning = returning.ok()?;
        let serving = || system::stays_on(first).then(|| rally.serves()).flatten();
        let serving = thread::Builder::new().spawn_scoped(scope, serving);
        let best = serving.ok().and_then(|serving| serving.join().ok()).flatten();
        rally.ends();
        let stays = returning.join().is_ok_and(|stays| stays);
        best.filter(|_| stays)
    })
}

/// How many times the line has been handed over, or [`OVER`]. Relaxed: nothing else is handed over with it.
#[derive(Default)]
struct Rally(CachePadded<AtomicU32>);

const OVER: u32 = u32::MAX;

impl Rally {
    /// Plays with the thread that [returns](Self::returns), and gives the nanoseconds of one way.
    fn serves(&self) -> Option<f64> {
        let (begin, mut batches, mut shortest) = (Instant::now(), 0, Duration::MAX);
        while batches < BATCHES && begin.elapsed() < LONG {
            let start = Instant::now();
            for turn in batches * BATCH..(batches + 1) * BATCH {
                self.0.store(2 * turn + 1, Relaxed);
                self.comes_to(2 * turn + 2);
            }
            shortest = shortest.min(start.elapsed());
            batches += 1;
        }
        (batches >= ENOUGH).then(|| shortest.as_nanos() as f64 / f64::from(2 * BATCH))
    }

    fn returns(&self) {
        let mut next = 1;
        while self.comes_to(next) {
            self.0.store(next + 1, Relaxed);
            next += 2;
        }
    }

    /// To be called only while no thread serves.
    fn ends(&self) {
        self.0.store(OVER, Relaxed);
    }

    /// Waits until the other thread has stored `number`; `false` if the rally is over.
    fn comes_to(&self, number: u32) -> bool {
        let mut spins = 0_u32;
        loop {
            match self.0.load(Relaxed) {
                OVER => return false,
                seen if seen == number => return true,
                // Without the processor's pause instruction, which may take longer than what is measured.
                _ => spins = spins.wrapping_add(1),
            }
            // The other thread may not have started yet, or may wait for a core that it shares with this one or with
            // others.
            if spins.is_multiple_of(1000) {
                thread::yield_now();
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
    use std::process;

    /// The first and the last core that the main thread may use, if there are two. Not those of the caller, which may
    /// be pinned.
    pub(super) fn outermost() -> Option<[usize; 2]> {
        let main = Pid::from_raw(process::id().try_into().ok()?)?;
        let usable = sched_getaffinity(Some(main)).ok()?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| usable.is_set(*core));
        Some([cores.next()?, cores.next_back()?])
    }

    /// Pins the calling thread to `core`. Returns whether that succeeded.
    pub(super) fn stays_on(core: usize) -> bool {
        let mut only = CpuSet::new();
        only.set(core);
        sched_setaffinity(None, &only).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn outermost() -> Option<[usize; 2]> {
        None
    }

    pub(super) fn stays_on(_core: usize) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_its_time_from_core_to_core() {
        if !system::outermost().is_some_and(|cores| thread::spawn(move || system::stays_on(cores[1])).join().unwrap()) {
            return println!("skipped: there is one core only, or threads cannot be told where to run");
        }
        // Other tests may keep the cores busy now, but not for ever.
        let deadline = Instant::now() + Duration::from_secs(60);
        let way = std::iter::from_fn(|| (Instant::now() < deadline).then(handover_ns)).flatten().next();
        assert!(way.is_some_and(|way| (0.5..5_000.0).contains(&way)), "{way:?} ns");
    }
}
