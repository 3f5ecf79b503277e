//! Several workers on one thread: the real source, in an order of steps that a number generator chooses. So jobs can be
//! counted exactly, and the bounds of `dispatcher/README.md` ("Aging") can be checked against the count.

use super::{Address, CPU, DispatchLocal, DispatchSource, LEVELS, NORMAL};
use crate::{
    job::Closure,
    meter::Meter,
    options::Placement,
    placement::Neighbourhood,
    source::{Source, dice::Dice},
};
use std::{
    cell::{Cell, RefCell},
    mem,
    sync::{Arc, Mutex},
};

/// What has begun: a job of the pressure, which is to be kept up, or the one that was waited for.
#[derive(Clone, Copy)]
enum Begun {
    Pressure(Address),
    /// The same, of the stream, and to be kept up by the worker itself.
    Own,
    Victim,
}

struct Simulation {
    source: DispatchSource,
    workers: Vec<Player>,
    begun: Arc<Mutex<Vec<Begun>>>,
    dice: Dice,
}

/// One step of a worker is the end of a job, and the beginning of its next one.
struct Player {
    local: DispatchLocal,
    meter: Meter,
    /// Jobs until it is to look outside, as the crew counts.
    left: Cell<u32>,
}

/// How many jobs have begun since the victim came.
struct Count {
    of_subpool: RefCell<Vec<usize>>,
    of_worker: RefCell<Vec<usize>>,
}

impl Simulation {
    /// `sharing` workers, and one for each of the `seats` of bound subpools that is beyond theirs.
    fn new(sharing: usize, limits: &[usize], seats: &[usize], age: u32, strict: bool) -> Self {
        let source =
            DispatchSource::new(sharing, Neighbourhood::of_machine(sharing, &Placement::Floating), limits, seats, age);
        let source = if strict { source.in_strict_order() } else { source };
        let player = |seat| Player { local: source.attach(Some(seat)), meter: Meter::default(), left: Cell::new(age) };
        let reserved = seats.iter().filter(|&&seat| seat >= sharing).count();
        let workers = (0..sharing + reserved).map(player).collect();
        Simulation { source, workers, begun: Arc::default(), dice: Dice::new(1) }
    }

    fn address(&self, subpool: usize, level: usize) -> Address {
        self.source.address(subpool, level)
    }

    fn put(&self, to: Address, what: Begun) {
        let begun = Arc::clone(&self.begun);
        self.source.inject(to, Closure(move || begun.lock().unwrap().push(what)));
        self.source.expose(to);
    }

    /// Puts a job into the stream of a worker, which holds a token of the CPU subpool.
    fn put_own(&self, worker: usize, what: Begun) {
        let (begun, local) = (Arc::clone(&self.begun), &self.workers[worker].local);
        let job = Closure(move || begun.lock().unwrap().push(what));
        if let Err(job) = self.source.push(local, Address::STREAM, job) {
            self.source.push_slowly(local, Address::STREAM, job);
        }
    }

    /// Like `crew::Worker::run_own_jobs`, once, with a search. Returns whether there was a job.
    fn step(&self, worker: usize, age: u32) -> bool {
        let Player { local, meter, left } = &self.workers[worker];
        left.set(left.get() - 1);
        let outside = (left.get() == 0).then(|| {
            left.set(age);
            self.source.pop_outside(local, age as usize, meter)
        });
        if let Some(job) = outside.flatten() {
            job.run();
        } else if self.source.run_next(local) {
            return true;
        } else if let Some(job) = self.source.search(local, meter) {
            job.run();
        } else {
            return false;
        }
        true
    }

    /// One step of some worker. Returns whether the victim has begun.
    fn advance(&self, count: &Count, age: u32) -> bool {
        // Now and then a worker is much slower than the others.
        let sleepy = self.dice.below(2 * self.workers.len());
        let worker = self.dice.below(self.workers.len());
        if worker == sleepy || !self.step(worker, age) {
            return false;
        }
        count.of_worker.borrow_mut()[worker] += 1;
        mem::take(&mut *self.begun.lock().unwrap()).into_iter().any(|begun| match begun {
            Begun::Victim => true,
            Begun::Pressure(at) => {
                count.of_subpool.borrow_mut()[at.subpool()] += 1;
                self.put(at, Begun::Pressure(at));
                false
            }
            Begun::Own => {
                count.of_subpool.borrow_mut()[CPU] += 1;
                self.put_own(worker, Begun::Own);
                false
            }
        })
    }

    /// Makes some steps, so that the next victim comes at another moment.
    fn go_on(&self, age: u32) {
        (0..self.dice.below(200)).for_each(|_| _ = self.advance(&self.zero(), age));
    }

    fn zero(&self) -> Count {
        Count {
            of_subpool: RefCell::new(vec![0; self.source.subpools.len()]),
            of_worker: RefCell::new(vec![0; self.workers.len()]),
        }
    }

    /// Counts the jobs that begin before one that is put in `at` an address.
    fn wait_for(&self, at: Address, age: u32) -> Count {
        self.put(at, Begun::Victim);
        self.wait_for_victim(age)
    }

    fn wait_for_victim(&self, age: u32) -> Count {
        let count = self.zero();
        for _ in 0..1_000_000 {
            if self.advance(&count, age) {
                return count;
            }
        }
        panic!("it never begins, with {} workers: {:?}", self.workers.len(), self.source);
    }

