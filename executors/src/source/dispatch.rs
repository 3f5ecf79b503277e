//! Jobs of subpools, which have limits and priorities: a gate and some queues for each. See `dispatcher/README.md`.

mod address;
mod aging;
mod board;
mod choice;
mod entrance;
mod gate;
mod local;
#[cfg(all(test, executors_loom))]
mod model;
mod search;
#[cfg(all(test, not(executors_loom)))]
mod simulation;
mod subpool;

pub(crate) use address::Address;
pub(crate) use board::{LEVELS, SLOTS};
pub(crate) use subpool::Reading;

use super::{Source, Whom, queue::single::SingleLane, stealing::StealingSource};
use crate::{
    job::{IntoJob, Job, hand::Hand},
    meter::Meter,
    placement::Neighbourhood,
    sync::thread,
};
use board::Board;
use crossbeam_utils::CachePadded;
use entrance::Entrance;
use local::DispatchLocal;
use std::fmt;
use subpool::SubpoolState;

/// The level at which the CPU subpool keeps its jobs in the stream.
pub(crate) const NORMAL: usize = LEVELS / 2;

/// The CPU subpool, which is always there.
pub(crate) const CPU: usize = 0;

/// How many jobs of one subpool a worker runs before it turns to another one at the same level. An arbitrary choice,
/// and not tuned: a change costs two tokens, so fewer jobs cost more each; and more make the neighbours wait for longer
/// (up to `age`, when subpools have turns anyway).
const STINT: u32 = 16;

/// No subpool.
const NONE: usize = usize::MAX;

pub(crate) struct DispatchSource {
    /// The jobs of the CPU subpool at the normal level, unless these are to keep their order.
    stream: StealingSource,
    /// Whether any jobs go there.
    streams: bool,
    board: CachePadded<Board>,
    /// Those that share threads, each at its slot of the board, and then those that are bound to one.
    subpools: Box<[SubpoolState]>,
    /// Threads that are not reserved. They have the first seats.
    sharing: usize,
    /// Of the subpools, in their order. Not in each handle, because a handle is cloned more often than it is asked for
    /// a name.
    names: Box<[String]>,
    /// Where a job goes for which no address was chosen.
    main: Address,
    /// See [`Aging`](aging::Aging).
    age: u32,
}

impl DispatchSource {
    /// For `sharing` workers, which have the first seats, and maybe others. `limits` are those of subpools that share
    /// threads, beginning with the CPU subpool; `seats` are those to which subpools are bound. After `age` jobs of one
    /// subpool a worker begins one there by turns.
    pub(crate) fn new(
        sharing: usize,
        neighbourhood: Neighbourhood,
        limits: &[usize],
        seats: &[usize],
        age: u32,
    ) -> Self {
        assert!(limits.len() <= SLOTS, "the builder has seen to that");
        let shared = limits.iter().map(|&limit| SubpoolState::new(limit, None));
        let bound = seats.iter().map(|&seat| SubpoolState::new(1, Some(seat)));
        let source = DispatchSource {
            stream: StealingSource::new(sharing, neighbourhood),
            streams: true,
            board: CachePadded::default(),
            subpools: shared.chain(bound).collect(),
            sharing,
            names: Box::default(),
            main: Address::default(),
            age,
        };
        (0..source.subpools.len()).for_each(|subpool| _ = source.opened(subpool));
        source
    }

