//! Jobs that fork: what `ThreadPool::fork_join` of the work-stealing pool promises.
#![cfg(feature = "workstealing-exec")]

mod support;

use executors::{
    Executor, Idle, Pool, TaskHandle,
    crossbeam_workstealing_pool::{ThreadPool, dyn_pool, large_pool},
    parker::{Origin, ParkResult, Parker, SmallThreadData, StaticParker, small},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Barrier, Mutex, OnceLock,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::Duration,
};
use support::{
    child::Child,
    gate::{Gate, occupy},
    naive_parker::NaiveParker,
    on_drop::OnDrop,
    programs::Programs,
    random::Random,
    threads,
    watchdog::{PATIENCE, until, within},
};

fn pool(threads: usize) -> ThreadPool {
    ThreadPool::builder().threads(threads).build().expect("there is room for some threads")
}

fn fib(pool: &ThreadPool, index: u64) -> u64 {
    if index < 2 {
        return index;
    }
    let (one, other) = pool.fork_join(|| fib(pool, index - 1), || fib(pool, index - 2));
    one + other
}

/// Divides what it borrows.
fn double_all(pool: &ThreadPool, numbers: &mut [u64]) {
    match numbers {
        [] => {}
        [number] => *number *= 2,
        _ => {
            let (left, right) = numbers.split_at_mut(numbers.len() / 2);
            pool.fork_join(|| double_all(pool, left), || double_all(pool, right));
        }
    }
}

#[test]
fn jobs_may_divide_borrowed_data() {
    for threads in [1, 2, 5] {
        within(|| {
            let pool = pool(threads);
            for size in [0, 1, 2, 1000, 10_000] {
                let mut numbers: Vec<u64> = (0..size).collect();
                double_all(&pool, &mut numbers);
                assert!(numbers.into_iter().eq((0..size).map(|number| 2 * number)));
            }
            pool.shutdown().expect("nothing is left");
        });
    }
}

#[test]
fn any_parker_will_do() {
    fn forks<P: Parker + Clone + 'static>(pool: ThreadPool<P>) {
        fn count<P: Parker + Clone + 'static>(pool: &ThreadPool<P>, depth: u32) -> u32 {
            if depth == 0 {
                return 1;
            }
            let (one, other) = pool.fork_join(|| count(pool, depth - 1), || count(pool, depth - 1));
            one + other
        }
        assert_eq!(count(&pool, 12), 4096);
        pool.shutdown().expect("nothing is left");
    }

    within(|| {
        forks(dyn_pool(3));
        forks(large_pool(3));
        forks(ThreadPool::new(3, NaiveParker::default()));
        forks(ThreadPool::builder().threads(3).idle(Idle::Spin).build().expect("three threads"));
    });
}

/// Each part waits for the other, while the other worker sleeps, is about to sleep, or has just run out of jobs.
#[test]
fn the_other_part_can_be_taken_while_the_first_runs() {
    within(|| {
        let pool = pool(2);
        for round in 0..2000 {
            let forks_before = if round % 50 == 0 { fib(&pool, 15) } else { 0 };
            let met = Barrier::new(2);
            pool.fork_join(|| met.wait(), || met.wait());
            assert!(forks_before == 610 || round % 50 > 0);
        }
        pool.shutdown().expect("nothing is left");
    });
}

/// A worker that waits for a part that another has taken runs parts that this other one forks, even after falling
/// asleep.
#[test]
fn a_waiter_takes_part_in_the_part_that_it_waits_for() {
    within(|| {
        let pool = pool(2);
        for round in 0..1000 {
            let (met, begun) = (Barrier::new(2), Barrier::new(2));
            pool.fork_join(
                || {
                    begun.wait();
                },
                || {
                    begun.wait();
                    // By now, or soon, its forker has nothing more to do.
                    if round % 4 == 0 {
                        thread::sleep(Duration::from_millis(1));
                    }
                    pool.fork_join(|| met.wait(), || met.wait());
                },
            );
        }
        pool.shutdown().expect("nothing is left");
    });
}

