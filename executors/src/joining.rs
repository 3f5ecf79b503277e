//! Waiting for the real end of a thread: behind the destructors of its thread-locals.

use crate::sync::thread::JoinHandle;

/// Blocks until `thread`, which is about to end, has really ended. Looks before it sleeps: a thread that has done its
/// work is gone before it could wake anybody.
pub(crate) fn join(thread: JoinHandle<()>) {
    system::join(thread);
}

/// Takes those out that have really ended: nobody need wait for them any more.
pub(crate) fn forget_ended(threads: &mut Vec<JoinHandle<()>>) {
    system::forget_ended(threads);
}

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(executors_loom)))]
mod system {
    use crate::courtesy;
    use libc::{pthread_join, pthread_t, pthread_tryjoin_np};
    use std::{os::unix::thread::JoinHandleExt, ptr, thread::JoinHandle};

    /// Joins the thread if it has ended. Returns whether it has.
    ///
    /// # Safety
    ///
    /// The thread is neither detached nor joined, and when this has returned `true`, nobody does that any more.
    unsafe fn try_join(id: pthread_t) -> bool {
        // SAFETY: the caller vouches for the thread. Nothing is written through a null pointer.
        unsafe { pthread_tryjoin_np(id, ptr::null_mut()) == 0 }
    }

    pub(super) fn forget_ended(threads: &mut Vec<JoinHandle<()>>) {
        // SAFETY: the handle is here, so the thread is neither detached nor joined; and below it is taken apart.
        let has_ended = |thread: &mut JoinHandle<()>| unsafe { try_join(thread.as_pthread_t() as pthread_t) };
        for thread in threads.extract_if(.., has_ended) {
            let _joined = thread.into_pthread_t();
        }
    }

    pub(super) fn join(thread: JoinHandle<()>) {
        // musl has another type for the same thing.
        let id = thread.into_pthread_t() as pthread_t;
        // SAFETY: the thread is neither detached nor joined: nobody else had the handle. The look ends with success.
        let has_ended = || unsafe { try_join(id) };
        if !courtesy::look(has_ended) {
            // SAFETY: as above, as the last attempt has failed.
            let failed = unsafe { pthread_join(id, ptr::null_mut()) };
            debug_assert_eq!(failed, 0, "nobody joins itself");
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(executors_loom))))]
mod system {
    use crate::sync::thread::JoinHandle;

    /// As far as the standard library tells, which is before the destructors of thread-locals; and loom does not.
    pub(super) fn forget_ended(threads: &mut Vec<JoinHandle<()>>) {
        #[cfg(not(executors_loom))]
        threads.retain(|thread| !thread.is_finished());
        #[cfg(executors_loom)]
        let _ = threads;
    }

    pub(super) fn join(thread: JoinHandle<()>) {
        // What it threw is nobody's affair.
        let _ = thread.join();
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering::Relaxed},
            mpsc,
        },
        thread,
        time::Duration,
    };

    #[test]
    fn a_thread_is_waited_for_whether_it_ends_soon_or_not() {
        for lasts in [Duration::ZERO, 1000 * crate::courtesy::LONGEST_CALL] {
            let has_ended = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&has_ended);
            join(thread::spawn(move || {
                thread::sleep(lasts);
                ends.store(true, Relaxed);
            }));
            assert!(has_ended.load(Relaxed), "after {lasts:?}");
        }
    }

    /// Waits, in its destructor, until it may go.
    struct Lingers(mpsc::Receiver<()>);

    impl Drop for Lingers {
        fn drop(&mut self) {
            let _ = self.0.recv();
        }
    }

    #[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
    #[test]
    fn a_thread_is_not_forgotten_before_it_has_dropped_its_thread_locals() {
        thread_local!(static LINGERS: std::cell::OnceCell<Lingers> = const { std::cell::OnceCell::new() });

        let (let_go, waits) = mpsc::channel();
        let mut threads = vec![thread::spawn(|| LINGERS.with(|lingers| _ = lingers.set(Lingers(waits))))];
        while !threads[0].is_finished() {
            thread::yield_now();
        }
        forget_ended(&mut threads);
        assert_eq!(threads.len(), 1, "its destructor still waits");
        drop(let_go);
        while !threads.is_empty() {
            thread::yield_now();
            forget_ended(&mut threads);
        }
    }

    /// Memory that a thread-local has is given back by what the system calls at the real end.
    #[test]
    fn a_thread_is_waited_for_until_it_has_dropped_its_thread_locals() {
        struct Tells(mpsc::Sender<()>);
        impl Drop for Tells {
            fn drop(&mut self) {
                thread::sleep(Duration::from_millis(20));
                self.0.send(()).expect("the test listens");
            }
        }
        thread_local!(static TELLS: std::cell::OnceCell<Tells> = const { std::cell::OnceCell::new() });

        let (tell, told) = mpsc::channel();
        join(thread::spawn(|| TELLS.with(|tells| _ = tells.set(Tells(tell)))));
        assert_eq!(told.try_recv(), Ok(()));
    }
}
