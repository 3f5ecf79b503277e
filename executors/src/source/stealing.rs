//! A queue for each worker and one for the world, and workers that steal from each other.

use super::Source;
use crate::{
    job::Job,
    meter::Meter,
    placement::Neighbourhood,
    queue::{
        lanes::{self, Lanes},
        ring::{self, Claim, Owner, Stealer},
    },
};
use crossbeam_utils::Backoff;
use std::{cell::Cell, fmt, hint, sync::Mutex};

pub(crate) struct StealingSource {
    lanes: Lanes,
    stealers: Box<[Stealer<Job>]>,
    /// The owners' ends of the rings, until their workers fetch them.
    owners: Mutex<Vec<Option<Owner<Job>>>>,
    neighbourhood: Neighbourhood,
}

/// What a worker has for itself.
pub(crate) struct StealingLocal {
    ring: Owner<Job>,
    /// Whom to steal from: groups of equally near workers, the nearest first.
    circles: Vec<Vec<usize>>,
    random: Cell<u64>,
    /// The lane to look at first.
    lane: Cell<usize>,
}

/// Jobs that a worker takes out of a lane at a time, to keep the others for itself and for thieves.
const BATCH: usize = 32;

/// Somebody was at a queue that had jobs, so it may have some still.
struct Busy;

impl StealingSource {
    pub(crate) fn new(workers: usize, neighbourhood: Neighbourhood) -> Self {
        let (owners, stealers): (Vec<_>, Vec<_>) = (0..workers).map(|_| ring::ring()).unzip();
        StealingSource {
            lanes: Lanes::new(lanes::suitable_number()),
            stealers: stealers.into(),
            owners: Mutex::new(owners.into_iter().map(Some).collect()),
            neighbourhood,
        }
    }

    /// Takes jobs out of a lane, all but the first into the worker's ring.
    fn take_from_outside(&self, local: &StealingLocal, jobs: usize) -> Result<Option<Job>, Busy> {
        let mut first = None;
        let sink = |job| {
            if first.is_none() {
                first = Some(job);
            } else {
                local.ring.push(job).unwrap_or_else(|_| unreachable!("no more are taken than there is room for"));
            }
        };
        let lane = self.lanes.take(local.lane.get(), jobs.min(1 + local.ring.room()), sink).map_err(|_| Busy)?;
        if let Some(lane) = lane {
            // In turn, so that no lane is starved by a busy one.
            local.lane.set(lane + 1);
        }
        Ok(first)
    }

    fn steal(&self, local: &StealingLocal) -> Result<Option<Job>, Busy> {
        let mut busy = false;
        for circle in local.circles.iter().filter(|circle| !circle.is_empty()) {
            let (before, after) = circle.split_at(local.random_below(circle.len()));
            for &victim in after.iter().chain(before) {
                let victim = &self.stealers[victim];
                if !is_worth_stealing(victim) {
                    continue;
                }
                match victim.steal_half(&local.ring) {
                    Ok(None) => (),
                    Ok(stolen) => return Ok(stolen),
                    Err(ring::Busy) => busy = true,
                }
            }
        }
        if busy { Err(Busy) } else { Ok(None) }
    }
}

/// How long a lone job is watched before it is stolen, in turns of the processor's pause.
const PATIENCE: u32 = 16;

/// Whether the owner of a queue will not come to its jobs very soon itself.
///
/// A single job is most often the next of a chain, which its owner will take in a few nanoseconds; a thief that is faster
/// drags the chain to its own core, only to have it dragged back. So a single job is watched for a moment. If it stays, its
/// owner is busy with a longer one (or even waits for this one).
fn is_worth_stealing(victim: &Stealer<Job>) -> bool {
    match victim.len() {
        0 => false,
        1 => (0..PATIENCE).all(|_| {
            hint::spin_loop();
            victim.len() > 0
        }),
        _ => true,
    }
}

/// Repeats an attempt until it found a job, or nothing although nobody else was at it. What keeps us waiting is over after some
/// copying, unless its thread is suspended.
fn insist(mut attempt: impl FnMut() -> Result<Option<Job>, Busy>) -> Option<Job> {
    let backoff = Backoff::new();
    loop {
        match attempt() {
            Ok(found) => return found,
            Err(Busy) => backoff.snooze(),
        }
    }
}

impl StealingLocal {
    /// A number below `limit`, from a xorshift generator (Marsaglia, 2003).
    fn random_below(&self, limit: usize) -> usize {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x % limit as u64) as usize
    }
}

impl Source for StealingSource {
    type Local = StealingLocal;
    type Own<'a> = Claim<'a, Job>;

    fn attach(&self, seat: usize) -> StealingLocal {
        let mut owners = self.owners.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let ring = owners.get_mut(seat).and_then(Option::take).unwrap_or_else(|| ring::ring().0);
        StealingLocal {
            ring,
            circles: self.neighbourhood.circles(seat),
            random: Cell::new(seat as u64 + 1),
            lane: Cell::new(seat),
        }
    }

    #[inline(always)]
    fn inject(&self, job: Job) {
        self.lanes.push(job);
    }

    #[inline(always)]
    fn push(&self, local: &StealingLocal, job: Job) {
        if let Err(job) = local.ring.push(job) {
            self.lanes.push(job);
        }
    }

    #[inline]
    fn pop<'a>(&'a self, local: &'a StealingLocal) -> Option<Claim<'a, Job>> {
        local.ring.pop()
    }

    fn pop_outside(&self, local: &StealingLocal) -> Option<Job> {
        // One job, not a batch: the others had better wait for a free worker than behind this one's own jobs. And if somebody
        // is at it already, so much the better.
        self.take_from_outside(local, 1).unwrap_or_else(|Busy| None)
    }

    fn search(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        insist(|| {
            if let Some(own) = local.ring.pop() {
                return Ok(Some(own.take()));
            }
            let outside = self.take_from_outside(local, BATCH);
            if let Ok(Some(_)) = outside {
                return outside;
            }
            let stolen = self.steal(local)?;
            if stolen.is_some() {
                meter.stole();
            }
            if stolen.is_none() { outside } else { Ok(stolen) }
        })
    }

    fn take(&self) -> Option<Job> {
        insist(|| {
            let mut job = None;
            self.lanes.take(0, 1, |taken| job = Some(taken)).map_err(|_| Busy)?;
            for stealer in &self.stealers {
                if job.is_some() {
                    break;
                }
                job = stealer.steal().map_err(|_| Busy)?;
            }
            Ok(job)
        })
    }

    fn has_own(&self, local: &StealingLocal) -> bool {
        local.ring.len() > 0
    }

    #[inline]
    fn is_alone(&self, local: &StealingLocal) -> bool {
        local.ring.len() == 1
    }

    fn has_crowds(&self) -> bool {
        !self.lanes.is_empty() || self.stealers.iter().any(|stealer| stealer.len() > 1)
    }

    fn has_jobs(&self) -> bool {
        // The lanes first, as jobs go from there to the rings.
        !self.lanes.is_empty() || self.stealers.iter().any(|stealer| stealer.len() > 0)
    }

    fn len(&self) -> usize {
        self.lanes.len() + self.stealers.iter().map(Stealer::len).sum::<usize>()
    }
}

impl fmt::Debug for StealingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StealingSource")
            .field("workers", &self.stealers.len())
            .field("queued", &self.len())
            .finish_non_exhaustive()
    }
}
