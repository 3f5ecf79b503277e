//! What is accepted runs, exactly once; what it owns is dropped, exactly once.

use super::{
    subject::{Crew, RunNow, Subject, with_pool},
    tools::{Counter, Tally, Witness, one_after_the_other, panic_quietly},
};
use crate::support::{random::Random, watchdog::until};
use executors::{CanExecute, Executor, Pool, timer::Timer, try_execute_locally};
use std::{
    iter,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::Duration,
};

/// When a job begins, all before it have begun, except for at most one for each other worker.
pub(crate) fn several_workers_take_jobs_in_order(subject: &impl Subject) {
    const THREADS: usize = 4;
    with_pool(subject, THREADS, |pool| {
        let (begun, early) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        for job in 0..20_000 {
            let (begun, early) = (Arc::clone(&begun), Arc::clone(&early));
            pool.execute(move || {
                let before = begun.fetch_add(1, SeqCst);
                if before + THREADS <= job {
                    early.lock().expect("no panic under this lock").push((job, before));
                }
            });
        }
        pool.join().expect("this is no worker");
        let early = early.lock().expect("no panic under this lock");
        assert!(early.is_empty(), "jobs that began too early, and how many had begun: {early:?}");
    });
}

/// Jobs from several threads; each seventh panics, each third spawns another.
pub(crate) fn each_job_runs_once(subject: &impl Subject) {
    with_pool(subject, 2, |pool| run_each_once(pool, 500));
}

pub(crate) fn each_job_runs_once_with_any_number_of_threads(subject: &impl Crew) {
    for &threads in subject.sizes() {
        with_pool(subject, threads, |pool| run_each_once(pool, 50 + 2 * threads));
    }
}

fn run_each_once(pool: &(impl Pool + 'static), jobs: usize) {
    const SUBMITTERS: usize = 3;
    let children = jobs.div_ceil(3);
    let tally = Tally::new(SUBMITTERS * (jobs + children));
    thread::scope(|scope| {
        for submitter in 0..SUBMITTERS {
            let (pool, tally) = (pool.clone(), tally.clone());
            scope.spawn(move || {
                let first = submitter * (jobs + children);
                for job in 0..jobs {
                    let (tally, local) = (tally.clone(), pool.clone());
                    pool.execute(move || {
                        tally.add(first + job);
                        if job.is_multiple_of(3) {
                            local.execute(move || tally.add(first + jobs + job / 3));
                        }
                        if job.is_multiple_of(7) {
                            panic_quietly(job);
                        }
                    });
                }
            });
        }
    });
    pool.join().expect("this is no worker");
    tally.assert_once_each();
    let stats = pool.stats();
    assert_eq!(stats.finished, (SUBMITTERS * (jobs + children)) as u64);
    assert_eq!(stats.panicked, (SUBMITTERS * jobs.div_ceil(7)) as u64);
}

pub(crate) fn each_job_of_a_batch_runs_once(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for size in [0, 1, 2, 31, 1000] {
            let tally = Tally::new(size);
            let job = |number| {
                let tally = tally.clone();
                move || tally.add(number)
            };
            assert_eq!(pool.execute_batch((0..size).map(job)), size);
            pool.join().expect("this is no worker");
            tally.assert_once_each();
        }
    });
}

/// Where the number of jobs cannot be known, none waits for the next.
pub(crate) fn a_batch_of_unknown_length_is_not_held_back(subject: &impl Subject) {
    with_pool(subject, 2, |pool| assert_eq!(pool.execute_batch(one_after_the_other(20)), 20));
}

/// The same in pools that announce each job by itself, so that it does not matter whether the number is known.
pub(crate) fn a_batch_of_known_length_is_not_held_back(subject: &impl Subject) {
    struct Counted<I>(I, usize);

    impl<I: Iterator> Iterator for Counted<I> {
        type Item = I::Item;

        fn next(&mut self) -> Option<I::Item> {
            let next = self.0.next()?;
            self.1 -= 1;
            Some(next)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, Some(self.1))
        }
    }

    with_pool(subject, 2, |pool| assert_eq!(pool.execute_batch(Counted(one_after_the_other(20), 20)), 20));
}

