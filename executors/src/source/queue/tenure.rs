//! Turns of several jobs each, for workers that take from the same queues, one job at a time.
//!
//! A job that passes from one core to another brings the cache lines of the queue along, tens of nanoseconds for each;
//! if the core that takes it out has put it in, they are there already. So as long as jobs do next to nothing, workers
//! that take one each are slower together than one of them alone. With a lock, as with a lock-free exchange, it is a
//! matter of chance whether they do: a worker that meets the other and pauses lets it take several.
//!
//! Here a worker finds out. For some visits it measures at what pace jobs are taken while it takes its share. Then it
//! stays away for a moment, and measures the pace of the others. If that is clearly better, it goes on in turns:
//! whenever another worker has had its turn since its own last visit, it waits, and then it is its turn until another
//! worker has waited likewise. After many turns it measures both again. If it is not better, or jobs come too
//! far apart for it to be, the worker takes them as it comes: for some visits before the next trial, and for twice as
//! many each time.
//!
//! Turns are long, because not only the queue's cache lines change cores with them, but those of the jobs, too: tasks
//! that yield again and again are all fetched at the beginning of a turn, and stay for the rest of it. So a waiting
//! worker checks every few microseconds whether the others make progress; if they do not, because a job takes long or
//! blocks, its turn has come.
//!
//! This is made for two cores, and was measured on two. With more, all workers that are not in turn wait at the same
//! time, and turns become shorter; and the pace of all but one is hardly ever clearly better than that of all, so that
//! jobs are taken as workers come. Where there are more workers than cores, a waiting worker also keeps its core from
//! the others.
//!
//! Lock cohorting (Dice, Marathe and Shavit, 2012) keeps a lock on one socket for some time in this way.
//!
//! All this is advice: a worker that ignores it, as searching workers do, or sees an old value, takes a job a moment
//! earlier or later than it should. So everything is Relaxed, and not part of any model.

use crate::courtesy;
use crossbeam_utils::CachePadded;
use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// How often a waiting worker checks whether the others make progress: about as long as waking a thread takes. A job
/// may lie up to twice as long behind one that blocks, although this worker has time; longer if others make progress
/// meanwhile. A look fetches a cache line from the worker that takes jobs, and a turn begins with fetching all of them:
/// with looks of a microsecond, turns end before they have begun where cache lines come slowly.
const LOOK: Duration = Duration::from_micros(4);

/// How many looks the wait of a trial takes.
const TRIAL_LOOKS: u32 = 4;

/// How many looks a turn takes. (With half as many, chains of no work take 1.2 times as long, and two hundred tasks
/// that yield 1.1 times; with twice as many 1.1 and 0.95 times.)
const TURN_LOOKS: u32 = 16;

/// The fewest jobs per microsecond for which waiting pays, whatever was measured.
const LEAST_PACE: f64 = 4.0;

/// The others make progress while their pace is at least this fraction of the pace before.
const NEARLY: f64 = 0.8;

/// How much better the pace of the others has to be.
const CLEARLY: f64 = 1.25;

/// Visits during which the common pace is measured; and, at first, visits before the next trial.
const TRIAL: u32 = 16;

/// A trial takes less, unless jobs are long or there was a pause. Far more than a trial takes here, for hosts on which
/// cache lines come slowly: for some minutes a hop of a chain with 50 ns of work took 440 ns on this one, so that a
/// quarter of this was too little.
const LONG_TRIAL: Duration = Duration::from_micros(4 * TRIAL as u64);

/// Turns before both paces are measured again.
const TURNS: u32 = 256;

/// Visits before the next trial, at most.
const LONGEST: u32 = 8192;

const NOBODY: usize = 0;

/// Whose turn it is.
pub(crate) struct Tenure(CachePadded<AtomicUsize>);

