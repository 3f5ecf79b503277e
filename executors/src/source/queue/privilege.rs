//! When a thread has reason to have a part of a queue to itself.
//!
//! While it has, it issues no locked instruction for a job there. But a thread that needs that part, or falls asleep
//! meanwhile, recalls the privilege. Mostly the user [gives it back](crate::recall) at once, which costs each of the
//! two about as much as ten jobs of no work. If the user does not get there, a heavy fence is needed, which costs the
//! recaller as much as a thousand jobs or more, and the user several hundred. The number of jobs that earn the
//! privilege, its *price*, follows from the fences issued because of it.

use crate::{asymmetric_fence, placement::core_count, recall::Interruption};
use std::cell::Cell;

/// The least price for a worker, which gives its privilege back when it runs out of jobs, or blocks and says so.
const LEAST_FOR_WORKERS: usize = if cfg!(executors_privileged) { 1 } else { 1 << 6 };

/// The least price for a thread that submits jobs. When workers run out of jobs and sleep, such a thread has most often
/// none to submit either, and cannot give anything back.
pub(crate) const LEAST_FOR_SUBMITTERS: usize = if cfg!(executors_privileged) { 1 } else { 1 << 10 };

/// Among threads that put in jobs, the one that puts in the last of every this many is considered. Where several do,
/// one of them may be taken for the only one: which costs it, or the others, a move to another lane.
pub(super) const INTERVAL: usize = if cfg!(executors_privileged) { 1 } else { 1 << 6 };

/// The highest price of a privilege. A heavy fence costs the thread that issues it more than a thousand jobs of no
/// work, and each other core several hundred. So where no privilege pays for its fence, fences take about a hundredth
/// of the time, even with such a thread on each core.
pub(crate) fn most() -> usize {
    if cfg!(executors_privileged) { 1 } else { core_count() << 16 }
}

/// From this many jobs on, a privilege has spared as much as a heavy fence takes of all cores, each of which it may
/// interrupt.
fn worth() -> usize {
    if cfg!(executors_privileged) { 1 } else { core_count() << 10 }
}

/// What is known of the jobs of one part of a queue. The counts passed to it are of all jobs that have come there so
/// far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Privilege {
    /// Jobs are counted from here on, towards the next privilege or as those of this one.
    since: usize,
    price: usize,
    least: usize,
    /// Jobs of privileged threads that are yet to pay for a fence, or to lower the price.
    privileged: usize,
    is_held: bool,
    /// Whether it was earned before, and given back.
    is_kept: bool,
}

impl Privilege {
    /// Not given yet; the price begins at `least`, and never falls below.
    pub(super) const fn new(least: usize) -> Self {
        Privilege { since: 0, price: least, least, privileged: 0, is_held: false, is_kept: false }
    }

    /// Whether it was given, and no loss has been noted since.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Whether to give it to the thread that has brought this count about; [`grant`](Self::grant) is to be called once
    /// that thread has the privilege.
    pub(super) fn check_due(&mut self, jobs: usize) -> bool {
        if !self.is_earned(jobs) {
            return false;
        }
        let is_ready = asymmetric_fence::is_ready();
        if !is_ready {
            self.postpone(jobs);
        }
        is_ready
    }

    fn is_earned(&self, jobs: usize) -> bool {
        !self.is_held && jobs.wrapping_sub(self.since) >= self.price
    }

    /// Heavy fences are not ready, which is not to be asked with each job.
    fn postpone(&mut self, jobs: usize) {
        (self.since, self.is_kept) = (jobs, false);
    }

    /// It is due, but not to be given here: this raises the price.
    pub(super) fn refuse(&mut self, jobs: usize) {
        self.raise();
        self.since = jobs;
    }

    pub(super) fn grant(&mut self, jobs: usize) {
        (self.since, self.is_held) = (jobs, true);
    }

    /// The thread finds that it has lost the privilege, after this many `privileged` jobs. `was_interrupted` says
    /// whether that took a heavy fence: if privileged jobs do not pay for the fence, the price doubles. Only such jobs
    /// lower it: if each return in time did, a thread that is late for every other recall would pay least.
    pub(super) fn lose(&mut self, jobs: usize, privileged: usize, was_interrupted: bool) {
        debug_assert!(self.is_held);
        self.privileged = self.privileged.saturating_add(privileged);
        if self.privileged >= worth() {
            self.privileged = 0;
            self.price = (self.price / 2).max(self.least);
        } else if was_interrupted {
            self.privileged = 0;
            self.raise();
        }
        (self.since, self.is_held, self.is_kept) = (jobs, false, false);
    }

    /// How many jobs there were since it was given.
    pub(super) fn count(&self, jobs: usize) -> usize {
        jobs.wrapping_sub(self.since)
    }

    fn raise(&mut self) {
        self.price = (self.price * 2).min(most());
    }

    /// The thread will get it again at the next check.
    fn keep(&mut self, jobs: usize) {
        (self.since, self.is_kept) = (jobs.wrapping_sub(self.price), true);
    }

    /// Another thread comes, so that none has the privilege. It is not known how it was lost.
    pub(super) fn begin_anew(&mut self, jobs: usize) {
        if self.is_held {
            self.lose(jobs, self.count(jobs), true);
        }
        self.since = jobs;
    }
}

