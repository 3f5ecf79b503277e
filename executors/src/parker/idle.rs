//! Falling asleep, being called, and when a call is due. The protocol is in the README beside this file.

#[cfg(all(test, executors_loom))]
mod model;
mod register;
mod sleepers;
#[cfg(all(test, not(executors_loom)))]
mod tests;
mod whereabouts;

use self::register::{ASLEEP, AWAKE, Bed, CALLED, NO_CORE, Register};
use super::{
    Origin, ParkResult,
    word::{Census, IdleWord},
};
use crate::{
    apart::Apart,
    courtesy,
    placement::{core_count, current_core},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{
            AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
        thread,
    },
};
use std::{fmt, time::Duration};

/// The state of one pool's workers, as far as sleep is concerned.
pub(super) struct IdleSet {
    max_threads: Option<usize>,
    /// Read by every submit, written only when a worker falls asleep, is called, or starts or stops looking, or when a
    /// worker or submitter yields its core.
    word: Apart<IdleWord>,
    /// How many workers there are, as far as their numbers come in order. Changed under the register's lock. Relaxed:
    /// it only determines how many calls are worthwhile.
    members: AtomicUsize,
    /// More workers than this cannot run at the same time.
    cores: usize,
    /// Whether to call a sleeper that would have a core to itself, rather than the last one.
    spreads: bool,
    /// Whether jobs from outside are likely to come many at once, all of which should start now.
    hastens: bool,
    /// For statistics. Relaxed: nothing depends on this number.
    calls: AtomicU64,
    register: Mutex<Register>,
}

impl IdleSet {
    pub(super) fn new(max_threads: Option<usize>) -> Self {
        IdleSet {
            max_threads,
            word: Apart::new(IdleWord::new()),
            members: AtomicUsize::new(0),
            cores: core_count(),
            spreads: true,
            hastens: false,
            calls: AtomicU64::new(0),
            register: Mutex::new(Register::default()),
        }
    }

    /// A set with the same choices, and no workers yet.
    pub(super) fn like(&self) -> Self {
        let IdleSet { max_threads, cores, spreads, hastens, .. } = *self;
        IdleSet { cores, spreads, hastens, ..IdleSet::new(max_threads) }
    }

    /// A set whose last sleeper is called first, so that workers that have not been needed for long stay asleep.
    #[cfg(feature = "elastic-exec")]
    pub(super) fn last_first() -> Self {
        IdleSet { spreads: false, ..IdleSet::new(None) }
    }

    /// A set that calls as many workers for a burst as there are cores, even if the first of them have arrived already.
    #[cfg(feature = "burst-exec")]
    pub(super) fn for_bursts() -> Self {
        IdleSet { hastens: true, ..IdleSet::new(None) }
    }

    /// With the given number of cores. Otherwise there are more in all models than a model has workers.
    #[cfg(all(test, executors_loom, feature = "burst-exec"))]
    pub(super) fn on(self, cores: usize) -> Self {
        IdleSet { cores, ..self }
    }

    pub(super) fn max_threads(&self) -> Option<usize> {
        self.max_threads
    }

    pub(super) fn init(&self, worker: usize) {
        if let Some(limit) = self.max_threads {
            assert!(worker < limit, "this parker serves threads below {limit}, not thread {worker}");
        }
        let mut register = self.register();
        if register.bed(worker).is_some() {
            self.move_in(&mut register, worker);
        } else {
            // The bed can wait, the worker's first job should not.
            self.count_in(&mut register, worker);
        }
    }

    /// `worker`, which is awake, has left: it is in no other's way, and does not keep a job from calling another.
    pub(super) fn leave(&self, worker: usize) {
        let mut register = self.register();
        if register.count_out(worker) {
            self.members.fetch_sub(1, Relaxed);
        }
    }

