//! Fences of unequal sides.
//!
//! Two threads each write something and then read what the other writes. That at least one of them sees the other takes
//! a fence on either side, between the write and the read. Where one side comes there with every job and the other side
//! seldom, this costs the one far more than it need: so here the fence of the *light* side only keeps the compiler from
//! changing the order, and the *heavy* side has the system make a fence of it, by a barrier in every thread of the
//! process that runs just then (`membarrier` of Linux). Wherever on its way that barrier meets the light side, either
//! its write is before it, and the heavy side sees that; or its read is behind it, and sees what the heavy side has
//! written. A thread that does not run has passed such a barrier when it was taken off its core.
//!
//! A heavy fence takes some microseconds (14 on two cores of a virtual machine, of which the other thread loses 3), and
//! 0.1 if nobody else of the process runs. If the system refuses later what it has promised, the heavy side waits for
//! some time instead (`GRACE`): then what it relies on is no order of the memory model, but how long a processor keeps
//! a store to itself. The technique is that of Dice, Huang and Yang ("Asymmetric Dekker synchronization", 2001) and of
//! the library liburcu (Desnoyers), for which the system call was made.

#[cfg(executors_loom)]
use crate::sync::atomic::{AtomicUsize, Ordering::AcqRel};
use crate::{
    alone,
    seccomp::is_filtered,
    sync::atomic::{Ordering::SeqCst, fence},
};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed, compiler_fence};

/// The light side: one thread's.
///
/// In a model, where there is no such system call, each fence is a step of a count that both sides go through: of two
/// such steps one is first, and the other sees what came before it. No other fence makes up for one of them.
#[derive(Debug, Default)]
pub(crate) struct LightSide {
    #[cfg(executors_loom)]
    steps: AtomicUsize,
}

impl LightSide {
    #[inline(always)]
    pub(crate) fn fence(&self) {
        #[cfg(executors_loom)]
        self.steps.fetch_add(1, AcqRel);
        compiler_fence(SeqCst);
    }
}

/// Something that its user has had for itself, until somebody recalled it.
pub(crate) trait Recalled {
    /// The user's.
    fn side(&self) -> &LightSide;

    /// To be called behind a heavy fence.
    fn end(&self);
}

/// Ends all of them, behind one heavy fence.
pub(crate) fn end_recalls<'a>(recalls: impl Iterator<Item = &'a dyn Recalled> + Clone) {
    if recalls.clone().next().is_some() {
        heavy_fence(recalls.clone().map(Recalled::side));
        recalls.for_each(Recalled::end);
    }
}

/// The fence of who is opposite these sides, which may rely on it once they were told that it [is ready](is_ready).
pub(crate) fn heavy_fence<'a>(sides: impl IntoIterator<Item = &'a LightSide>) {
    fence(SeqCst);
    for _side in sides {
        #[cfg(executors_loom)]
        _side.steps.fetch_add(1, AcqRel);
    }
    system::pass_barriers();
    fence(SeqCst);
}

/// Whether heavy fences can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Readiness {
    /// The system was not asked yet.
    Unknown,
    /// It has no barriers, or calls are filtered.
    Never,
    /// The process has to register, for which the system waits until all cores have passed a quiescent state: some
    /// milliseconds, now that the process has several threads.
    Late,
    /// A thread of its own does that.
    Coming,
    Ready,
}

/// A [`Readiness`]. Relaxed: it guards nothing. Who reads `Ready` too late does without.
static READINESS: AtomicU8 = AtomicU8::new(Readiness::Unknown as u8);

impl Readiness {
    fn get() -> Self {
        use Readiness::{Coming, Late, Never, Ready, Unknown};
        let recorded = READINESS.load(Relaxed);
        [Never, Late, Coming, Ready].into_iter().find(|&one| one as u8 == recorded).unwrap_or(Unknown)
    }

    /// Returns whether nobody has been faster.
    fn becomes(self, next: Self) -> bool {
        READINESS.compare_exchange(self as u8, next as u8, Relaxed, Relaxed).is_ok()
    }

    fn registered() -> Self {
        if system::register() { Readiness::Ready } else { Readiness::Never }
    }
}

/// Registers the process for barriers if that is a matter of a microsecond: while it has one thread, as most have when
/// they build their first pool.
pub(crate) fn prepare() {
    if Readiness::get() == Readiness::Unknown {
        let readiness = match () {
            () if is_filtered() => Readiness::Never,
            () if system::is_single_threaded() => Readiness::registered(),
            () => Readiness::Late,
        };
        // If another has asked meanwhile, it knows as much.
        let _ = Readiness::Unknown.becomes(readiness);
    }
}

