//! When a thread has reason to have a part of a queue for itself.
//!
//! While it has, it issues no locked instruction for a job there. But whoever needs that part, or falls asleep
//! meanwhile, has to take the privilege away, which costs both of them as much as some thousand jobs of no work. So
//! it pays for who brings, or takes, many jobs in between; and how many that is shows.

use crate::{barrier, placement::cores};

/// So many jobs of one thread in a row earn it the privilege; and twice as many each time that this was not worth it,
/// up to [`most`].
pub(crate) const LEAST: usize = if cfg!(executors_privileged) { 1 } else { 1 << 10 };

/// Of those who put in jobs the one is asked about that who puts in the last of so many. Where several do, one of them
/// may be taken for the only one: which costs it, or the others, a move to another lane.
pub(super) const INTERVAL: usize = if cfg!(executors_privileged) { 1 } else { 1 << 6 };

/// A recall takes as long as some thousand jobs of no work, of who makes it, and some hundred, of each core: so it
/// takes a hundredth of the time at worst, also if there is somebody on each core from whom privileges are taken.
pub(crate) fn most() -> usize {
    if cfg!(executors_privileged) { 1 } else { cores() << 16 }
}

/// It was worth it for who had so many times as many jobs before the recall.
const WORTH: usize = 16;

/// What is known of the jobs of one part. The counts that it is asked with are of all jobs that have come there so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Privilege {
    /// The count when it was given, or taken away, or another thread came.
    since: usize,
    price: usize,
    is_held: bool,
}

impl Privilege {
    pub(crate) const NEW: Self = Privilege { since: 0, price: LEAST, is_held: false };

    /// Whether to give it to the thread that has brought this count about; it is to be told when it [is
    /// given](Self::is_given). Whether the part `is_reserved` for that thread tells whether a privilege that was
    /// given before has been recalled since.
    pub(crate) fn is_due(&mut self, jobs: usize, is_reserved: bool) -> bool {
        if self.is_held && !is_reserved {
            self.is_recalled(jobs);
        }
        let earned = jobs.wrapping_sub(self.since);
        if self.is_held || earned < self.price {
            return false;
        }
        let is_ready = barrier::is_ready();
        if !is_ready {
            // So that this is not asked with each job.
            self.since = jobs;
        }
        is_ready
    }

    /// It is due, but cannot be given here.
    pub(super) fn is_refused(&mut self, jobs: usize) {
        self.price = (self.price * 2).min(most());
        self.since = jobs;
    }

    pub(crate) fn is_given(&mut self, jobs: usize) {
        (self.since, self.is_held) = (jobs, true);
    }

    /// Another thread comes, so that nobody has it.
    pub(super) fn begin_anew(&mut self, jobs: usize) {
        if self.is_held {
            self.is_recalled(jobs);
        }
        self.since = jobs;
    }

    fn is_recalled(&mut self, jobs: usize) {
        let was_worth = jobs.wrapping_sub(self.since) >= WORTH * self.price;
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
        /// One that can earn it here.
        fn new(price: usize) -> Option<Self> {
            let privilege = Privilege { price, ..Privilege::NEW };
            barrier::is_ready_for_test().then_some(Worker { privilege, jobs: 7 })
        }

        /// How many jobs that takes.
        fn earns(&mut self) -> usize {
            let before = self.jobs;
            self.privilege.begin_anew(before);
            while !self.privilege.is_due(self.jobs, false) {
                self.jobs += 1;
            }
            self.privilege.is_given(self.jobs);
            self.jobs - before
        }

        fn loses(&mut self, jobs: usize) {
            self.jobs += jobs;
            assert!(!self.privilege.is_due(self.jobs, true), "it has it");
            assert!(!self.privilege.is_due(self.jobs, false) || LEAST == 1);
        }
    }

    #[test]
    fn each_recall_that_comes_soon_doubles_the_price() {
        let Some(mut worker) = Worker::new(LEAST) else { return };
        let mut price = LEAST;
        for _ in 0..20 {
            assert_eq!(worker.earns(), price);
            worker.loses(WORTH * price - 1);
            price = (2 * price).min(most());
        }
        assert_eq!(price, most());
    }

    #[test]
    fn who_comes_next_finds_what_it_was_worth_to_the_one_before() {
        let Some(mut worker) = Worker::new(most()) else { return };
        assert_eq!(worker.earns(), most());
        worker.jobs += WORTH * most();
        assert_eq!(worker.earns(), (most() / 2).max(LEAST), "by another one, when it was recalled");
    }

    #[test]
    fn each_recall_that_comes_late_halves_it() {
        let Some(mut worker) = Worker::new(most()) else { return };
        let mut price = most();
        while price > LEAST {
            assert_eq!(worker.earns(), price);
            worker.loses(WORTH * price);
            price /= 2;
        }
        assert_eq!(worker.earns(), LEAST);
    }
}
