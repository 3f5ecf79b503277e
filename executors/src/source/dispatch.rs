//! Jobs of subpools, which have limits and priorities: a gate and some queues for each. See `dispatcher/README.md`.

mod board;
mod entrance;
mod gate;
#[cfg(all(test, executors_loom))]
mod model;

pub(crate) use board::{LEVELS, SLOTS};

use super::{
    Source, Whom,
    stealing::{StealingLocal, StealingSource},
};
use crate::{
    job::{IntoJob, Job, Run},
    meter::Meter,
    placement::Neighbourhood,
    queue::{insist, lanes::Lanes, ring::Claim},
};
use board::{Board, Queues};
use crossbeam_utils::CachePadded;
use entrance::Entrance;
use gate::Gate;
use std::{array, cell::Cell, fmt};

/// The level at which the CPU subpool keeps its jobs in the stream.
pub(crate) const NORMAL: usize = LEVELS / 2;

/// The CPU subpool, which is always there.
pub(crate) const CPU: usize = 0;

/// Jobs of one subpool that a worker runs before it turns to another one at the same level.
const STINT: u32 = 16;

/// No subpool.
const NONE: usize = usize::MAX;

pub(crate) struct DispatchSource {
    /// The jobs of the CPU subpool at the normal level.
    stream: StealingSource,
    board: CachePadded<Board>,
    /// Those that share threads, each at its slot of the board, and then those that are bound to one.
    subpools: Box<[Subpool]>,
    /// Threads that are not reserved. They have the first seats.
    sharing: usize,
}

struct Subpool {
    gate: CachePadded<Gate>,
    queues: [Lanes; LEVELS],
    binding: Option<Binding>,
}

/// To the thread on a seat.
struct Binding {
    seat: usize,
    board: CachePadded<Board>,
}

/// Where a job goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    subpool: u32,
    level: u32,
}

/// What a worker has for itself.
pub(crate) struct DispatchLocal {
    stream: StealingLocal,
    /// Whether it runs jobs of subpools that share threads.
    shares: bool,
    /// The subpool that is bound to this thread.
    bound: Option<usize>,
    /// Whether it runs the jobs of threads that have left.
    is_stranger: bool,
    /// Where the job comes from that the worker runs.
    at: Cell<Address>,
    /// The subpool whose token it holds, and its slot as a set if that is on the board of those that share.
    holds: Cell<usize>,
    slot: Cell<u64>,
    /// Which queues may call it away, on the board of those that share and on its own.
    watch: [Cell<Queues>; 2],
    /// Jobs that are left of its stint.
    stint: Cell<u32>,
    /// Whether the next job is chosen by turns and not by priority, and whose turn it was last.
    ages: Cell<bool>,
    turn: Cell<u32>,
    /// Whether the stream's turn is that of jobs from outside, and whether it was last time.
    outside: Cell<bool>,
    came_outside: Cell<bool>,
    /// Whether somebody should come for a token: the worker has given it back, or has hidden it for a moment.
    left_open: Cell<bool>,
}

/// Where a worker may take a job from.
enum Place {
    Stream,
    Queue { subpool: usize, level: usize },
}

/// A job that lies in a ring, or is taken out of a lane.
pub(crate) enum Own<'a> {
    Claim(Claim<'a, Job>),
    Job(Job),
}

/// What a user may know of a subpool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) limit: usize,
    pub(crate) running: usize,
    pub(crate) queued: usize,
    pub(crate) is_paused: bool,
}

impl Address {
    pub(crate) fn new(subpool: usize, level: usize) -> Self {
        Address { subpool: subpool as u32, level: level as u32 }
    }

    pub(crate) fn subpool(self) -> usize {
        self.subpool as usize
    }

    fn level(self) -> usize {
        self.level as usize
    }

    #[inline]
    fn is_stream(self) -> bool {
        self == Address::default()
    }
}

impl Default for Address {
    fn default() -> Self {
        Address { subpool: CPU as u32, level: NORMAL as u32 }
    }
}

impl Run for Own<'_> {
    #[inline]
    fn run(self) {
        match self {
            Own::Claim(claim) => claim.run(),
            Own::Job(job) => job.run(),
        }
    }
}

