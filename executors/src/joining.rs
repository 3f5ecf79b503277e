//! Waiting for the real end of a thread, after the destructors of its thread-locals. And not waiting for it.

use crate::sync::thread::JoinHandle;

/// Blocks until `thread`, which is about to end, has really ended. Looks for a while before it sleeps: a thread that
/// has done its work is gone before it could wake another.
pub(crate) fn join(thread: JoinHandle<()>) {
    system::join(thread);
}

/// Removes threads that have really ended: no thread need wait for them any more.
pub(crate) fn forget_ended(threads: &mut Vec<JoinHandle<()>>) {
    system::forget_ended(threads);
}

/// Lets go of `threads`, which are about to end or have ended, and does not wait.
///
/// On Linux they are not detached, as they would be if the handles were dropped. `pthread_detach` of glibc marks a
/// thread, and then looks in its descriptor whether it is ending. The thread may have ended in between, seen the mark,
/// and released that memory: this is in the code of 2.36, and was observed here, as by others
/// (<https://github.com/tikv/grpc-rs/issues/653>). Only the thread itself, or one that keeps it from ending meanwhile,
/// can detach it safely.
pub(crate) fn let_go(threads: Vec<JoinHandle<()>>) {
    system::let_go(threads);
}

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(executors_loom)))]
mod system {
    use crate::courtesy;
    use libc::{pthread_join, pthread_t, pthread_tryjoin_np};
    use std::{
        os::unix::thread::JoinHandleExt,
        ptr,
        sync::{Mutex, PoisonError},
        thread::JoinHandle,
    };

    /// Joins the thread if it has ended. Returns whether it has.
    ///
    /// # Safety
    ///
    /// The thread is neither detached nor joined, and once this has returned `true`, it must not be detached or joined
    /// any more.
    unsafe fn try_join(id: pthread_t) -> bool {
        // SAFETY: the caller vouches for the thread. Nothing is written through a null pointer.
        unsafe { pthread_tryjoin_np(id, ptr::null_mut()) == 0 }
    }

    pub(super) fn forget_ended(threads: &mut Vec<JoinHandle<()>>) {
        // SAFETY: the handle is here, so the thread is neither detached nor joined; and below the handle is taken
        // apart.
        let has_ended = |thread: &mut JoinHandle<()>| unsafe { try_join(thread.as_pthread_t() as pthread_t) };
        for thread in threads.extract_if(.., has_ended) {
            let _joined = thread.into_pthread_t();
        }
    }

    /// Threads that had not ended when they were let go of. They are joined by the first call that lets go of others,
    /// or of none, after their end.
    pub(super) static ENDING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

    pub(super) fn let_go(mut threads: Vec<JoinHandle<()>>) {
        let mut ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
        ending.append(&mut threads);
        forget_ended(&mut ending);
    }

    pub(super) fn join(thread: JoinHandle<()>) {
        // musl has another type for the same thing.
        let id = thread.into_pthread_t() as pthread_t;
        // SAFETY: the thread is neither detached nor joined: no other thread had the handle. The look ends with
        // success.
        let has_ended = || unsafe { try_join(id) };
        if !courtesy::look(has_ended) {
            // SAFETY: as above, as the last attempt has failed.
            let failed = unsafe { pthread_join(id, ptr::null_mut()) };
            debug_assert_eq!(failed, 0, "no thread joins itself");
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(executors_loom))))]
mod system {
    use crate::sync::thread::JoinHandle;

    /// As far as the standard library tells, which is before the destructors of thread-locals; loom does not tell.
    pub(super) fn forget_ended(threads: &mut Vec<JoinHandle<()>>) {
        #[cfg(not(executors_loom))]
        threads.retain(|thread| !thread.is_finished());
        #[cfg(executors_loom)]
        let _ = threads;
    }

    pub(super) fn let_go(threads: Vec<JoinHandle<()>>) {
        drop(threads);
    }

    pub(super) fn join(thread: JoinHandle<()>) {
        // A panic of the thread is of no interest here.
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

    /// A thread that has done its work, and waits in the destructor of a thread-local until the sender is dropped.
    #[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
    fn lingering() -> (thread::JoinHandle<()>, mpsc::Sender<()>) {
        struct Lingers(mpsc::Receiver<()>);
        impl Drop for Lingers {
            fn drop(&mut self) {
                let _ = self.0.recv();
            }
        }
        thread_local!(static LINGERS: std::cell::OnceCell<Lingers> = const { std::cell::OnceCell::new() });

        let (let_go, waits) = mpsc::channel();
        let thread = thread::spawn(|| LINGERS.with(|lingers| _ = lingers.set(Lingers(waits))));
        while !thread.is_finished() {
            thread::yield_now();
        }
        (thread, let_go)
    }

    #[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
    #[test]
    fn a_thread_is_not_forgotten_before_it_has_dropped_its_thread_locals() {
        let (thread, lingers) = lingering();
        let mut threads = vec![thread];
        forget_ended(&mut threads);
        assert_eq!(threads.len(), 1, "its destructor still waits");
        drop(lingers);
        while !threads.is_empty() {
            thread::yield_now();
            forget_ended(&mut threads);
        }
    }

    #[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
    #[test]
    fn a_thread_that_was_let_go_is_joined_by_the_next_caller() {
        let (thread, lingers) = lingering();
        let id = thread.thread().id();
        let is_kept = || {
            let ending = system::ENDING.lock().expect("no panic under this lock");
            ending.iter().any(|thread| thread.thread().id() == id)
        };
        let_go(vec![thread]);
        assert!(is_kept(), "its destructor still waits");
        drop(lingers);
        while is_kept() {
            thread::yield_now();
            let_go(Vec::new());
        }
    }

    /// The memory of a thread-local is released by what the system calls at the real end.
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
