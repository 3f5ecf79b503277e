//! Falling asleep, being called, and when a call is due. The protocol is in the README beside this file.

#[cfg(all(test, executors_loom))]
mod model;
mod register;
mod sleepers;
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

    /// Whether all workers but one sleep, and one is called, or aside and counts as called: the same one, unless a
    /// submitter that gives way is taken for it.
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

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::courtesy::Courtesy;

    /// One of two workers sleeps, and the other steps aside.
    #[test]
    fn the_second_job_that_meets_a_worker_aside_calls_another() {
        let idle = IdleSet { cores: 2, ..IdleSet::new(None) };
        idle.init(0);
        let sleeper = || {
            idle.init(1);
            idle.prepare_park(1);
        };
        std::thread::scope(|scope| scope.spawn(sleeper).join().unwrap());
        idle.start_looking();
        assert!(idle.step_aside() && !idle.step_aside(), "one at a time");
        for (origin, called, calls) in [(Origin::Inside, 0, 0), (Origin::Outside, 1, 0), (Origin::Outside, 2, 1)] {
            idle.job_arrived(origin);
            assert_eq!((idle.word.read().called(), idle.wake_ups()), (called, calls), "{origin:?}");
        }
        idle.come_back();
        let census = idle.word.read();
        assert_eq!((census.sleeping(), census.called(), census.looking()), (0, 1, 1));
    }

    #[test]
    fn others_rely_on_a_submitter_that_gives_way_until_it_goes_on() {
        let idle = IdleSet { cores: 2, ..IdleSet::new(None) };
        for worker in 0..2 {
            idle.init(worker);
            idle.prepare_park(worker);
        }
        assert!(!idle.is_one_coming(), "all sleep");
        idle.unpark(0);
        assert!(idle.is_one_coming());
        idle.give_way();
        assert!(!idle.is_one_coming(), "another submitter calls, or relies on this one");
        idle.job_arrived(Origin::Outside);
        assert_eq!(idle.wake_ups(), 1);
        assert!(idle.go_on(), "the worker has not come, and a job calls another");
        idle.give_way();
        idle.abort_park(0);
        idle.start_looking();
        assert!(!idle.is_one_coming(), "it has come");
        assert!(!idle.go_on(), "it looks");
        idle.give_way();
        assert!(!idle.stop_looking(), "the submitter that gives way looks next");
        assert!(idle.go_on(), "no other thread does");
        idle.abort_park(1);
        idle.assert_all_awake();
    }

    #[test]
    fn no_submitter_gives_way_on_one_core_or_in_a_pool_for_bursts() {
        let of_one = IdleSet { cores: 1, ..IdleSet::new(None) };
        let for_bursts = IdleSet { cores: 2, hastens: true, ..IdleSet::new(None) };
        for idle in [of_one, for_bursts] {
            for worker in 0..2 {
                idle.init(worker);
                idle.prepare_park(worker);
            }
            idle.unpark(0);
            assert!(!idle.is_one_coming());
        }
    }

    #[test]
    fn a_worker_that_looks_or_naps_spares_a_call() {
        const ORIGINS: [Origin; 3] = [Origin::Outside, Origin::Inside, Origin::Alone];
        let idle = IdleSet::new(None);
        (0..2).for_each(|worker| idle.init(worker));
        assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [false, false, false], "no worker sleeps");
        idle.prepare_park(0);
        assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [true, true, true]);
        idle.start_looking();
        assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [true, false, false], "see `job_arrived`");
        idle.stop_looking();
        idle.job_arrived(Origin::Alone);
        assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [false, false, false], "no worker sleeps any more");
        idle.abort_park(0);
        assert!(idle.prepare_nap(0), "called for a lone job");
        assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [true, true, false]);
    }

    /// Of four workers on three cores, the first has come for the first job already.
    #[test]
    #[cfg(feature = "burst-exec")]
    fn jobs_of_a_burst_call_workers_though_others_have_come() {
        for (set, called) in [(IdleSet::new(None), 1), (IdleSet::for_bursts(), 2)] {
            let idle = IdleSet { cores: 3, ..set };
            for worker in 0..4 {
                idle.init(worker);
                idle.prepare_park(worker);
            }
            idle.unpark(0);
            idle.abort_park(0);
            (0..4).for_each(|_job| idle.job_arrived(Origin::Outside));
            assert_eq!(idle.word.read().called(), called, "three cores, and one is at a job");
        }
    }

    /// A set of four workers: three have fallen asleep on core 1, and one, before two of these, on core 0.
    fn with_sleepers() -> IdleSet {
        with_sleepers_of(IdleSet::new(None))
    }

    fn with_sleepers_of(idle: IdleSet) -> IdleSet {
        for (worker, core) in [(0, 1), (1, 0), (2, 1), (3, 1)] {
            idle.init(worker);
            idle.prepare_park(worker);
            let whereabouts = &mut idle.register().whereabouts;
            whereabouts.wakes(worker);
            whereabouts.falls_asleep(worker, Some(core));
        }
        idle
    }

    fn call(idle: &IdleSet, cores: usize, rather: Option<usize>) -> usize {
        let mut register = idle.register();
        let worker = register.take_next(cores, rather).expect("a worker sleeps");
        idle.call(&mut register, worker, None);
        worker
    }

    #[test]
    fn sleepers_on_quiet_cores_are_called_first_if_cores_are_free() {
        for (cores, order) in [(1, [3, 2, 1, 0]), (2, [3, 1, 2, 0])] {
            let idle = with_sleepers();
            assert_eq!(order.map(|_| call(&idle, cores, None)), order);
            (0..4).for_each(|worker| idle.abort_park(worker));
            idle.assert_all_awake();
        }
    }

    #[test]
    fn a_worker_that_has_left_keeps_no_other_from_being_called() {
        let idle = with_sleepers_of(IdleSet { cores: 2, ..IdleSet::new(None) });
        idle.abort_park(1);
        idle.leave(1);
        assert_eq!((idle.awake(idle.word.read()), idle.register().whereabouts.occupied()), (0, 0));
        (0..3).for_each(|_job| idle.job_arrived(Origin::Outside));
        assert_eq!(idle.wake_ups(), 2, "of three that are left, as many as there are cores");
        [0, 2, 3].into_iter().for_each(|worker| idle.abort_park(worker));
        idle.assert_all_awake();
    }

    /// As a lost worker does, whatever it has announced before.
    #[test]
    fn a_worker_that_is_awake_again_may_leave() {
        let announce =
            |idle: &IdleSet, is_nap: bool| if is_nap { _ = idle.prepare_nap(0) } else { idle.prepare_park(0) };
        for (is_nap, is_called) in [(false, false), (false, true), (true, false), (true, true)] {
            let idle = IdleSet::new(None);
            (0..2).for_each(|worker| idle.init(worker));
            idle.prepare_park(0);
            idle.job_arrived(Origin::Alone);
            idle.abort_park(0);
            announce(&idle, is_nap);
            assert_eq!(idle.word.read().napping(), is_nap);
            if is_called {
                idle.unpark_one();
            }
            idle.init(0);
            idle.leave(0);
            idle.assert_all_awake();
            assert_eq!((idle.members(), idle.register().whereabouts.occupied()), (1, 0));
        }
    }

    #[test]
    fn each_number_counts_once_while_it_has_a_worker() {
        let idle = IdleSet::new(None);
        (0..4).for_each(|worker| idle.init(worker));
        idle.init(2);
        assert_eq!(idle.members(), 4);
        idle.leave(2);
        idle.leave(2);
        idle.init(3);
        assert_eq!(idle.members(), 3);
        [3, 2].into_iter().for_each(|worker| idle.prepare_park(worker)); // no beds, and one does not count
        assert_eq!(idle.members(), 4);
        idle.leave(7);
        assert_eq!(idle.members(), 4, "it never came");
    }

    #[test]
    fn a_sleeper_on_the_named_core_is_called_first() {
        let idle = with_sleepers();
        let rather = [0, 0, 1, 5].map(Some);
        assert_eq!(rather.map(|core| call(&idle, 2, core)), [1, 3, 2, 0]);
    }

    #[test]
    fn a_thread_that_slept_for_a_result_names_its_own_core_once() {
        let idle = IdleSet::new(None);
        let names_core = |origin| idle.core_to_call(Some(origin)).is_some();
        assert!(!names_core(Origin::Outside));
        Courtesy::new().sleeps();
        let is_told = cfg!(all(target_os = "linux", target_arch = "x86_64"));
        assert_eq!([Origin::Inside, Origin::Outside, Origin::Outside].map(names_core), [false, is_told, false]);
    }

    #[test]
    #[cfg(feature = "elastic-exec")]
    fn the_last_first_order_ignores_cores() {
        for (set, order) in [(IdleSet::new(None), [3, 1, 2, 0]), (IdleSet::last_first(), [3, 2, 1, 0])] {
            let idle = with_sleepers_of(IdleSet { cores: 2, ..set });
            let mut register = idle.register();
            let mut call_next = || {
                let worker = idle.take_next(&mut register, None).expect("a worker sleeps");
                idle.call(&mut register, worker, None);
                worker
            };
            assert_eq!(order.map(|_| call_next()), order);
        }
    }

    /// Whether a worker that was called for a job of `origin`, by a thread on its own core, wakes up on another one. A
    /// second worker is awake on its core, too.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn makes_way(idle: &IdleSet, origin: Option<Origin>, is_nap: bool, call_ends: bool) -> bool {
        idle.prepare_park(0);
        let core = {
            let mut register = idle.register();
            let core = current_core();
            register.whereabouts.moves_in(1, core);
            assert!(register.asleep.remove(0));
            let bed = idle.call(&mut register, 0, origin);
            if call_ends {
                bed.unpark();
            }
            core
        };
        if is_nap {
            idle.nap(0, Duration::from_secs(1000));
        } else {
            assert_eq!(idle.park(0), ParkResult::Woken);
        }
        let has_moved = current_core() != core;
        idle.assert_all_awake();
        has_moved
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn a_worker_that_interrupts_its_caller_moves_to_another_core() {
        use crate::{placement::Mask, seccomp::is_filtered};

        if Mask::of_this_thread().first_of_several().is_none() || is_filtered() {
            println!("skipped: threads cannot be moved");
            return;
        }
        let cases = [
            (2, Some(Origin::Inside), false, true),
            (2, Some(Origin::Alone), false, true),
            (2, Some(Origin::Inside), true, false),
            (2, Some(Origin::Waiting), false, false),
            (2, Some(Origin::Outside), false, false),
            (2, None, false, false),
            (1, Some(Origin::Inside), false, false),
        ];
        for is_nap in [false, true] {
            let idle = [IdleSet { cores: 1, ..IdleSet::new(None) }, IdleSet { cores: 2, ..IdleSet::new(None) }];
            // The system may move it, too, but not every time at this very moment.
            let makes_way_mostly = |(cores, origin, call_ends, _): (usize, Option<Origin>, bool, bool)| {
                (0..20).filter(|_| makes_way(&idle[cores - 1], origin, is_nap, call_ends)).count() > 10
            };
            assert_eq!(cases.map(makes_way_mostly), cases.map(|(.., moves)| moves), "{is_nap}");
        }
    }

    /// The former thread of the number has ended asleep, called or not.
    #[test]
    fn a_worker_that_takes_over_a_number_is_awake() {
        for is_called in [false, true] {
            let idle = IdleSet::new(None);
            std::thread::scope(|scope| scope.spawn(|| idle.prepare_park(0)).join().unwrap());
            if is_called {
                idle.unpark_one();
            }
            let census = idle.word.read();
            assert_eq!((census.sleeping(), census.called()), if is_called { (0, 1) } else { (1, 0) });
            idle.init(0);
            idle.assert_all_awake();
        }
    }
}
