//! A queue for each worker and one for the world, and workers that steal from each other.

mod forks;
mod local;
mod rounds;
mod shown;
mod theft;

pub(crate) use self::local::StealingLocal;

use self::shown::Shown;
use super::{
    Source, Whom,
    queue::{
        Busy, first_found, insist,
        lane::Lane,
        lanes::{self, Lanes},
        ring::{self, Stealer},
    },
};
use crate::{
    barrier::{self, Recalled},
    job::{IntoJob, Job},
    meter::Meter,
    part::Forks,
    placement::Neighbourhood,
};
use std::{fmt, sync::OnceLock};

pub(crate) struct StealingSource {
    /// Jobs from outside.
    lanes: Lanes,
    /// One for each worker, and one more for those who have no seat of their own.
    seats: Box<[Seat]>,
    /// On which of them there may be jobs: nobody looks at the others.
    shown: Shown,
    neighbourhood: Neighbourhood,
}

/// What others see of a worker.
#[derive(Default)]
struct Seat {
    /// Its ring, once there may be jobs in it.
    ring: OnceLock<Stealer<Job>>,
    /// The jobs for which the ring had no room, once there are such.
    spill: OnceLock<Box<Lane>>,
    /// Parts of the job that it runs, once one has forked.
    forks: OnceLock<Forks>,
}

impl Seat {
    /// Whether its owner has something of this to itself.
    fn spares_fences(&self) -> bool {
        self.ring.get().is_some_and(|ring| !ring.is_open()) || self.forks.get().is_some_and(|forks| !forks.is_open())
    }
}

/// Jobs that a worker takes out of a lane at a time, to keep the others for itself and for thieves.
const BATCH: usize = 32;

/// Of so many jobs a worker takes one only, when it has slept.
const FEW: usize = 4;

impl StealingSource {
    pub(crate) fn new(workers: usize, neighbourhood: Neighbourhood) -> Self {
        barrier::prepare();
        StealingSource {
            lanes: Lanes::new(lanes::suitable_number()).with_privileges(),
            seats: (0..=workers).map(|_| Seat::default()).collect(),
            shown: Shown::of(workers + 1),
            neighbourhood,
        }
    }

    fn workers(&self) -> usize {
        self.seats.len() - 1
    }

    pub(super) fn has_reserved_lanes(&self) -> bool {
        self.lanes.iter().any(Lane::is_reserved)
    }

    pub(super) fn recall_lanes(&self) {
        let lanes: Vec<_> = self.lanes.recall().collect();
        barrier::end_recalls(lanes.iter().map(|lane| lane as &dyn Recalled));
    }

    /// Takes a job out of the first lane, if it is alone there; or one of a few, if the worker has had no others since
    /// it slept: somebody else may have been called for them.
    ///
    /// Apart from the search for all others: most often this is what a worker was woken for, and then all code is cold,
    /// and each line of it delays the job.
    #[inline(always)]
    fn take_of_few(&self, local: &StealingLocal) -> Option<Job> {
        let most = if local.is_hidden.get() { FEW } else { 1 };
        let (number, lane) = self.lanes.beginning_with(local.lane.get()).next()?;
        let found = if (1..=most).contains(&lane.len()) { lane.pop().ok()? } else { None };
        if found.is_some() {
            local.go_on_behind(number);
        }
        found
    }

    #[cold]
    #[inline(never)]
    fn search_everywhere(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        insist(|| {
            if self.may_have_own(local)
                && let Some(own) = self.take_own(local)?
            {
                return Ok(Some(own));
            }
            let outside = self.take_from_outside(local);
            if let Ok(Some(_)) = outside {
                return outside;
            }
            match self.steal(local, meter)? {
                None => outside, // nothing, or somebody was at it
                stolen => {
                    meter.stole();
                    Ok(stolen)
                }
            }
        })
    }