    /// Makes a bed for the calling thread as `worker`, which is awake, whatever a former thread of this number was.
    fn move_in(&self, register: &mut Register, worker: usize) {
        if register.beds.len() <= worker {
            register.beds.resize_with(worker + 1, || None);
        }
        self.end_nap(register, worker);
        if register.asleep.remove(worker) {
            self.word.sleep_cancelled();
            register.whereabouts.wakes(worker);
        }
        register.whereabouts.moves_in(worker, current_core());
        match register.beds[worker].replace(Arc::new(Bed::of_caller())) {
            // Acquire as in `abort_park`; the former thread cannot answer its call any more.
            Some(former) if former.state.load(Acquire) == CALLED => self.word.arrive(),
            Some(_) => {}
            None => self.count_in(register, worker),
        }
    }

    fn count_in(&self, register: &mut Register, worker: usize) {
        self.members.fetch_add(register.count_in(worker), Relaxed);
    }

    pub(super) fn prepare_park(&self, worker: usize) {
        self.announce(worker, |_register| false);
    }

    /// Returns whether it is to be a nap: if the worker was last called for a lone job, and no worker naps already.
    pub(super) fn prepare_nap(&self, worker: usize) -> bool {
        self.announce(worker, |register| {
            let nap = register.napper.is_none() && register.own_bed(worker).called_for_lone_job.load(Relaxed);
            if nap {
                register.napper = Some(worker);
            }
            nap
        })
    }

    fn announce(&self, worker: usize, is_nap: impl FnOnce(&mut Register) -> bool) -> bool {
        let mut register = self.register();
        if !register.belongs_to_caller(worker) {
            self.move_in(&mut register, worker);
        }
        // Relaxed: this thread's own, or read by a caller that takes the lock after us. A second announcement changes
        // nothing.
        if register.own_bed(worker).state.load(Relaxed) != AWAKE {
            return register.napper == Some(worker);
        }
        register.own_bed(worker).state.store(ASLEEP, Relaxed);
        register.asleep.push(worker);
        register.whereabouts.falls_asleep(worker, current_core());
        let is_nap = is_nap(&mut register);
        if is_nap {
            self.word.fall_into_nap();
        } else {
            self.word.fall_asleep();
        }
        is_nap
    }

    /// The worker no longer naps, if it did. To be called before it looks for work: a thread that has seen the nap
    /// relies on that look.
    fn end_nap(&self, register: &mut Register, worker: usize) {
        if register.napper == Some(worker) {
            register.napper = None;
            self.word.nap_ended();
        }
    }

    pub(super) fn abort_park(&self, worker: usize) {
        let mut register = self.register();
        self.end_nap(&mut register, worker);
        if register.asleep.remove(worker) {
            register.own_bed(worker).state.store(AWAKE, Relaxed);
            register.whereabouts.wakes(worker);
            self.word.sleep_cancelled();
        } else if register.bed(worker).is_some_and(|bed| bed.state.swap(AWAKE, Acquire) == CALLED) {
            // Called between the announcement and now. The token that comes with the call may make a later park return
            // early, which then sees that its state is still asleep.
            self.word.arrive();
        }
    }

    pub(super) fn park(&self, worker: usize) -> ParkResult {
        let bed = {
            let mut register = self.register();
            self.end_nap(&mut register, worker); // a parked worker does not come back by itself
            register.bed(worker).cloned()
        };
        let Some(bed) = bed else { return ParkResult::Abort }; // there was no announcement, ever
        loop {
            // Acquire pairs with the Release in `call`: what the caller did before the call is visible here.
            match bed.state.load(Acquire) {
                ASLEEP => thread::park(),
                CALLED => {
                    bed.state.store(AWAKE, Relaxed);
                    self.make_way(worker, &bed);
                    self.word.arrive();
                    return ParkResult::Woken;
                }
                _ => return ParkResult::Abort,
            }
        }
    }

    pub(super) fn nap(&self, worker: usize, duration: Duration) {
        let Some(bed) = self.register().bed(worker).cloned() else { return };
        if bed.state.load(Relaxed) == ASLEEP {
            thread::doze(duration);
        }
        // Acquire as in `park`.
        if bed.state.load(Acquire) == CALLED {
            self.make_way(worker, &bed);
        }
        // Called or not, early or late: the worker is awake now, and will look for work.
        self.abort_park(worker);
    }

    /// For `worker`, which has been called and has not arrived: until it does, others rely on it as before.
    fn make_way(&self, worker: usize, bed: &Bed) {
        if bed.makes_way() {
            self.register().whereabouts.moves_in(worker, current_core());
        }
    }