/// One of the workers that take turns.
pub(crate) struct Tenant {
    /// [`NOBODY`] if it has no turns.
    id: usize,
    phase: Cell<Phase>,
    /// Visits before the next trial.
    respite: Cell<u32>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Takes jobs as it comes, `left` more times.
    Free { left: u32 },
    /// Likewise, while the pace is measured.
    Trial { left: u32, since: Mark },
    /// Waits for its turn, `left` more times, as long as the pace of the others is better than `pace`.
    Turns { left: u32, pace: f64 },
}

/// How many jobs had been taken until some time.
#[derive(Clone, Copy)]
struct Mark {
    time: Instant,
    /// Wraps around.
    taken: usize,
}

impl Mark {
    /// Jobs per microsecond.
    fn pace_since(self, other: Mark) -> f64 {
        let micros = self.time.saturating_duration_since(other.time).as_secs_f64() * 1e6;
        // A clock may be coarse.
        self.taken.wrapping_sub(other.taken) as f64 / micros.max(0.01)
    }
}

impl Tenant {
    /// Threads without a seat take jobs by searching for them, and have no turns.
    pub(crate) fn new(seat: Option<usize>) -> Self {
        let id = seat.map_or(NOBODY, |seat| seat + 1);
        Tenant { id, phase: Cell::new(Phase::Free { left: 0 }), respite: Cell::new(TRIAL) }
    }

    /// Counts a visit, if this is one that is only counted. Returns whether it is.
    fn count_visit(&self) -> bool {
        let mut phase = self.phase.get();
        match &mut phase {
            Phase::Free { left: 0 } | Phase::Trial { left: 0, .. } | Phase::Turns { .. } => return false,
            Phase::Free { left } | Phase::Trial { left, .. } => *left -= 1,
        }
        self.phase.set(phase);
        true
    }

    /// Takes jobs as it comes, for longer each time.
    fn go_free(&self) {
        self.phase.set(Phase::Free { left: self.respite.replace((2 * self.respite.get()).min(LONGEST)) });
    }

    /// Decides how to go on after a wait in which the others had a pace of `theirs`; with this worker it was `ours`.
    fn judge(&self, theirs: f64, ours: f64, turns_left: u32) {
        if theirs < LEAST_PACE.max(CLEARLY * ours) {
            return self.go_free();
        }
        // One wait may have paid by luck.
        if turns_left < TURNS {
            self.respite.set(TRIAL);
        }
        self.phase.set(match turns_left.checked_sub(1) {
            Some(left) => Phase::Turns { left, pace: ours },
            None => Phase::Free { left: 0 },
        });
    }
}

impl Tenure {
    pub(crate) fn new() -> Self {
        Tenure(CachePadded::new(AtomicUsize::new(NOBODY)))
    }

    /// Whether the tenant is to take a job now; waits for its turn first if it is to have one. `false` if it would wait
    /// while there is no job. `taken` tells how many jobs have been taken by now, and wraps around.
    #[inline]
    pub(crate) fn admits(&self, tenant: &Tenant, is_empty: impl FnOnce() -> bool, taken: impl Fn() -> usize) -> bool {
        if self.lets_in(tenant) {
            return true;
        }
        let is_worth_it = !is_empty();
        if is_worth_it {
            self.await_turn(tenant, || Mark { time: Instant::now(), taken: taken() });
        }
        is_worth_it
    }

    /// Whether the tenant may take a job at once; if not, [`await_turn`](Self::await_turn) comes first.
    #[inline]
    fn lets_in(&self, tenant: &Tenant) -> bool {
        self.0.load(Relaxed) == tenant.id || tenant.count_visit()
    }

