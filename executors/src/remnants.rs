//! What is left of futures that are woken when their pool takes no more steps: they are dropped, but not by the thread
//! that wakes them.
//!
//! Many libraries wake a future while they hold a lock which the destructor of the waiting future takes, too: channels
//! of `async-channel`, `futures::lock::Mutex`, `Shared`. On the thread that wakes it, that destructor would wait for
//! ever. So a thread is started for it, and ends when there is nothing more. If all such threads are in destructors,
//! which may block, what comes then starts one more, up to a limit. What a destructor leaves itself starts none, and
//! is not dropped within it: so a chain of futures each of which wakes the next one takes neither stack nor threads.

use crate::{containment::discard, daemon, job::Job};
use std::{
    cell::Cell,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// So many destructors may block at the same time before they hold others up. Chosen freely.
const THREADS: usize = 16;

/// As much as a main thread usually has: pools may have been given large stacks for what their jobs drop.
const STACK_BYTES: usize = 8 << 20;

/// A list without an allocation of its own: an allocator may submit jobs, and wake futures, and must not be called
/// under the lock.
struct Remnant {
    step: Job,
    next: Option<Box<Remnant>>,
}

struct Remnants {
    /// Those that no thread has taken yet.
    first: Option<Box<Remnant>>,
    /// Threads that take them, and how many of these are in a destructor.
    threads: usize,
    busy: usize,
}

static REMNANTS: Mutex<Remnants> = Mutex::new(Remnants { first: None, threads: 0, busy: 0 });

thread_local! {
    /// Whether this thread takes them, and will look for more.
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

fn lock() -> MutexGuard<'static, Remnants> {
    REMNANTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets another thread drop `step`; or drops it here if the system refuses a thread, and there is no other.
#[cold]
pub(crate) fn drop_elsewhere(step: impl FnOnce() + Send + 'static) {
    let remnant = Box::new(Remnant { step: Job::new(step), next: None });
    // A model has no use for threads that it does not know.
    if cfg!(executors_loom) {
        return discard(remnant.step);
    }
    let needs_thread = lock().push(remnant);
    if needs_thread && !start_thread() && lock().refuse_thread() {
        serve();
    }
}

/// Starts a thread that has been counted. Returns whether it comes.
fn start_thread() -> bool {
    daemon::spawn("executors-remnants", Some(STACK_BYTES), serve).is_ok()
}

/// Drops all that there are, until there are no more. The thread has been counted.
fn serve() {
    SERVES.set(true);
    loop {
        let (remnant, needs_thread) = lock().take();
        if needs_thread && !start_thread() {
            // This one serves on.
            let _is_only_one = lock().refuse_thread();
        }
        let Some(remnant) = remnant else { break };
        let Remnant { step, .. } = *remnant;
        discard(step);
        lock().busy -= 1;
    }
    SERVES.set(false);
}

impl Remnants {
    /// Returns whether a thread is to be started for it, which counts from now on.
    fn push(&mut self, mut remnant: Box<Remnant>) -> bool {
        remnant.next = self.first.take();
        self.first = Some(remnant);
        !SERVES.get() && self.needs_thread()
    }

    /// For a thread that is counted: one of them, with which it is busy; or none, and it is counted out. And whether a
    /// thread is to be started for the others, which counts from now on.
    fn take(&mut self) -> (Option<Box<Remnant>>, bool) {
        let mut taken = self.first.take();
        match &mut taken {
            Some(remnant) => {
                self.first = remnant.next.take();
                self.busy += 1;
            }
            None => self.threads -= 1,
        }
        (taken, self.first.is_some() && self.needs_thread())
    }

    fn needs_thread(&mut self) -> bool {
        let needs_thread = self.busy == self.threads && self.threads < THREADS;
        self.threads += usize::from(needs_thread);
        needs_thread
    }

    /// Counts out a thread that does not come, unless there is no other: then this returns true, and the caller serves
    /// in its place.
    fn refuse_thread(&mut self) -> bool {
        let is_only_one = self.threads == 1;
        if !is_only_one {
            self.threads -= 1;
        }
        is_only_one
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::{
        iter,
        panic::resume_unwind,
        sync::{
            Arc,
            mpsc::{self, RecvTimeoutError},
        },
        thread,
        time::Duration,
    };

    /// What a step owns: tells when it is dropped, and where; and may leave another step.
    struct Owned {
        number: usize,
        tell: mpsc::Sender<(usize, thread::ThreadId)>,
        leaves: usize,
    }

    impl Drop for Owned {
        fn drop(&mut self) {
            let Owned { number, ref tell, leaves } = *self;
            if leaves > 0 {
                leave(Owned { number: number + 1, tell: tell.clone(), leaves: leaves - 1 });
            }
            tell.send((number, thread::current().id())).expect("the test listens");
        }
    }

    fn leave(owned: Owned) {
        drop_elsewhere(move || _ = &owned);
    }

    const PATIENCE: Duration = Duration::from_secs(60);

    /// What is told until all that could tell anything are gone.
    fn all<T>(told: &mpsc::Receiver<T>) -> Vec<T> {
        iter::from_fn(|| match told.recv_timeout(PATIENCE) {
            Ok(one) => Some(one),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nobody drops the rest"),
        })
        .collect()
    }

    #[test]
    fn other_threads_drop_them() {
        let (tell, told) = mpsc::channel();
        for number in 0..100 {
            leave(Owned { number, tell: tell.clone(), leaves: 0 });
        }
        drop(tell);
        let (mut numbers, threads): (Vec<_>, Vec<_>) = all(&told).into_iter().unzip();
        numbers.sort_unstable();
        assert_eq!(numbers, Vec::from_iter(0..100));
        assert!(!threads.contains(&thread::current().id()));
    }

    /// Neither those that come later nor those that came before.
    #[test]
    fn a_destructor_that_blocks_holds_up_no_other() {
        struct Waits(mpsc::Receiver<()>);
        impl Drop for Waits {
            fn drop(&mut self) {
                let _ = self.0.recv_timeout(PATIENCE);
            }
        }
        let (tell, told) = mpsc::channel();
        let (go_on, waits) = mpsc::channel();
        let owned = Waits(waits);
        leave(Owned { number: 1, tell: tell.clone(), leaves: 0 });
        drop_elsewhere(move || _ = &owned);
        leave(Owned { number: 7, tell, leaves: 1000 });
        assert_eq!(all(&told).len(), 1002);
        go_on.send(()).expect("it still waits");
    }

    #[test]
    fn a_chain_takes_no_stack() {
        const LINKS: usize = 100_000;
        let (tell, told) = mpsc::channel();
        leave(Owned { number: 0, tell, leaves: LINKS });
        assert_eq!(all(&told).len(), LINKS + 1);
    }

    /// As of a library that wakes a future under its lock.
    #[test]
    fn a_destructor_may_take_a_lock_that_the_caller_holds() {
        struct Locks(Arc<Mutex<()>>, mpsc::Sender<()>);
        impl Drop for Locks {
            fn drop(&mut self) {
                let _held = self.0.lock().expect("no panic under this lock");
                self.1.send(()).expect("the test listens");
            }
        }
        let (lock, (tell, told)) = (Arc::new(Mutex::new(())), mpsc::channel());
        let owned = Locks(Arc::clone(&lock), tell);
        let held = lock.lock().expect("no panic under this lock");
        drop_elsewhere(move || _ = &owned);
        drop(held);
        assert_eq!(all(&told).len(), 1);
    }

    #[test]
    fn a_further_thread_comes_if_all_are_in_destructors() {
        let remnant = || Box::new(Remnant { step: Job::new(|| ()), next: None });
        let mut remnants = Remnants { first: None, threads: 0, busy: 0 };
        assert!(remnants.push(remnant()), "the first one");
        assert!(!remnants.push(remnant()), "the first thread is on its way");
        assert!(matches!(remnants.take(), (Some(_), true)), "it is busy, and something waits");
        assert!(matches!(remnants.take(), (Some(_), false)));
        assert!(remnants.push(remnant()), "both are busy");
        assert!(!remnants.refuse_thread(), "there are others");
        remnants.busy -= 1;
        assert!(!remnants.push(remnant()), "one comes back");
        remnants.busy -= 1;
        assert!(matches!(remnants.take(), (Some(_), false)), "the other one comes back");
        assert!(matches!(remnants.take(), (Some(_), false)));
        remnants.busy -= 2;
        assert!(matches!([remnants.take().0, remnants.take().0], [None, None]));
        assert_eq!((remnants.threads, remnants.busy), (0, 0));
        assert!(remnants.push(remnant()) && remnants.refuse_thread(), "there is no other");
    }

    #[test]
    fn a_destructor_may_panic() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                resume_unwind(Box::new("as the test wants it"));
            }
        }
        let owned = Panics;
        drop_elsewhere(move || _ = &owned);
        let (tell, told) = mpsc::channel();
        leave(Owned { number: 7, tell, leaves: 0 });
        assert_eq!(all(&told).len(), 1);
    }
}
