//! Asymmetric fences: one side is cheap, the other is not.
//!
//! Two threads each write something and then read what the other writes. For at least one of them to see the other's
//! write, both need a fence between the write and the read. Where one side does this with every job and the other side
//! seldom, that costs the first far more than necessary: so here the fence of the *light* side only keeps the compiler
//! from changing the order, and the *heavy* side has the system turn it into a real one, by a barrier in every thread
//! of the process that is running just then (`membarrier` of Linux). Wherever that barrier interrupts the light side,
//! either the light side's write comes before it, and the heavy side sees the write; or the light side's read comes
//! after it, and sees what the heavy side has written. A thread that is not running passed such a barrier when it was
//! taken off its core.
//!
//! A heavy fence takes the thread that issues it 9 to 18 us on two cores of a virtual machine, and costs the other
//! running thread 3 to 13; it takes 0.1 to 0.3 us if no other thread of the process runs.
//!
//! # When the system refuses
//!
//! The system may later refuse what it has promised: a process that was restored from a checkpoint is not registered
//! for barriers any more, and the calling thread may have got a filter of system calls. In the first case the heavy
//! side registers again. Where that does not help, it waits for some time instead (`GRACE`): then it relies not on an
//! order of the memory model, but on how long a processor can keep a store to itself. And from then on no thread is
//! told that heavy fences are ready: what threads still have to themselves is [recalled](crate::recall) once more, and
//! not given again. Nothing else depends on this answer: whoever recalls something asks whether it is reserved, and not
//! whether fences are ready; and a thread that got the old answer just before only gives one more privilege, whose
//! recall waits, too.
//!
//! The technique is that of Dice, Huang and Yang ("Asymmetric Dekker synchronization", 2001) and of the library liburcu
//! (Desnoyers), for which the system call was made.

#[cfg(executors_loom)]
use crate::sync::atomic::{AtomicUsize, Ordering::AcqRel};
use crate::{
    daemon,
    seccomp::is_filtered,
    sync::atomic::{Ordering::SeqCst, fence},
};
use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed, compiler_fence},
    thread,
    time::Duration,
};

/// How long to wait in place of a barrier that the system refuses although it promised it: longer than it takes for a
/// store to be seen and for a core to be interrupted.
const GRACE: Duration = Duration::from_millis(20);

/// The light side of one thread.
///
/// In a model, where there is no such system call, each fence increments a count that both sides share: of two such
/// steps one is first, and the other sees what came before it. No other fence makes up for one of them.
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

/// The fence opposite these light sides. Their threads may rely on it once they were told that it [is ready](is_ready).
pub(crate) fn heavy_fence<'a>(sides: impl IntoIterator<Item = &'a LightSide>) {
    // What the caller has written, such as that it recalls something, comes before the barriers; and what it reads next
    // comes after them. The system call keeps that order, but the language does not know it. Besides, these pair with
    // the real fences of a light side that has found that it is recalled, or not reserved yet (`fence_pushes`).
    fence(SeqCst);
    for _side in sides {
        #[cfg(executors_loom)]
        _side.steps.fetch_add(1, AcqRel);
    }
    if !system::pass_barriers() {
        // Each recall would take that long.
        let _ = Readiness::Ready.becomes(Readiness::Never);
        thread::sleep(GRACE);
    }
    fence(SeqCst);
}

/// Whether heavy fences can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Readiness {
    /// The system has not been asked yet.
    Unknown,
    /// It has no such barriers, or system calls are filtered; or it has refused a barrier.
    Never,
    /// The process has to register, for which the system waits until all cores have passed a quiescent state: some
    /// milliseconds, because the process has several threads by now.
    Late,
    /// A separate thread is registering the process.
    Coming,
    Ready,
}

/// A [`Readiness`]. Relaxed: it guards nothing. A thread that reads `Ready` too late does without heavy fences until
/// then; for one that reads it when it holds no longer, see the module documentation.
static READINESS: AtomicU8 = AtomicU8::new(Readiness::Unknown as u8);

impl Readiness {
    fn get() -> Self {
        use Readiness::{Coming, Late, Never, Ready, Unknown};
        let recorded = READINESS.load(Relaxed);
        [Never, Late, Coming, Ready].into_iter().find(|&one| one as u8 == recorded).unwrap_or(Unknown)
    }

    /// Returns whether no other thread was faster.
    fn becomes(self, next: Self) -> bool {
        READINESS.compare_exchange(self as u8, next as u8, Relaxed, Relaxed).is_ok()
    }

    fn registered() -> Self {
        if system::register() { Readiness::Ready } else { Readiness::Never }
    }
}

/// Registers the process for barriers if that takes only a microsecond: while it has one thread, as most processes have
/// when they build their first pool.
pub(crate) fn prepare() {
    if Readiness::get() == Readiness::Unknown {
        let readiness = match () {
            () if is_filtered() => Readiness::Never,
            () if system::is_single_threaded() => Readiness::registered(),
            () => Readiness::Late,
        };
        // If another thread has asked meanwhile, its answer is as good.
        let _ = Readiness::Unknown.becomes(readiness);
    }
}