/// Starts a job, a part of which another worker has taken and runs for as long as `is_to_run` is set. `while_held` is
/// the body of the job; it is passed the function that forks.
fn with_taken_part(
    pool: &ThreadPool,
    is_to_run: &Arc<AtomicBool>,
    while_held: impl FnOnce(&dyn Fn()) + Send + 'static,
) -> TaskHandle<()> {
    let (inside, is_to_run, taken) = (pool.clone(), Arc::clone(is_to_run), Arc::new(Barrier::new(2)));
    let handle = pool.submit({
        let taken = Arc::clone(&taken);
        move || {
            while_held(&|| {
                let begun = Barrier::new(2);
                inside.fork_join(
                    || begun.wait(),
                    || {
                        begun.wait();
                        taken.wait();
                        until("it is to end", || !is_to_run.load(SeqCst));
                    },
                );
            });
        }
    });
    taken.wait();
    handle
}

/// A part of another job may wait for the waiter's own job: through its handle, or for a lock that it holds.
#[test]
fn a_waiter_takes_no_parts_of_another_job() {
    within(|| {
        let pool = pool(4);
        let is_to_run = Arc::new(AtomicBool::new(true));
        let one = with_taken_part(&pool, &is_to_run, |fork| fork());
        let lock = Arc::new(Mutex::new(()));
        let locked = Arc::clone(&lock);
        let other = with_taken_part(&pool, &is_to_run, move |fork| {
            let _held = locked.lock().expect("no panic under this lock");
            fork();
        });
        // All workers are in these two jobs: two run parts, and two wait for them.
        let inside = pool.clone();
        let third = pool.submit(move || {
            let waits = || drop(lock.lock().expect("no panic under this lock"));
            inside.fork_join(waits, || one.wait().expect("it ends"))
        });
        is_to_run.store(false, SeqCst);
        third.wait().expect("it ends");
        other.wait().expect("it ends");
        pool.shutdown().expect("nothing is left");
    });
    for _ in 0..20 {
        within(|| {
            let pool = pool(4);
            let is_to_run = Arc::new(AtomicBool::new(true));
            let job = with_taken_part(&pool, &is_to_run, |fork| fork());
            let inside = pool.clone();
            let (begun, end) = (Arc::new(Barrier::new(2)), Arc::clone(&is_to_run));
            let other = pool.submit(move || {
                // Two workers are free for these parts: the one that waits in `job` must not take the second.
                inside.fork_join(
                    || {
                        begun.wait();
                        end.store(false, SeqCst);
                    },
                    || {
                        begun.wait();
                        job.wait().expect("it ends");
                    },
                );
            });
            other.wait().expect("it ends");
            pool.shutdown().expect("nothing is left");
        });
    }
}

/// A job might wait for something further down on the waiter's own stack.
#[test]
fn a_waiter_takes_no_jobs() {
    within(|| {
        let pool = ThreadPool::builder().threads(2).name("no-jobs").build().expect("there is room for two threads");
        let (ran, waiter) = (Arc::new(AtomicUsize::new(0)), OnceLock::new());
        let [begun, given] = [(); 2].map(|()| Barrier::new(2));
        let give = || {
            let ran = Arc::clone(&ran);
            pool.execute(move || _ = ran.fetch_add(1, SeqCst));
        };
        let (_, ran_meanwhile) = pool.fork_join(
            || {
                waiter.set(thread::current().name().expect("workers have names").to_owned()).expect("it runs once");
                begun.wait();
                // From inside, to the queue of the worker that waits next, and from outside.
                give();
                thread::scope(|scope| scope.spawn(give).join().expect("no panic"));
                given.wait();
            },
            || {
                begun.wait();
                given.wait();
                threads::await_sleep(waiter.get().expect("it has begun"));
                ran.load(SeqCst)
            },
        );
        assert_eq!(ran_meanwhile, 0, "both workers are in the same job");
        pool.join().expect("this is no worker");
        assert_eq!(ran.load(SeqCst), 2);
        pool.shutdown().expect("nothing is left");
    });
}

#[derive(Debug, PartialEq, Eq)]
struct Thrown(&'static str);

fn thrown_by<R>(action: impl FnOnce() -> R) -> Option<&'static str> {
    let payload = catch_unwind(AssertUnwindSafe(action)).err()?;
    // Anything else is a failure of the test.
    Some(payload.downcast::<Thrown>().unwrap_or_else(|other| resume_unwind(other)).0)
}

fn throw(what: &'static str) -> usize {
    resume_unwind(Box::new(Thrown(what)))
}

