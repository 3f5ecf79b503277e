//! When a thread has reason to have a part of a queue to itself.
//!
//! While it has, it issues no locked instruction for a job there. But a thread that needs that part, or falls asleep
//! meanwhile, has to take the privilege away, which costs both of them as much as some thousand jobs of no work. So the
//! privilege pays for a thread that puts in, or takes, many jobs in between; how many they are is counted.

use crate::{asymmetric_fence, placement::core_count};

/// This many jobs in a row earn a thread the privilege; and twice as many each time that this was not worth it, up to
/// [`most`].
pub(crate) const LEAST: usize = if cfg!(executors_privileged) { 1 } else { 1 << 10 };

/// Among threads that put in jobs, the one that puts in the last of every this many is considered. Where several do,
/// one of them may be taken for the only one: which costs it, or the others, a move to another lane.
pub(super) const INTERVAL: usize = if cfg!(executors_privileged) { 1 } else { 1 << 6 };

/// The highest price of the privilege. A recall costs the thread that makes it as much time as some thousand jobs of no
/// work, and each core as much as some hundred: so where privileges are always taken too early, recalls take a
/// hundredth of the time, even if there is a thread on each core from which they are taken.
pub(crate) fn most() -> usize {
    if cfg!(executors_privileged) { 1 } else { core_count() << 16 }
}

/// The privilege was worth it if its holder had this many jobs before the recall: what they have spared it is about
/// what the recall takes of all cores, each of which it may interrupt. However high the price is: otherwise a worker
/// whose bursts are never long enough for a price that early recalls have raised would hardly earn the privilege any
/// more.
fn worth() -> usize {
    core_count() * LEAST
}

/// What is known of the jobs of one part of a queue. The counts passed to it are of all jobs that have come there so
/// far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Privilege {
    /// The count when the privilege was given, or taken away, or another thread came.
    since: usize,
    price: usize,
    is_held: bool,
}

impl Privilege {
    pub(crate) const NEW: Self = Privilege { since: 0, price: LEAST, is_held: false };

    /// Whether to give it to the thread that has brought this count about; [`grant`](Self::grant) is to be called once
    /// that thread has the privilege. `is_reserved` says whether the part is reserved for that thread, and so whether a
    /// privilege that was given before has been recalled since.
    pub(crate) fn check_due(&mut self, jobs: usize, is_reserved: bool) -> bool {
        if self.is_held && !is_reserved {
            self.note_recall(jobs);
        }
        let earned = jobs.wrapping_sub(self.since);
        if self.is_held || earned < self.price {
            return false;
        }
        let is_ready = asymmetric_fence::is_ready();
        if !is_ready {
            // So that this is not asked with each job.
            self.since = jobs;
        }
        is_ready
    }

    /// The privilege is due, but cannot be given here.
    pub(super) fn refuse(&mut self, jobs: usize) {
        self.price = (self.price * 2).min(most());
        self.since = jobs;
    }

    pub(crate) fn grant(&mut self, jobs: usize) {
        (self.since, self.is_held) = (jobs, true);
    }

    /// Another thread comes, so that none has the privilege.
    pub(super) fn begin_anew(&mut self, jobs: usize) {
        if self.is_held {
            self.note_recall(jobs);
        }
        self.since = jobs;
    }

    fn note_recall(&mut self, jobs: usize) {
        let was_worth = jobs.wrapping_sub(self.since) >= worth();
        self.price = if was_worth { (self.price / 2).max(LEAST) } else { (self.price * 2).min(most()) };
        (self.since, self.is_held) = (jobs, false);
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// A thread that earns the privilege again and again.
    struct Worker {
        privilege: Privilege,
        jobs: usize,
    }

    impl Worker {
        /// A worker that can earn the privilege here.
        fn new(price: usize) -> Option<Self> {
            let privilege = Privilege { price, ..Privilege::NEW };
            asymmetric_fence::is_ready_for_test().then_some(Worker { privilege, jobs: 7 })
        }

        /// Earns the privilege. Returns how many jobs that takes.
        fn earns(&mut self) -> usize {
            let before = self.jobs;
            self.privilege.begin_anew(before);
            while !self.privilege.check_due(self.jobs, false) {
                self.jobs += 1;
            }
            self.privilege.grant(self.jobs);
            self.jobs - before
        }

        fn loses(&mut self, jobs: usize) {
            self.jobs += jobs;
            assert!(!self.privilege.check_due(self.jobs, true), "it has the privilege");
            assert!(!self.privilege.check_due(self.jobs, false) || LEAST == 1);
        }
    }

    #[test]
    fn each_early_recall_doubles_the_price() {
        let Some(mut worker) = Worker::new(LEAST) else { return };
        let mut price = LEAST;
        for _ in 0..20 {
            assert_eq!(worker.earns(), price);
            worker.loses(worth() - 1);
            price = (2 * price).min(most());
        }
        assert_eq!(price, most());
    }

    #[test]
    fn the_next_worker_begins_with_the_price_of_the_last_one() {
        let Some(mut worker) = Worker::new(most()) else { return };
        assert_eq!(worker.earns(), most());
        worker.jobs += worth();
        assert_eq!(worker.earns(), (most() / 2).max(LEAST), "by another one, when it was recalled");
    }

    #[test]
    fn each_late_recall_halves_the_price() {
        let Some(mut worker) = Worker::new(most()) else { return };
        let mut price = most();
        while price > LEAST {
            assert_eq!(worker.earns(), price);
            worker.loses(worth());
            price /= 2;
        }
        assert_eq!(worker.earns(), LEAST);
    }
}