    /// Takes jobs from outside, all but the first into the worker's ring.
    fn take_from_outside(&self, local: &StealingLocal) -> Result<Option<Job>, Busy> {
        let found = self.take_from_lanes(local, |_| BATCH);
        if let Ok(None) = found {
            local.go_back();
        }
        found
    }

    /// Takes jobs out of the first lane that has some, as many as `share` says of how many there are.
    fn take_from_lanes(&self, local: &StealingLocal, share: impl Fn(usize) -> usize) -> Result<Option<Job>, Busy> {
        first_found(self.lanes.beginning_with(local.lane.get()).map(|(number, lane)| {
            let first = self.take_batch(local, lane, &share)?;
            if first.is_some() {
                local.go_on_behind(number);
            }
            Ok(first)
        }))
    }

    /// How many of the jobs in a lane a worker takes that has others, and looks there once in `period` jobs.
    ///
    /// One, and the rest of its share if these begin sooner behind its own jobs, on average, than one by one with each
    /// look: at most as many as own jobs run until the next look. So jobs that were given together stay together, in
    /// memory, too: two workers, each of which has every other one of a row of tasks that yield, take up to twice as
    /// long for a step, as what one writes to is next to what the other does.
    fn share(&self, local: &StealingLocal, period: usize) -> impl Fn(usize) -> usize {
        let (workers, own, spilled) = (self.workers(), local.ring.len(), local.spilled.get());
        move |there| {
            let share = there.div_ceil(workers).min(period / 2).min(BATCH);
            // What the ring gets would delay what is spilled, each time.
            if 2 * own < share.saturating_mul(period - 1) && !spilled { share } else { 1 }
        }
    }

    /// Takes an own job: the first of the ring, or if that is empty, of those that were spilled. Who searches mostly
    /// has none.
    #[cold]
    fn take_own(&self, local: &StealingLocal) -> Result<Option<Job>, Busy> {
        let first = local.ring.pop();
        if first.is_some() || !self.may_have_spilled(local) {
            return Ok(first);
        }
        let Some(spill) = self.spilled(local.seat) else { return Ok(None) };
        let first = self.take_batch(local, spill, |_| ring::MAX_SIZE)?;
        local.spilled.set(!spill.is_empty());
        Ok(first)
    }

    /// Takes as many jobs out of a lane as `share` says of how many there are, or as there is room for: the first is
    /// returned, the others go into the worker's ring.
    #[inline]
    fn take_batch(
        &self,
        local: &StealingLocal,
        lane: &Lane,
        share: impl FnOnce(usize) -> usize,
    ) -> Result<Option<Job>, Busy> {
        let mut first = None;
        // The first needs no place, so that a lone job does not bring the ring its first slots.
        let most = |there: usize| match share(there).min(there) {
            0 | 1 => 1,
            jobs => jobs.min(1 + self.make_room(local)),
        };
        lane.take(most, |record| match (&first, local.ring.place()) {
            (None, _) => first = Some(record.into_job()),
            (Some(_), Some(place)) => place.put(record),
            // No more are taken than there is room for; but what frees a block may give jobs, and use some of it.
            (Some(_), None) => _ = self.push_slowly(local, (), record.into_job()),
        })?;
        Ok(first)
    }

    /// Looks how many jobs the worker's ring has room for; from then on others look there.
    #[cold]
    fn make_room(&self, local: &StealingLocal) -> usize {
        self.show_ring(local);
        local.ring.make_room()
    }

    /// To be called before a job is put into the ring for the first time since the worker has slept: from then on
    /// others look there.
    fn show_ring(&self, local: &StealingLocal) {
        if !local.is_hidden.replace(false) {
            return;
        }
        if let Some(ring) = local.stealer.take() {
            let placed = self.seats[local.seat].ring.set(ring);
            debug_assert!(placed.is_ok(), "a seat has one worker, which comes here once");
        }
        self.shown.show(local.seat);
    }

    fn seats_shown(&self) -> impl Iterator<Item = (usize, &Seat)> {
        self.shown.iter().map(|number| (number, &self.seats[number]))
    }

