//! Which workers sleep where, and which one is called next.

use super::{sleepers::Sleepers, whereabouts::Whereabouts};
use crate::{
    placement::{Mask, current_core},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed},
        thread::{self, Thread},
    },
};
use std::collections::BTreeSet;

/// Everything about sleepers that is not in the word. Locked only by a thread that falls asleep, wakes up, or wakes
/// another: each of these costs a system call, so the lock is not what takes the time. The exception is a thread that
/// has a job for one certain worker, which is awake while others sleep.
#[derive(Default)]
pub(super) struct Register {
    /// By worker; `None` until a worker with this number first announces a sleep, and when it has left.
    pub(super) beds: Vec<Option<Arc<Bed>>>,
    pub(super) asleep: Sleepers,
    /// Of all workers that have beds, awake or asleep.
    pub(super) whereabouts: Whereabouts,
    /// Numbers below this one have been counted in.
    counted: usize,
    /// Which of them have left since.
    gone: BTreeSet<usize>,
    /// The sleeper that naps.
    pub(super) napper: Option<usize>,
}

/// Where one worker sleeps.
pub(super) struct Bed {
    pub(super) thread: Thread,
    /// [`AWAKE`], [`ASLEEP`] or [`CALLED`]. Written under the register's lock, except the step from called to awake,
    /// which is the worker's own: no other thread touches a bed that is not on the list of sleepers.
    pub(super) state: AtomicU8,
    /// Whether the last call was for a job that was alone at its worker. Under the register's lock.
    pub(super) called_for_lone_job: AtomicBool,
    /// The core of the thread that is calling the worker now, and needs that core itself; otherwise [`NO_CORE`].
    /// Relaxed: written before the state says *called*, read after that, and taken back at some time after the call.
    pub(super) core_in_use: AtomicUsize,
    /// Where the thread could run when it got this bed.
    mask: Mask,
}

/// No core has this number.
pub(super) const NO_CORE: usize = usize::MAX;

impl Bed {
    /// The bed of the calling thread, which is awake.
    pub(super) fn of_caller() -> Self {
        Bed {
            thread: thread::current(),
            state: AtomicU8::new(AWAKE),
            called_for_lone_job: AtomicBool::new(false),
            core_in_use: AtomicUsize::new(NO_CORE),
            mask: Mask::of_this_thread(),
        }
    }

    /// Wakes the worker, which has just been counted as called.
    pub(super) fn unpark(&self) {
        self.thread.unpark();
        if self.core_in_use.load(Relaxed) != NO_CORE {
            self.core_in_use.store(NO_CORE, Relaxed);
        }
    }

    /// For the bed's worker, which has been called: if it has interrupted its caller, which needs the core, it moves to
    /// another; not if its thread has been restricted to other cores since it got this bed. Returns whether it has
    /// interrupted its caller.
    pub(super) fn makes_way(&self) -> bool {
        let core_in_use = self.core_in_use.load(Relaxed);
        let is_in_the_way = core_in_use != NO_CORE && current_core() == Some(core_in_use);
        if is_in_the_way {
            self.mask.move_on();
        }
        is_in_the_way
    }
}

/// The worker neither sleeps nor is about to.
pub(super) const AWAKE: u8 = 0;
/// The worker has announced its sleep: it is on the list of sleepers and counts as sleeping.
pub(super) const ASLEEP: u8 = 1;
/// The worker was taken off the list of sleepers and counts as called, until it notices.
pub(super) const CALLED: u8 = 2;

impl Register {
    /// Takes the sleeper that is to be called next off the list: "Whom to call" in the README. If a core is given as
    /// `rather`, a sleeper on that one is preferred. No sleeper has a core to itself if workers are awake on all
    /// `cores`.
    pub(super) fn take_next(&mut self, cores: usize, rather: Option<usize>) -> Option<usize> {
        let Register { asleep, whereabouts, .. } = self;
        let has_room = whereabouts.occupied() < cores;
        rather
            .and_then(|core| asleep.pop_where(|worker| whereabouts.is_on(worker, core)))
            .or_else(|| {
                let quiet = |worker| whereabouts.has_quiet_core(worker);
                if has_room { asleep.pop_where(quiet) } else { None }
            })
            .or_else(|| asleep.pop())
    }

    /// Counts `worker` in, and those of lower numbers, which are to come, unless they are counted already. Returns how
    /// many were added.
    pub(super) fn count_in(&mut self, worker: usize) -> usize {
        let more = (worker + 1).saturating_sub(self.counted);
        self.counted += more;
        more + usize::from(self.gone.remove(&worker))
    }

    /// Counts `worker` out, which is awake and has left, and removes its bed. Returns whether it was counted.
    pub(super) fn count_out(&mut self, worker: usize) -> bool {
        if self.beds.get_mut(worker).and_then(Option::take).is_some() {
            self.whereabouts.moves_out(worker);
        }
        worker < self.counted && self.gone.insert(worker)
    }

    pub(super) fn belongs_to_caller(&self, worker: usize) -> bool {
        self.bed(worker).is_some_and(|bed| bed.thread.id() == thread::current().id())
    }

    pub(super) fn bed(&self, worker: usize) -> Option<&Arc<Bed>> {
        self.beds.get(worker)?.as_ref()
    }

    /// The bed of a worker that has announced a sleep.
    pub(super) fn own_bed(&self, worker: usize) -> &Arc<Bed> {
        self.bed(worker).expect("a worker that announces a sleep is given a bed")
    }
}
