//! The cores on which the system lets a thread run, and the one on which it runs.
//!
//! On Linux a new thread inherits the cores of the thread that starts it, and the threads of a pool are started by any
//! thread that gives it a job: by a worker that is pinned to a core, or by a thread that other code has pinned. So each
//! thread sets its own cores when it starts, except the first, which keeps those of the thread that builds the pool;
//! and the starter may choose where the thread starts. Later the thread may find that another core would be better.

use crate::{seccomp::is_filtered, sync::thread::JoinHandle};
use std::process;

/// The core on which the caller runs now. Asked on x86-64 only, where the C library knows it: elsewhere that may have
/// to make a system call, which takes time and may be filtered.
pub(crate) fn current_core() -> Option<usize> {
    if cfg!(target_arch = "x86_64") { system::core_of_this_thread() } else { None }
}

/// The cores on which some thread was allowed to run. `None` where the system does not tell: if it has no such call, or
/// more cores than the usual set has room for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mask(Option<system::Cores>);

impl Mask {
    /// The mask of the calling thread, as it is now.
    pub(crate) fn of_this_thread() -> Self {
        Mask(system::allowed_cores(system::CALLER))
    }

    /// The mask of the main thread of the process, as it is now: what the process was given, unless that thread was
    /// pinned.
    pub(crate) fn of_main_thread() -> Self {
        Mask(system::allowed_cores(process::id()))
    }

    /// The cores of this mask, if there are any, on which the caller does not run now.
    pub(crate) fn elsewhere(&self) -> Option<Self> {
        let Mask(Some(mut cores)) = *self else { return None };
        system::strike_out(&mut cores, system::core_of_this_thread()?);
        (cores != system::Cores::default()).then_some(Mask(Some(cores)))
    }

    /// Moves the calling thread to another core, [if it can](Self::has_others). Returns when the thread is there.
    ///
    /// Up to eight system calls. A restriction that another thread sets meanwhile may be lost.
    pub(crate) fn move_on(&self) {
        let Some(others) = self.others() else { return };
        if let Mask(Some(cores)) = &others {
            system::allow(cores);
        }
        if Mask::of_this_thread() == others {
            Mask::lift();
            self.apply();
        }
    }

    /// Whether the calling thread may run on several of these cores: it was not restricted otherwise, and system calls
    /// are not filtered.
    pub(crate) fn has_others(&self) -> bool {
        self.others().is_some()
    }

    /// Asks for the filter first: a thread that has got one by now makes no other call.
    fn others(&self) -> Option<Self> {
        if is_filtered() || Mask::of_this_thread() != *self { None } else { self.elsewhere() }
    }

    /// Lets `thread` run on these cores, and no others. If it is on another core but not running, it leaves that one at
    /// once.
    ///
    /// The thread must not have ended: the C library may then pass the id 0, which means the caller.
    pub(super) fn apply_to(&self, thread: &JoinHandle<()>) {
        if let Mask(Some(cores)) = self {
            system::allow_other(thread, cores);
        }
    }

    /// Lets the calling thread run wherever its process may, as if it had never been restricted. A mask that names
    /// these cores would stay as it is when the system gives the process others.
    pub(super) fn lift() {
        system::allow_all();
    }

    /// Lets the calling thread run on these cores, and no others. Changes nothing, and asks for no change, if that is
    /// so already: programs that pin no thread may forbid pinning, by a filter of system calls.
    pub(crate) fn apply(&self) {
        if let Mask(Some(cores)) = self
            && system::allowed_cores(system::CALLER).is_some_and(|present| present != *cores)
        {
            system::allow(cores);
        }
    }
}

/// The cores on which the calling thread may run, by their numbers in ascending order; `None` if the system does not
/// tell. Unlike a [`Mask`], this has room for those of any machine.
pub(super) fn cores_of_this_thread() -> Option<Vec<usize>> {
    system::numbers(system::CALLER)
}

/// The same for the main thread of the process.
pub(super) fn cores_of_main_thread() -> Option<Vec<usize>> {
    system::numbers(process::id())
}

#[cfg(all(target_os = "linux", not(executors_loom)))]
mod system {
    use libc::{
        c_ulong, cpu_set_t, pid_t, pthread_setaffinity_np, pthread_t, sched_getaffinity, sched_getcpu,
        sched_setaffinity,
    };
    use std::{os::unix::thread::JoinHandleExt, thread::JoinHandle};

    pub(super) const CALLER: u32 = 0;
    const SIZE: usize = size_of::<cpu_set_t>();

    /// A bit for each core, the first one lowest: a `cpu_set_t`, as words that can be compared.
    pub(super) type Cores = [c_ulong; SIZE / size_of::<c_ulong>()];

    /// This adds no new kind of call where system calls are filtered: with glibc, each thread of the standard library
    /// makes this one when it starts, to find its stack.
    pub(super) fn allowed_cores(thread: u32) -> Option<Cores> {
        let mut cores = Cores::default();
        // SAFETY: no more than SIZE bytes are written there, which are those of an array that nothing else refers to.
        let failed = unsafe { sched_getaffinity(thread as pid_t, SIZE, (&raw mut cores).cast()) };
        (failed == 0).then_some(cores)
    }

    /// Without effect if the system refuses, for instance because none of these cores is left to this process.
    pub(super) fn allow(cores: &Cores) {
        // SAFETY: SIZE bytes are read there, as many as the array has.
        let _refused = unsafe { sched_setaffinity(CALLER as pid_t, SIZE, (&raw const *cores).cast()) };
    }

    /// Of all these the system takes those that the process may use.
    pub(super) fn allow_all() {
        allow(&[c_ulong::MAX; SIZE / size_of::<c_ulong>()]);
    }