/// In both cases: the other part has been taken, or has not begun when the first panics.
#[test]
fn a_panic_of_a_part_is_resumed_when_both_have_ended() {
    within(|| {
        let pool = pool(2);
        for _ in 0..200 {
            let met = Barrier::new(2);
            let wait = || met.wait().is_leader();
            let ended = AtomicUsize::new(0);
            let thrown = thrown_by(|| {
                pool.fork_join(
                    || {
                        wait();
                        throw("one")
                    },
                    || {
                        wait();
                        thread::sleep(Duration::from_micros(200));
                        ended.fetch_add(1, Relaxed)
                    },
                )
            });
            assert_eq!((thrown, ended.into_inner()), (Some("one"), 1));
            let thrown = thrown_by(|| {
                pool.fork_join(wait, || {
                    wait();
                    throw("other")
                })
            });
            assert_eq!(thrown, Some("other"));
            let thrown = thrown_by(|| {
                let both = |what| {
                    wait();
                    throw(what)
                };
                pool.fork_join(|| both("one"), || both("other"))
            });
            assert_eq!(thrown, Some("one"));
        }
        pool.shutdown().expect("nothing is left");
    });
    within(|| {
        let pool = pool(1);
        let ran = AtomicUsize::new(0);
        let thrown = thrown_by(|| pool.fork_join(|| throw("one"), || ran.fetch_add(1, Relaxed)));
        assert_eq!((thrown, ran.into_inner()), (Some("one"), 0), "the other has not begun, and need not");
        assert_eq!(thrown_by(|| pool.fork_join(|| 1, || throw("other"))), Some("other"));
        assert_eq!(pool.stats().panicked, 0, "the caller got the panic, so none is lost");
        pool.shutdown().expect("nothing is left");
    });
}

/// Counts how often it is dropped.
struct Witness<'a>(&'a AtomicUsize);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn captures_of_parts_are_dropped_once() {
    within(|| {
        let pool = pool(2);
        for round in 0..300 {
            let dropped = AtomicUsize::new(0);
            let [one, other] = [(); 2].map(|()| Witness(&dropped));
            let (met, together) = (Barrier::new(2), round % 2 == 0);
            let part = |witness, what| {
                if together {
                    met.wait();
                }
                let _witness = witness;
                if round % 3 == 0 { throw(what) } else { 0 }
            };
            let thrown = thrown_by(|| pool.fork_join(|| part(one, "one"), || part(other, "other")));
            assert_eq!(thrown.is_some(), round % 3 == 0);
            assert_eq!(dropped.into_inner(), 2, "round {round}");
        }
        pool.shutdown().expect("nothing is left");
    });
}

/// Forks nest deeper than there is room for parts.
#[test]
fn a_job_may_fork_as_deep_as_its_stack_is() {
    fn descend(pool: &ThreadPool, left: usize) -> usize {
        if left == 0 {
            return 0;
        }
        let (below, here) = pool.fork_join(|| descend(pool, left - 1), || 1);
        below + here
    }

    for threads in [1, 3] {
        within(|| {
            let pool = pool(threads);
            for _ in 0..20 {
                assert_eq!(descend(&pool, 300), 300);
            }
            pool.shutdown().expect("nothing is left");
        });
    }
}

#[test]
fn parts_are_not_counted_as_jobs() {
    within(|| {
        let pool = pool(3);
        let jobs = 20;
        let handles: Vec<_> = (0..jobs)
            .map(|_| {
                let inside = pool.clone();
                pool.submit(move || fib(&inside, 14))
            })
            .collect();
        assert!(handles.into_iter().all(|handle| handle.wait().is_ok_and(|number| number == 377)));
        assert_eq!(fib(&pool, 10), 55);
        pool.join().expect("this is no worker");
        let stats = pool.stats();
        assert_eq!((stats.finished, stats.panicked, stats.queued), (jobs + 1, 0, 0), "{stats:?}");
        let report = pool.shutdown_timeout(PATIENCE).expect("nothing is left");
        assert_eq!(report.finished, jobs + 1);
    });
}

