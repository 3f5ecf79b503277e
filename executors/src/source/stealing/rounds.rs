//! Jobs that wait behind one that does not end, while no worker runs dry and would steal them.
//!
//! A worker that takes several jobs from outside has them in its ring, behind the one that it runs. If that one blocks,
//! and all other workers have jobs of their own, as those that run chains always do, none of them comes to steal. So a
//! worker that looks for jobs from outside looks at another worker now and then; and if that one has begun none of its
//! jobs from one such look to the next, takes one of them with every other look, until that worker goes on.
//!
//! One at a time: of several, no thread would see any but the first while they are on their way. Parts of the job that
//! blocks are left to it.

#[cfg(all(test, executors_loom))]
mod model;

use super::{StealingLocal, StealingSource};
use crate::{
    job::Job,
    meter::Meter,
    source::queue::{Busy, Span, lane::Lane, ring::Stealer},
};
use std::cell::Cell;

/// One of this many looks outside is at another worker. It fetches a cache line that the other worker writes with each
/// job, and has to fetch back: some 100 ns, for up to 2000 jobs.
const LOOKS: u32 = if cfg!(executors_privileged) { 2 } else { 32 };

/// The state of a worker's rounds past the others.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Looks outside so far.
    looks: Cell<u32>,
    /// Where the worker looked last.
    seat: Cell<usize>,
    /// The jobs that waited there.
    waited: Cell<Option<Span>>,
}

impl Rounds {
    /// Whether the next round may take a job of another worker.
    pub(super) fn may_take(&self) -> bool {
        self.waited.get().is_some()
    }

    /// Returns whether a round is due.
    fn count_look(&self) -> bool {
        self.looks.update(|looks| looks.wrapping_add(1));
        self.looks.get().is_multiple_of(LOOKS)
    }
}

impl StealingSource {
    /// A stranded job, if it is time to look for one. To be called with each look outside.
    pub(super) fn pop_stranded(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        if local.rounds.count_look() { self.make_a_round(local, meter) } else { None }
    }

    #[cold]
    fn make_a_round(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        let Rounds { looks, seat, waited } = &local.rounds;
        if let Some(before) = waited.take()
            && self.waiting(seat.get()).is_some_and(|now| now.has_not_moved_since(before))
        {
            // If another thread is taking jobs there, they do begin, which is what this look is for.
            let job = self.take_one_of(seat.get()).ok()??;
            looks.set(LOOKS - 2); // the next look is at the lanes
            waited.set(self.waiting(seat.get()));
            meter.stole();
            return Some(job);
        }
        let others = || self.shown.iter().filter(|&other| other != local.seat);
        let next = others().find(|&other| other > seat.get()).or_else(|| others().next())?;
        seat.set(next);
        waited.set(self.waiting(next));
        None
    }

    fn take_one_of(&self, seat: usize) -> Result<Option<Job>, Busy> {
        let seat = &self.seats[seat];
        match seat.ring.get().map_or(Ok(None), Stealer::steal) {
            Ok(None) => seat.spill().map_or(Ok(None), Lane::pop),
            found => found,
        }
    }

    /// What is in the ring of a worker that has jobs there or in its spill.
    fn waiting(&self, seat: usize) -> Option<Span> {
        let in_ring = self.seats[seat].ring.get().map(|ring| ring.jobs()).unwrap_or_default();
        let has_spilled = || self.seats[seat].spill().is_some_and(|spill| !spill.is_empty());
        (in_ring.len() > 0 || has_spilled()).then_some(in_ring)
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{options::Placement, placement::Neighbourhood, source::Source};

    /// In which rounds a worker gets a job of another worker, which has 10, and 10 more that it has spilled. After each
    /// round that one begins one of its first 10, or none.
    fn found_in(begins: bool) -> Vec<usize> {
        let source = StealingSource::new(2, Neighbourhood::of_machine(2, &Placement::Floating));
        let [stuck, worker] = [0, 1].map(|seat| source.attach(Some(seat)));
        for job in 0..20 {
            stuck.spilled.set(job >= 10);
            source.push_slowly(&stuck, (), Job::new(|| ()));
        }
        let meter = Meter::default();
        let finds = |_: &usize| {
            let found = source.make_a_round(&worker, &meter).is_some();
            assert!(!begins || source.run_next(&stuck));
            found
        };
        (0..if begins { 10 } else { 30 }).filter(finds).collect()
    }

    #[test]
    fn jobs_are_taken_from_a_worker_that_began_none_in_a_round() {
        assert!(found_in(false).into_iter().eq(1..=20));
    }

    #[test]
    fn a_worker_that_makes_progress_keeps_its_jobs() {
        assert_eq!(found_in(true), []);
    }

    #[test]
    fn a_round_that_may_take_a_job_is_no_proof_that_own_jobs_are_seen() {
        let source = StealingSource::new(2, Neighbourhood::of_machine(2, &Placement::Floating));
        let [worker, stuck] = [0, 1].map(|seat| source.attach(Some(seat)));
        for owner in [&worker, &stuck] {
            source.push_slowly(owner, (), Job::new(|| ()));
        }
        assert!(source.shows_by_taking(&worker));
        assert!(source.make_a_round(&worker, &Meter::default()).is_none());
        assert!(!source.shows_by_taking(&worker));
    }
}