    /// Whether a thread seeks, or a worker can be called. Relies on a fence before.
    pub(super) fn is_anybody_free(&self) -> bool {
        let census = self.word.read();
        census.sleeping() > 0 || census.somebody_seeks()
    }

    #[inline(always)]
    pub(super) fn is_anybody_asleep(&self) -> bool {
        self.word.read().sleeping() > 0
    }

    /// Relies on a fence before. Ignores a worker that is aside: only jobs from outside do anything about that.
    #[inline(always)]
    pub(super) fn needs_call(&self, origin: Origin) -> bool {
        let census = self.word.read();
        census.sleeping() > 0 && (origin == Origin::Outside || self.call_is_due(census, origin))
    }

    /// Reads the census once more, because its caller need not have asked
    /// [`is_anybody_asleep`](Self::is_anybody_asleep).
    #[inline]
    pub(super) fn job_arrived(&self, origin: Origin) {
        let census = self.word.read();
        if census.sleeping() > 0 {
            if self.call_is_due(census, origin) {
                self.call_one(Some(origin));
            } else if census.aside() && origin == Origin::Outside {
                courtesy::forget_sleep(); // that worker is for this job
                self.word.call_aside();
            }
        }
    }

    /// Calls one sleeper, even if other threads seek. Does not look at the word first: its caller need not have issued
    /// a fence, so only the lock shows which workers have announced a sleep.
    pub(super) fn unpark_one(&self) {
        self.call_one(None);
    }

    /// Calls `worker`, if it sleeps. Relies on a fence between the reason for that and the look at the word.
    pub(super) fn unpark(&self, worker: usize) {
        if self.word.read().sleeping() == 0 {
            return;
        }
        let called = {
            let mut register = self.register();
            register.asleep.remove(worker).then(|| self.call(&mut register, worker, None))
        };
        if let Some(bed) = called {
            bed.unpark(); // as in `call_one`
        }
    }

    pub(super) fn unpark_all(&self) {
        let mut register = self.register();
        while let Some(worker) = register.asleep.pop() {
            // Under the lock. Collecting them first would take an allocation; and if the lock were taken for each anew,
            // those that fall asleep again might be called for ever.
            self.call(&mut register, worker, None).unpark();
        }
    }

    /// Returns whether the caller is the only one that counts as looking: one is enough.
    pub(super) fn start_looking(&self) -> bool {
        self.word.start_looking().looking() == 0
    }

    /// Returns whether to report the [return](Self::come_back): one worker at a time may be aside.
    pub(super) fn step_aside(&self) -> bool {
        self.word.step_aside()
    }

    pub(super) fn come_back(&self) {
        self.word.come_back();
    }

    /// Whether all workers but one sleep, and that one is on its way, because it was called while it slept or was
    /// aside. (A submitter that gives way counts as called, too, and may be taken for it.)
    #[inline]
    pub(super) fn is_one_coming(&self) -> bool {
        let census = self.word.read();
        let are_few = !self.hastens && census.called() == 1 && census.looking() == 0 && census.sleeping() > 0;
        are_few && self.awake(census) == 1 && self.cores > 1
    }

    pub(super) fn give_way(&self) {
        self.word.give_way();
    }

    /// Returns whether a job needs a call, if one is still there.
    pub(super) fn go_on(&self) -> bool {
        self.call_is_due(self.word.go_on(), Origin::Outside)
    }

    /// Returns whether no thread seeks any more.
    pub(super) fn stop_looking(&self) -> bool {
        let before = self.word.stop_looking();
        before.looking() == 1 && before.called() == 0
    }