/// Parts change neither the number of jobs that have ended nor that of those that run.
#[test]
fn running_parts_are_not_counted_as_jobs() {
    within(|| {
        let (pool, jobs) = (pool(2), 10);
        for _ in 0..jobs {
            pool.submit(|| ()).wait().expect("it runs");
        }
        pool.join().expect("this is no worker");
        for _ in 0..100 {
            let met = Barrier::new(2);
            let finished_before = pool.stats().finished;
            let (during, _) = pool.fork_join(
                || {
                    met.wait();
                    let stats = pool.stats();
                    met.wait();
                    stats
                },
                || {
                    met.wait();
                    met.wait();
                },
            );
            // The job that ran both parts may not be counted yet when its caller goes on.
            assert!((finished_before..=finished_before + 1).contains(&during.finished), "{during:?}");
            assert_eq!((during.running, during.queued, during.busy), (1, 0, 2), "{during:?}");
        }
        pool.join().expect("this is no worker");
        let stats = pool.stats();
        assert_eq!((stats.finished, stats.running), (jobs + 100, 0), "{stats:?}");
        assert!(stats.steals >= 100, "{stats:?}");
        pool.shutdown().expect("nothing is left");
    });
}

/// A parker that panics when a job or a part has come, once each time the flag is set.
#[derive(Clone)]
struct Panicky(Arc<AtomicBool>, StaticParker<SmallThreadData>);

impl Parker for Panicky {
    fn max_threads(&self) -> Option<usize> {
        self.1.max_threads()
    }

    fn init(&self, thread_id: usize) {
        self.1.init(thread_id);
    }

    fn prepare_park(&self, thread_id: usize) {
        self.1.prepare_park(thread_id);
    }

    fn abort_park(&self, thread_id: usize) {
        self.1.abort_park(thread_id);
    }

    fn park(&self, thread_id: usize) -> ParkResult {
        self.1.park(thread_id)
    }

    fn unpark_one(&self) {
        self.1.unpark_one();
    }

    fn unpark_all(&self) {
        self.1.unpark_all();
    }

    fn job_arrived(&self, origin: Origin) {
        self.1.job_arrived(origin);
        if self.0.swap(false, SeqCst) {
            throw("the parker's");
        }
    }
}

/// Before it panics, it has called a worker, which may use what is on the caller's stack.
#[test]
fn no_worker_has_a_part_after_a_parker_has_panicked() {
    within(|| {
        let panics = Arc::new(AtomicBool::new(false));
        // They sleep, also with the feature by which workers spin.
        let builder = ThreadPool::builder().threads(2).name("panicky").idle(Idle::PARK);
        let pool = builder.parker(Panicky(Arc::clone(&panics), small())).build().expect("there is room");
        let mut rounds_that_threw = 0;
        for round in 0..20 {
            let ended = AtomicUsize::new(0);
            until("all workers are idle", || pool.stats().idle == pool.stats().workers);
            threads::await_sleep("panicky");
            let part = || {
                thread::sleep(Duration::from_millis(1));
                ended.fetch_add(1, SeqCst);
            };
            let thrown = thrown_by(|| {
                if round % 2 == 0 {
                    panics.store(true, SeqCst);
                    pool.fork_join(part, part);
                } else {
                    pool.fork_join(
                        || {
                            panics.store(true, SeqCst);
                            pool.fork_join(|| (), part);
                        },
                        || (),
                    );
                }
            });
            let had_ended = ended.load(SeqCst);
            assert!(thrown.is_none_or(|what| what == "the parker's"));
            // Until no worker is active.
            pool.join().expect("this is no worker");
            assert_eq!(ended.load(SeqCst), had_ended, "nothing runs any more");
            if thrown.is_none() {
                panics.store(false, SeqCst);
            }
            rounds_that_threw += usize::from(thrown.is_some());
        }
        assert!(rounds_that_threw > 0, "the parker was never told of a part");
        pool.shutdown().expect("nothing is left");
    });
}

#[test]
fn a_closed_pool_leaves_both_parts_to_the_caller() {
    within(|| {
        let pool = pool(2);
        let inside = pool.clone();
        pool.shutdown().expect("nothing is left");
        let here = thread::current().id();
        assert_eq!(inside.fork_join(|| thread::current().id(), || thread::current().id()), (here, here));
        assert_eq!(fib(&inside, 10), 55);
        assert_eq!(thrown_by(|| inside.fork_join(|| 1, || throw("other"))), Some("other"));
    });
}

#[test]
fn discarded_parts_are_left_to_the_caller() {
    within(|| {
        let pool = pool(1);
        let gate = occupy(&pool, 1);
        thread::scope(|scope| {
            let outside = scope.spawn(|| {
                let here = thread::current().id();
                pool.fork_join(|| thread::current().id() == here, || thread::current().id() == here)
            });
            until("the job waits", || pool.stats().queued == 1);
            pool.shutdown_now();
            assert_eq!(outside.join().expect("no panic"), (true, true));
        });
        gate.open();
    });
}

