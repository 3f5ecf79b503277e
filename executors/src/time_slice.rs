//! How long a worker runs at a time: what it asks the system's scheduler for.
//!
//! Linux (6.12 and later) lets each thread of the usual policy choose how long its *slices* are. A thread that wakes
//! preempts the one that runs on its core if that one has longer slices, even by a little; otherwise it waits until
//! that one sleeps or has used up its slice. The shares of a core that threads get do not change. What is gained and
//! lost by this is in `docs/results/burst.md`.

use crate::seccomp::is_filtered;
use std::time::Duration;

/// What a worker asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TimeSlice {
    /// Nothing.
    Usual,
    /// Slices a little shorter than the thread has otherwise; those are the usual ones as a rule.
    Short,
    /// Slices of this length, unless the thread has shorter ones.
    Chosen(Duration),
}

impl TimeSlice {
    /// Asks for the calling thread, but not for those that it starts. Has no effect where the system does not know such
    /// a request.
    pub(crate) fn ask(self) {
        match self {
            TimeSlice::Usual => {}
            TimeSlice::Short if is_filtered() => {}
            TimeSlice::Short => system::change(|present| present - present / A_LITTLE),
            TimeSlice::Chosen(slice) => system::change(|present| slice.max(SHORTEST).min(present)),
        }
    }
}

/// Short slices are shorter than the usual ones by one part in this many. The scheduler only compares, so a little is
/// enough; and the shorter the slices, the more often threads that want the same core take turns.
const A_LITTLE: u32 = 16;

/// The shortest slices that Linux gives.
const SHORTEST: Duration = Duration::from_micros(100);

#[cfg(all(target_os = "linux", not(executors_loom)))]
mod system {
    use libc::{SYS_sched_getattr, SYS_sched_setattr, c_long, c_uint, sched_attr, syscall};
    use std::time::Duration;

    const CALLER: c_long = 0;
    const NO_FLAGS: c_uint = 0;
    const SIZE: c_uint = size_of::<sched_attr>() as c_uint;

    /// Threads that this one starts have the system's usual slices.
    const RESET_ON_FORK: u64 = 1;

    /// Sets the slices to what `choose` makes of the present ones.
    pub(super) fn change(choose: impl FnOnce(Duration) -> Duration) {
        let Some(mut attributes) = attributes() else { return };
        let present = Duration::from_nanos(attributes.sched_runtime);
        // Other policies have no slices, or mean something else by the same field; older systems report 0. And a thread
        // with a raised priority (a negative nice value) could not pass that on to its threads after asking for this.
        let is_usual = attributes.sched_policy == libc::SCHED_OTHER as u32 && attributes.sched_nice >= 0;
        let chosen = choose(present);
        if is_usual && !present.is_zero() && chosen != present {
            attributes.sched_runtime = chosen.as_nanos() as u64;
            attributes.sched_flags |= RESET_ON_FORK;
            set_attributes(&mut attributes);
        }
    }

    /// The attributes of the calling thread, if the system tells.
    pub(super) fn attributes() -> Option<sched_attr> {
        // SAFETY: all fields are plain numbers, for which 0 is a value.
        let mut attributes: sched_attr = unsafe { std::mem::zeroed() };
        // SAFETY: the system writes no more than SIZE bytes there, which are those of a struct that nothing else refers
        // to.
        let failed = unsafe { syscall(SYS_sched_getattr, CALLER, &raw mut attributes, SIZE, NO_FLAGS) };
        (failed == 0).then_some(attributes)
    }

    fn set_attributes(attributes: &mut sched_attr) {
        // SAFETY: the system reads as many bytes there as the struct says it has: `attributes` were filled in by the
        // system, which set `size` to no more than SIZE. If it does not accept that size, it writes another number
        // there.
        let _refused = unsafe { syscall(SYS_sched_setattr, CALLER, std::ptr::from_mut(attributes), NO_FLAGS) };
    }
}

#[cfg(not(all(target_os = "linux", not(executors_loom))))]
mod system {
    use std::time::Duration;

    pub(super) fn change(_choose: impl FnOnce(Duration) -> Duration) {}
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;
    use std::thread;

    /// The slice of the calling thread; `None` where the system has no such thing.
    fn slice() -> Option<Duration> {
        system::attributes()
            .map(|attributes| Duration::from_nanos(attributes.sched_runtime))
            .filter(|slice| !slice.is_zero())
    }

    /// The slice of the calling thread; or prints why a test is skipped.
    fn slice_if_there_are_any() -> Option<Duration> {
        let slice = slice();
        if slice.is_none() {
            println!("skipped: this system tells no time slices (Linux does since 6.12, for the usual policy)");
        }
        slice
    }

    fn on_a_thread<R: Send>(act: impl FnOnce() -> R + Send) -> R {
        thread::scope(|scope| scope.spawn(act).join().expect("no panic"))
    }

    fn ask_for(slice: Duration) {
        TimeSlice::Chosen(slice).ask();
    }

    #[test]
    fn a_thread_has_the_slices_it_asks_for_and_passes_none_on() {
        let Some(usual) = slice_if_there_are_any() else { return };
        let asked = usual / 2;
        on_a_thread(|| {
            ask_for(asked);
            assert_eq!(slice(), Some(asked));
            assert_eq!(on_a_thread(slice), Some(usual));
            ask_for(usual);
            assert_eq!(slice(), Some(asked), "it asks for shorter ones only");
        });
    }

    #[test]
    fn an_impossible_slice_becomes_the_nearest_possible_one() {
        let Some(usual) = slice_if_there_are_any() else { return };
        on_a_thread(|| {
            ask_for(Duration::MAX);
            assert_eq!(slice(), Some(usual));
            ask_for(Duration::ZERO);
            assert_eq!(slice(), Some(SHORTEST));
        });
    }

    #[test]
    fn short_slices_are_a_little_shorter_than_usual() {
        let Some(usual) = slice_if_there_are_any() else { return };
        if is_filtered() {
            println!("skipped: with a filter of system calls (seccomp) no thread asks for short slices");
            return;
        }
        on_a_thread(|| {
            TimeSlice::Short.ask();
            assert!(slice() < Some(usual) && slice() > Some(usual * 9 / 10), "{:?} of {usual:?}", slice());
        });
    }

    #[cfg(feature = "burst-exec")]
    #[test]
    fn workers_have_slices_of_the_builder_or_of_their_kind_of_pool() {
        use crate::{Pool, burst_pool::ThreadPool};
        let Some(usual) = slice_if_there_are_any() else { return };
        let of = |chosen: Option<Duration>| {
            let builder = ThreadPool::builder().threads(1);
            let builder = if let Some(slice) = chosen { builder.time_slice(slice) } else { builder };
            let pool = builder.build().expect("one thread");
            pool.submit(slice).wait().expect("no panic")
        };
        assert_eq!(of(None) < Some(usual), !is_filtered());
        assert_eq!(of(Some(usual / 2)), Some(usual / 2));
        assert_eq!(of(Some(Duration::MAX)), Some(usual));
    }
}
