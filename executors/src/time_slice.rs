//! How long a worker runs at a time: what it asks the system's scheduler for.
//!
//! Linux (6.12 and later) lets each thread of the usual policy say how long its *slices* are to be. All threads get the
//! same share of a core as before; but one that wakes begins at once, if it has shorter slices than the thread that is
//! running there, and waits until that one sleeps or has had its slice otherwise. It need not be much shorter for that.
//! What it gains and costs is in `docs/results/burst.md`.

use std::{cell::Cell, time::Duration};

/// What a pool's workers ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeSlice {
    /// As long as this, unless the usual ones are shorter.
    Chosen(Duration),
    /// A little shorter than usual.
    Short,
    /// A little shorter than usual while jobs come seldom.
    ShortWhileQuiet,
}

/// The slices of one thread, which is the only one that calls this.
#[derive(Debug)]
pub(crate) struct Slices {
    wish: TimeSlice,
    /// Whether it is quiet, as far as this has been told.
    quiet: Cell<bool>,
    /// What they were before they were made short.
    before: Cell<Option<Duration>>,
}

impl Slices {
    pub(crate) fn new(wish: TimeSlice) -> Self {
        Slices { wish, quiet: Cell::new(false), before: Cell::new(None) }
    }

    /// Asks for what is wanted at any time, for the calling thread, but not for those that it starts. A wish: without
    /// effect where the system does not know it.
    pub(crate) fn ask(&self) {
        match self.wish {
            TimeSlice::Chosen(slice) => _ = system::change(|usual| slice.max(SHORTEST).min(usual)),
            TimeSlice::Short => self.shorten(),
            TimeSlice::ShortWhileQuiet => {}
        }
    }

    /// Jobs come seldom, or no longer do. Costs a few system calls if that is new.
    #[inline]
    pub(crate) fn suit(&self, quiet: bool) {
        if self.wish != TimeSlice::ShortWhileQuiet || self.quiet.replace(quiet) == quiet {
        } else if quiet {
            self.shorten();
        } else {
            self.restore();
        }
    }

    #[cold]
    fn shorten(&self) {
        if !system::is_filtered() {
            self.before.set(system::change(|usual| usual - usual / 16));
        }
    }

    #[cold]
    fn restore(&self) {
        if let Some(before) = self.before.take() {
            system::change(|_short| before);
        }
    }
}

/// As short as Linux makes them.
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

    /// Whether some system calls end the process, as far as is known: nobody who has not asked for it should find out.
    pub(super) fn is_filtered() -> bool {
        // SAFETY: this command has no further arguments, and changes nothing.
        unsafe { libc::prctl(libc::PR_GET_SECCOMP) != 0 }
    }

    /// Has slices as long as `choose` makes of the present ones, and returns these if that has had an effect.
    pub(super) fn change(choose: impl FnOnce(Duration) -> Duration) -> Option<Duration> {
        let mut attributes = attributes()?;
        let present = Duration::from_nanos(attributes.sched_runtime);
        // Other policies have no slices, or mean something else by the same field; older systems say 0. And threads of
        // a thread that is above others would not be, if it asked for this.
        let is_usual = attributes.sched_policy == libc::SCHED_OTHER as u32 && attributes.sched_nice >= 0;
        let chosen = choose(present);
        if !is_usual || present.is_zero() || chosen == present {
            return None;
        }
        attributes.sched_runtime = chosen.as_nanos() as u64;
        attributes.sched_flags |= RESET_ON_FORK;
        set_attributes(&mut attributes).then_some(present)
    }

    /// Those of the calling thread, if the system tells.
    pub(super) fn attributes() -> Option<sched_attr> {
        // SAFETY: all fields are plain numbers, for which 0 is a value.
        let mut attributes: sched_attr = unsafe { std::mem::zeroed() };
        // SAFETY: the system writes no more than SIZE bytes there, which are those of a struct that nobody else refers
        // to.
        let failed = unsafe { syscall(SYS_sched_getattr, CALLER, &raw mut attributes, SIZE, NO_FLAGS) };
        (failed == 0).then_some(attributes)
    }

    /// Returns whether the system has agreed.
    fn set_attributes(attributes: &mut sched_attr) -> bool {
        // SAFETY: the system reads as many bytes there as the struct says it has: `attributes` were filled in by the
        // system, which set `size` to no more than SIZE. If it does not like that, it writes another number there.
        let failed = unsafe { syscall(SYS_sched_setattr, CALLER, std::ptr::from_mut(attributes), NO_FLAGS) };
        failed == 0
    }
}