    /// Waits for the tenant's turn, if it is to have one.
    #[cold]
    fn await_turn(&self, tenant: &Tenant, mark: impl Fn() -> Mark) {
        let begin = mark();
        let (ours, turns_left, looks) = match tenant.phase.get() {
            Phase::Free { .. } => return tenant.phase.set(Phase::Trial { left: TRIAL, since: begin }),
            // Jobs are long, or there were none for a while.
            Phase::Trial { since, .. } if begin.time.saturating_duration_since(since.time) > LONG_TRIAL => {
                return tenant.go_free();
            }
            Phase::Trial { since, .. } => (begin.pace_since(since), TURNS, TRIAL_LOOKS),
            Phase::Turns { left, pace } => (pace, left, TURN_LOOKS),
        };
        let theirs = pace_of_others(begin, looks, LEAST_PACE.max(NEARLY * ours), mark);
        tenant.judge(theirs, ours, turns_left);
        self.0.store(tenant.id, Relaxed);
    }
}

/// Waits for this many looks, or until the pace of the others is less than `least`. Returns their pace.
fn pace_of_others(begin: Mark, looks: u32, least: f64, mark: impl Fn() -> Mark) -> f64 {
    let mut last = begin;
    for _ in 0..looks {
        courtesy::spin_for(LOOK, last.time);
        let now = mark();
        let pace = now.pace_since(last);
        last = now;
        if pace < least {
            break;
        }
    }
    last.pace_since(begin)
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    const MICROSECOND: Duration = Duration::from_micros(1);

    /// A worker with a clock of its own, so that it makes no difference when the test has its core.
    struct Visitor {
        tenant: Tenant,
        mark: Cell<Mark>,
    }

    impl Visitor {
        fn new() -> Self {
            Visitor { tenant: Tenant::new(Some(0)), mark: Cell::new(Mark { time: Instant::now(), taken: 0 }) }
        }
    }

    /// How often the visitor looks in each wait of this many visits, before each of which another worker has had a
    /// turn, if jobs are taken at a pace of `ours` in every `interval`, or of `theirs` in each microsecond while it
    /// waits.
    fn looks_at(interval: Duration, visitor: &Visitor, visits: u32, ours: usize, theirs: usize) -> Vec<u32> {
        let (tenure, Visitor { tenant, mark }) = (Tenure::new(), visitor);
        let goes_on = |interval, jobs| {
            mark.update(|Mark { time, taken }| Mark { time: time + interval, taken: taken.wrapping_add(jobs) });
        };
        let mut waits = Vec::new();
        for _ in 0..visits {
            tenure.0.store(9, Relaxed);
            goes_on(interval, ours);
            if !tenure.lets_in(tenant) {
                let looks = Cell::new(0);
                tenure.await_turn(tenant, || {
                    if looks.replace(looks.get() + 1) > 0 {
                        goes_on(LOOK, LOOK.as_micros() as usize * theirs);
                    }
                    mark.get()
                });
                if looks.get() > 1 {
                    waits.push(looks.get() - 1);
                    assert!((0..100).all(|_| tenure.lets_in(tenant)), "it has its turn until another has waited");
                }
            }
        }
        waits
    }

    /// How often it waits.
    fn waits_at(interval: Duration, visitor: &Visitor, visits: u32, ours: usize, theirs: usize) -> u32 {
        looks_at(interval, visitor, visits, ours, theirs).len() as u32
    }

    /// The same, with `ours` jobs for each nine tenths of a microsecond.
    fn waits(visitor: &Visitor, visits: u32, ours: usize, theirs: usize) -> u32 {
        waits_at(MICROSECOND * 9 / 10, visitor, visits, ours, theirs)
    }

    /// One visit to begin a trial, the trial, and the wait.
    const TO_JUDGE: u32 = 1 + TRIAL + 1;

    #[test]
    fn jobs_are_taken_in_turns_if_that_is_faster() {
        assert_eq!(waits(&Visitor::new(), TO_JUDGE - 1, 8, 12), 0);
        assert_eq!(waits(&Visitor::new(), TO_JUDGE + TURNS, 8, 12), 1 + TURNS);
        assert_eq!(waits(&Visitor::new(), 10 * (TO_JUDGE + TURNS), 8, 12), 10 * (1 + TURNS), "with new trials");
    }

    #[test]
    fn a_thread_that_waits_in_vain_tries_ever_more_rarely() {
        for (ours, theirs) in [(8, 9), (20, 0), (0, 3)] {
            let visitor = Visitor::new();
            assert_eq!(waits(&visitor, TO_JUDGE, ours, theirs), 1);
            for respite in [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 8192] {
                assert_eq!(waits(&visitor, respite + TO_JUDGE - 1, ours, theirs), 0);
                assert_eq!(waits(&visitor, 1, ours, theirs), 1);
            }
            assert_eq!(waits(&visitor, LONGEST + TO_JUDGE, 8, 12), 1);
            assert_eq!(waits(&visitor, TURNS, 8, 12), TURNS, "that trial was a success");
            assert_eq!(waits(&visitor, TO_JUDGE, ours, theirs), 1);
            assert_eq!(waits(&visitor, TRIAL + TO_JUDGE, ours, theirs), 1, "it begins with short ones again");
        }
    }

    #[test]
    fn one_success_makes_trials_no_more_frequent() {
        let visitor = Visitor::new();
        waits(&visitor, 4 * LONGEST, 8, 9);
        visitor.tenant.phase.set(Phase::Free { left: 0 });
        assert_eq!(waits(&visitor, TO_JUDGE, 8, 12), 1);
        assert_eq!(waits(&visitor, 1, 8, 9), 1, "in turns");
        assert_eq!(waits(&visitor, LONGEST, 8, 12), 0);
    }

    #[test]
    fn turns_end_when_jobs_become_longer() {
        let visitor = Visitor::new();
        assert_eq!(waits(&visitor, TO_JUDGE + 10, 8, 20), 11, "in turns");
        assert_eq!(waits(&visitor, 1 + TRIAL, 8, 5), 1);
    }

    #[test]
    fn a_waiter_checks_whether_the_others_make_progress() {
        let looks = |visitor: &_, theirs| looks_at(MICROSECOND, visitor, TO_JUDGE + 1, 8, theirs);
        assert_eq!(looks(&Visitor::new(), 12), [TRIAL_LOOKS, TURN_LOOKS]);
        assert_eq!(looks(&Visitor::new(), 7), [TRIAL_LOOKS], "nearly as well");
        assert_eq!(looks(&Visitor::new(), 6), [1]);
        let visitor = Visitor::new();
        looks(&visitor, 12);
        assert_eq!(looks_at(MICROSECOND, &visitor, 1, 8, 0), [1], "whatever they did before");
    }

    #[test]
    fn no_thread_waits_where_there_is_no_job() {
        let (tenure, tenant) = (Tenure::new(), Tenant::new(Some(0)));
        let admits = |is_empty: bool| tenure.admits(&tenant, || is_empty, || 0);
        assert!(!admits(true));
        tenant.phase.set(Phase::Turns { left: TURNS, pace: 8.0 });
        assert!(!admits(true));
        assert_eq!(tenure.0.load(Relaxed), NOBODY);
        assert!(admits(false));
        assert_eq!(tenure.0.load(Relaxed), tenant.id, "it has waited");
    }

    #[test]
    fn no_thread_waits_if_jobs_are_long_or_after_a_pause() {
        let visitor = Visitor::new();
        assert_eq!(waits_at(LONG_TRIAL / TRIAL, &visitor, 100_000, 2, 20), 0);
        let visitor = Visitor::new();
        waits(&visitor, TO_JUDGE - 2, 8, 12);
        assert_eq!(waits_at(LONG_TRIAL, &visitor, TRIAL, 8, 12), 0);
    }

    #[test]
    fn a_clock_may_stand_still() {
        assert_eq!(waits_at(Duration::ZERO, &Visitor::new(), TO_JUDGE, 0, 20), 1);
        assert_eq!(waits_at(Duration::ZERO, &Visitor::new(), TO_JUDGE + TRIAL, 1, 20), 1);
    }
}
