//! Waiting for the real end of a thread.

use crate::sync::thread::JoinHandle;

/// Blocks until `thread`, which is about to end, has really ended. Looks before it sleeps: a thread that has done its
/// work is gone before it could wake anybody.
pub(crate) fn join(thread: JoinHandle<()>) {
    system::join(thread);
}

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(executors_loom)))]
mod system {
    use crate::courtesy;
    use libc::{pthread_join, pthread_t, pthread_tryjoin_np};
    use std::{os::unix::thread::JoinHandleExt, ptr, thread::JoinHandle};

    pub(super) fn join(thread: JoinHandle<()>) {
        // musl has another type for the same thing.
        let id = thread.into_pthread_t() as pthread_t;
        // SAFETY: the thread is neither detached nor joined: nobody else had the handle. Nothing is written through a
        // null pointer.
        let has_ended = || unsafe { pthread_tryjoin_np(id, ptr::null_mut()) == 0 };
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
