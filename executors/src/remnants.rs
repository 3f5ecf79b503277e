//! What is left of futures that are woken when their pool takes no more steps: they are dropped, but not by the thread
//! that wakes them.
//!
//! Many libraries wake a future while they hold a lock which the destructor of the waiting future takes, too: channels
//! of `async-channel`, `futures::lock::Mutex`, `Shared`. On the thread that wakes it, that destructor would wait for
//! ever. So a thread is started for it. It drops what comes meanwhile, too, one after the other, so a chain of futures
//! each of which wakes the next one takes no stack; and ends when there is nothing more.

use crate::{containment::discard, detached, job::Job};
use std::{
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A list without an allocation of its own: an allocator may submit jobs, and wake futures, and must not be called
/// under the lock.
struct Remnant {
    step: Job,
    next: Option<Box<Remnant>>,
}

/// Those that no thread has taken yet, the last one first.
#[derive(Default)]
struct Remnants {
    last: Option<Box<Remnant>>,
    /// Whether there is a thread that will take them.
    is_served: bool,
}

static REMNANTS: Mutex<Remnants> = Mutex::new(Remnants { last: None, is_served: false });

fn lock() -> MutexGuard<'static, Remnants> {
    REMNANTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets another thread drop `step`; or drops it here if the system refuses a thread.
#[cold]
pub(crate) fn drop_elsewhere(step: impl FnOnce() + Send + 'static) {
    let remnant = Box::new(Remnant { step: Job::new(step), next: None });
    // A model has no use for threads that it does not know.
    if cfg!(executors_loom) {
        return discard(remnant);
    }
    let has_thread = {
        let mut remnants = lock();
        remnants.push(remnant);
        mem::replace(&mut remnants.is_served, true)
    };
    if !has_thread && detached::spawn("executors-remnants", serve).is_err() {
        serve();
    }
}

/// Drops all that there are, until there are no more.
fn serve() {
    loop {
        let last = {
            let mut remnants = lock();
            remnants.is_served = remnants.last.is_some();
            remnants.last.take()
        };
        let Some(last) = last else { return };
        in_order(last);
    }
}

/// Drops a list from its end, which is what came first.
fn in_order(last: Box<Remnant>) {
    let (mut rest, mut first) = (Some(last), None);
    while let Some(mut remnant) = rest {
        rest = mem::replace(&mut remnant.next, first);
        first = Some(remnant);
    }
    while let Some(remnant) = first {
        let Remnant { step, next } = *remnant;
        discard(step);
        first = next;
    }
}

impl Remnants {
    fn push(&mut self, mut remnant: Box<Remnant>) {
        remnant.next = self.last.take();
        self.last = Some(remnant);
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
    fn another_thread_drops_them_in_the_order_in_which_they_came() {
        let (tell, told) = mpsc::channel();
        for number in 0..100 {
            leave(Owned { number, tell: tell.clone(), leaves: 0 });
        }
        drop(tell);
        let (numbers, threads): (Vec<_>, Vec<_>) = all(&told).into_iter().unzip();
        assert_eq!(numbers, Vec::from_iter(0..100));
        assert!(!threads.contains(&thread::current().id()));
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