/// Destructors of the dropped jobs wait for a lock that the forking job holds, and that job for its part.
#[test]
fn a_part_runs_before_jobs_are_dropped() {
    within(|| {
        let [is_coming, may_come, is_dropping, has_jobs] = [(); 4].map(|()| Gate::default());
        let hook = {
            let (is_coming, may_come) = (is_coming.clone(), may_come.clone());
            move |worker| {
                if worker == 1 {
                    is_coming.open();
                    may_come.pass();
                }
            }
        };
        let pool = ThreadPool::builder().threads(2).idle(Idle::PARK).on_start(hook).build().expect("two threads");
        let job = pool.submit({
            let (pool, has_jobs) = (pool.clone(), has_jobs.clone());
            move || {
                let lock = Arc::new(Mutex::new(()));
                let _held = lock.lock().expect("no panic under this lock");
                let (has_begun, dropped) = (AtomicBool::new(false), Arc::new(AtomicUsize::new(0)));
                let one = || {
                    is_coming.pass();
                    for _ in 0..2 {
                        let (lock, dropped, is_dropping) =
                            (Arc::clone(&lock), Arc::clone(&dropped), is_dropping.clone());
                        let owned = OnDrop::new(move || {
                            dropped.fetch_add(1, SeqCst);
                            is_dropping.open();
                            drop(lock.lock());
                        });
                        pool.execute(move || drop(owned));
                    }
                    has_jobs.open();
                    is_dropping.pass();
                    may_come.open();
                    until("the other worker has taken something", || {
                        has_begun.load(SeqCst) || dropped.load(SeqCst) > 1
                    });
                };
                pool.fork_join(one, || has_begun.store(true, SeqCst));
            }
        });
        has_jobs.pass();
        let _ = pool.shutdown_now();
        job.wait().expect("it runs to its end");
    });
}

/// Its parts belong to a job that has begun: all workers run them, including those that have fallen asleep since.
#[test]
fn a_job_that_has_begun_may_fork_until_it_ends() {
    for round in 0..20 {
        within(|| {
            let pool = pool(3);
            let (begun, discards, inside) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)), pool.clone());
            let handle = pool.submit({
                let (begun, discards) = (Arc::clone(&begun), Arc::clone(&discards));
                move || {
                    fib(&inside, 10);
                    begun.wait();
                    discards.wait();
                    thread::sleep(Duration::from_millis(round % 4));
                    let met = Barrier::new(3);
                    inside.fork_join(|| inside.fork_join(|| met.wait(), || met.wait()), || met.wait());
                    fib(&inside, 18)
                }
            });
            begun.wait();
            pool.shutdown_now();
            discards.wait();
            assert_eq!(handle.wait().expect("it runs to its end"), 2584);
        });
    }
}

/// A hook runs as part of a job, or outside of any.
#[test]
fn hooks_may_fork() {
    within(|| {
        let place = Arc::new(Mutex::new(None::<ThreadPool>));
        let sums = Arc::new(AtomicUsize::new(0));
        let fork = {
            let (place, sums) = (Arc::clone(&place), Arc::clone(&sums));
            move |_worker| {
                let pool = place.lock().expect("no panic under this lock").clone();
                if let Some(pool) = pool {
                    sums.fetch_add(fib(&pool, 10) as usize, SeqCst);
                }
            }
        };
        let builder = ThreadPool::builder().threads(2).idle(Idle::PARK); // so the second starts when it is needed
        let pool = builder.on_start(fork.clone()).on_stop(fork).build().expect("two threads");
        *place.lock().expect("no panic under this lock") = Some(pool.clone());
        let met = Barrier::new(2);
        pool.fork_join(|| met.wait(), || met.wait());
        pool.shutdown().expect("nothing is left");
        // The first worker may have started before the pool was in its place.
        assert!([3 * 55, 4 * 55].contains(&sums.load(SeqCst)), "{sums:?}");
    });
}

#[test]
fn jobs_of_one_pool_may_fork_in_another() {
    within(|| {
        let [pool, other] = [(); 2].map(|()| pool(2));
        let sums = pool.fork_join(|| fib(&other, 10), || other.fork_join(|| fib(&other, 11), || fib(&other, 12)));
        assert_eq!(sums, (55, (89, 144)));
        pool.shutdown().expect("nothing is left");
        other.shutdown().expect("nothing is left");
    });
}

