//! A queue for each worker and one for jobs from outside, and workers that steal from each other.

pub(crate) mod forks;
mod local;
#[cfg(all(test, executors_loom))]
mod model;
mod rounds;
mod shown;
#[cfg(all(test, not(executors_loom)))]
mod tests;
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
    asymmetric_fence,
    job::{IntoJob, Job},
    meter::Meter,
    part::Forks,
    placement::Neighbourhood,
    recall::{self, Recalled},
    sync::OnceLock,
};
use std::{fmt, iter};

pub(crate) struct StealingSource {
    /// Jobs from outside.
    lanes: Lanes,
    /// One for each worker, and one more for all threads that have no seat of their own.
    seats: Box<[Seat]>,
    /// Which of the seats may have jobs: no thread looks at the others.
    shown: Shown,
    neighbourhood: Neighbourhood,
}

/// What other threads see of a worker.
#[derive(Default)]
struct Seat {
    /// Its ring, once there may be jobs in it.
    ring: OnceLock<Stealer<Job>>,
    /// Jobs for which the ring had no room, once there have been any.
    spill: OnceLock<Box<Lane>>,
    /// Parts of the job that the worker runs, once a job has forked.
    forks: OnceLock<Forks>,
}

impl Seat {
    /// The lane for the jobs that its owner has spilled, if it ever has.
    fn spill(&self) -> Option<&Lane> {
        self.spill.get().map(|spill| &**spill)
    }

    /// Whether its owner has the ring or the stack of parts to itself.
    fn spares_fences(&self) -> bool {
        self.ring.get().is_some_and(|ring| !ring.is_open()) || self.forks.get().is_some_and(|forks| !forks.is_open())
    }
}

/// How many jobs a worker takes out of a lane at a time: all but the first are for itself later, and for thieves.
const BATCH: usize = 32;

/// If there are no more than this many jobs, a worker that has slept takes only one. `docs/results/waking.md`, "Cold
/// lines", says what that gains.
const FEW_JOBS: usize = 16;

impl StealingSource {
    pub(crate) fn new(workers: usize, neighbourhood: Neighbourhood) -> Self {
        asymmetric_fence::prepare();
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

    /// Whether no thread has a lane for jobs from outside to itself.
    pub(super) fn lanes_are_open(&self) -> bool {
        self.lanes.iter().all(Lane::is_open)
    }

    pub(super) fn recall_lanes(&self) {
        self.end_with_lanes(iter::empty());
    }

    /// Recalls the lanes, and ends that and these recalls at one go.
    fn end_with_lanes<'a>(&self, recalls: impl Iterator<Item = &'a dyn Recalled> + Clone) {
        let lanes: Vec<_> = self.lanes.recall().collect();
        let lanes = lanes.iter().map(|lane| lane as &dyn Recalled);
        recall::end_all(recalls.map(|recall| recall as &dyn Recalled).chain(lanes));
    }

    /// Takes a job out of the first lane if it is alone there; or one of a few, if the worker has had no other jobs
    /// since it slept: another worker may have been called for the rest.
    ///
    /// Separate from the search for everything else: most often this job is what the worker was woken for. All code is
    /// cold then, and each cache line of code delays the job.
    #[inline(always)]
    fn take_of_few(&self, local: &StealingLocal) -> Option<Job> {
        let most = if local.is_hidden.get() { FEW_JOBS } else { 1 };
        let (number, lane) = self.lanes.beginning_with(local.lane.get()).next()?;
        let there = lane.len();
        let found = if (1..=most).contains(&there) { lane.pop().ok().flatten() } else { None };
        local.leaves_some.set(found.is_some() && there > 1);
        if found.is_some() {
            local.go_on_behind(number);
        }
        found
    }