impl Subpool {
    fn new(limit: usize, seat: Option<usize>) -> Self {
        Subpool {
            gate: CachePadded::new(Gate::new(limit)),
            // One lane each: first in, first out, whoever puts in.
            queues: array::from_fn(|_| Lanes::new(1)),
            binding: seat.map(|seat| Binding { seat, board: CachePadded::default() }),
        }
    }

    fn len(&self) -> usize {
        self.queues.iter().map(Lanes::len).sum()
    }

    /// Whom a job here needs.
    fn whom(&self) -> Whom {
        self.binding.as_ref().map_or(Whom::Anyone, |binding| Whom::Owner(binding.seat))
    }
}

impl DispatchSource {
    /// For `sharing` workers, which have the first seats, and maybe others. `limits` are those of subpools that share
    /// threads, beginning with the CPU subpool; `seats` are those to which subpools are bound.
    pub(crate) fn new(sharing: usize, neighbourhood: Neighbourhood, limits: &[usize], seats: &[usize]) -> Self {
        assert!(limits.len() <= SLOTS, "the builder has seen to that");
        let shared = limits.iter().map(|&limit| Subpool::new(limit, None));
        let bound = seats.iter().map(|&seat| Subpool::new(1, Some(seat)));
        let source = DispatchSource {
            stream: StealingSource::new(sharing, neighbourhood),
            board: CachePadded::default(),
            subpools: shared.chain(bound).collect(),
            sharing,
        };
        (0..source.subpools.len()).for_each(|subpool| _ = source.opened(subpool));
        source
    }

    /// No job of the subpool begins from now on but those whose workers have looked at the gate already.
    ///
    /// Returns whom to call, and how many: for the case that the pause is over before the board shows it.
    pub(crate) fn pause(&self, subpool: usize) -> (Whom, usize) {
        self.subpools[subpool].gate.pause();
        self.maybe_shut(subpool)
    }

    /// As [`pause`](Self::pause).
    pub(crate) fn resume(&self, subpool: usize) -> (Whom, usize) {
        self.subpools[subpool].gate.resume();
        self.opened(subpool)
    }

    /// As [`pause`](Self::pause).
    pub(crate) fn set_limit(&self, subpool: usize, limit: usize) -> (Whom, usize) {
        self.subpools[subpool].gate.set_limit(limit);
        self.maybe_shut(subpool)
    }

    pub(crate) fn is_bound(&self, subpool: usize) -> bool {
        self.subpools[subpool].binding.is_some()
    }

    pub(crate) fn read(&self, subpool: usize) -> Reading {
        let state = self.subpools[subpool].gate.read();
        Reading {
            limit: state.limit(),
            running: state.out(),
            queued: self.jobs_of(subpool),
            is_paused: state.is_paused(),
        }
    }

    fn jobs_of(&self, subpool: usize) -> usize {
        let in_stream = if subpool == CPU { self.stream.len() } else { 0 };
        self.subpools[subpool].len() + in_stream
    }

    /// As [`opened`](Self::opened), if the change may have shut the gate.
    fn maybe_shut(&self, subpool: usize) -> (Whom, usize) {
        self.entrance(subpool).found_shut();
        self.opened(subpool)
    }

    /// G2, G3 after a change from outside. Returns whom to call, and how many.
    fn opened(&self, subpool: usize) -> (Whom, usize) {
        let entrance = self.entrance(subpool);
        let calls = if entrance.changed(|| self.has_stream(subpool)) {
            let state = entrance.gate.read();
            state.limit().saturating_sub(state.out()).min(self.jobs_of(subpool))
        } else {
            0
        };
        (self.subpools[subpool].whom(), calls)
    }

    /// Whether the subpool has jobs that are not on the board.
    fn has_stream(&self, subpool: usize) -> bool {
        subpool == CPU && self.stream.has_jobs()
    }