    /// The rings in which there may be jobs.
    fn rings(&self) -> impl Iterator<Item = &Stealer<Job>> {
        self.seats_shown().filter_map(|(_, seat)| seat.ring.get())
    }

    fn rings_of_others(&self, local: &StealingLocal) -> impl Iterator<Item = &Stealer<Job>> {
        let own = local.seat;
        self.seats_shown().filter(move |&(number, _)| number != own).filter_map(|(_, seat)| seat.ring.get())
    }

    /// The lanes for jobs that were spilled.
    fn spills(&self) -> impl Iterator<Item = &Lane> {
        self.seats_shown().filter_map(|(_, seat)| Some(&**seat.spill.get()?))
    }

    fn all_lanes(&self) -> impl Iterator<Item = &Lane> {
        self.lanes.iter().chain(self.spills())
    }

    /// The jobs that are spilled there, if ever there were any.
    fn spilled(&self, seat: usize) -> Option<&Lane> {
        self.seats[seat].spill.get().map(|spill| &**spill)
    }

    /// Whether there is a job that [`run_next`](Source::run_next) would run, unless somebody steals it.
    pub(super) fn has_next(local: &StealingLocal) -> bool {
        local.ring.len() > 0
    }

    /// Whether jobs may be spilled where the worker spills its own; or, if it has no seat, another without one.
    fn may_have_spilled(&self, local: &StealingLocal) -> bool {
        local.spilled.get() || !local.has_seat && self.shown.contains(local.seat)
    }

    fn may_have_own(&self, local: &StealingLocal) -> bool {
        Self::has_next(local) || self.may_have_spilled(local)
    }

    fn has_own(&self, local: &StealingLocal) -> bool {
        Self::has_next(local) || local.spilled.get() && self.spilled(local.seat).is_some_and(|spill| !spill.is_empty())
    }
}

/// What is asked of the seats, if any are shown: of who wakes and sleeps again, mostly none is.
impl StealingSource {
    #[cold]
    fn seats_have_jobs(&self) -> bool {
        // In this order: jobs go from spills to rings.
        self.spills().any(|spill| !spill.is_empty())
            || self.rings().any(|ring| ring.len() > 0)
            || self.forks().any(Forks::has_parts)
    }

    #[cold]
    fn seats_spare_fences(&self, local: Option<&StealingLocal>) -> bool {
        let own = local.map(|local| local.seat);
        self.seats_shown().filter(|&(number, _)| Some(number) != own).any(|(_, seat)| seat.spares_fences())
    }
}

#[cfg(all(test, not(executors_loom)))]
impl StealingSource {
    /// On how many seats others look.
    pub(crate) fn shown(&self) -> usize {
        self.shown.iter().count()
    }
}

impl Source for StealingSource {
    const GATHERS: bool = true;

    type Address = ();
    type Local = StealingLocal;

    fn attach(&self, own_seat: Option<usize>) -> StealingLocal {
        StealingLocal::new(own_seat.unwrap_or(self.workers()), own_seat.is_some())
    }