    #[cold]
    #[inline(never)]
    fn search_everywhere(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        insist(|| {
            let own = if self.may_have_own(local) { self.take_own(local) } else { Ok(None) };
            // If another thread is just taking own jobs, more than one of other jobs would delay the rest of them.
            let most = if own.is_ok() { usize::MAX } else { 1 };
            let outside = iter::once_with(|| self.take_from_outside(local, most.min(BATCH)));
            let stolen = iter::once_with(|| {
                let stolen = self.steal(local, most, meter);
                if let Ok(Some(_)) = stolen {
                    meter.stole();
                }
                stolen
            });
            first_found(iter::once(own).chain(outside).chain(stolen))
        })
    }

    /// Takes up to `most` jobs from outside, all but the first into the worker's ring.
    fn take_from_outside(&self, local: &StealingLocal, most: usize) -> Result<Option<Job>, Busy> {
        let found = self.take_from_lanes(local, |_| most);
        if let Ok(None) = found {
            local.go_back();
        }
        found
    }

    /// Takes jobs out of the first lane that has some: as many as `share` says, given how many there are.
    fn take_from_lanes(&self, local: &StealingLocal, share: impl Fn(usize) -> usize) -> Result<Option<Job>, Busy> {
        first_found(self.lanes.beginning_with(local.lane.get()).map(|(number, lane)| {
            let first = self.take_batch(local, lane, &share)?;
            if first.is_some() {
                local.go_on_behind(number);
            }
            Ok(first)
        }))
    }

    /// How many of the jobs in a lane are taken by a worker that has other jobs, and looks there once in `period` jobs.
    ///
    /// One, and the rest of its share if, on average, these begin sooner after its own jobs than one by one with each
    /// look: at most as many as the own jobs that run until the next look. So jobs that were given together stay
    /// together, in memory, too: if two workers each have every other one of a series of tasks that yield, a step takes
    /// up to twice as long, because what one worker writes to is next to what the other does.
    fn share(&self, local: &StealingLocal, period: usize) -> impl Fn(usize) -> usize {
        let (workers, own, spilled) = (self.workers(), local.ring.len(), local.spilled.get());
        move |there| {
            let share = there.div_ceil(workers).min(period / 2).min(BATCH);
            // What is added to the ring would delay what is spilled, each time.
            if 2 * own < share.saturating_mul(period - 1) && !spilled { share } else { 1 }
        }
    }

    /// Takes an own job: the first of the ring or, if that is empty, of those that were spilled. A worker that searches
    /// mostly has none.
    #[cold]
    fn take_own(&self, local: &StealingLocal) -> Result<Option<Job>, Busy> {
        let first = local.ring.pop();
        if first.is_some() || !self.may_have_spilled(local) {
            return Ok(first);
        }
        let Some(spill) = self.seats[local.seat].spill() else { return Ok(None) };
        let first = self.take_batch(local, spill, |_| ring::MAX_SIZE)?;
        local.spilled.set(!spill.is_empty());
        Ok(first)
    }

    /// Takes jobs out of a lane, as many as `share` says, given how many there are, and as there is room for. Returns
    /// the first; the others go into the worker's ring.
    #[inline]
    fn take_batch(
        &self,
        local: &StealingLocal,
        lane: &Lane,
        share: impl FnOnce(usize) -> usize,
    ) -> Result<Option<Job>, Busy> {
        let mut first = None;
        // The first needs no place, so that a lone job does not make the ring allocate its first slots.
        let most = |there: usize| match share(there).min(there) {
            0 | 1 => 1,
            jobs => jobs.min(1 + self.make_room(local)),
        };
        lane.take(most, |record| match (&first, local.ring.place()) {
            (None, _) => first = Some(record.into_job()),
            (Some(_), Some(place)) => place.put(record),
            // No more are taken than there is room for; but when a block is freed, the allocator may give jobs, which
            // use some of it.
            (Some(_), None) => _ = self.push_slowly(local, (), record.into_job()),
        })?;
        Ok(first)
    }

    /// Returns how many jobs the worker's ring has room for, having made some if need be; from then on other threads
    /// look there.
    #[cold]
    fn make_room(&self, local: &StealingLocal) -> usize {
        self.show_ring(local);
        local.ring.make_room()
    }

