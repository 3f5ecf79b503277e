//! A parker as a user would write one: it has only what 0.10 required, and is so simple that it must be correct.

use executors::parker::{ParkResult, Parker};
use std::sync::{Arc, Condvar, Mutex};

/// One lock around a list of sleepers, one condition variable for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct NaiveParker(Arc<(Mutex<Vec<usize>>, Condvar)>);

impl NaiveParker {
    fn sleepers(&self) -> std::sync::MutexGuard<'_, Vec<usize>> {
        self.0.0.lock().expect("no panic under this lock")
    }
}

impl Parker for NaiveParker {
    fn max_threads(&self) -> Option<usize> {
        Some(1000)
    }

    fn init(&self, thread_id: usize) {
        self.abort_park(thread_id);
    }

    fn prepare_park(&self, thread_id: usize) {
        self.sleepers().push(thread_id);
    }

    fn abort_park(&self, thread_id: usize) {
        self.sleepers().retain(|sleeper| *sleeper != thread_id);
    }

    fn park(&self, thread_id: usize) -> ParkResult {
        let asleep = |sleepers: &mut Vec<usize>| sleepers.contains(&thread_id);
        drop(self.0.1.wait_while(self.sleepers(), asleep).expect("no panic under this lock"));
        ParkResult::Woken
    }

    fn unpark_one(&self) {
        if self.sleepers().pop().is_some() {
            self.0.1.notify_all();
        }
    }

    fn unpark_all(&self) {
        self.sleepers().clear();
        self.0.1.notify_all();
    }
}