    #[inline(always)]
    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.lanes.push(job);
        Whom::Anyone
    }

    #[inline(always)]
    fn inject_in_order(&self, (): (), job: impl IntoJob) -> Result<Whom, Job> {
        self.lanes.push_at_once(job).map(|()| Whom::Anyone)
    }

    #[cold]
    #[inline(never)]
    fn inject_slowly(&self, (): (), job: Job) -> Whom {
        self.lanes.push_in_order(job);
        Whom::Anyone
    }

    #[inline(always)]
    fn push(&self, local: &StealingLocal, (): (), job: impl IntoJob) -> Result<Whom, Job> {
        if job.allocates() {
            // Before there is a place for it: an allocator may come here again.
            return self.push(local, (), job.into_job());
        }
        match local.ring.place() {
            Some(place) if !local.spilled.get() => {
                place.put(job);
                Ok(Whom::Anyone)
            }
            _ => Err(job.into_job()),
        }
    }

    /// The worker's ring has no free place that it knows of, or the job must not overtake others.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, local: &StealingLocal, (): (), job: Job) -> Whom {
        if !local.spilled.get() && self.make_room(local) > 0 {
            local.ring.push(job).unwrap_or_else(|_| unreachable!("room was made"));
        } else {
            local.spilled.set(true);
            if !local.has_seat {
                self.shown.show(local.seat); // for good: others without a seat may spill there, too
            }
            // Who holds its back is somebody else without a seat, or this thread: its allocator has come here again.
            if let Err(job) = lanes::lane_at(&self.seats[local.seat].spill).push(job) {
                self.lanes.push(job);
            }
        }
        Whom::Anyone
    }

    #[inline]
    fn run_next(&self, local: &StealingLocal) -> bool {
        local.ring.run_first()
    }

    #[inline(always)]
    fn order_pushes(&self, giver: Option<&StealingLocal>) {
        match giver {
            Some(local) => local.ring.order_pushes(),
            None => self.lanes.order_pushes(),
        }
    }

    #[inline(never)] // as `has_jobs`
    fn spares_fences(&self, local: Option<&StealingLocal>) -> bool {
        self.has_reserved_lanes() || !self.shown.is_empty() && self.seats_spare_fences(local)
    }

    fn recall(&self, local: &StealingLocal) {
        // All that are reserved: who has spared a fence for one may have put its job into another.
        let rings: Vec<_> = self.rings_of_others(local).filter_map(Stealer::recall).collect();
        let stacks: Vec<_> = self.forks_of_others(local).filter_map(Forks::recall).collect();
        let lanes: Vec<_> = self.lanes.recall().collect();
        let of_others = rings.iter().map(|ring| ring as &dyn Recalled).chain(stacks.iter().map(|stack| stack as _));
        barrier::end_recalls(of_others.chain(lanes.iter().map(|lane| lane as _)));
    }

    fn falls_asleep(&self, local: &StealingLocal) {
        if local.has_seat && !local.is_hidden.get() && !Self::has_next(local) && !local.spilled.get() {
            local.ring.forget_room();
            self.shown.hide(local.seat);
            local.is_hidden.set(true);
        }
    }

    fn prefers(&self, local: &StealingLocal) -> bool {
        self.has_own(local)
    }

    fn pop_outside(&self, local: &StealingLocal, period: usize, meter: &Meter) -> Option<Job> {
        local.earn_privilege(period);
        // If somebody is at it already, so much the better.
        self.pop_stranded(local, meter).or_else(|| self.take_from_lanes(local, self.share(local, period)).ok()?)
    }

    fn search(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        if !self.may_have_own(local) {
            let found = self.take_of_few(local);
            if found.is_some() {
                return found;
            }
            // Who finds nothing is about to sleep, and will look like that once more.
            if !self.has_jobs() {
                local.go_back();
                return None;
            }
        }
        self.search_everywhere(local, meter)
    }

    fn take(&self) -> Option<Job> {
        insist(|| first_found(self.all_lanes().map(Lane::pop).chain(self.rings().map(Stealer::steal))))
    }

    fn owes_call(&self, local: &StealingLocal) -> bool {
        self.has_own(local)
    }

    #[inline]
    fn shows_by_taking(&self, local: &StealingLocal) -> bool {
        // What is taken out of the ring, or out of a lane, is taken by a Release behind the push, and who looks for
        // jobs acquires that (the lane's count, or the ring's head or what its owner has taken) before the ring's tail.
        // But spills are looked at before rings.
        !local.spilled.get()
    }

    #[inline]
    fn is_lone(&self, local: &StealingLocal, (): ()) -> bool {
        !local.spilled.get() && local.ring.len() <= 1
    }

    fn has_crowds(&self, _local: &StealingLocal) -> bool {
        self.all_lanes().any(|lane| !lane.is_empty())
            || self.rings().any(|ring| ring.len() > 1)
            || self.forks().any(|forks| forks.parts().len() > 1)
    }

    /// The lanes first, as jobs go from there to the rings. Whether there is a ring is asked when the lanes have been
    /// looked at: it is shown before it gets jobs from these.
    ///
    /// Not inlined: a worker that wakes and sleeps again asks this in several places, and all code is cold then.
    #[inline(never)]
    fn has_jobs(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.is_empty()) || !self.shown.is_empty() && self.seats_have_jobs()
    }

    fn len(&self) -> usize {
        self.all_lanes().map(Lane::len).sum::<usize>() + self.rings().map(Stealer::len).sum::<usize>()
    }

    fn parts(&self) -> usize {
        self.forks().map(|forks| forks.parts().len()).sum()
    }
}

