//! Whether the system gives all the threads that a turn needs, tried out beforehand.
//!
//! Executors that are refused a thread return an error, panic, wait for it for ever, or hang while they unwind. None of
//! that says anything about how they run jobs, so it must not look like a failure of theirs.

use crate::failure::Failure;
use std::{
    io,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// Makes sure that this process can have `threads` more threads at a time. That so many were there is remembered.
///
/// # Errors
///
/// If the system refuses one.
pub(crate) fn rehearse(threads: usize) -> Result<(), Failure> {
    static REHEARSED: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: the number publishes nothing else.
    if threads > REHEARSED.load(Relaxed) {
        rehearse_anew(threads)?;
        REHEARSED.fetch_max(threads, Relaxed);
    }
    Ok(())
}

/// The same, whatever was there before: other processes may have taken threads since.
///
/// # Errors
///
/// As above.
pub(crate) fn rehearse_anew(threads: usize) -> Result<(), Failure> {
    start_at_a_time(threads).map_err(|why| {
        Failure::Thread(format!(
            "the system refuses one of {threads} at a time, those that give jobs included ({why}); \
             use fewer --threads or --producers, or raise its limit"
        ))
    })
}

/// Starts threads that wait until there are `threads` of them, or one was refused, and ends them.
fn start_at_a_time(threads: usize) -> io::Result<()> {
    let over = OnceLock::new();
    thread::scope(|scope| {
        // No reallocation, for which there may be no memory when there is none for the next thread.
        let mut started = Vec::with_capacity(threads);
        let all = (0..threads).try_for_each(|_| {
            started.push(thread::Builder::new().spawn_scoped(scope, || _ = over.wait())?);
            Ok(())
        });
        over.get_or_init(|| ());
        // The scope itself does not wait until the system has taken the threads away.
        started.into_iter().for_each(|thread| _ = thread.join());
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_are_threads_for_is_rehearsed() {
        rehearse(0).expect("none is refused");
        rehearse(20).expect("twenty can be had");
        rehearse(3).expect("they were there before");
    }
}
