//! What a worker without jobs does: it takes those of others.

use super::{BATCH, StealingLocal, StealingSource};
use crate::{
    job::Job,
    meter::Meter,
    source::queue::{Busy, Span, first_found},
};
use std::{hint, iter};

impl StealingSource {
    /// Takes jobs of another worker that has some, `most` at the most, beginning with the nearest.
    pub(super) fn steal(&self, local: &StealingLocal, most: usize, meter: &Meter) -> Result<Option<Job>, Busy> {
        // What others push after this look is announced after it; and what came to them out of the lanes, at which this
        // worker looked before, was shown before it was gone from there.
        if self.shown.iter().all(|seat| seat == local.seat) {
            return Ok(None);
        }
        first_found(self.victims(local).map(|victim| self.steal_from(victim, local, most, meter)))
    }

    /// Those that are shown, beginning with the nearest.
    pub(super) fn victims(&self, local: &StealingLocal) -> impl Iterator<Item = usize> {
        let circles = local.circles.get_or_init(|| self.neighbourhood.circles(local.seat));
        let victims = circles.iter().flat_map(|circle| {
            let (before, after) = circle.split_at(local.dice.below(circle.len()));
            after.iter().chain(before)
        });
        victims.copied().filter(|&seat| self.shown.contains(seat))
    }

    /// A part of the job that the victim runs comes first, unless another thread is at it: what has begun is finished
    /// before something else begins.
    fn steal_from(
        &self,
        victim: usize,
        local: &StealingLocal,
        most: usize,
        meter: &Meter,
    ) -> Result<Option<Job>, Busy> {
        let part = iter::once_with(|| {
            let part = self.take_part(victim, local, |forks| is_worth_stealing(|| forks.parts()), || true)?;
            Ok(part.map(|part| {
                meter.found_part();
                Job::new(move || part.run())
            }))
        });
        let from_ring = iter::once_with(|| match self.seats[victim].ring.get() {
            Some(ring) if is_worth_stealing(|| ring.jobs()) => {
                // A single job needs no room.
                ring.steal_half(&local.ring, || if most > 1 { self.make_room(local) } else { 0 })
            }
            _ => Ok(None),
        });
        let from_spill = iter::once_with(|| match self.seats[victim].spill() {
            Some(spill) => self.take_batch(local, spill, |_| most.min(BATCH)),
            None => Ok(None),
        });
        first_found(part.chain(from_ring).chain(from_spill))
    }
}

/// How long a lone job is watched before it is stolen, in pauses of the processor. In a model one more look is enough.
const PAUSES: u32 = if cfg!(executors_loom) { 1 } else { 16 };

/// Whether to steal from a queue: whether its owner will not get to its jobs very soon itself.
///
/// A single job is most often the next of a chain, which its owner will take in a few nanoseconds; a thief that is
/// faster drags the chain to its own core, only for it to be dragged back. So a single job is watched for a moment. If
/// it stays, its owner is busy with a longer one (or even waits for this one). For parts, which their owner takes back
/// and puts in again at the same place, it is enough that there is one at each look.
fn is_worth_stealing(look: impl Fn() -> Span) -> bool {
    let jobs = look();
    match jobs.len() {
        0 => false,
        1 => (0..PAUSES).all(|_| {
            hint::spin_loop();
            look().begins_as(jobs)
        }),
        _ => true,
    }
}
