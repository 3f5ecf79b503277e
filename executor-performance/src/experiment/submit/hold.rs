//! Jobs that last at least as long as the submission of others.

use crate::workload::Work;
use std::{
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// While producers are at work, each job that begins sleeps. All jobs wake when the last producer is done, and from
/// then on no job sleeps: otherwise jobs of a second would take a second each, long after the measurement.
#[derive(Debug)]
pub(super) struct Hold {
    sleep: Duration,
    /// How many producers are at work. Read by every job, written by each producer once.
    producers: AtomicUsize,
    /// Guards nothing but the sleep: a thread that opens takes it, so that no job falls asleep in between.
    door: Mutex<()>,
    opened: Condvar,
}

impl Hold {
    /// Open, for jobs that sleep for `sleep` when it is closed.
    pub(super) fn new(sleep: Duration) -> Self {
        Hold { sleep, producers: AtomicUsize::new(0), door: Mutex::new(()), opened: Condvar::new() }
    }

    /// Closes until `producers` producers are done.
    pub(super) fn close(&self, producers: usize) {
        // Relaxed, here and below: this number publishes nothing else. Producers and jobs of a burst pass a gate after
        // it was stored, and `door` orders it for jobs that sleep.
        self.producers.store(producers, Ordering::Relaxed);
    }

    /// Opens whatever the producers do.
    pub(super) fn open(&self) {
        self.producers.store(0, Ordering::Relaxed);
        drop(self.door.lock().unwrap_or_else(PoisonError::into_inner));
        self.opened.notify_all();
    }

    fn is_closed(&self) -> bool {
        self.producers.load(Ordering::Relaxed) > 0
    }
}

impl Work for Hold {
    fn before(&self) {
        if !self.sleep.is_zero() && self.is_closed() {
            let door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
            let slept = self.opened.wait_timeout_while(door, self.sleep, |()| self.is_closed());
            drop(slept);
        }
    }

    fn producer_is_done(&self) {
        let left = self.producers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left == Ok(1) {
            self.open();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::Arc, thread};

    #[test]
    fn nobody_sleeps_while_it_is_open() {
        let hold = Hold::new(Duration::from_secs(3600));
        hold.before();
        hold.producer_is_done();
        hold.before();
    }

    #[test]
    fn the_last_producer_wakes_the_sleepers() {
        let hold = Arc::new(Hold::new(Duration::from_secs(3600)));
        hold.close(2);
        let sleepers: Vec<_> = (0..3)
            .map(|_| {
                let hold = Arc::clone(&hold);
                thread::spawn(move || hold.before())
            })
            .collect();
        hold.producer_is_done();
        assert!(hold.is_closed());
        hold.producer_is_done();
        assert!(sleepers.into_iter().all(|sleeper| sleeper.join().is_ok()));
    }
}