/// Each step of a batch runs before the next job comes: the first job, two more, four and so on, and in the end 256.
pub(crate) fn each_step_of_a_batch_runs(subject: &impl Crew) {
    const ENDS: [usize; 10] = [1, 3, 7, 15, 31, 63, 127, 255, 511, 767];
    with_pool(subject, 2, |pool| {
        let ran = Counter::default();
        let all_idle = || {
            let stats = pool.stats();
            stats.idle == stats.workers
        };
        let jobs = (0..1000).map(|number| {
            if ENDS.contains(&number) {
                // A worker that is at work may take jobs of which it has not been told. So may one that is about to
                // fall asleep: then this passes, whatever the steps are.
                until("the step has run, and all workers are idle", || ran.get() == number && all_idle());
            }
            let ran = ran.clone();
            move || ran.add()
        });
        assert_eq!(pool.execute_batch(jobs), 1000);
    });
}

/// A batch submitted by a job of the pool itself.
pub(crate) fn a_batch_from_a_job_runs(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (tally, local) = (Tally::new(600), pool.clone());
        let (inner, accepted) = (tally.clone(), Counter::default());
        let count = accepted.clone();
        pool.execute(move || {
            let job = |number| {
                let tally = inner.clone();
                move || tally.add(number)
            };
            (0..local.execute_batch((0..600).map(job))).for_each(|_| count.add());
        });
        pool.join().expect("this is no worker");
        tally.assert_once_each();
        assert_eq!(accepted.get(), 600);
    });
}

/// An iterator that panics half-way: whether the jobs before the panic run is not promised, but nothing is
/// half-accepted.
pub(crate) fn a_batch_that_panics_leaves_the_pool_whole(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let tally = Tally::new(10);
        let job = |number| {
            let tally = tally.clone();
            if number == 10 {
                panic_quietly("the iterator fails");
            }
            move || tally.add(number)
        };
        let batch = || pool.execute_batch((0..20).map(job));
        let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(batch));
        assert!(thrown.is_err(), "the panic of the caller's own iterator reaches the caller");
        assert_eq!(pool.submit(|| 5).wait().expect("the pool works"), 5);
        pool.join().expect("this is no worker");
        let ran: usize = (0..10).map(|number| tally.get(number)).sum();
        let stats = pool.stats();
        assert_eq!((stats.queued, stats.running, stats.finished), (0, 0, ran as u64 + 1));
    });
}

pub(crate) fn boxed_jobs_run(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let tally = Tally::new(10);
        let narrow: &dyn CanExecute = pool;
        for number in 0..10 {
            let tally = tally.clone();
            narrow.execute_job(Box::new(move || tally.add(number)));
        }
        pool.join().expect("this is no worker");
        tally.assert_once_each();
    });
}

/// Zero-sized closures, some around the largest size that is stored inline, large and over-aligned ones arrive intact.
pub(crate) fn closures_of_any_size_and_alignment_run(subject: &impl Subject) {
    fn check<P: Pool, L: Load>(pool: &P) {
        let (ran, dropped) = (Counter::default(), Counter::default());
        const COPIES: usize = 5;
        for _ in 0..COPIES {
            let (load, count, witness) = (L::new(), ran.clone(), Witness(dropped.clone()));
            pool.execute(move || {
                let _captured = &witness;
                load.assert_intact();
                count.add();
            });
        }
        pool.join().expect("this is no worker");
        let name = std::any::type_name::<L>();
        assert_eq!((ran.get(), dropped.get()), (COPIES, COPIES), "runs and drops of a closure with {name}");
    }

    with_pool(subject, 2, |pool| {
        check::<_, Bytes<0>>(pool);
        check::<_, Bytes<39>>(pool);
        check::<_, Bytes<40>>(pool); // with the counter and the witness: 56 bytes
        check::<_, Bytes<41>>(pool);
        check::<_, Bytes<48>>(pool);
        check::<_, Bytes<1000>>(pool);
        check::<_, Bytes<10_000>>(pool);
        check::<_, Aligned16>(pool);
        check::<_, Aligned64>(pool);
        check::<_, Aligned4096>(pool);
    });
}