impl fmt::Debug for StealingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StealingSource")
            .field("workers", &self.workers())
            .field("queued", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::job::MadeBy;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    /// Of a crew of two, with so many own jobs and so many from outside.
    fn loaded(own: usize, outside: usize) -> (StealingSource, StealingLocal) {
        let source = StealingSource::new(2, Neighbourhood::of_machine(2, vec![]));
        let local = source.attach(Some(0));
        // From another one it could be sent on in the midst of the jobs.
        while !source.lanes.own_number().is_multiple_of(2) {
            crate::local::move_on();
        }
        (0..own).for_each(|_| give(&source, &local, Job::new(|| ())));
        (0..outside).for_each(|_| _ = source.inject((), Job::new(|| ())));
        (source, local)
    }

    fn give(source: &StealingSource, local: &StealingLocal, job: Job) {
        if let Err(job) = source.push(local, (), job) {
            source.push_slowly(local, (), job);
        }
    }

    /// How many jobs a worker takes that looks outside.
    fn taken((source, local): &(StealingSource, StealingLocal), period: usize) -> usize {
        let outside = || source.lanes.iter().map(Lane::len).sum::<usize>();
        let (before, all) = (outside(), source.len());
        let first = source.pop_outside(local, period, &Meter::default());
        assert_eq!(first.is_some(), before > 0);
        assert_eq!(source.len(), all - usize::from(first.is_some()), "the others are its own now");
        before - outside()
    }

    #[test]
    fn who_looks_outside_takes_its_share_if_that_is_sooner_than_one_by_one() {
        let of = |own, outside, period| taken(&loaded(own, outside), period);
        assert_eq!([of(1, 0, 61), of(1, 1, 61), of(1, 10, 61), of(1, 100, 61)], [0, 1, 5, 30]);
        assert_eq!([of(1, 100, usize::MAX), of(1, 100, 8), of(1, 100, 2), of(1, 100, 1)], [BATCH, 4, 1, 1]);
        assert_eq!([of(140, 10, 61), of(160, 10, 61)], [5, 1]);
    }

    #[test]
    fn who_looks_outside_delays_no_spilled_jobs() {
        let (source, local) = loaded(ring::MAX_SIZE + 1, 100);
        while local.ring.len() > 1 {
            drop(local.ring.pop());
        }
        assert_eq!(taken(&(source, local), usize::MAX), 1);
    }

    #[test]
    fn every_other_job_is_an_own_one_while_more_come_from_outside() {
        let (source, local) = loaded(0, 0);
        let own = Arc::new(AtomicUsize::new(0));
        let give_own = || {
            let own = Arc::clone(&own);
            give(&source, &local, Job::new(move || _ = own.fetch_add(1, Relaxed)));
        };
        give_own();
        let (period, rounds) = (16, 100);
        for _ in 0..rounds {
            (0..period).for_each(|_| _ = source.inject((), Job::new(|| ())));
            drop(source.pop_outside(&local, period, &Meter::default()));
            for _ in 1..period {
                let before = own.load(Relaxed);
                assert!(source.run_next(&local));
                if own.load(Relaxed) > before {
                    give_own();
                }
            }
        }
        let [own, all] = [own.load(Relaxed), rounds * period];
        assert!((all * 2 / 5..=all * 3 / 5).contains(&own), "{own} of {all}");
    }

    #[test]
    fn a_job_is_alone_if_its_worker_has_no_other() {
        let (source, local) = loaded(0, 0);
        let push = || {
            give(&source, &local, Job::new(|| ()));
            source.is_lone(&local, ())
        };
        assert_eq!([push(), push()], [true, false]);
        drop([local.ring.pop(), local.ring.pop()]);
        assert!(push());
        (0..ring::MAX_SIZE).for_each(|_| _ = push());
        while local.ring.pop().is_some() {}
        assert!(!push(), "there is a spilled one before it");
    }

    #[test]
    fn a_worker_that_rests_is_looked_at_again_when_it_has_jobs() {
        let (source, local) = loaded(1, 0);
        let are_shown = || source.seats_shown().map(|(seat, _)| seat).collect::<Vec<_>>();
        source.falls_asleep(&local);
        assert_eq!(are_shown(), [0], "it has a job");
        drop(local.ring.pop());
        source.falls_asleep(&local);
        source.falls_asleep(&local);
        assert_eq!(are_shown(), [0; 0]);
        give(&source, &local, Job::new(|| ()));
        assert!(are_shown() == [0] && source.has_jobs());
        let thief = source.attach(Some(1));
        assert!(source.steal(&thief, &Meter::default()).is_ok_and(|stolen| stolen.is_some()));
        source.falls_asleep(&local);
        assert!(source.steal(&thief, &Meter::default()).is_ok_and(|stolen| stolen.is_none()));
    }

    #[test]
    fn who_has_no_seat_finds_what_another_without_one_has_spilled() {
        let (source, _) = loaded(0, 0);
        let [one, other] = [(); 2].map(|()| source.attach(None));
        (0..=ring::MAX_SIZE).for_each(|_| give(&source, &one, Job::new(|| ())));
        let meter = Meter::default();
        assert!(source.search(&other, &meter).is_some(), "the one that was spilled");
        assert!(source.search(&other, &meter).is_none(), "nobody else takes the others");
    }

    #[test]
    fn who_has_slept_leaves_a_few_jobs_where_they_are() {
        let left = |own, outside| {
            let (source, local) = loaded(own, outside);
            (0..=own).for_each(|_| assert!(source.search(&local, &Meter::default()).is_some()));
            source.lanes.iter().map(Lane::len).sum::<usize>()
        };
        assert_eq!([1, FEW, FEW + 1].map(|jobs| left(0, jobs)), [0, FEW - 1, 0]);
        assert_eq!([1, FEW].map(|jobs| left(1, jobs)), [0, 0], "it has had others");
    }

    #[test]
    fn a_closure_may_use_the_ring_while_it_becomes_a_job() {
        let (source, local) = loaded(1, 0);
        let ran = Arc::new(AtomicUsize::new(0));
        let job = Job::new({
            let ran = Arc::clone(&ran);
            move || _ = ran.fetch_add(1, Relaxed)
        });
        let large = MadeBy(|| {
            // As an allocator may, which is asked for memory.
            give(&source, &local, Job::new(|| ()));
            job
        });
        assert!(source.push(&local, (), large).is_ok());
        assert_eq!(source.len(), 3);
        while source.run_next(&local) {}
        assert_eq!(ran.load(Relaxed), 1);
    }

    #[test]
    fn who_has_no_seat_shows_what_it_spills_and_nothing_else() {
        let source = StealingSource::new(1, Neighbourhood::of_machine(1, vec![]));
        let stranger = source.attach(None);
        (0..ring::MAX_SIZE).for_each(|_| give(&source, &stranger, Job::new(|| ())));
        assert_eq!(source.len(), 0);
        give(&source, &stranger, Job::new(|| ()));
        source.falls_asleep(&stranger);
        assert_eq!(source.len(), 1);
    }
}
