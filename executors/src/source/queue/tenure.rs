//! Turns of several jobs each, for workers that take from one queue.
//!
//! A job that passes from one core to another brings the lines of the queue along, tens of nanoseconds for each; where
//! the core that takes it out has put it in, they are there already. So as long as jobs do next to nothing, workers
//! that take one each in turn are slower together than one of them alone. Whether they do is left to chance by a lock
//! as well as by a lock-free exchange: it is better if they often meet, and one has to pause.
//!
//! Here a worker finds out. For some visits it measures at what pace jobs are taken while it takes its share. Then it
//! stays away for a moment, touching nothing, and measures the pace of the others. If that is clearly better, it goes
//! on in turns: whenever somebody else has been at the queue since its own last visit, it waits, and then it is its
//! turn until somebody else has waited likewise. Now and then it measures both again. If it is not better, jobs are
//! long enough to be run at the same time, and the worker takes them as it comes, for some visits before the next
//! trial, for twice as many each time.
//!
//! Lock cohorting (Dice, Marathe and Shavit, 2012) keeps a lock on one socket for some time in this way.
//!
//! All this is advice: who ignores it, or sees an old value, takes a job a moment earlier or later than it should. So
//! everything is Relaxed, and not part of any model.

use crossbeam_utils::CachePadded;
use std::{
    cell::Cell,
    hint,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Long beside the time that the queue's lines take to come, short beside a wake-up.
const TURN: Duration = Duration::from_micros(1);

/// Jobs for each turn, at least: fewer are worth no waiting, whatever was measured.
const FEW: f64 = 4.0;

/// How much better the pace of the others has to be.
const CLEARLY: f64 = 1.25;

/// Visits during which the common pace is measured.
const TRIAL: u32 = 16;

/// Turns before both paces are measured again.
const TURNS: u32 = 256;

/// Visits before the next trial, at most.
const LONGEST: u32 = 8192;

/// Whose turn it is.
pub(crate) struct Tenure(CachePadded<AtomicUsize>);

/// One of those who take turns.
pub(crate) struct Tenant {
    name: usize,
    phase: Cell<Phase>,
    /// Visits before the next trial.
    respite: Cell<u32>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Takes jobs as it comes, so many times more.
    Free { left: u32 },
    /// Likewise, while the pace is measured.
    Trial { left: u32, since: Mark },
    /// Waits for its turn, so many times more, as long as the pace of the others is better than this.
    Turns { left: u32, pace: f64 },
}

/// How many jobs had been taken at a time.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    time: Instant,
    /// Modulo what fits.
    taken: usize,
}

impl Mark {
    pub(crate) fn now(taken: usize) -> Self {
        Mark { time: Instant::now(), taken }
    }

    /// Jobs for each turn.
    fn pace_since(self, other: Mark) -> f64 {
        let turns = (self.time - other.time).as_secs_f64() / TURN.as_secs_f64();
        self.taken.wrapping_sub(other.taken) as f64 / turns
    }
}

impl Tenant {
    /// Those without a seat count as one.
    pub(crate) fn new(seat: Option<usize>) -> Self {
        let name = seat.map_or(0, |seat| seat + 1);
        Tenant { name, phase: Cell::new(Phase::Free { left: 0 }), respite: Cell::new(TRIAL) }
    }

    /// Whether there is more to do at this visit than to take a job.
    fn is_due(&self) -> bool {
        let mut phase = self.phase.get();
        match &mut phase {
            Phase::Free { left: 0 } | Phase::Trial { left: 0, .. } | Phase::Turns { .. } => return true,
            Phase::Free { left } | Phase::Trial { left, .. } => *left -= 1,
        }
        self.phase.set(phase);
        false
    }

    /// What to do after a wait in which the others went on at a pace of `theirs`; with this worker it was `ours`.
    fn judge(&self, theirs: f64, ours: f64, turns_left: u32) {
        self.phase.set(if theirs < FEW.max(CLEARLY * ours) {
            Phase::Free { left: self.respite.replace((2 * self.respite.get()).min(LONGEST)) }
        } else {
            self.respite.set(TRIAL);
            match turns_left.checked_sub(1) {
                Some(left) => Phase::Turns { left, pace: ours },
                None => Phase::Free { left: 0 },
            }
        });
    }
}