/// The privilege of a worker, and the jobs that it counts for that.
pub(super) struct Earnings {
    counted: Cell<usize>,
    privilege: Cell<Privilege>,
}

impl Earnings {
    pub(super) fn new() -> Self {
        Earnings { counted: Cell::new(0), privilege: Cell::new(Privilege::new(LEAST_FOR_WORKERS)) }
    }

    /// Counts this many more `jobs`.
    pub(super) fn add(&self, jobs: usize) {
        self.counted.update(|before| before.wrapping_add(jobs));
    }

    /// Whether the worker is to have the privilege now; [`grant`](Self::grant) is to be called once it has.
    pub(super) fn check_due(&self) -> bool {
        let privilege = self.privilege.get();
        if !privilege.is_earned(self.counted.get()) {
            return false;
        }
        if privilege.is_kept {
            return asymmetric_fence::is_still_ready();
        }
        // This may start a thread, and the allocator may come here again: what was read before is out of date then, and
        // is not written back.
        let is_ready = asymmetric_fence::is_ready();
        if !is_ready {
            self.change(Privilege::postpone);
        }
        is_ready && !self.is_held()
    }

    pub(super) fn grant(&self) {
        self.change(Privilege::grant);
    }

    /// The worker has no privilege any more, and notes that if it had one until now, and this many `privileged` jobs.
    /// If it was not `asked` for it, it need not earn it again.
    pub(super) fn lose(&self, privileged: usize, asked: bool, interruption: &Interruption) {
        if !self.is_held() {
            return;
        }
        let was_interrupted = interruption.take();
        self.change(|privilege, jobs| {
            privilege.lose(jobs, privileged, was_interrupted);
            if !asked && !was_interrupted {
                privilege.keep(jobs);
            }
        });
    }

    /// Whether the privilege was given, and no loss has been noted since.
    pub(super) fn is_held(&self) -> bool {
        self.privilege.get().is_held()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Privilege, usize) -> R) -> R {
        let mut privilege = self.privilege.get();
        let result = change(&mut privilege, self.counted.get());
        self.privilege.set(privilege);
        result
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    const LEAST: usize = LEAST_FOR_SUBMITTERS;

    /// A thread that earns the privilege again and again.
    struct Thread {
        privilege: Privilege,
        jobs: usize,
    }

    impl Thread {
        fn new(price: usize) -> Self {
            Thread { privilege: Privilege { price, ..Privilege::new(LEAST) }, jobs: 7 }
        }

        /// Earns the privilege. Returns how many jobs that takes.
        fn earns(&mut self) -> usize {
            let before = self.jobs;
            self.privilege.begin_anew(before);
            while !self.privilege.is_earned(self.jobs) {
                self.jobs += 1;
            }
            self.privilege.grant(self.jobs);
            self.jobs - before
        }

        /// Loses it after this many `jobs`.
        fn loses(&mut self, jobs: usize, was_interrupted: bool) {
            self.jobs += jobs;
            assert!(!self.privilege.is_earned(self.jobs), "it has the privilege");
            self.privilege.lose(self.jobs, jobs, was_interrupted);
        }
    }

    #[test]
    fn each_fence_that_comes_early_doubles_the_price() {
        let mut thread = Thread::new(LEAST);
        let mut price = LEAST;
        for _ in 0..20 {
            assert_eq!(thread.earns(), price);
            thread.loses(worth() - 1, true);
            price = (2 * price).min(most());
        }
        assert_eq!(price, most());
    }

    #[test]
    fn the_next_thread_begins_with_the_price_of_the_last_one() {
        let mut thread = Thread::new(most());
        assert_eq!(thread.earns(), most());
        thread.jobs += worth();
        assert_eq!(thread.earns(), (most() / 2).max(LEAST), "by another one, after a late fence");
    }

    #[test]
    fn privileged_jobs_pay_for_a_fence_and_lower_the_price() {
        for was_interrupted in [false, true] {
            let mut thread = Thread::new(most());
            let mut price = most();
            while price > LEAST {
                assert_eq!(thread.earns(), price);
                thread.loses(worth() / 2, false);
                assert_eq!(thread.earns(), price, "they are not enough yet");
                thread.loses(worth() - worth() / 2, was_interrupted);
                price /= 2;
            }
            assert_eq!(thread.earns(), LEAST);
        }
    }

    #[test]
    fn only_what_is_given_back_unasked_and_in_time_need_not_be_earned_again() {
        if !asymmetric_fence::is_ready_for_test() {
            return;
        }
        for [asked, is_late] in [[false, false], [false, true], [true, false], [true, true]] {
            let (earnings, interruption) = (Earnings::new(), Interruption::default());
            earnings.add(LEAST_FOR_WORKERS);
            assert!(earnings.check_due());
            earnings.grant();
            assert!(!earnings.check_due());
            if is_late {
                interruption.note();
            }
            earnings.lose(0, asked, &interruption);
            assert!(!earnings.is_held() && !interruption.take());
            assert_eq!(earnings.check_due(), !asked && !is_late);
            earnings.add(LEAST_FOR_WORKERS);
            assert_eq!(earnings.check_due(), !is_late || LEAST_FOR_WORKERS == most(), "the price of a fence");
        }
    }
}
