//! The first moment of a thread: where it begins.
//!
//! If all cores are busy, Linux lets a new thread wait on that of its starter: until the starter has used up its slice,
//! or the system compares its cores, and that is some milliseconds later, also if another core runs dry meanwhile. A
//! worker that has started another one works on, and rarely sleeps before that. So it has the new thread moved to
//! another core before it runs, where it soon gets its turn. What this gains is in `docs/results/peers.md`.
//!
//! Whoever submits from outside may well sleep next, and leave its core: what it starts stays where the system puts it.

use super::{Mask, place_current_thread};
use crate::{seccomp::is_filtered, sync::thread::JoinHandle};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by a thread and its starter.
///
/// Locked by the starter until the thread is moved, and by the thread before it lets itself run everywhere: in the
/// other order it would be kept from the starter's core for good. In no model: nothing else is ordered by this lock.
#[derive(Debug, Default)]
pub(crate) struct Outset {
    has_begun: Mutex<bool>,
}

impl Outset {
    /// For the thread: has it run on `core`; or where `mask` allows, if it has none or cannot be pinned.
    pub(crate) fn begin(&self, core: Option<usize>, mask: &Mask) {
        *self.lock() = true;
        place_current_thread(core, mask);
    }

    /// For the starter: has `thread` begin on another core than the caller's, if `mask` has one. Without effect if the
    /// thread has begun, which it did elsewhere, and where system calls are filtered.
    ///
    /// Two or three system calls.
    pub(crate) fn part(&self, thread: &JoinHandle<()>, mask: &Mask) {
        if is_filtered() {
            return;
        }
        let has_begun = self.lock();
        if !*has_begun && let Some(others) = mask.elsewhere() {
            others.apply_to(thread);
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.has_begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;
    use std::{
        sync::{Arc, mpsc},
        thread,
    };

    /// Runs `test` on a thread that runs on one core only, with all cores and that one.
    fn pinned(test: impl FnOnce(Mask, Mask) + Send + 'static) {
        let all = Mask::of_this_thread();
        let Some(one) = all.first_of_several() else { return };
        if is_filtered() {
            println!("skipped: system calls are filtered");
            return;
        }
        let tester = thread::spawn(move || {
            one.apply();
            test(all, one);
        });
        tester.join().expect("no panic");
    }

    /// Starts a thread that does not begin before `before` has had its handle; returns where it may run when it begins,
    /// and afterwards.
    fn start(outset: &Arc<Outset>, mask: Mask, before: impl FnOnce(&JoinHandle<()>)) -> (Mask, Mask) {
        let (tell, may_begin) = mpsc::channel();
        let (report, masks) = mpsc::channel();
        let outset = Arc::clone(outset);
        let thread = thread::spawn(move || {
            may_begin.recv().expect("the test goes on");
            let first = Mask::of_this_thread();
            outset.begin(None, &mask);
            report.send((first, Mask::of_this_thread())).expect("the test waits");
        });
        before(&thread);
        tell.send(()).expect("the thread waits");
        thread.join().expect("no panic");
        masks.recv().expect("sent before the end")
    }

    #[test]
    fn who_has_not_begun_is_moved_and_then_runs_wherever_the_mask_allows() {
        pinned(|all, one| {
            let outset = Arc::new(Outset::default());
            let elsewhere = all.elsewhere().expect("there are several cores");
            assert_ne!(elsewhere, all);
            let masks = start(&outset, all.clone(), |thread| outset.part(thread, &all));
            assert_eq!(masks, (elsewhere, all));
            assert_eq!(Mask::of_this_thread(), one, "the starter stays where it is");
        });
    }

    #[test]
    fn who_has_begun_or_has_no_other_core_stays() {
        pinned(|all, one| {
            let has_begun = Arc::new(Outset { has_begun: Mutex::new(true) });
            let masks = start(&has_begun, one.clone(), |thread| has_begun.part(thread, &all));
            assert_eq!(masks, (one.clone(), one.clone()));
            let outset = Arc::new(Outset::default());
            let masks = start(&outset, one.clone(), |thread| outset.part(thread, &one));
            assert_eq!(masks, (one.clone(), one));
        });
    }
}