#[cfg(not(all(target_os = "linux", not(executors_loom))))]
mod system {
    use std::time::Duration;

    pub(super) fn is_filtered() -> bool {
        true
    }

    pub(super) fn change(_choose: impl FnOnce(Duration) -> Duration) -> Option<Duration> {
        None
    }
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;
    use std::thread;

    /// Of the calling thread; `None` where the system has no such thing.
    fn slice() -> Option<Duration> {
        system::attributes()
            .map(|attributes| Duration::from_nanos(attributes.sched_runtime))
            .filter(|slice| !slice.is_zero())
    }

    fn on_a_thread<R: Send>(act: impl FnOnce() -> R + Send) -> R {
        thread::scope(|scope| scope.spawn(act).join().expect("no panic"))
    }

    fn ask_for(slice: Duration) {
        Slices::new(TimeSlice::Chosen(slice)).ask();
    }

    #[test]
    fn a_thread_has_the_slices_that_it_asks_for_and_hands_none_on() {
        let Some(usual) = slice() else { return };
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
    fn what_the_system_cannot_do_is_as_near_as_it_comes() {
        let Some(usual) = slice() else { return };
        on_a_thread(|| {
            ask_for(Duration::MAX);
            assert_eq!(slice(), Some(usual));
            ask_for(Duration::ZERO);
            assert_eq!(slice(), Some(SHORTEST));
        });
    }

    #[test]
    fn slices_are_shorter_than_usual_while_it_is_quiet() {
        let Some(usual) = slice() else { return };
        if system::is_filtered() {
            return;
        }
        on_a_thread(|| {
            let slices = Slices::new(TimeSlice::ShortWhileQuiet);
            slices.ask();
            assert_eq!(slice(), Some(usual));
            for _ in 0..2 {
                slices.suit(true);
                assert!(slice() < Some(usual) && slice() > Some(usual * 9 / 10), "{:?} of {usual:?}", slice());
            }
            slices.suit(false);
            assert_eq!(slice(), Some(usual));
        });
    }

    #[cfg(feature = "burst-exec")]
    #[test]
    fn workers_have_those_of_the_builder_or_of_their_kind_of_pool() {
        use crate::{Pool, burst_pool::ThreadPool};
        let Some(usual) = slice() else { return };
        let of = |chosen: Option<Duration>| {
            let builder = ThreadPool::builder().threads(1);
            let builder = if let Some(slice) = chosen { builder.time_slice(slice) } else { builder };
            let pool = builder.build().expect("one thread");
            pool.submit(slice).wait().expect("no panic")
        };
        assert_eq!(of(None) < Some(usual), !system::is_filtered());
        assert_eq!(of(Some(usual / 2)), Some(usual / 2));
        assert_eq!(of(Some(Duration::MAX)), Some(usual));
    }

    #[cfg(feature = "cb-channel-exec")]
    #[test]
    fn a_worker_has_short_slices_while_jobs_come_seldom() {
        use crate::{Pool, crossbeam_channel_pool::ThreadPool};
        let Some(usual) = slice() else { return };
        if system::is_filtered() {
            return;
        }
        let pool = ThreadPool::new(1);
        // What the last of so many jobs at once finds, after the pool has slept for long.
        let after_quiet = |jobs| {
            thread::sleep(Duration::from_millis(1));
            let jobs: Vec<_> = (0..jobs).map(|_| pool.submit(slice)).collect();
            jobs.into_iter().map(|job| job.wait().expect("no panic")).last().expect("at least one")
        };
        assert_eq!(after_quiet(1), Some(usual));
        assert!((0..1000).any(|_| after_quiet(1) < Some(usual)), "seldom");
        assert!((0..1000).any(|_| after_quiet(1000) == Some(usual)), "not seldom");
    }
}