/// Closures of half a worker's stack, and of a whole one: they are moved from one function to the next, each of which
/// may keep them on the stack, but not on the worker's.
pub(crate) fn huge_closures_run(subject: &impl Subject) {
    const SUBMITTER_STACK: usize = 256 << 20;

    fn give(pool: &(impl Pool + 'static)) {
        let [first, second, third, fourth] = [(); 4].map(|()| Bytes::<{ 1 << 20 }>::new());
        pool.execute(move || first.assert_intact());
        pool.submit(move || second.assert_intact()).wait().expect("it is intact");
        let ((timer, clock), second) = (Timer::manual(), Duration::from_secs(1));
        let later = timer.after(second, pool, move || third.assert_intact()).expect("a thread");
        clock.advance(second);
        later.wait().expect("it is intact");
        let beat = timer.at_fixed_rate(second, pool, move || fourth.assert_intact()).expect("a thread");
        clock.advance(second);
        pool.join().expect("this is no worker");
        assert!(beat.cancel(), "it would go on");
        assert_eq!((pool.stats().finished, pool.stats().panicked), (4, 0));
    }

    fn give_more(pool: &impl Pool) {
        let (first, second) = (Bytes::<{ 2 << 20 }>::new(), Bytes::<{ 2 << 20 }>::new());
        assert_eq!(pool.execute_batch(iter::once(move || first.assert_intact())), 1);
        pool.join().expect("this is no worker");
        assert!(pool.try_execute(move || second.assert_intact()).is_ok());
        pool.join().expect("this is no worker");
        assert_eq!((pool.stats().finished, pool.stats().panicked), (6, 0));
    }

    with_pool(subject, 2, |pool| {
        thread::scope(|scope| {
            let submitter = thread::Builder::new().stack_size(SUBMITTER_STACK);
            let give = || {
                give(pool);
                give_more(pool);
            };
            submitter.spawn_scoped(scope, give).expect("there is room for a thread");
        });
    });
}

/// A zero-sized closure has no room for a counter.
pub(crate) fn closures_without_captures_run(subject: &impl Subject) {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    with_pool(subject, 2, |pool| {
        let before = RUNS.load(SeqCst);
        for _ in 0..100 {
            pool.execute(|| {
                RUNS.fetch_add(1, SeqCst);
            });
        }
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().finished, 100);
        // Other subjects' tests may be counting at the same time.
        assert!(RUNS.load(SeqCst) >= before + 100);
    });
}

/// What a closure captures, and whether it arrived as it was sent.
trait Load: Send + 'static {
    fn new() -> Self;
    fn assert_intact(&self);
}

struct Bytes<const SIZE: usize>([u8; SIZE]);

impl<const SIZE: usize> Load for Bytes<SIZE> {
    fn new() -> Self {
        Bytes(std::array::from_fn(|position| (position % 251) as u8))
    }

    fn assert_intact(&self) {
        assert!(self.0.iter().enumerate().all(|(position, byte)| usize::from(*byte) == position % 251));
    }
}

macro_rules! aligned {
    ($($name:ident = $alignment:literal)+) => { $(
        #[repr(align($alignment))]
        struct $name([u8; 3]);

        impl Load for $name {
            fn new() -> Self {
                $name([1, 2, 3])
            }

            fn assert_intact(&self) {
                assert_eq!(self.0, [1, 2, 3]);
                assert!(std::ptr::from_ref(self).addr().is_multiple_of($alignment), "alignment is kept");
            }
        }
    )+ };
}

aligned! { Aligned16 = 16 Aligned64 = 64 Aligned4096 = 4096 }

