//! Threads of the library itself, which are never joined.

use crate::{containment::or_refused, placement::Mask};
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    thread::{Builder, ThreadId},
};

/// Starts a thread that does `work`, and is never joined. It detaches itself: another thread might do that too late,
/// when it is ending already (`joining.rs` says why that matters). It runs where the main thread may: the thread that
/// starts it may be pinned, which is no reason to restrict this one.
pub(crate) fn spawn(
    name: &str,
    stack_bytes: Option<usize>,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<ThreadId> {
    let own = Arc::new(Mutex::new(None));
    let mut place = own.lock().unwrap_or_else(PoisonError::into_inner);
    let begins = {
        let own = Arc::clone(&own);
        move || {
            let handle = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(handle);
            Mask::of_main_thread().apply();
            work();
        }
    };
    let mut builder = Builder::new().name(name.to_owned());
    if let Some(bytes) = stack_bytes {
        builder = builder.stack_size(bytes);
    }
    let thread = or_refused(|| builder.spawn(begins))?;
    let id = thread.thread().id();
    *place = Some(thread);
    Ok(id)
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::{sync::mpsc, thread};

    #[test]
    fn a_thread_has_the_given_name_and_the_returned_id() {
        let (tell, told) = mpsc::channel();
        let id = spawn("daemon", None, move || {
            let this = thread::current();
            tell.send((this.id(), this.name() == Some("daemon"))).expect("the test listens");
        });
        assert_eq!(told.recv(), Ok((id.expect("there is room for a thread"), true)));
    }

    #[test]
    fn a_thread_does_not_inherit_where_its_starter_may_run() {
        let starter = thread::spawn(|| {
            // On a single core there is nothing to inherit.
            let Some(restricted) = Mask::of_this_thread().elsewhere() else { return };
            restricted.apply();
            let (tell, told) = mpsc::channel();
            spawn("daemon", None, move || tell.send(Mask::of_this_thread()).expect("the test listens"))
                .expect("there is room for a thread");
            assert_eq!(Mask::of_this_thread(), restricted);
            assert_eq!(told.recv(), Ok(Mask::of_main_thread()));
        });
        starter.join().expect("no assertion fails");
    }
}
