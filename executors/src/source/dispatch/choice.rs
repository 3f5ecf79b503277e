//! Which queue a worker's next job comes from. The rules are those of `dispatcher/README.md`.

use super::{
    Address, CPU, DispatchSource, NORMAL,
    board::{self, Queues, SLOTS},
    local::DispatchLocal,
};

/// Where a worker may take a job from.
pub(super) enum Place {
    Stream,
    Queue { subpool: usize, level: usize },
}

impl DispatchSource {
    /// What the worker may take: on the board of those that share, with a bit for the stream if that may have jobs, and
    /// on its own.
    pub(super) fn eligible(&self, local: &DispatchLocal, stream: bool) -> [Queues; 2] {
        let mut shared = 0;
        if local.shares {
            let view = self.board.view();
            shared = view.eligible(local.slot.get());
            if stream && (view.is_open(CPU) || local.holds.get() == CPU) {
                shared |= board::queue(NORMAL, CPU);
            }
        }
        [shared, self.eligible_bound(local)]
    }

    #[inline]
    pub(super) fn eligible_bound(&self, local: &DispatchLocal) -> Queues {
        local.bound.map_or(0, |bound| self.entrance(bound).board.view().eligible(u64::from(local.holds.get() == bound)))
    }

    /// Whether the worker, which runs jobs of one queue, is to look for others before its next one.
    #[inline]
    pub(super) fn is_called_away(&self, local: &DispatchLocal) -> bool {
        let [shared, bound] = &local.watch;
        // Most often there is nothing at all in those queues.
        local.ages.get()
            || self.board.view().has_any(shared.get()) && self.goes(local)
            || local.bound.is_some_and(|own| self.entrance(own).board.view().has_any(bound.get())) && self.goes(local)
    }

    /// Whether the worker obeys a call: to a higher level at once, to another subpool of its own level when its stint
    /// is over.
    #[inline(never)]
    pub(super) fn goes(&self, local: &DispatchLocal) -> bool {
        let [shared, bound] = self.eligible(local, false);
        let calls = shared & local.watch[0].get() | bound & local.watch[1].get();
        if calls & board::from_level(local.at.get().level() + 1) != 0 {
            return true;
        }
        if calls != 0 {
            local.stint.set(local.stint.get().saturating_sub(1));
        }
        local.stint.get() == 0
    }

    /// Where the worker's next job comes from, if there may be one.
    pub(super) fn choose(&self, local: &DispatchLocal, stream: bool) -> Option<Place> {
        let [shared, bound] = self.eligible(local, stream);
        let level = board::highest_level(shared).max(board::highest_level(bound))?;
        let slots = board::at_level(shared, level) | board::at_level(bound, level) << SLOTS;
        let at = local.at.get();
        let last = if self.is_bound(at.subpool()) { SLOTS } else { at.subpool() };
        let slot = if local.stint.get() > 0 && at.level() == level && slots & 1 << last != 0 {
            last
        } else {
            next_one(slots.into(), last as u32) as usize
        };
        Some(local.place(slot, level))
    }

    /// As above, but all queues take turns.
    pub(super) fn choose_by_turn(&self, local: &DispatchLocal, stream: bool) -> Option<Place> {
        let [shared, bound] = self.eligible(local, stream);
        let all = u128::from(shared) | u128::from(bound) << u64::BITS;
        if all == 0 {
            return None;
        }
        let turn = next_one(all, local.turn.get());
        local.turn.set(turn);
        let (queue, is_bound) = (turn as usize % 64, turn >= u64::BITS);
        let place = local.place(if is_bound { SLOTS } else { queue % SLOTS }, queue / SLOTS);
        if let Place::Stream = place {
            // Every other time, or either the worker's own jobs or those from outside might wait for ever.
            local.outside.set(!local.came_outside.replace(!local.came_outside.get()));
        }
        Some(place)
    }
}

impl DispatchLocal {
    /// The queue at `level` of a slot, or of the worker's own subpool behind the last slot.
    pub(super) fn place(&self, slot: usize, level: usize) -> Place {
        match self.bound {
            Some(subpool) if slot == SLOTS => Place::Queue { subpool, level },
            _ if Address::new(slot, level).is_stream() => Place::Stream,
            _ => Place::Queue { subpool: slot, level },
        }
    }
}

/// The first of `bits` behind the `last` one, or else the first of all.
fn next_one(bits: u128, last: u32) -> u32 {
    let behind = bits & u128::MAX.checked_shl(last + 1).unwrap_or(0);
    if behind == 0 { bits.trailing_zeros() } else { behind.trailing_zeros() }
}