    /// The same, with a name for each subpool.
    pub(crate) fn with_names(self, names: Vec<String>) -> Self {
        DispatchSource { names: names.into(), ..self }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The same, without a stream: its jobs go to a queue as well, and keep their order there.
    pub(crate) fn in_strict_order(self) -> Self {
        DispatchSource { streams: false, main: Address::new(CPU, NORMAL), ..self }
    }

    /// The same, where jobs for which no address was chosen go to that level of `subpool`.
    pub(crate) fn with_main(self, subpool: usize, level: usize) -> Self {
        DispatchSource { main: self.address(subpool, level), ..self }
    }

    /// Where jobs of a subpool go that have that level.
    pub(crate) fn address(&self, subpool: usize, level: usize) -> Address {
        if self.streams && (subpool, level) == (CPU, NORMAL) { Address::STREAM } else { Address::new(subpool, level) }
    }

    /// From now on no job of the subpool begins, except where a worker has already looked at the gate.
    ///
    /// Returns which workers to call, and how many: for the case that the pause is over before the board shows it.
    pub(crate) fn pause(&self, subpool: usize) -> (Whom, usize) {
        self.subpools[subpool].gate.pause();
        self.maybe_shut(subpool)
    }

    /// Like [`pause`](Self::pause).
    pub(crate) fn resume(&self, subpool: usize) -> (Whom, usize) {
        self.subpools[subpool].gate.resume();
        self.opened(subpool)
    }

    /// Like [`pause`](Self::pause).
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

    /// Like [`opened`](Self::opened), if the change may have shut the gate.
    fn maybe_shut(&self, subpool: usize) -> (Whom, usize) {
        self.entrance(subpool).found_shut();
        self.opened(subpool)
    }

    /// G2, G3 after a change from outside. Returns which workers to call, and how many.
    fn opened(&self, subpool: usize) -> (Whom, usize) {
        let entrance = self.entrance(subpool);
        let calls = if entrance.changed(|| self.has_stream(subpool)) {
            entrance.gate.read().room().min(self.jobs_of(subpool))
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
        let SubpoolState { gate, binding, .. } = &self.subpools[subpool];
        match binding {
            None => Entrance { gate, board: &self.board, slot: subpool },
            Some(binding) => Entrance { gate, board: &binding.board, slot: 0 },
        }
    }
}

impl Source for DispatchSource {
    const WITHHOLDS: bool = true;

    type Address = Address;
    type Local = DispatchLocal;

    fn attach(&self, seat: Option<usize>) -> DispatchLocal {
        self.local(seat)
    }

    fn anywhere(&self) -> Address {
        self.main
    }

    fn here(&self, local: &DispatchLocal) -> Option<Address> {
        (local.token_of.get() != NONE).then(|| local.at.get())
    }

    fn division(to: Address) -> usize {
        to.subpool()
    }

    #[inline(always)]
    fn inject(&self, to: Address, job: impl IntoJob) -> Whom {
        if to.is_stream() {
            debug_assert!(self.streams, "no worker would look there");
            return self.stream.inject((), job);
        }
        let subpool = &self.subpools[to.subpool()];
        subpool.queues[to.level()].push(job);
        subpool.whom()
    }

    #[inline(always)]
    fn push(&self, local: &DispatchLocal, to: Address, job: impl IntoJob) -> Result<Whom, Job> {
        if local.token_of.get() != to.subpool() {
            return Ok(self.inject(to, job));
        }
        if to.is_stream() {
            return self.stream.push(&local.stream, (), job);
        }
        let SubpoolState { queues, binding, .. } = &self.subpools[to.subpool()];
        let queue = &queues[to.level()];
        queue.push(job);
        if binding.is_some() {
            // Its thread spares a fence, see the README: no other thread clears the bit without holding this token.
            self.entrance(to.subpool()).expose(to.level());
            return Ok(Whom::Nobody);
        }
        Ok(Whom::Anyone)
    }

    /// Only the stream gives jobs back; those of strangers always, whose rings never get room, see
    /// [`take_from_stream`](Self::take_from_stream).
    #[cold]
    fn push_slowly(&self, local: &DispatchLocal, _to: Address, job: Job) -> Whom {
        if local.is_stranger { self.stream.inject((), job) } else { self.stream.push_slowly(&local.stream, (), job) }
    }

    #[inline]
    fn is_lone(&self, local: &DispatchLocal, to: Address) -> bool {
        if local.token_of.get() != to.subpool() {
            return false;
        }
        if to.is_stream() {
            return self.stream.is_lone(&local.stream, ());
        }
        self.subpools[to.subpool()].queues[to.level()].len() <= 1
    }

    #[inline(always)]
    fn expose(&self, to: Address) -> bool {
        if to.is_stream() {
            return self.board.view().is_open(CPU);
        }
        self.entrance(to.subpool()).expose(to.level())
    }

    fn room(&self, to: Address) -> usize {
        self.subpools[to.subpool()].gate.read().room()
    }

    #[inline]
    fn run_next(&self, local: &DispatchLocal) -> bool {
        let Some(subpool) = self.subpools.get(local.token_of.get()) else { return false };
        if self.is_called_away(local) || subpool.gate.read().is_recalled() {
            return false;
        }
        let at = local.at.get();
        if at.is_stream() {
            // Counted before it begins, because it may panic; one too many if it is stolen meanwhile.
            let has_next = StealingSource::has_next(&local.stream);
            if has_next {
                local.aging.count_one();
            }
            return has_next && self.stream.run_next(&local.stream);
        }
        let mut hand = Hand::empty();
        // If another thread is there, `search` will insist.
        let _ = subpool.queues[at.level()].try_take_first(&mut hand);
        if hand.is_full() {
            local.aging.count_one();
        }
        hand.run()
    }

    fn pop_outside(&self, local: &DispatchLocal, period: usize, meter: &Meter) -> Option<Job> {
        let at = local.at.get();
        let has_others = !local.without_own(self.eligible(local, true)).is_empty();
        // If so, the next job is chosen by `search`, because it may need another token.
        local.turn_is_due.set(has_others);
        if has_others {
            return None;
        }
        local.aging.begin_period();
        if at.is_stream() { self.pop_stream_outside(local, period, meter) } else { None }
    }

    fn search(&self, local: &DispatchLocal, meter: &Meter) -> Option<Job> {
        if self.subpools.get(local.token_of.get()).is_some_and(|subpool| subpool.gate.read().is_recalled()) {
            self.leave(local);
        }
        if local.turn_is_due.take()
            && let Some(job) = self.find(local, meter, Self::choose_by_turn)
        {
            return Some(job);
        }
        loop {
            if let Some(job) = self.find(local, meter, Self::choose) {
                return Some(job);
            }
            if local.is_stranger
                && let Some(job) = self.find_bound(local, meter)
            {
                return Some(job);
            }
            if !self.leave(local) {
                if !local.is_stranger || !self.has_left_something() {
                    // A worker that finds nothing looks once more before it sleeps, and is counted meanwhile: W4, F3.
                    local.left_open.set(false);
                    return None;
                }
                thread::yield_now();
            }
        }
    }

    fn take(&self) -> Option<Job> {
        let queues = || self.subpools.iter().flat_map(|subpool| &subpool.queues);
        self.stream.take().or_else(|| queues().find_map(SingleLane::pop))
    }

    /// No fences are spared here, because of what [`expose`](Self::expose) reads. But threads that have ended may have
    /// left lanes reserved.
    fn spares_fences(&self, _local: Option<&DispatchLocal>) -> bool {
        !self.stream.lanes_are_open()
    }

    fn recall(&self, _local: Option<&DispatchLocal>) {
        self.stream.recall_lanes();
    }

    fn on_sleep(&self, local: &DispatchLocal) {
        self.stream.on_sleep(&local.stream);
    }

    fn on_block(&self, local: &DispatchLocal) {
        self.stream.on_block(&local.stream);
    }

    fn take_owed_call(&self, local: &DispatchLocal) -> bool {
        local.left_open.take() | self.stream.take_owed_call(&local.stream)
    }

    fn has_crowds(&self, local: &DispatchLocal) -> bool {
        let view = self.board.view();
        let is_crowd = |subpool: &SubpoolState| subpool.queues.iter().any(|queue| queue.len() > 1);
        view.is_open(CPU) && self.stream.has_crowds(&local.stream)
            || (0..SLOTS).any(|slot| view.has_eligible(slot) && is_crowd(&self.subpools[slot]))
            || self.has_bound(local)
    }

    fn has_jobs(&self) -> bool {
        let view = self.board.view();
        view.is_open(CPU) && self.stream.has_jobs() || self.have_jobs(view.eligible(0), None)
    }

    fn has_unfinished(&self) -> bool {
        // Each job runs under a token. The README says why this order is necessary and sufficient.
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
            self.opened(subpool); // the thread that closes calls all
        }
    }

    fn len(&self) -> usize {
        self.stream.len() + self.subpools.iter().map(SubpoolState::len).sum::<usize>()
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