    /// Puts in jobs that are always there, some at each level of a subpool that `levels` gives.
    fn press(&self, levels: impl Iterator<Item = (usize, usize)>) {
        for (subpool, level) in levels {
            let at = self.address(subpool, level);
            (0..self.workers.len() + 1).for_each(|_| self.put(at, Begun::Pressure(at)));
        }
    }
}

/// The bound for any subpool, in jobs of its own that begin, whichever worker takes them, and whether it is full or
/// not.
#[test]
fn the_lowest_level_begins_in_time_with_any_token_holders() {
    let mut worst = 0.0_f64;
    for (workers, age) in [(1, 61), (2, 61), (3, 7), (4, 61), (8, 7), (8, 1)] {
        for (limits, strict) in [([1, 1, 1], true), ([1, 1, 1], false), ([2, 1, 3], false), ([8, 2, 1], false)] {
            // To a thread that shares, and to one that does not.
            let seats = [workers - 1, workers];
            let simulation = Simulation::new(workers, &limits, &seats, age, strict);
            let subpools = limits.len() + seats.len();
            // All the other levels of all subpools.
            let levels = (1..LEVELS).flat_map(|level| (0..subpools).map(move |subpool| (subpool, level)));
            simulation.press(levels);
            for victim in (0..100).map(|round| round % subpools) {
                simulation.go_on(age);
                let count = simulation.wait_for(simulation.address(victim, 0), age);
                let runners = if victim < limits.len() { workers } else { 1 };
                let (passed, bound) = (count.of_subpool.borrow()[victim], (age as usize + 2) * (LEVELS + runners));
                assert!(
                    passed <= bound,
                    "{passed} of {bound} in {victim}: {workers} workers, {limits:?}, strict {strict}, every {age}"
                );
                worst = worst.max(passed as f64 / bound as f64);
            }
        }
    }
    assert!(worst > 0.2, "the bound is far from what happens: {worst}");
}

/// The bound for a subpool that is open, in jobs of each worker; for a bound one, in those of its own worker.
#[test]
fn an_open_subpool_begins_a_job_in_each_round_of_a_worker() {
    for (workers, age) in [(1, 61), (2, 61), (4, 7), (8, 1)] {
        let (open, bound_here, seat) = (1, 3, workers - 1);
        let simulation = Simulation::new(workers, &[1, workers, 2], &[seat], age, false);
        let high = |subpool| [NORMAL, LEVELS - 1].map(|level| (subpool, level));
        simulation.press([CPU, 2].into_iter().flat_map(high));
        for victim in (0..120).map(|round| [open, bound_here][round % 2]) {
            simulation.go_on(age);
            let count = simulation.wait_for(simulation.address(victim, 0), age).of_worker.into_inner();
            let most = if victim == open { *count.iter().max().unwrap() } else { count[seat] };
            let bound = (age as usize + 1) * 4;
            assert!(most <= bound, "{most} of {bound} before {victim}: {workers} workers, every {age}");
        }
    }
}

/// The bound for jobs of the stream: a worker's own while there is always one from outside, and the other way round.
#[test]
fn own_jobs_and_jobs_from_outside_get_every_other_turn_of_the_stream() {
    let (dice, mut worst) = (Dice::new(7), 0.0_f64);
    for (others, age) in (0..200).map(|round| (1 + round % 3, [1, 2, 4, 7, 13][round % 5])) {
        for own_waits in [false, true] {
            let simulation = Simulation::new(1, &vec![1; 1 + others], &[], age, false);
            let levels = (0..=others).flat_map(|subpool| (0..LEVELS).map(move |level| (subpool, level)));
            let pressed = levels.filter(|&at| at != (CPU, NORMAL) && (at == (CPU, 0) || dice.below(3) == 0));
            simulation.press(pressed);
            let victim_comes = || {
                while simulation.workers[0].local.token_of.get() != CPU {
                    simulation.advance(&simulation.zero(), age);
                }
                if own_waits {
                    simulation.put_own(0, Begun::Victim);
                } else {
                    simulation.put(Address::STREAM, Begun::Victim);
                }
            };
            if own_waits {
                simulation.put(Address::STREAM, Begun::Pressure(Address::STREAM));
            } else {
                simulation.put_own(0, Begun::Own);
            }
            for _ in 0..20 {
                simulation.go_on(age);
                victim_comes();
                let passed = simulation.wait_for_victim(age).of_worker.into_inner()[0];
                let bound = 2 * (age as usize + 1) * (others + 2);
                assert!(passed <= bound, "{passed} of {bound}: {others} others, every {age}, own {own_waits}");
                worst = worst.max(passed as f64 / bound as f64);
            }
        }
    }
    assert!(worst > 0.8, "the bound is far from what happens: {worst}");
}

#[test]
fn a_job_is_alone_if_its_worker_has_no_other_there() {
    let simulation = Simulation::new(1, &[1, 1], &[], 61, false);
    let (source, local) = (&simulation.source, &simulation.workers[0].local);
    let [stream, queue, elsewhere] = [(CPU, NORMAL), (CPU, NORMAL + 1), (CPU + 1, NORMAL)]
        .map(|(subpool, level)| simulation.address(subpool, level));
    simulation.put(stream, Begun::Victim);
    assert!(simulation.step(0, 61), "from then on it holds a token of the CPU subpool");
    let push = |to| {
        if let Err(job) = source.push(local, to, Closure(|| ())) {
            source.push_slowly(local, to, job);
        }
        source.is_lone(local, to)
    };
    assert_eq!([stream, stream, queue, queue, elsewhere].map(push), [true, false, true, false, false]);
}