impl Tenure {
    pub(crate) fn new() -> Self {
        Tenure(CachePadded::new(AtomicUsize::new(0)))
    }

    /// Whether [`pass_to`](Self::pass_to) is to be called before the tenant takes a job.
    #[inline]
    pub(crate) fn is_due(&self, tenant: &Tenant) -> bool {
        self.0.load(Relaxed) != tenant.name && tenant.is_due()
    }

    /// Waits for the tenant's turn, if it is to have one. `mark` tells how many jobs have been taken by now.
    #[cold]
    pub(crate) fn pass_to(&self, tenant: &Tenant, mark: impl Fn() -> Mark) {
        let begin = mark();
        let (ours, turns_left) = match tenant.phase.get() {
            Phase::Free { .. } => return tenant.phase.set(Phase::Trial { left: TRIAL, since: begin }),
            Phase::Trial { since, .. } => (begin.pace_since(since), TURNS),
            Phase::Turns { left, pace } => (pace, left),
        };
        stay_away();
        tenant.judge(mark().pace_since(begin), ours, turns_left);
        self.0.store(tenant.name, Relaxed);
    }
}

fn stay_away() {
    let begin = Instant::now();
    while begin.elapsed() < TURN {
        hint::spin_loop();
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// How often the tenant waits in so many visits, before each of which somebody else has had a turn, if jobs are
    /// taken at a pace of `ours`, or of `theirs` while it waits.
    fn waits(tenant: &Tenant, visits: u32, ours: usize, theirs: usize) -> u32 {
        let tenure = Tenure::new();
        let mark = Cell::new(Mark::now(0));
        let turn_at = |pace| mark.update(|Mark { time, taken }| Mark { time: time + TURN, taken: taken + pace });
        let mut waits = 0;
        for _ in 0..visits {
            tenure.0.store(9, Relaxed);
            turn_at(ours);
            if tenure.is_due(tenant) {
                let looks = Cell::new(0);
                tenure.pass_to(tenant, || {
                    if looks.replace(looks.get() + 1) == 1 {
                        turn_at(theirs);
                    }
                    mark.get()
                });
                if looks.get() == 2 {
                    waits += 1;
                    assert!(!tenure.is_due(tenant), "it has its turn");
                }
            }
        }
        waits
    }

    /// One visit to begin a trial, the trial, and the wait.
    const TO_JUDGE: u32 = 1 + TRIAL + 1;

    #[test]
    fn jobs_are_taken_in_turns_if_that_is_faster() {
        assert_eq!(waits(&Tenant::new(Some(0)), TO_JUDGE - 1, 8, 11), 0);
        assert_eq!(waits(&Tenant::new(Some(0)), TO_JUDGE + TURNS, 8, 11), 1 + TURNS);
        assert_eq!(waits(&Tenant::new(Some(0)), 10 * (TO_JUDGE + TURNS), 8, 11), 10 * (1 + TURNS), "with new trials");
    }

    #[test]
    fn who_waits_in_vain_tries_ever_more_rarely() {
        for (ours, theirs) in [(8, 9), (20, 0), (0, 3)] {
            let tenant = Tenant::new(Some(0));
            assert_eq!(waits(&tenant, TO_JUDGE, ours, theirs), 1);
            for respite in [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 8192] {
                assert_eq!(waits(&tenant, respite + TO_JUDGE - 1, ours, theirs), 0);
                assert_eq!(waits(&tenant, 1, ours, theirs), 1);
            }
            assert_eq!(waits(&tenant, LONGEST + TO_JUDGE, 8, 11), 1);
            assert_eq!(waits(&tenant, TURNS, 8, 11), TURNS, "that one was not in vain");
            assert_eq!(waits(&tenant, 1, ours, theirs), 0);
            assert_eq!(waits(&tenant, TRIAL + 1, ours, theirs), 1);
            assert_eq!(waits(&tenant, TRIAL + TO_JUDGE, ours, theirs), 1, "it begins with short ones again");
        }
    }

    #[test]
    fn turns_end_when_jobs_become_longer() {
        let tenant = Tenant::new(Some(0));
        waits(&tenant, TO_JUDGE + 10, 8, 20);
        assert_eq!(waits(&tenant, 1 + TRIAL, 8, 5), 1);
    }
}