/// Whether a job runs, panics, comes back or is ignored: its captures are dropped once, and not late.
pub(crate) fn captures_are_dropped_once(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (run, panicked, rejected, ignored) =
            (Counter::default(), Counter::default(), Counter::default(), Counter::default());
        let capture = |counter: &Counter| {
            let witness = Witness(counter.clone());
            move || drop(witness)
        };
        pool.execute(capture(&run));
        let job = capture(&panicked);
        pool.execute(move || {
            let _captured = &job;
            panic_quietly("expected");
        });
        pool.join().expect("this is no worker");
        assert_eq!((run.get(), panicked.get()), (1, 1));
        pool.shutdown_async();
        let job = pool.try_execute(capture(&rejected)).expect_err("the pool is closed").into_job();
        assert_eq!(rejected.get(), 0, "the job came back whole");
        drop(job);
        pool.execute(capture(&ignored));
        assert_eq!((rejected.get(), ignored.get()), (1, 1));
    });
}

/// A job that spawns through its thread spawns on its own pool.
pub(crate) fn local_jobs_run_on_the_same_pool(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let tally = Tally::new(64);
        for job in 0..32 {
            let tally = tally.clone();
            pool.execute(move || {
                let child = tally.clone();
                let given = try_execute_locally(move || child.add(32 + job));
                assert!(given.is_ok(), "this is a job of a pool");
                tally.add(job);
            });
        }
        pool.join().expect("this is no worker");
        tally.assert_once_each();
        assert_eq!((pool.stats().finished, pool.stats().panicked), (64, 0));
        assert!(try_execute_locally(|| ()).is_err(), "the test's own thread belongs to no pool");
    });
}

/// The same random tree of jobs on the subject and on the plain executor: same sum, same counts.
pub(crate) fn agrees_with_the_plain_executor(subject: &impl Subject) {
    /// Adds to `sum`, then spawns children in different ways, then may panic.
    fn grow<P: Pool + 'static>(pool: &P, mut random: Random, depth: u32, sum: Arc<AtomicU64>) {
        sum.fetch_add(random.below(1000), SeqCst);
        if depth > 0 {
            for _ in 0..random.below(4) {
                let (child, local, sum) = (random.fork(), pool.clone(), Arc::clone(&sum));
                let job = move || grow(&local, child, depth - 1, sum);
                match random.below(4) {
                    0 => pool.execute(job),
                    1 => assert_eq!(pool.execute_batch([job]), 1),
                    2 => pool.submit(job).detach(),
                    _ => assert!(try_execute_locally(job).is_ok(), "this is a job"),
                }
            }
        }
        if random.one_in(5) {
            panic_quietly("part of the tree");
        }
    }

    fn harvest<P: Pool + 'static>(pool: &P, seed: u64) -> (u64, u64, u64) {
        let (sum, local) = (Arc::new(AtomicU64::new(0)), pool.clone());
        let root = Arc::clone(&sum);
        pool.execute(move || grow(&local, Random::new(seed), 6, root));
        pool.join().expect("this is no worker");
        let stats = pool.stats();
        (sum.load(SeqCst), stats.finished, stats.panicked)
    }

    for seed in 1..=8 {
        let expected = harvest(&RunNow.pool(0), seed);
        with_pool(subject, 2, |pool| assert_eq!(harvest(pool, seed), expected, "seed {seed}"));
    }
}

/// One worker starts what its jobs spawn in the order in which it was spawned, however many jobs that are: children do
/// not overtake the siblings of their parents.
pub(crate) fn a_worker_keeps_its_jobs_in_order(subject: &impl Crew) {
    const JOBS: usize = 1000;
    with_pool(subject, 1, |pool| {
        let (sender, receiver) = mpsc::channel();
        let local = pool.clone();
        pool.execute(move || {
            for number in 0..JOBS {
                let (sender, again) = (sender.clone(), local.clone());
                local.execute(move || {
                    sender.send(number).expect("the test listens");
                    again.execute(move || sender.send(JOBS + number).expect("the test listens"));
                });
            }
        });
        assert!(receiver.iter().eq(0..2 * JOBS));
    });
}