/// Whether heavy fences are ready, or may be some day.
pub(crate) fn is_possible() -> bool {
    !matches!(Readiness::get(), Readiness::Unknown | Readiness::Never)
}

/// Whether the calling thread may rely on heavy fences. If the process has yet to register, which takes some
/// milliseconds, this starts the registration, so that the thread may rely on them later. It takes a system call or
/// two, so it is not to be asked often.
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

/// The same for a thread that was told so before: without a system call, and so without a look whether it has got a
/// filter since.
pub(crate) fn is_still_ready() -> bool {
    matches!(Readiness::get(), Readiness::Ready)
}

/// No caller has to wait: a separate thread sleeps in the one system call, and ends.
fn register_apart() {
    if Readiness::Late.becomes(Readiness::Coming) {
        let register = || _ = Readiness::Coming.becomes(Readiness::registered());
        if daemon::spawn("executors-membarrier", None, register).is_err() {
            // There may be room for the thread later.
            let _ = Readiness::Coming.becomes(Readiness::Late);
        }
    }
}

/// For a test: whether heavy fences can be relied on, if need be after some milliseconds. If not, prints why the test
/// is skipped.
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
    use std::{fs, os::unix::fs::MetadataExt};

    /// The directory of a process's threads has one link for each thread, besides these.
    const OTHER_LINKS: u64 = 2;

    /// `false` if in doubt.
    pub(super) fn is_single_threaded() -> bool {
        fs::metadata("/proc/self/task").is_ok_and(|folder| folder.nlink() == OTHER_LINKS + 1)
    }

    pub(super) fn register() -> bool {
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
    }

    /// Every thread of this process passes a barrier between the beginning and the end of this call, unless the system
    /// refuses that.
    pub(super) fn pass_barriers() -> bool {
        !is_filtered() && (pass_as_registered() || register() && pass_as_registered())
    }

    /// The same, but it is also refused if the process is not registered.
    pub(super) fn pass_as_registered() -> bool {
        membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    fn membarrier(command: c_int) -> bool {
        const NO_FLAGS: c_uint = 0;
        const NO_CORE: c_int = 0;
        // SAFETY: the call takes only numbers, and changes no memory.
        unsafe { syscall(SYS_membarrier, command, NO_FLAGS, NO_CORE) == 0 }
    }
}

/// Models have no system calls, and elsewhere no barriers are needed, because no process could register.
#[cfg(not(all(target_os = "linux", not(executors_loom))))]
mod system {
    pub(super) fn is_single_threaded() -> bool {
        true
    }

    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn pass_barriers() -> bool {
        true
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use crate::containment::tests::assert_return;
    use std::{
        hint,
        sync::atomic::{
            AtomicUsize,
            Ordering::{Acquire, Release},
        },
    };

    const ROUNDS: usize = 20_000;

    #[derive(Default)]
    struct Side {
        arrived: AtomicUsize,
        written: AtomicUsize,
    }

    impl Side {
        /// In each round writes, at nearly the same time as `other`, calls `order`, and reads. Returns for each round
        /// whether it has seen what the other has written.
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

    /// Gives the calling thread a filter that lets all system calls pass, which nobody can know. Returns whether it has
    /// one.
    #[cfg(target_os = "linux")]
    fn filter_nothing() -> bool {
        let mut pass =
            libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
        let program = libc::sock_fprog { len: 1, filter: &raw mut pass };
        // SAFETY: the program has one instruction, and the system copies it during the call.
        unsafe {
            let [on, off]: [libc::c_ulong; 2] = [1, 0];
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, on, off, off, off);
            libc::prctl(libc::PR_SET_SECCOMP, libc::c_ulong::from(libc::SECCOMP_MODE_FILTER), &raw const program);
        }
        is_filtered()
    }

    /// The child has not registered: like a process that had, and was restored from a checkpoint.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_is_registered_no_more_registers_again() {
        if is_filtered() {
            println!("skipped: this system filters calls");
            return;
        }
        assert_return("a_process_that_is_registered_no_more_registers_again", || {
            READINESS.store(Readiness::Ready as u8, Relaxed);
            assert!(!system::pass_as_registered());
            heavy_fence([]);
            let has_barriers = system::register();
            assert_eq!(Readiness::get() == Readiness::Ready, has_barriers);
            assert_eq!(system::pass_as_registered(), has_barriers);
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn no_privilege_is_given_once_a_barrier_was_refused() {
        if is_filtered() || !thread::spawn(filter_nothing).join().expect("no panic") {
            println!("skipped: this system filters calls anyway, or cannot");
            return;
        }
        assert_return("no_privilege_is_given_once_a_barrier_was_refused", || {
            READINESS.store(Readiness::Ready as u8, Relaxed);
            // This thread might still ask the system.
            let refused = thread::spawn(|| {
                assert!(filter_nothing());
                heavy_fence([]);
            });
            refused.join().expect("no panic");
            assert!(!is_ready());
        });
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
