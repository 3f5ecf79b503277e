//! Tests of threads that have parts of the queues to themselves (see `source/queue/README.md`), of which seats other
//! workers look at (see `source/stealing/shown.rs`), and of the order in which they do.

use super::ThreadPool;
use crate::{
    Executor, Pool, asymmetric_fence, local,
    options::Idle,
    source::{Source, queue::privilege},
};
use std::{
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{self, Sender},
    },
    thread,
    time::{Duration, Instant},
};

/// Far longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Its workers sleep, also with the feature by which workers spin.
fn pool() -> ThreadPool {
    let _with_privileges = asymmetric_fence::is_ready_for_test();
    ThreadPool::builder().threads(2).idle(Idle::PARK).build().expect("two threads")
}

/// The parent's worker has run enough jobs before to have its ring to itself.
#[test]
fn a_parent_can_wait_for_its_child() {
    fn link(pool: ThreadPool, left: usize, met: Sender<()>) {
        if left > 0 {
            return pool.clone().execute(move || link(pool, left - 1, met));
        }
        let (tell, told) = mpsc::channel();
        pool.execute(move || tell.send(()).expect("the parent waits"));
        told.recv().expect("the child runs");
        met.send(()).expect("the test waits");
    }

    let (pool, rounds) = (pool(), 10);
    for _ in 0..rounds {
        let ((tell, told), inside) = (mpsc::channel(), pool.clone());
        pool.execute(move || link(inside, 2 * privilege::most() + 100, tell));
        told.recv_timeout(PATIENCE).expect("another worker runs the child");
    }
    assert!(pool.stats().steals >= rounds, "each child was stolen: {:?}", pool.stats());
    pool.shutdown().expect("nothing is left");
}

/// Whether a thread has a part of the queues to itself: here only a worker can.
fn has_privileges(pool: &ThreadPool) -> bool {
    pool.handle.source().spares_fences(None)
}

fn wait_until(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE);
        thread::yield_now();
    }
}

/// Runs `last` as the last of a chain of jobs, when a worker has its ring to itself: theirs, unless that has changed.
fn when_privileged(pool: ThreadPool, last: impl FnOnce(&ThreadPool) + Send + 'static) {
    if has_privileges(&pool) {
        last(&pool);
    } else {
        pool.clone().execute(move || when_privileged(pool, last));
    }
}

/// Calls `shows` in a job of a worker that has its ring to itself, until it returns `true`: not if another worker, as
/// it fell asleep, has recalled the ring before.
fn once_privileged(pool: &ThreadPool, shows: impl Fn(&ThreadPool) -> bool + Clone + Send + 'static) {
    if !asymmetric_fence::is_ready_for_test() {
        return;
    }
    let is_shown = || {
        let (shows, inside, (tell, told)) = (shows.clone(), pool.clone(), mpsc::channel());
        let last = move |pool: &ThreadPool| tell.send(shows(pool)).expect("the test waits");
        pool.execute(move || when_privileged(inside, last));
        told.recv_timeout(PATIENCE).expect("the worker goes on")
    };
    assert!((0..1000).any(|_| is_shown()), "it never had it");
}

#[test]
fn a_worker_gives_its_ring_back_if_it_says_that_it_blocks() {
    let pool = ThreadPool::builder().threads(1).idle(Idle::PARK).build().expect("one thread");
    once_privileged(&pool, |pool| local::blocking(|| !has_privileges(pool)));
    pool.shutdown().expect("nothing is left");
}

#[test]
fn a_worker_gives_its_ring_back_if_it_waits_for_a_part() {
    let pool = pool();
    once_privileged(&pool, |pool| {
        let is_taken = AtomicBool::new(false);
        let other = || {
            let has_it = has_privileges(pool);
            is_taken.store(true, Relaxed);
            wait_until(|| !has_privileges(pool));
            has_it
        };
        pool.fork_join(|| wait_until(|| is_taken.load(Relaxed)), other).1
    });
    pool.shutdown().expect("nothing is left");
}

/// The submitter has submitted enough jobs in a row to have its lane to itself, and its last one finds all workers
/// asleep, or about to be.
#[test]
fn a_job_wakes_a_sleeper() {
    let pool = pool();
    for round in 0..3000 {
        let many = if round % 100 == 0 { 4 * privilege::LEAST_FOR_SUBMITTERS } else { 1 };
        let (tell, told) = mpsc::channel();
        (0..many).for_each(|_| pool.execute(|| ()));
        pool.execute(move || tell.send(()).expect("the test waits"));
        told.recv_timeout(PATIENCE).expect("a worker runs it");
    }
    pool.shutdown().expect("nothing is left");
}

/// Threads that have their lanes to themselves end, and leave them to others.
#[test]
fn jobs_of_many_short_lived_threads_run() {
    let (pool, threads) = (pool(), 100);
    for _ in 0..threads {
        let pool = &pool;
        let give = move || (0..2 * privilege::LEAST_FOR_SUBMITTERS).for_each(|_| pool.execute(|| ()));
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(give))));
    }
    pool.join().expect("this is no worker");
    assert_eq!(pool.stats().finished, 3 * threads * 2 * privilege::LEAST_FOR_SUBMITTERS as u64);
    pool.shutdown().expect("nothing is left");
}

/// In each round workers have jobs of their own: a few, or more than a ring has room for.
#[test]
fn sleeping_workers_are_not_searched() {
    let pool = ThreadPool::builder().threads(3).idle(Idle::PARK).build().expect("three threads");
    for own_jobs in [1, 100, 10_000, 1, 1] {
        let inside = pool.clone();
        pool.execute(move || (0..own_jobs).for_each(|_| inside.execute(|| ())));
        let begin = Instant::now();
        pool.join().expect("this is no worker");
        while pool.handle.source().shown() > 0 {
            assert!(begin.elapsed() < PATIENCE, "{:?}", pool.stats());
            thread::yield_now();
        }
    }
    assert_eq!(pool.stats().finished, 5 + 10_103);
    pool.shutdown().expect("nothing is left");
}

/// Two workers are on the same core, and one floats: by the distances of the machine, the two are near each other.
#[cfg(all(feature = "numa-aware", target_os = "linux"))]
#[test]
fn the_distances_that_a_builder_is_given_count() {
    use crate::{numa_utils::ProcessingUnitDistance, options::Placement, parker};

    let core = core_affinity::get_core_ids().expect("Linux tells")[0].id;
    let builder = ThreadPool::builder().threads(3).placement(Placement::Cores(vec![core; 2]));
    let farther = ProcessingUnitDistance::from_function(core + 1, |_, _| i32::MAX);
    let given = builder.clone().distances(farther).parker(parker::small());
    let (by_machine, as_given) = (builder.build().expect("possible"), given.build().expect("possible"));
    assert_eq!(by_machine.handle.source().neighbourhood().circles(0), [vec![1], vec![2]]);
    assert_eq!(as_given.handle.source().neighbourhood().circles(0), [vec![1, 2]]);
    by_machine.shutdown().expect("nothing is left");
    as_given.shutdown().expect("nothing is left");
}
