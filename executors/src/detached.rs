//! Threads that are never joined.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    thread::{Builder, ThreadId},
};

/// Starts a thread that does `work`, and is never joined. It detaches itself: another thread might do that too late,
/// when it is ending already (`joining.rs` says why that matters).
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
            work();
        }
    };
    let mut builder = Builder::new().name(name.to_owned());
    if let Some(bytes) = stack_bytes {
        builder = builder.stack_size(bytes);
    }
    let thread = builder.spawn(begins)?;
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
        let id = spawn("detached", None, move || {
            let this = thread::current();
            tell.send((this.id(), this.name() == Some("detached"))).expect("the test listens");
        });
        assert_eq!(told.recv(), Ok((id.expect("there is room for a thread"), true)));
    }
}