    /// The same as [`allow`] for a thread that has not ended.
    pub(super) fn allow_other(thread: &JoinHandle<()>, cores: &Cores) {
        // musl has another type for the same thing.
        let id = thread.as_pthread_t() as pthread_t;
        // SAFETY: because there is a handle, the thread is not joined yet, and so its id is valid. SIZE bytes are read
        // there, as many as the array has.
        let _refused = unsafe { pthread_setaffinity_np(id, SIZE, (&raw const *cores).cast()) };
    }

    /// The core on which the caller runs now.
    pub(super) fn core_of_this_thread() -> Option<usize> {
        // SAFETY: it has no arguments, and changes nothing.
        let core = unsafe { sched_getcpu() };
        core.try_into().ok()
    }

    /// Without those that do not run, which a list in `/proc` would have.
    pub(super) fn numbers(thread: u32) -> Option<Vec<usize>> {
        const MOST_WORDS: usize = 1 << 13;
        let mut cores = Cores::default().to_vec();
        loop {
            let size = size_of_val(&cores[..]);
            // SAFETY: no more than `size` bytes are written there, which are those of a vector that nothing else refers
            // to.
            let failed = unsafe { sched_getaffinity(thread as pid_t, size, cores.as_mut_ptr().cast()) };
            if failed == 0 {
                break;
            }
            if cores.len() > MOST_WORDS {
                return None;
            }
            // The machine may have more than there is room for.
            cores = vec![0; 2 * cores.len()];
        }
        let bits = c_ulong::BITS as usize;
        Some((0..cores.len() * bits).filter(|core| cores[core / bits] >> (core % bits) & 1 == 1).collect())
    }

    pub(super) fn strike_out(cores: &mut Cores, core: usize) {
        let bits = c_ulong::BITS as usize;
        if let Some(word) = cores.get_mut(core / bits) {
            *word &= !(1 << (core % bits));
        }
    }
}

#[cfg(not(all(target_os = "linux", not(executors_loom))))]
mod system {
    use crate::sync::thread::JoinHandle;

    #[derive(Debug, Default, Clone, Copy, PartialEq)]
    pub(super) struct Cores;

    pub(super) const CALLER: u32 = 0;

    pub(super) fn allowed_cores(_thread: u32) -> Option<Cores> {
        None
    }

    pub(super) fn allow(_cores: &Cores) {}

    pub(super) fn allow_all() {}

    pub(super) fn allow_other(_thread: &JoinHandle<()>, _cores: &Cores) {}

    pub(super) fn core_of_this_thread() -> Option<usize> {
        None
    }

    pub(super) fn numbers(_thread: u32) -> Option<Vec<usize>> {
        None
    }

    pub(super) fn strike_out(_cores: &mut Cores, _core: usize) {}
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
impl Mask {
    /// Only the first of these cores; or prints why a test is skipped.
    pub(crate) fn first_of_several(&self) -> Option<Mask> {
        let all = self.0.expect("this system tells");
        if all.iter().map(|word| word.count_ones()).sum::<u32>() < 2 {
            println!("skipped: a thread that may run on one core only cannot be told from a pinned one");
            return None;
        }
        let mut first = system::Cores::default();
        let word = all.iter().position(|&word| word != 0)?;
        first[word] = 1 << all[word].trailing_zeros();
        Some(Mask(Some(first)))
    }
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::placement::place_current_thread;
    use std::thread;

    #[test]
    fn a_thread_that_moves_on_changes_its_core_unless_it_is_pinned() {
        let all = Mask::of_this_thread();
        let Some(one) = all.first_of_several() else { return };
        if is_filtered() {
            println!("skipped: system calls are filtered");
            return;
        }
        let act = || {
            one.apply();
            all.move_on();
            assert_eq!(Mask::of_this_thread(), one, "others have chosen its core");
            assert!(!all.has_others());
            let core = system::core_of_this_thread();
            one.move_on();
            assert_eq!(
                (system::core_of_this_thread(), Mask::of_this_thread()),
                (core, one.clone()),
                "there is no other"
            );
            all.apply();
            // The system is free to move the thread, too, but does not do so at this moment each time.
            let has_moved = |_: &i32| {
                let before = system::core_of_this_thread();
                all.move_on();
                assert_eq!(Mask::of_this_thread(), all);
                system::core_of_this_thread() != before
            };
            assert!((0..20).filter(has_moved).count() > 10);
        };
        thread::scope(|scope| scope.spawn(act).join().expect("no panic"));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_pinned_thread_is_on_its_core() {
        let Some(one) = Mask::of_this_thread().first_of_several() else { return };
        let act = || {
            one.apply();
            let core = current_core().expect("this system tells");
            let mut others = one.0.expect("there is a core");
            system::strike_out(&mut others, core);
            assert_eq!(others, system::Cores::default());
        };
        thread::scope(|scope| scope.spawn(act).join().expect("no panic"));
    }

    #[test]
    fn a_thread_without_a_core_runs_where_the_mask_allows() {
        let all = Mask::of_this_thread();
        let Some(one) = all.first_of_several() else { return };
        let beyond_all = 1023;
        for (present, core, mask) in [(&one, None, &all), (&one, Some(beyond_all), &all), (&all, None, &one)] {
            let place = || {
                assert_eq!(Mask::of_this_thread(), *present, "threads inherit");
                place_current_thread(core, Some(mask));
                assert_eq!(Mask::of_this_thread(), *mask);
                Mask(None).apply();
                assert_eq!(Mask::of_this_thread(), *mask);
            };
            let start = || {
                present.apply();
                thread::scope(|scope| scope.spawn(place).join().expect("no panic"));
            };
            thread::scope(|scope| scope.spawn(start).join().expect("no panic"));
        }
    }
}