/// A worker that waits for a part that takes long sleeps meanwhile.
#[cfg(target_os = "linux")]
#[test]
fn waiting_for_a_part_takes_no_processor_time() {
    use std::fs;

    fn cpu_time() -> Duration {
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
        let nanoseconds = schedstat.split(' ').next().and_then(|first| first.parse().ok());
        Duration::from_nanos(nanoseconds.expect("it begins with a number"))
    }

    within(|| {
        let (pool, begun) = (pool(2), Barrier::new(2));
        let spent = pool.fork_join(
            || {
                let before = cpu_time();
                pool.fork_join(
                    || begun.wait(),
                    || {
                        begun.wait();
                        thread::sleep(Duration::from_millis(200));
                    },
                );
                cpu_time() - before
            },
            || (),
        );
        assert!(spent.0 < Duration::from_millis(50), "{spent:?} of 200 ms");
        pool.shutdown().expect("nothing is left");
    });
}

/// Random trees, from several threads at a time; some parts panic, some wait for jobs, and some submit jobs.
#[test]
fn random_trees() {
    /// Returns how many leaves there are, or `None` if a part panicked.
    fn grow(pool: &ThreadPool, random: &mut Random, depth: u64, leaves: &AtomicUsize) -> Option<usize> {
        if depth == 0 || random.one_in(20) {
            leaves.fetch_add(1, Relaxed);
            match random.below(40) {
                0 => thread::yield_now(),
                1 => assert_eq!(pool.submit(|| 7).wait().expect("it runs"), 7),
                2 => pool.execute(|| ()),
                3 => thread::sleep(Duration::from_micros(random.below(100))),
                _ => {}
            }
            return Some(1);
        }
        let (mut other, is_lopsided, throws) = (random.fork(), random.one_in(4), random.one_in(30));
        let mut grown = None;
        let thrown = thrown_by(|| {
            grown = Some(pool.fork_join(
                || {
                    let one = grow(pool, random, depth - 1, leaves);
                    if throws {
                        throw("one");
                    }
                    one
                },
                || grow(pool, &mut other, if is_lopsided { 0 } else { depth - 1 }, leaves),
            ));
        });
        assert_eq!((thrown, grown.is_none()), (throws.then_some("one"), throws));
        let (one, other) = grown?;
        Some(one? + other?)
    }

    Programs::for_seconds(3).run(|seed| {
        let mut random = Random::new(seed);
        let (threads, growers) = (1 + random.below(6) as usize, 1 + random.below(3));
        within(|| {
            let pool = pool(threads);
            thread::scope(|scope| {
                for _ in 0..growers {
                    let (pool, mut random) = (&pool, random.fork());
                    scope.spawn(move || {
                        for _ in 0..20 {
                            let leaves = AtomicUsize::new(0);
                            let grown = grow(pool, &mut random, 8, &leaves);
                            assert!(grown.is_none_or(|grown| grown == leaves.into_inner()));
                        }
                    });
                }
            });
            pool.shutdown().expect("nothing is left");
        });
    });
}

/// Where both parts run in place, as in a closed pool, the second one is dropped while the first one's panic is kept;
/// and the first one's result is dropped when the second one panics.
#[test]
fn a_panic_and_a_destructor_that_panics_do_not_end_the_process() {
    fn bomb() -> OnDrop<impl FnOnce()> {
        OnDrop::new(|| panic!("the destructor"))
    }

    fn of_the_first(pool: &ThreadPool) -> Option<&'static str> {
        let owned = bomb();
        thrown_by(|| pool.fork_join(|| throw("one"), move || drop(owned)))
    }

    fn of_the_second(pool: &ThreadPool) -> Option<&'static str> {
        thrown_by(|| pool.fork_join(bomb, || throw("other")))
    }

    Child::default().run(|| {
        let pool = pool(1);
        let local = pool.clone();
        let in_a_job = pool.submit(move || (of_the_first(&local), of_the_second(&local)));
        let both = (Some("one"), Some("other"));
        assert_eq!(in_a_job.wait().expect("the job catches both"), both);
        pool.shutdown_async();
        assert_eq!((of_the_first(&pool), of_the_second(&pool)), both);
    });
}
