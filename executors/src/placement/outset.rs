//! Where a thread begins to run.
//!
//! If all cores are busy, Linux lets a new thread wait on the core of its starter: until the starter has used up its
//! time slice, or until the system balances its cores, which is some milliseconds later, even if another core runs dry
//! meanwhile. A worker that has started another one works on, and rarely sleeps before that. So it moves the new thread
//! to another core before that thread runs; there it soon gets its turn. What this gains is in
//! `docs/results/creation.md`.
//!
//! A submitter from outside may well sleep next, and leave its core: a thread that it starts stays where the system
//! puts it.

use super::Mask;
use crate::{seccomp::is_filtered, sync::thread::JoinHandle};
use std::{
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Shared by a thread and its starter.
///
/// Locked by the starter until the thread is moved, and by the thread before it lets itself run everywhere: in the
/// other order the thread would be kept from the starter's core for good. There is no model of this: the lock orders
/// nothing else.
#[derive(Debug, Default)]
pub(crate) struct Outset {
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    New,
    /// The thread was moved, and may only run elsewhere.
    Moved,
    Begun,
}

impl Outset {
    /// Called by the thread, as the first thing that it does: lets it run on all cores again, if it was kept from one.
    pub(crate) fn begin(&self) {
        if mem::replace(&mut *self.lock(), State::Begun) == State::Moved {
            Mask::lift();
        }
    }

    /// Called by the starter: lets `thread` begin on another core than the caller's, if `mask` has one. Does nothing if
    /// the thread has begun, because it need not be moved then, or it is too late; nor where system calls are filtered.
    ///
    /// Three system calls.
    pub(crate) fn send_elsewhere(&self, thread: &JoinHandle<()>, mask: &Mask) {
        if is_filtered() {
            return;
        }
        let mut state = self.lock();
        if *state == State::New
            && let Some(others) = mask.elsewhere()
        {
            others.apply_to(thread);
            *state = State::Moved;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::placement::place_current_thread;
    use std::{
        sync::{Arc, mpsc},
        thread,
    };

    /// Runs `test` on a thread that may run on one core only, and passes it all cores and that one.
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

    /// Starts a thread that does not begin before `before` has had its handle. Returns where it may run before it
    /// begins, and where once it has begun and taken its place.
    fn start(outset: &Arc<Outset>, mask: Mask, before: impl FnOnce(&JoinHandle<()>)) -> (Mask, Mask) {
        let (tell, may_begin) = mpsc::channel();
        let (report, masks) = mpsc::channel();
        let outset = Arc::clone(outset);
        let thread = thread::spawn(move || {
            may_begin.recv().expect("the test goes on");
            let first = Mask::of_this_thread();
            outset.begin();
            place_current_thread(None, Some(&mask));
            report.send((first, Mask::of_this_thread())).expect("the test waits");
        });
        before(&thread);
        tell.send(()).expect("the thread waits");
        thread.join().expect("no panic");
        masks.recv().expect("sent before the end")
    }

    #[test]
    fn a_thread_that_has_not_begun_is_moved_until_it_begins() {
        pinned(|all, one| {
            let outset = Arc::new(Outset::default());
            let elsewhere = all.elsewhere().expect("there are several cores");
            assert_ne!(elsewhere, all);
            let masks = start(&outset, all.clone(), |thread| outset.send_elsewhere(thread, &all));
            assert_eq!(masks, (elsewhere, all));
            assert_eq!(Mask::of_this_thread(), one, "the starter stays where it is");
        });
    }

    #[test]
    fn a_thread_that_has_begun_or_has_no_other_core_stays() {
        pinned(|all, one| {
            let has_begun = Arc::new(Outset { state: Mutex::new(State::Begun) });
            let masks = start(&has_begun, one.clone(), |thread| has_begun.send_elsewhere(thread, &all));
            assert_eq!(masks, (one.clone(), one.clone()));
            let outset = Arc::new(Outset::default());
            let masks = start(&outset, one.clone(), |thread| outset.send_elsewhere(thread, &one));
            assert_eq!(masks, (one.clone(), one));
        });
    }
}
