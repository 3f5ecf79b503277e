//! When a thread has reason to have a part of a queue to itself.
//!
//! While it has, it issues no locked instruction for a job there. But a thread that needs that part, or falls asleep
//! meanwhile, recalls the privilege. Mostly the user [gives it back](crate::asymmetric_fence#recalls) at once, which
//! costs both as much as some ten jobs of no work. If the user does not get there, because its job takes long or
//! because it has no core, that takes a heavy fence, which costs both as much as a thousand. So the privilege pays for
//! a thread that puts in, or takes, some jobs in between; and how many it has to bring for it, its price, follows from
//! the fences that were issued because of it.

use crate::{
    asymmetric_fence::{self, LightSide},
    placement::core_count,
};
use std::cell::Cell;

/// The least price for a worker, which gives its privilege back when it runs out of jobs.
const LEAST_FOR_WORKERS: usize = if cfg!(executors_privileged) { 1 } else { 1 << 6 };

/// The least price for a thread that submits jobs. When workers run out of jobs and sleep, such a thread has most often
/// none to submit either, and cannot give anything back.
pub(crate) const LEAST_FOR_SUBMITTERS: usize = if cfg!(executors_privileged) { 1 } else { 1 << 10 };

/// Among threads that put in jobs, the one that puts in the last of every this many is considered. Where several do,
/// one of them may be taken for the only one: which costs it, or the others, a move to another lane.
pub(super) const INTERVAL: usize = if cfg!(executors_privileged) { 1 } else { 1 << 6 };

/// The highest price of a privilege. To take one away costs the thread that does it as much time as some thousand jobs
/// of no work, and each core as much as some hundred: so where privileges are always taken too early, that takes a
/// hundredth of the time, even if there is a thread on each core from which they are taken.
pub(crate) fn most() -> usize {
    if cfg!(executors_privileged) { 1 } else { core_count() << 16 }
}

/// What the privilege has spared is worth a heavy fence from this many jobs on: that takes about as much of all cores,
/// each of which it may interrupt.
fn worth() -> usize {
    if cfg!(executors_privileged) { 1 } else { core_count() << 10 }
}

/// What is known of the jobs of one part of a queue. The counts passed to it are of all jobs that have come there so
/// far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Privilege {
    /// The count when the privilege was given, or lost, or another thread came.
    since: usize,
    price: usize,
    least: usize,
    /// Jobs of privileged threads since the price was last lowered.
    privileged: usize,
    is_held: bool,
}

impl Privilege {
    /// Not given yet; the price begins at `least`, and never falls below.
    pub(super) const fn new(least: usize) -> Self {
        Privilege { since: 0, price: least, least, privileged: 0, is_held: false }
    }

    /// Whether it was given, and no loss has been noted since.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Whether the thread that has brought this count about has earned it.
    pub(super) fn is_earned(&self, jobs: usize) -> bool {
        !self.is_held && jobs.wrapping_sub(self.since) >= self.price
    }

    /// It cannot be given now.
    pub(super) fn postpone(&mut self, jobs: usize) {
        self.since = jobs;
    }

    /// It is not to be given here.
    pub(super) fn refuse(&mut self, jobs: usize) {
        self.raise();
        self.postpone(jobs);
    }

    pub(super) fn grant(&mut self, jobs: usize) {
        (self.since, self.is_held) = (jobs, true);
    }

    /// The thread that has had it finds out that it has lost it, and whether a heavy fence was issued for that. Each is
    /// to be paid for by privileged jobs, or it raises the price; the price falls for such jobs alone, because
    /// otherwise a thread that is late for every other recall would pay the least.
    pub(super) fn lose(&mut self, jobs: usize, was_interrupted: bool) {
        debug_assert!(self.is_held);
        self.privileged = self.privileged.saturating_add(jobs.wrapping_sub(self.since));
        if self.privileged >= worth() {
            self.privileged = 0;
            self.price = (self.price / 2).max(self.least);
        } else if was_interrupted {
            self.raise();
        }
        (self.since, self.is_held) = (jobs, false);
    }

    fn raise(&mut self) {
        self.price = (self.price * 2).min(most());
    }

    /// The thread gets it again as soon as that is asked.
    fn keep_earnings(&mut self, jobs: usize) {
        self.since = jobs.wrapping_sub(self.price);
    }

    /// Another thread comes, so that none has the privilege. It is not known how it was lost.
    pub(super) fn begin_anew(&mut self, jobs: usize) {
        if self.is_held {
            self.lose(jobs, true);
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
        if !self.change(|privilege, jobs| privilege.is_earned(jobs)) {
            return false;
        }
        // Nothing is copied meanwhile: this may start a thread, and the allocator may come here again.
        let is_ready = asymmetric_fence::is_ready();
        if !is_ready {
            // So that it is not asked with each job.
            self.change(Privilege::postpone);
        }
        is_ready && !self.is_held()
    }

    /// The worker has the privilege. What has happened on its side of an asymmetric fence before does not count.
    pub(super) fn grant(&self, side: &LightSide) {
        let _before = side.take_interruption();
        self.change(Privilege::grant);
    }

    /// The worker has lost the privilege, if it has not noticed that before.
    pub(super) fn lose(&self, side: &LightSide) {
        if self.is_held() {
            self.change(|privilege, jobs| privilege.lose(jobs, side.take_interruption()));
        }
    }

    /// The worker has given the privilege back before anybody asked for it, unless somebody did in vain. So it need not
    /// earn it once more.
    pub(super) fn give_back(&self, side: &LightSide) {
        let was_interrupted = side.take_interruption();
        self.change(|privilege, jobs| {
            privilege.lose(jobs, was_interrupted);
            if !was_interrupted {
                privilege.keep_earnings(jobs);
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
            self.privilege.lose(self.jobs, was_interrupted);
        }
    }

    #[test]
    fn each_fence_that_comes_early_doubles_the_price() {
        let mut thread = Thread::new(LEAST);
        let mut price = LEAST;
        for _ in 0..20 {
            assert_eq!(thread.earns(), price);
            thread.privilege.privileged = 0;
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
    fn what_is_given_back_need_not_be_earned_again() {
        if !asymmetric_fence::is_ready_for_test() {
            return;
        }
        let (earnings, side) = (Earnings::new(), LightSide::default());
        earnings.add(LEAST_FOR_WORKERS);
        assert!(earnings.check_due());
        earnings.grant(&side);
        earnings.give_back(&side);
        assert!(earnings.check_due());
        earnings.grant(&side);
        earnings.lose(&side);
        assert!(!earnings.check_due() || LEAST_FOR_WORKERS == 1, "it was asked for");
    }
}
