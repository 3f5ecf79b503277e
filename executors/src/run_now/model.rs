//! A model of the close.

use super::RunNowExecutor;
use crate::{
    backing::Backing,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        check, thread,
    },
};

/// It fails if `closed` is read before the job is counted as running.
#[test]
fn a_closer_that_waits_has_seen_every_accepted_job() {
    check(3, || {
        let executor = RunNowExecutor::new();
        let has_run = Arc::new(AtomicBool::new(false));
        let submitter = {
            let (handle, has_run) = (executor.handle.clone(), Arc::clone(&has_run));
            thread::spawn(move || handle.admit(move || has_run.store(true, Relaxed)).is_ok())
        };
        executor.handle.close();
        assert!(executor.handle.await_idle(None));
        let seen = has_run.load(Relaxed); // the end of the job alone must make it visible
        assert_eq!(submitter.join().unwrap(), seen, "a job was accepted that the closer has not seen");
    });
}