/// Whether heavy fences may be ready some day.
pub(crate) fn is_possible() -> bool {
    !matches!(Readiness::get(), Readiness::Unknown | Readiness::Never)
}

/// Whether the calling thread may rely on heavy fences. If that takes some milliseconds more, sees to it that it may
/// later. A system call or two, so not to be asked often.
pub(crate) fn is_ready() -> bool {
    match Readiness::get() {
        Readiness::Ready => !is_filtered(),
        Readiness::Late if !is_filtered() => {
            register_apart();
            false
        }
        _ => false,
    }
}

/// Nobody is made to wait: the thread sleeps in its one system call, and ends.
fn register_apart() {
    if Readiness::Late.becomes(Readiness::Coming) {
        let register = || _ = Readiness::Coming.becomes(Readiness::registered());
        if alone::start("executors-barrier", register).is_err() {
            // There may be room for it later.
            let _ = Readiness::Coming.becomes(Readiness::Late);
        }
    }
}

/// For a test: whether they can, if need be after some milliseconds; or says why it is left out.
#[cfg(all(test, not(executors_loom)))]
pub(crate) fn is_ready_for_test() -> bool {
    prepare();
    while !is_ready() {
        if !is_possible() || is_filtered() {
            println!("skipped: this system has no barriers for others, or it filters calls");
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[cfg(all(target_os = "linux", not(executors_loom)))]
mod system {
    use crate::seccomp::is_filtered;
    use libc::{
        MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, SYS_membarrier, c_int, c_uint,
        syscall,
    };
    use std::{fs, os::unix::fs::MetadataExt, thread, time::Duration};

    /// The folder of the threads of a process has a link for each, besides these.
    const OTHER_LINKS: u64 = 2;

    /// In place of barriers that the system refuses although it promised them, which it may if the process has got a
    /// filter of system calls since, or is a fork: longer than a store takes to be seen, and a core to be interrupted.
    const GRACE: Duration = Duration::from_millis(20);

    /// If in doubt, no.
    pub(super) fn is_single_threaded() -> bool {
        fs::metadata("/proc/self/task").is_ok_and(|folder| folder.nlink() == OTHER_LINKS + 1)
    }

    pub(super) fn register() -> bool {
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
    }

    /// Every thread of this process passes a barrier between the begin of this and its end.
    pub(super) fn pass_barriers() {
        if is_filtered() || !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
            thread::sleep(GRACE);
        }
    }

    fn membarrier(command: c_int) -> bool {
        const NO_FLAGS: c_uint = 0;
        const NO_CORE: c_int = 0;
        // SAFETY: it takes numbers only, and changes no memory.
        unsafe { syscall(SYS_membarrier, command, NO_FLAGS, NO_CORE) == 0 }
    }
}

/// Models have no system, and nobody else needs barriers where nobody could register.
#[cfg(not(all(target_os = "linux", not(executors_loom))))]
mod system {
    pub(super) fn is_single_threaded() -> bool {
        true
    }

    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn pass_barriers() {}
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::{
        hint,
        sync::atomic::{
            AtomicUsize,
            Ordering::{Acquire, Release},
        },
        thread,
    };

    const ROUNDS: usize = 20_000;

    #[derive(Default)]
    struct Side {
        arrived: AtomicUsize,
        written: AtomicUsize,
    }

    impl Side {
        /// In each round writes, at nearly the same time as `other`, does `order`, and reads. Returns in which rounds
        /// it has seen what the other has written.
        fn meets(&self, other: &Side, order: impl Fn()) -> Vec<bool> {
            let meet = |round| {
                self.arrived.store(round, Release);
                for turn in 0.. {
                    if other.arrived.load(Acquire) >= round {
                        break;
                    }
                    if turn < 1000 { hint::spin_loop() } else { thread::yield_now() }
                }
                self.written.store(round, Relaxed);
                order();
                other.written.load(Relaxed) >= round
            };
            (1..=ROUNDS).map(meet).collect()
        }
    }

    #[test]
    fn one_of_two_sides_sees_the_other() {
        if !is_ready_for_test() {
            return;
        }
        let (side, [light, heavy]) = (LightSide::default(), [(); 2].map(|()| Side::default()));
        let [by_light, by_heavy] = thread::scope(|scope| {
            let other = scope.spawn(|| light.meets(&heavy, || side.fence()));
            let by_heavy = heavy.meets(&light, || heavy_fence([&side]));
            [other.join().expect("no panic"), by_heavy]
        });
        let overlooked = by_light.iter().zip(&by_heavy).filter(|(light, heavy)| !**light && !**heavy).count();
        assert_eq!(overlooked, 0, "neither has seen the other in that many of {ROUNDS} rounds");
    }
}