    /// To be called before the first job since the worker slept is put into the ring: from then on other threads look
    /// there.
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

    /// Those seats but that of the worker with `own`.
    fn seats_of_others(&self, own: Option<&StealingLocal>) -> impl Iterator<Item = &Seat> {
        let own = own.map(|local| local.seat);
        self.seats_shown().filter(move |&(number, _)| Some(number) != own).map(|(_, seat)| seat)
    }

    /// The lanes for jobs that were spilled.
    fn spills(&self) -> impl Iterator<Item = &Lane> {
        self.seats_shown().filter_map(|(_, seat)| seat.spill())
    }

    fn all_lanes(&self) -> impl Iterator<Item = &Lane> {
        self.lanes.iter().chain(self.spills())
    }

    /// Whether there is a job that [`run_next`](Source::run_next) would run, unless it is stolen.
    pub(super) fn has_next(local: &StealingLocal) -> bool {
        local.ring.len() > 0
    }

    /// Whether there may be jobs where the worker spills its own. If it has no seat, other threads without one spill
    /// there, too.
    fn may_have_spilled(&self, local: &StealingLocal) -> bool {
        local.spilled.get() || !local.has_seat && self.shown.contains(local.seat)
    }

    fn may_have_own(&self, local: &StealingLocal) -> bool {
        Self::has_next(local) || self.may_have_spilled(local)
    }

    fn has_own(&self, local: &StealingLocal) -> bool {
        Self::has_next(local)
            || local.spilled.get() && self.seats[local.seat].spill().is_some_and(|spill| !spill.is_empty())
    }
}

/// What is asked of the seats, if any are shown. When a worker wakes and sleeps again, or a pool gets its first job,
/// none is, and the code for that is cold.
impl StealingSource {
    #[cold]
    fn seats_have_jobs(&self) -> bool {
        // In this order: jobs go from spills to rings.
        self.spills().any(|spill| !spill.is_empty())
            || self.rings().any(|ring| ring.len() > 0)
            || self.forks().any(Forks::has_parts)
    }

    #[cold]
    fn jobs_at_seats(&self) -> usize {
        self.spills().map(Lane::len).sum::<usize>() + self.rings().map(Stealer::len).sum::<usize>()
    }

    #[cold]
    fn parts_at_seats(&self) -> usize {
        self.forks().map(|forks| forks.parts().len()).sum()
    }

    #[cold]
    fn seats_spare_fences(&self, local: Option<&StealingLocal>) -> bool {
        self.seats_of_others(local).any(Seat::spares_fences)
    }

    #[cold]
    fn recall_lanes_and_seats(&self, local: Option<&StealingLocal>) {
        // All that are reserved: a thread that was spared a fence by one of them may have put its job into another.
        let others = || self.seats_of_others(local);
        let rings: Vec<_> = others().filter_map(|seat| seat.ring.get()?.recall()).collect();
        let stacks: Vec<_> = others().filter_map(|seat| seat.forks.get()?.recall()).collect();
        let rings_and_stacks =
            rings.iter().map(|ring| ring as &dyn Recalled).chain(stacks.iter().map(|stack| stack as _));
        self.end_with_lanes(rings_and_stacks);
    }
}

#[cfg(all(test, not(executors_loom)))]
impl StealingSource {
    /// How many seats other threads look at.
    pub(crate) fn shown(&self) -> usize {
        self.shown.iter().count()
    }

    #[cfg(all(feature = "numa-aware", target_os = "linux"))]
    pub(crate) fn neighbourhood(&self) -> &Neighbourhood {
        &self.neighbourhood
    }
}

impl Source for StealingSource {
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
    fn inject_fenced(&self, (): (), job: impl IntoJob) -> Result<Whom, Job> {
        self.lanes.push_at_once(job).map(|()| Whom::Anyone)
    }

