//! Which queue a worker's next job comes from. The rules are those of `dispatcher/README.md`.

use super::{
    Address, CPU, DispatchSource, NORMAL,
    aging::next_one,
    board::{self, Both, Queues, SLOTS},
    local::DispatchLocal,
};
use crate::source::Source;

/// Where a worker is going to take its next job from.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) at: Address,
    /// Only the subpool has been chosen: the queue is the one there whose turn it is.
    pub(super) by_turn: bool,
}

/// After the slots: the turn of the subpool that is bound to the worker's thread, and that of the stream.
const BOUND: usize = SLOTS;
const STREAM: usize = SLOTS + 1;

impl DispatchSource {
    /// What the worker may take; with a bit for the stream, on the board of subpools that share threads, if that is
    /// asked for and may have jobs.
    pub(super) fn eligible(&self, local: &DispatchLocal, stream: bool) -> Both<Queues> {
        let mut shared = 0;
        if local.shares {
            let view = self.board.view();
            shared = view.eligible(local.held.get());
            if self.streams && stream && self.may_take_stream(local) {
                shared |= board::queue(NORMAL, CPU);
            }
        }
        Both { shared, bound: self.eligible_bound(local) }
    }

    #[inline]
    pub(super) fn eligible_bound(&self, local: &DispatchLocal) -> Queues {
        local
            .bound
            .map_or(0, |bound| self.entrance(bound).board.view().eligible(u64::from(local.token_of.get() == bound)))
    }

    /// Whether the worker, which runs jobs of one queue, is to look for others before its next one.
    #[inline]
    pub(super) fn is_called_away(&self, local: &DispatchLocal) -> bool {
        let Both { shared, bound } = &local.watch;
        // Most often there is nothing at all in those queues.
        local.turn_is_due.get()
            || local.aging.is_due()
            || (self.board.view().has_any(shared.get())
                || local.bound.is_some_and(|own| self.entrance(own).board.view().has_any(bound.get())))
                && self.obeys_call(local)
            || local.at.get().level() < NORMAL && self.stream_calls(local)
    }

    /// Whether the stream, which has no bit, may have jobs for a worker at a lower level. Not soon again if it seemed
    /// so and there were none for the worker: most often these are alone at workers that are about to run them.
    fn stream_calls(&self, local: &DispatchLocal) -> bool {
        let respite = local.respite.get();
        local.respite.set(respite.saturating_sub(1));
        respite == 0 && self.streams && self.may_take_stream(local) && self.stream.has_jobs()
    }

    /// Whether the gate of the stream, which has no bit that could call a worker away, is open to this one.
    #[inline]
    fn may_take_stream(&self, local: &DispatchLocal) -> bool {
        local.shares && (local.token_of.get() == CPU || self.board.view().is_open(CPU))
    }

    /// Whether the worker obeys a call: to a higher level at once, to another subpool of its own level when its stint
    /// is over.
    #[inline(never)]
    pub(super) fn obeys_call(&self, local: &DispatchLocal) -> bool {
        let Both { shared, bound } = self.eligible(local, false);
        let calls = shared & local.watch.shared.get() | bound & local.watch.bound.get();
        if calls & board::from_level(local.at.get().level() + 1) != 0 {
            return true;
        }
        if calls != 0 {
            local.stint.set(local.stint.get().saturating_sub(1));
        }
        local.stint.get() == 0
    }

    /// Where the worker's next job comes from, if there may be one: the highest level, and there a subpool.
    pub(super) fn choose(&self, local: &DispatchLocal, stream: bool) -> Option<Choice> {
        let Both { shared, bound } = self.eligible(local, stream);
        let level = board::highest_level(shared).max(board::highest_level(bound))?;
        let slots = board::at_level(shared, level) | board::at_level(bound, level) << BOUND;
        let at = local.at.get();
        let last = if self.is_bound(at.subpool()) { BOUND } else { at.subpool() };
        let slot = if local.stint.get() > 0 && at.level() == level && slots & 1 << last != 0 {
            last
        } else {
            next_one(slots, last as u32)? as usize
        };
        let at = self.address(local.subpool(slot), level);
        Some(Choice { at, by_turn: local.is_due_at(at.subpool()) })
    }

    /// Like [`choose`](Self::choose), but subpools take turns, and so do the queues in each. The stream has an
    /// additional turn for itself, because each worker has jobs of its own there.
    pub(super) fn choose_by_turn(&self, local: &DispatchLocal, stream: bool) -> Option<Choice> {
        let Both { shared, bound } = self.eligible(local, stream && self.stream.has_jobs());
        let has_stream = self.streams && shared & board::queue(NORMAL, CPU) != 0;
        let slots = board::slots(shared) | u64::from(bound != 0) << BOUND | u64::from(has_stream) << STREAM;
        let turn = next_one(slots, local.turn.get())?;
        local.turn.set(turn);
        let slot = turn as usize;
        if slot == STREAM {
            local.alternate();
            // A job of the CPU subpool that is due by turns comes next.
            return Some(Choice { at: Address::STREAM, by_turn: false });
        }
        let queues = if slot == BOUND { bound } else { shared & board::queues_of(slot) };
        let at = self.address(local.subpool(slot), board::highest_level(queues)?);
        Some(Choice { at, by_turn: true })
    }

    /// The queue of `subpool` whose turn it is, of those with jobs. Then it is the next one's turn.
    pub(super) fn pass_turn(&self, local: &DispatchLocal, subpool: usize, stream: bool) -> Option<Address> {
        let entrance = self.entrance(subpool);
        let mut queues = entrance.board.view().jobs_of(entrance.slot);
        if stream && self.has_stream(subpool) {
            queues |= board::queue(NORMAL, CPU);
        }
        let level = self.subpools[subpool].turn.pass(queues)? as usize / SLOTS;
        let at = self.address(subpool, level);
        if at.is_stream() {
            local.alternate();
        }
        Some(at)
    }
}

impl DispatchLocal {
    /// The subpool at a slot; the bound one for the slot after the last.
    fn subpool(&self, slot: usize) -> usize {
        self.bound.filter(|_| slot == BOUND).unwrap_or(slot)
    }

    /// Whether the worker is to begin a job by turns, if it begins one of `subpool`.
    fn is_due_at(&self, subpool: usize) -> bool {
        if self.token_of.get() == subpool { self.aging.is_due() } else { self.aging.is_due_at(subpool) }
    }

    /// Every other turn of the stream is for jobs from outside; otherwise either these or the worker's own might wait
    /// for ever.
    fn alternate(&self) {
        self.stream_outside.set(!self.stream_was_outside.replace(!self.stream_was_outside.get()));
    }
}
