//! A queue for each worker and one for the world, and workers that steal from each other.
//!
//! Built on crossbeam-deque: the Chase-Lev deque (Chase and Lev, 2005; Le et al., 2013) in its first-in-first-out flavour,
//! and its segmented injector.

use super::Source;
use crate::{job::Job, meter::Meter, placement::Neighbourhood};
use crossbeam_deque::{Injector, Steal, Stealer, Worker as Deque};
use crossbeam_utils::CachePadded;
use std::{cell::Cell, fmt, sync::Mutex};

pub(crate) struct StealingSource {
    injector: CachePadded<Injector<Job>>,
    stealers: Box<[Stealer<Job>]>,
    /// The deques, until their workers fetch them.
    deques: Mutex<Vec<Option<Deque<Job>>>>,
    neighbourhood: Neighbourhood,
}

/// What a worker has for itself.
pub(crate) struct StealingLocal {
    deque: Deque<Job>,
    /// Whom to steal from: groups of equally near workers, the nearest first.
    circles: Vec<Vec<usize>>,
    random: Cell<u64>,
}

impl StealingSource {
    pub(crate) fn new(workers: usize, neighbourhood: Neighbourhood) -> Self {
        let deques: Vec<_> = (0..workers).map(|_| Deque::new_fifo()).collect();
        StealingSource {
            injector: CachePadded::new(Injector::new()),
            stealers: deques.iter().map(Deque::stealer).collect(),
            deques: Mutex::new(deques.into_iter().map(Some).collect()),
            neighbourhood,
        }
    }

    fn take_injected(&self, deque: &Deque<Job>) -> Option<Job> {
        insist(|| self.injector.steal_batch_and_pop(deque))
    }

    fn steal(&self, local: &StealingLocal) -> Option<Job> {
        local.circles.iter().filter(|circle| !circle.is_empty()).find_map(|circle| {
            let start = local.random_below(circle.len());
            let (before, after) = circle.split_at(start);
            after.iter().chain(before).find_map(|&victim| {
                let stealer = &self.stealers[victim];
                if is_worth_stealing(stealer) { insist(|| stealer.steal_batch_and_pop(&local.deque)) } else { None }
            })
        })
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
            std::hint::spin_loop();
            !victim.is_empty()
        }),
        _ => true,
    }
}

/// Repeats an attempt that lost a race: whoever won it may have left jobs behind.
fn insist(mut attempt: impl FnMut() -> Steal<Job>) -> Option<Job> {
    loop {
        match attempt() {
            Steal::Success(job) => return Some(job),
            Steal::Empty => return None,
            Steal::Retry => std::hint::spin_loop(),
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

    fn attach(&self, seat: usize) -> StealingLocal {
        let mut deques = self.deques.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let deque = deques.get_mut(seat).and_then(Option::take).unwrap_or_else(Deque::new_fifo);
        StealingLocal { deque, circles: self.neighbourhood.circles(seat), random: Cell::new(seat as u64 + 1) }
    }

    #[inline]
    fn inject(&self, job: Job) {
        self.injector.push(job);
    }

    #[inline]
    fn push(&self, local: &StealingLocal, job: Job) {
        local.deque.push(job);
    }

    #[inline]
    fn pop(&self, local: &StealingLocal) -> Option<Job> {
        local.deque.pop()
    }

    fn pop_outside(&self, _local: &StealingLocal) -> Option<Job> {
        // One job, not a batch: the others had better wait for a free worker than behind this one's own jobs.
        if self.injector.is_empty() { None } else { insist(|| self.injector.steal()) }
    }

    fn search(&self, local: &StealingLocal, meter: &Meter) -> Option<Job> {
        local.deque.pop().or_else(|| self.take_injected(&local.deque)).or_else(|| {
            let stolen = self.steal(local);
            if stolen.is_some() {
                meter.stole();
            }
            stolen
        })
    }

    fn take(&self) -> Option<Job> {
        insist(|| self.injector.steal()).or_else(|| self.stealers.iter().find_map(|stealer| insist(|| stealer.steal())))
    }

    fn has_own(&self, local: &StealingLocal) -> bool {
        !local.deque.is_empty()
    }

    fn has_jobs(&self) -> bool {
        !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    fn len(&self) -> usize {
        self.injector.len() + self.stealers.iter().map(Stealer::len).sum::<usize>()
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