    #[cold]
    #[inline(never)]
    fn inject_slowly(&self, (): (), job: Job) -> Whom {
        self.lanes.push_fenced(job);
        Whom::Anyone
    }

    #[inline(always)]
    fn push(&self, local: &StealingLocal, (): (), job: impl IntoJob) -> Result<Whom, Job> {
        if job.allocates() {
            // Before there is a place for it: the allocator may re-enter.
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
                self.shown.show(local.seat); // for good: other threads without one may spill there, too
            }
            // If its back is held, then by another thread without a seat, or by this one, whose allocator has
            // re-entered.
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
    fn fence_pushes(&self, giver: Option<&StealingLocal>) {
        match giver {
            Some(local) => local.ring.fence_pushes(),
            None => self.lanes.fence_pushes(),
        }
    }

    #[inline(never)] // as `has_jobs`
    fn spares_fences(&self, local: Option<&StealingLocal>) -> bool {
        !self.lanes_are_open() || !self.shown.is_empty() && self.seats_spare_fences(local)
    }

    fn recall(&self, local: Option<&StealingLocal>) {
        if self.shown.is_empty() {
            self.recall_lanes();
        } else {
            self.recall_lanes_and_seats(local);
        }
    }

    fn on_sleep(&self, local: &StealingLocal) {
        if local.has_seat && !local.is_hidden.get() && !Self::has_next(local) && !local.spilled.get() {
            local.ring.forget_room();
            self.shown.hide(local.seat);
            local.is_hidden.set(true);
        }
    }

    fn on_block(&self, local: &StealingLocal) {
        local.give_back();
    }

    fn gathers(&self, local: &StealingLocal) -> bool {
        !local.leaves_some.get()
    }

    fn prefers(&self, local: &StealingLocal) -> bool {
        self.has_own(local)
    }

    fn pop_outside(&self, local: &StealingLocal, period: usize, meter: &Meter) -> Option<Job> {
        local.earn_privilege(period);
        // If another thread is taking jobs there, they do begin, which is what this look is for.
        self.pop_stranded(local, meter).or_else(|| self.take_from_lanes(local, self.share(local, period)).ok()?)
    }

    fn search(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        if !self.may_have_own(local) {
            let found = self.take_of_few(local);
            if found.is_some() {
                return found;
            }
            // A worker that finds nothing is about to sleep, and will look in this way once more.
            if !self.has_jobs() {
                local.give_back();
                local.go_back();
                return None;
            }
        }
        let found = self.search_everywhere(local, meter);
        if found.is_none() {
            local.give_back();
        }
        found
    }

    fn take(&self) -> Option<Job> {
        insist(|| first_found(self.all_lanes().map(Lane::pop).chain(self.rings().map(Stealer::steal))))
    }

    fn take_owed_call(&self, local: &StealingLocal) -> bool {
        self.has_own(local)
    }

    #[inline]
    fn shows_by_taking(&self, local: &StealingLocal) -> bool {
        // A job is taken out of the ring, or out of a lane, by a Release after its push, and a thread that looks for
        // jobs acquires that (the lane's count, or the ring's head or what its owner has taken) before it loads the
        // ring's tail. But spills are looked at before rings, and some rings of others after this one.
        !local.spilled.get() && !local.rounds.may_take()
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

    /// Looks at the lanes first, because jobs go from there to the rings. Whether there is a ring is asked after the
    /// lanes have been looked at: it is shown before it gets jobs from these.
    ///
    /// Not inlined: a worker that wakes and sleeps again asks this in several places, and all code is cold then.
    #[inline(never)]
    fn has_jobs(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.is_empty()) || !self.shown.is_empty() && self.seats_have_jobs()
    }

    fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum::<usize>() + if self.shown.is_empty() { 0 } else { self.jobs_at_seats() }
    }

    fn parts(&self) -> usize {
        if self.shown.is_empty() { 0 } else { self.parts_at_seats() }
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