    fn entrance(&self, subpool: usize) -> Entrance<'_> {
        let Subpool { gate, binding, .. } = &self.subpools[subpool];
        match binding {
            None => Entrance { gate, board: &self.board, slot: subpool },
            Some(binding) => Entrance { gate, board: &binding.board, slot: 0 },
        }
    }

    fn local(&self, stream: StealingLocal, seat: usize) -> DispatchLocal {
        let is_bound_here = |subpool: &Subpool| subpool.binding.as_ref().is_some_and(|binding| binding.seat == seat);
        DispatchLocal {
            stream,
            shares: seat < self.sharing,
            bound: self.subpools.iter().position(is_bound_here),
            is_stranger: false,
            at: Cell::default(),
            holds: Cell::new(NONE),
            slot: Cell::new(0),
            watch: [Cell::new(0), Cell::new(0)],
            stint: Cell::new(0),
            ages: Cell::new(false),
            turn: Cell::new(0),
            outside: Cell::new(false),
            came_outside: Cell::new(false),
            left_open: Cell::new(false),
        }
    }

    /// What the worker may take: on the board of those that share, with a bit for the stream if that may have jobs, and
    /// on its own.
    fn eligible(&self, local: &DispatchLocal, stream: bool) -> [Queues; 2] {
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
    fn eligible_bound(&self, local: &DispatchLocal) -> Queues {
        local.bound.map_or(0, |bound| self.entrance(bound).board.view().eligible(u64::from(local.holds.get() == bound)))
    }

    /// Whether the worker, which runs jobs of one queue, is to look for others before its next one.
    #[inline]
    fn is_called_away(&self, local: &DispatchLocal) -> bool {
        let [shared, bound] = &local.watch;
        // Most often there is nothing at all in those queues.
        local.ages.get()
            || self.board.view().has_any(shared.get()) && self.goes(local)
            || local.bound.is_some_and(|own| self.entrance(own).board.view().has_any(bound.get())) && self.goes(local)
    }

    /// Whether the worker obeys a call: to a higher level at once, to another subpool of its own level when its stint
    /// is over.
    #[inline(never)]
    fn goes(&self, local: &DispatchLocal) -> bool {
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
    fn choose(&self, local: &DispatchLocal, stream: bool) -> Option<Place> {
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
    fn choose_by_turn(&self, local: &DispatchLocal, stream: bool) -> Option<Place> {
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

    /// A job that the worker may run. `None` if there was none to be seen.
    fn find(
        &self,
        local: &DispatchLocal,
        meter: &Meter,
        choose: fn(&Self, &DispatchLocal, bool) -> Option<Place>,
    ) -> Option<Job> {
        let mut stream = true;
        loop {
            let found = match choose(self, local, stream)? {
                Place::Queue { subpool, level } => self.take_from_queue(local, subpool, level),
                Place::Stream => {
                    stream = false;
                    self.take_from_stream(local, meter)
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    fn take_from_queue(&self, local: &DispatchLocal, subpool: usize, level: usize) -> Option<Job> {
        let (entrance, queue) = (self.entrance(subpool), &self.subpools[subpool].queues[level]);
        let is_held = local.holds.get() == subpool;
        if queue.is_empty() {
            entrance.found_empty(level, || queue.is_empty());
            return None;
        }
        if !is_held && !entrance.enter(&local.left_open) {
            return None;
        }
        let Some(job) = insist(|| queue.take_first()) else {
            if !is_held {
                entrance.leave(|| self.has_stream(subpool)); // the worker looks on in any case
            }
            return None;
        };
        self.settle(local, Address::new(subpool, level));
        Some(job)
    }

    fn take_from_stream(&self, local: &DispatchLocal, meter: &Meter) -> Option<Job> {
        let entrance = self.entrance(CPU);
        loop {
            let is_held = local.holds.get() == CPU;
            let may_take = is_held || self.stream.has_jobs() && entrance.enter(&local.left_open);
            if !may_take {
                return None;
            }
            let outside = local.outside.take().then(|| self.stream.pop_outside(&local.stream)).flatten();
            if let Some(job) = outside.or_else(|| self.stream.search(&local.stream, meter)) {
                self.settle(local, Address::default());
                return Some(job);
            }
            // Who is going to sleep looks once more anyway, and has patience with jobs that are alone at their worker.
            if is_held || !entrance.leave(|| self.stream.has_jobs()) || !local.is_stranger {
                return None;
            }
        }
    }

    /// The worker has taken a job, under a token of its subpool.
    fn settle(&self, local: &DispatchLocal, at: Address) {
        let from = local.holds.replace(at.subpool());
        if from != NONE && from != at.subpool() && self.entrance(from).leave(|| self.has_stream(from)) {
            local.left_open.set(true);
        }
        local.at.set(at);
        local.stint.set(STINT);
        // At its own level only what is not its own.
        let watched = board::from_level(at.level());
        let others = |slot| watched & !board::queue(at.level(), slot);
        let [shared, bound] = &local.watch;
        if self.is_bound(at.subpool()) {
            local.slot.set(0);
            shared.set(if local.shares { watched } else { 0 });
            bound.set(others(0));
        } else {
            local.slot.set(1 << at.subpool());
            shared.set(others(at.subpool()));
            bound.set(watched);
        }
    }

    /// Gives back the token that the worker holds. Returns whether it should look for jobs once more.
    fn leave(&self, local: &DispatchLocal) -> bool {
        let from = local.holds.replace(NONE);
        local.slot.set(0);
        // The look of those who go to sleep takes in the stream.
        from != NONE && self.entrance(from).leave(|| local.is_stranger && self.has_stream(from))
    }

    /// A job of a subpool whose thread has left.
    fn find_bound(&self, local: &DispatchLocal) -> Option<Job> {
        let places = (0..self.subpools.len()).flat_map(|subpool| (0..LEVELS).rev().map(move |level| (subpool, level)));
        places
            .filter(|&(subpool, level)| {
                self.subpools[subpool].binding.is_some() && !self.subpools[subpool].queues[level].is_empty()
            })
            .find_map(|(subpool, level)| self.take_from_queue(local, subpool, level))
    }

    /// Whether one of `queues`, of the board of those that share or of a bound subpool, really has jobs.
    fn have_jobs(&self, mut queues: Queues, bound: Option<usize>) -> bool {
        while queues != 0 {
            let (queue, rest) = (queues.trailing_zeros() as usize, queues & (queues - 1));
            if !self.subpools[bound.unwrap_or(queue % SLOTS)].queues[queue / SLOTS].is_empty() {
                return true;
            }
            queues = rest;
        }
        false
    }

    /// Whether there is a job for the worker's thread alone.
    fn has_bound(&self, local: &DispatchLocal) -> bool {
        if local.is_stranger {
            return self.subpools.iter().any(|subpool| subpool.binding.is_some() && subpool.len() > 0);
        }
        let queues = self.eligible_bound(local);
        local.bound.is_some_and(|bound| self.have_jobs(queues, Some(bound)))
    }
}

impl DispatchLocal {
    /// The queue at `level` of a slot, or of the worker's own subpool behind the last slot.
    fn place(&self, slot: usize, level: usize) -> Place {
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

impl Source for DispatchSource {
    const WITHHOLDS: bool = true;

    type Address = Address;
    type Local = DispatchLocal;
    type Own<'a> = Own<'a>;

    fn attach(&self, seat: usize) -> DispatchLocal {
        self.local(self.stream.attach(seat.min(self.sharing)), seat)
    }

    fn attach_stranger(&self, seat: usize) -> DispatchLocal {
        let stream = self.stream.attach_stranger(self.sharing);
        DispatchLocal { shares: true, bound: None, is_stranger: true, ..self.local(stream, seat) }
    }

    fn here(&self, local: &DispatchLocal) -> Address {
        local.at.get()
    }

    fn part(to: Address) -> usize {
        to.subpool()
    }

    fn part_here(&self, local: &DispatchLocal) -> usize {
        local.holds.get()
    }

    #[inline(always)]
    fn inject(&self, to: Address, job: impl IntoJob) -> Whom {
        if to.is_stream() {
            return self.stream.inject((), job);
        }
        let subpool = &self.subpools[to.subpool()];
        subpool.queues[to.level()].push(job);
        subpool.whom()
    }

    #[inline(always)]
    fn push(&self, local: &DispatchLocal, to: Address, job: impl IntoJob) -> Whom {
        if local.holds.get() != to.subpool() {
            return self.inject(to, job);
        }
        if to.is_stream() {
            return self.stream.push(&local.stream, (), job);
        }
        let Subpool { queues, binding, .. } = &self.subpools[to.subpool()];
        let queue = &queues[to.level()];
        queue.push(job);
        if binding.is_some() {
            // Nobody else takes jobs from this queue, or clears its bit.
            self.entrance(to.subpool()).expose(to.level());
            return Whom::Nobody;
        }
        if queue.len() == 1 { Whom::AnyoneInTime } else { Whom::Anyone }
    }

    #[inline(always)]
    fn expose(&self, to: Address) -> bool {
        if to.is_stream() {
            return self.board.view().is_open(CPU);
        }
        self.entrance(to.subpool()).expose(to.level())
    }

    #[inline]
    fn pop<'a>(&'a self, local: &'a DispatchLocal) -> Option<Own<'a>> {
        let subpool = self.subpools.get(local.holds.get())?;
        if self.is_called_away(local) || subpool.gate.read().is_recalled() {
            return None;
        }
        let at = local.at.get();
        if at.is_stream() {
            return self.stream.pop(&local.stream).map(Own::Claim);
        }
        subpool.queues[at.level()].take_first().ok()?.map(Own::Job)
    }

    fn pop_outside(&self, local: &DispatchLocal) -> Option<Job> {
        let at = local.at.get();
        let [shared, bound] = self.eligible(local, true);
        let own = board::queue(at.level(), if local.slot.get() == 0 { 0 } else { at.subpool() });
        let others = if local.slot.get() == 0 { shared | bound & !own } else { shared & !own | bound };
        // If there are others, the next job is chosen by `search`, as it may be under another token.
        local.ages.set(others != 0);
        if others == 0 && at.is_stream() { self.pop_stream_outside(local) } else { None }
    }

    fn search(&self, local: &DispatchLocal, meter: &Meter) -> Option<Job> {
        if self.subpools.get(local.holds.get()).is_some_and(|subpool| subpool.gate.read().is_recalled()) {
            self.leave(local);
        }
        if local.ages.take()
            && let Some(job) = self.find(local, meter, Self::choose_by_turn)
        {
            return Some(job);
        }
        loop {
            if let Some(job) = self.find(local, meter, Self::choose) {
                return Some(job);
            }
            if local.is_stranger
                && let Some(job) = self.find_bound(local)
            {
                return Some(job);
            }
            if !self.leave(local) {
                return None;
            }
        }
    }

    fn take(&self) -> Option<Job> {
        let queues = || self.subpools.iter().flat_map(|subpool| &subpool.queues);
        self.stream.take().or_else(|| queues().find_map(|queue| insist(|| queue.take_first())))
    }

    fn has_own(&self, local: &DispatchLocal) -> bool {
        local.left_open.take() | self.stream.has_own(&local.stream)
    }

    fn shows_by_taking(&self, _local: &DispatchLocal) -> bool {
        false // the next job may be another subpool's
    }

    fn has_crowds(&self, local: &DispatchLocal) -> bool {
        let view = self.board.view();
        let is_crowd = |subpool: &Subpool| subpool.queues.iter().any(|queue| queue.len() > 1);
        view.is_open(CPU) && self.stream.has_crowds(&local.stream)
            || (0..SLOTS).any(|slot| view.has_eligible(slot) && is_crowd(&self.subpools[slot]))
            || self.has_bound(local)
    }

    fn has_jobs(&self) -> bool {
        let view = self.board.view();
        view.is_open(CPU) && self.stream.has_jobs() || self.have_jobs(view.eligible(0), None)
    }

    fn has_unfinished(&self) -> bool {
        // Each job runs under a token. The README says why this order is needed, and enough.
        let given = || self.subpools.iter().map(|subpool| subpool.gate.read().given()).fold(0, u64::wrapping_add);
        let before = given();
        self.subpools.iter().any(|subpool| subpool.gate.read().out() > 0) || self.len() > 0 || given() != before
    }

    fn has_jobs_for(&self, local: &DispatchLocal) -> bool {
        local.shares && self.has_jobs() || self.has_bound(local)
    }

    fn on_close(&self) {
        for subpool in 0..self.subpools.len() {
            self.subpools[subpool].gate.lift();
            self.opened(subpool); // all are called by who closes
        }
    }

    fn len(&self) -> usize {
        self.stream.len() + self.subpools.iter().map(Subpool::len).sum::<usize>()
    }
}

impl DispatchSource {
    /// A job of the CPU subpool from outside.
    fn pop_stream_outside(&self, local: &DispatchLocal) -> Option<Job> {
        let is_recalled = self.subpools[CPU].gate.read().is_recalled();
        if local.holds.get() != CPU || is_recalled { None } else { self.stream.pop_outside(&local.stream) }
    }
}

impl fmt::Debug for DispatchSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatchSource")
            .field("board", &*self.board)
            .field("gates", &self.subpools.iter().map(|subpool| &*subpool.gate).collect::<Vec<_>>())
            .field("queued", &self.len())
            .finish_non_exhaustive()
    }
}
