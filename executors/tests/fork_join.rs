//! Jobs that fork: what `ThreadPool::fork_join` of the work-stealing pool promises.
#![cfg(feature = "workstealing-exec")]

mod support;

use executors::{Executor, Idle, Pool, crossbeam_workstealing_pool::ThreadPool, parker};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};
use support::{
    gate::occupy,
    random::Random,
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
fn jobs_divide_what_is_borrowed() {
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
    within(|| {
        let pool = ThreadPool::new(3, parker::dynamic());
        assert_eq!(pool.fork_join(|| 1, || 2), (1, 2));
        pool.shutdown().expect("nothing is left");
        let pool = ThreadPool::builder().threads(3).idle(Idle::Spin).build().expect("three threads");
        assert_eq!(fib(&pool, 15), 610);
        pool.shutdown().expect("nothing is left");
    });
}

/// Each part waits for the other, with a worker that sleeps, or is about to, or has just run dry.
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

/// Who waits for a part that another has taken takes what that one forks.
#[test]
fn who_waits_for_a_part_takes_others() {
    within(|| {
        let pool = pool(2);
        for _ in 0..1000 {
            let (met, begun) = (Barrier::new(2), Barrier::new(2));
            pool.fork_join(
                || {
                    begun.wait();
                },
                || {
                    begun.wait();
                    // Its forker has nothing more to do by now, or soon.
                    pool.fork_join(|| met.wait(), || met.wait());
                },
            );
        }
        pool.shutdown().expect("nothing is left");
    });
}

/// It might wait for what is further down on its own stack.
#[test]
fn who_waits_for_a_part_takes_no_jobs() {
    within(|| {
        let pool = pool(2);
        let (begun, ran) = (Barrier::new(2), AtomicUsize::new(0));
        let ran_meanwhile = pool.fork_join(
            || {
                begun.wait();
            },
            || {
                begun.wait();
                let ran = Arc::new(AtomicUsize::new(0));
                let outside = thread::scope(|scope| {
                    let give = || {
                        let ran = Arc::clone(&ran);
                        pool.execute(move || _ = ran.fetch_add(1, Relaxed));
                    };
                    scope.spawn(give).join().expect("no panic");
                    ran.load(Relaxed)
                });
                thread::sleep(Duration::from_millis(20));
                outside + ran.load(Relaxed)
            },
        );
        assert_eq!(ran_meanwhile.1, 0, "both workers are in the same job");
        ran.store(1, Relaxed);
        pool.shutdown().expect("it runs then");
    });
}

#[derive(Debug, PartialEq, Eq)]
struct Thrown(&'static str);

fn thrown_by<R>(action: impl FnOnce() -> R) -> Option<&'static str> {
    let payload = catch_unwind(AssertUnwindSafe(action)).err()?;
    payload.downcast::<Thrown>().ok().map(|thrown| thrown.0)
}

fn throw(what: &'static str) -> usize {
    std::panic::resume_unwind(Box::new(Thrown(what)))
}

/// Whether the other part is taken, or not begun when the first throws.
#[test]
fn what_a_part_throws_is_thrown_when_both_have_ended() {
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
                        thread::yield_now();
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
        assert_eq!(pool.stats().panicked, 0, "who waits has it, so nothing is lost");
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
fn what_the_parts_own_is_dropped_once() {
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

/// Deeper than there is room for parts.
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
                assert_eq!(descend(&pool, 500), 500);
            }
            pool.shutdown().expect("nothing is left");
        });
    }
}

#[test]
fn parts_are_no_jobs() {
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
        assert_eq!((stats.done, stats.panicked, stats.queued), (jobs + 1, 0, 0), "{stats:?}");
        let report = pool.shutdown_timeout(PATIENCE).expect("nothing is left");
        assert_eq!(report.finished, jobs + 1);
    });
}

#[test]
fn a_closed_pool_leaves_both_to_the_caller() {
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
fn what_is_discarded_is_left_to_the_caller() {
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

/// Its parts belong to a job that has begun.
#[test]
fn a_job_that_has_begun_may_fork_until_it_ends() {
    within(|| {
        let pool = pool(2);
        let (begun, discards, inside) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)), pool.clone());
        let handle = pool.submit({
            let (begun, discards) = (Arc::clone(&begun), Arc::clone(&discards));
            move || {
                begun.wait();
                discards.wait();
                fib(&inside, 18)
            }
        });
        begun.wait();
        pool.shutdown_now();
        discards.wait();
        assert_eq!(handle.wait().expect("it runs to its end"), 2584);
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

/// Who waits for a part that takes long sleeps.
#[cfg(target_os = "linux")]
#[test]
fn waiting_for_a_part_takes_no_time() {
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

/// Random trees, of which some throw, some wait for jobs, and some give others, from several threads at a time.
#[test]
fn random_trees() {
    fn grow(pool: &ThreadPool, random: &mut Random, depth: u64, leaves: &AtomicUsize) {
        if depth == 0 || random.one_in(20) {
            leaves.fetch_add(1, Relaxed);
            match random.below(40) {
                0 => thread::yield_now(),
                1 => assert_eq!(pool.submit(|| 7).wait().expect("it runs"), 7),
                2 => pool.execute(|| ()),
                3 => thread::sleep(Duration::from_micros(random.below(100))),
                _ => {}
            }
            return;
        }
        let mut other = random.fork();
        let is_lopsided = random.one_in(4);
        let thrown = thrown_by(|| {
            let throws = random.one_in(30);
            pool.fork_join(
                || {
                    grow(pool, random, depth - 1, leaves);
                    if throws { throw("one") } else { 0 }
                },
                || grow(pool, &mut other, if is_lopsided { 0 } else { depth - 1 }, leaves),
            )
        });
        assert!(thrown.is_none_or(|what| what == "one"));
    }

    let seconds = std::env::var("EXECUTORS_STRESS_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let (begin, time) = (Instant::now(), Duration::from_secs(seconds.unwrap_or(3)));
    let mut random = Random::new(begin.elapsed().as_nanos() as u64 + 1);
    while begin.elapsed() < time {
        let (threads, growers) = (1 + random.below(6) as usize, 1 + random.below(3));
        within(|| {
            let (pool, leaves) = (pool(threads), AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..growers {
                    let (pool, mut random, leaves) = (&pool, random.fork(), &leaves);
                    scope.spawn(move || (0..20).for_each(|_| grow(pool, &mut random, 8, leaves)));
                }
            });
            assert!(leaves.into_inner() > 0);
            pool.shutdown().expect("nothing is left");
        });
    }
}