    pub(super) fn wake_ups(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    /// Whether a job that has just become visible needs a worker that is asleep now.
    ///
    /// It does if no thread seeks. Only for a job that is alone at its worker, most often the next of a chain, it is
    /// enough that a sleeper naps: if its worker does not run it, it waits for the end of the nap. A job from outside
    /// also calls a second worker, and a third, as long as all workers that are awake are still on their way: then this
    /// is a burst after an idle period, and the submitter is better placed to call them than the first worker would be.
    /// That worker may even be waiting for the submitter's own core, for as long as the submitter goes on. More workers
    /// than there are cores would only get into each other's way. In a set [for bursts](Self::for_bursts) a job calls
    /// up to that number, whatever the workers do that are awake: those that have arrived have a job, and other jobs
    /// are to follow.
    #[inline]
    fn call_is_due(&self, census: Census, origin: Origin) -> bool {
        if origin == Origin::Alone && census.napping() {
            return false;
        }
        if !census.somebody_seeks() {
            return true;
        }
        if origin != Origin::Outside {
            return false;
        }
        let awake = self.awake(census);
        awake < self.cores && (self.hastens || awake == census.called())
    }

    /// Workers that do not sleep, as far as is known.
    #[inline]
    fn awake(&self, census: Census) -> usize {
        self.members.load(Relaxed).saturating_sub(census.sleeping())
    }

    /// Calls a sleeper, unless a look under the lock shows that `origin` no longer needs it.
    #[cold]
    fn call_one(&self, origin: Option<Origin>) {
        let called = {
            let mut register = self.register();
            if origin.is_some_and(|origin| !self.call_is_due(self.word.read(), origin)) {
                return;
            }
            self.call_next(&mut register, origin)
        };
        if let Some(bed) = called {
            // After the lock is released, so that the woken worker does not run into it. The worker may have noticed
            // the call before; then the token is left for its next sleep, whose loop checks the state.
            bed.unpark();
        }
    }

    /// Takes the next sleeper off the list and counts it as called; the caller of this has to unpark it.
    fn call_next(&self, register: &mut Register, origin: Option<Origin>) -> Option<Arc<Bed>> {
        let worker = self.take_next(register, origin)?;
        Some(self.call(register, worker, origin))
    }

    fn take_next(&self, register: &mut Register, origin: Option<Origin>) -> Option<usize> {
        let rather = self.core_to_call(origin);
        if self.spreads { register.take_next(self.cores, rather) } else { register.asleep.pop() }
    }

    /// Counts `worker`, which has just been taken off the list, as called.
    fn call(&self, register: &mut Register, worker: usize, origin: Option<Origin>) -> Arc<Bed> {
        let bed = Arc::clone(register.own_bed(worker));
        bed.called_for_lone_job.store(origin == Some(Origin::Alone), Relaxed);
        bed.core_in_use.store(self.core_in_use(register, origin).unwrap_or(NO_CORE), Relaxed);
        register.whereabouts.wakes(worker);
        self.word.call();
        self.calls.fetch_add(1, Relaxed);
        // Release pairs with the Acquire in `park` and `abort_park`.
        bed.state.store(CALLED, Release);
        bed
    }

    /// The core on which the called worker would be in the way: its caller's, if the caller is a worker, which goes on,
    /// while workers are known to be awake on fewer cores than there are.
    fn core_in_use(&self, register: &Register, origin: Option<Origin>) -> Option<usize> {
        let caller_goes_on = matches!(origin, Some(Origin::Inside | Origin::Alone));
        if caller_goes_on && register.whereabouts.occupied() < self.cores { current_core() } else { None }
    }

    /// The core on which a worker is preferably called: the caller's own if it waits for its jobs, because it is free
    /// then.
    fn core_to_call(&self, origin: Option<Origin>) -> Option<usize> {
        let waits = origin == Some(Origin::Outside) && courtesy::take_has_slept();
        if waits { current_core() } else { None }
    }

    fn register(&self) -> MutexGuard<'_, Register> {
        // Nothing under this lock panics halfway through a change, so a poisoned register is still right.
        self.register.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl fmt::Debug for IdleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdleSet")
            .field("members", &self.members)
            .field("census", &*self.word)
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(executors_loom)))]
impl IdleSet {
    pub(super) fn members(&self) -> usize {
        self.members.load(Relaxed)
    }
}

#[cfg(test)]
impl IdleSet {
    fn assert_all_awake(&self) {
        let census = self.word.read();
        assert_eq!((census.sleeping(), census.called(), census.looking()), (0, 0, 0));
        assert!(!census.napping() && !census.aside());
        assert!(self.register().asleep.is_empty());
        self.register().whereabouts.assert_all_awake();
    }
}
