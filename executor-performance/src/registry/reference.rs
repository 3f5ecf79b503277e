//! The simplest pools that run jobs at all, to see how far the others are from them. Not for real use: a job that
//! panics ends its worker.

mod mutex_condvar;
mod unpark;

pub(super) use self::{mutex_condvar::MutexCondvar, unpark::Unpark};

use crate::failure::Failure;
use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle, Thread},
};

type Job = Box<dyn FnOnce() + Send>;

/// The threads of a pool.
#[derive(Clone)]
struct Threads(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl Threads {
    /// Starts a thread for each of `runs`.
    fn start<R: FnOnce() + Send + 'static>(runs: impl Iterator<Item = R>) -> Result<Self, Failure> {
        let start = |run| thread::Builder::new().name("reference".to_owned()).spawn(run);
        let threads = runs.map(start).collect::<Result<_, _>>().map_err(|error| Failure::of_build(&error))?;
        Ok(Threads(Arc::new(Mutex::new(threads))))
    }

    fn handles(&self) -> Vec<Thread> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|thread| thread.thread().clone()).collect()
    }

    /// Waits until all have left.
    fn join(&self) -> Result<(), String> {
        let threads = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let left: Vec<_> = threads.into_iter().map(JoinHandle::join).collect();
        if left.iter().all(Result::is_ok) { Ok(()) } else { Err("a job panicked".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::adapter::{Pool, ends_after_its_jobs},
        *,
    };

    #[test]
    fn pools_end_after_their_jobs() {
        ends_after_its_jobs(MutexCondvar::new(3).expect("built"));
        ends_after_its_jobs(Unpark::new(3).expect("built"));
    }

    #[test]
    fn a_panic_is_told() {
        let pool = MutexCondvar::new(1).expect("built");
        pool.spawn(|| panic!("as the test wants it"));
        assert_eq!(pool.end(), Err("a job panicked".to_owned()));
    }
}
