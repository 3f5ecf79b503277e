//! An allocator that submits a job to the pool that allocates from it, as an allocator that reports what it does might.
#![cfg(feature = "workstealing-exec")]

mod support;

use executors::{Executor, Idle, Pool, crossbeam_workstealing_pool::ThreadPool, try_execute_locally};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::{Cell, RefCell},
    hint::black_box,
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};
use support::watchdog::{PATIENCE, within};

/// The system's allocator, in which one chosen allocation of a thread submits a job.
struct Giver;

#[global_allocator]
static ALLOCATOR: Giver = Giver;

thread_local! {
    /// How many allocations come before the chosen one.
    static BEFORE: Cell<Option<usize>> = const { Cell::new(None) };
    /// What the chosen one does.
    static GIFT: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

// SAFETY: everything is passed to the system's allocator as it came, whether or not a job is submitted first.
unsafe impl GlobalAlloc for Giver {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = BEFORE.get();
        BEFORE.set(before.and_then(|before| before.checked_sub(1)));
        if before == Some(0) {
            GIFT.take().expect("it is set before an allocation is chosen")();
        }
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) };
    }
}

/// Lets the allocation that comes after `before` others call `gift`.
fn choose(before: usize, gift: impl FnOnce() + 'static) {
    GIFT.set(Some(Box::new(gift)));
    BEFORE.set(Some(before));
}

/// Whether the chosen allocation was reached. If it was not, none is chosen any more.
fn was_reached() -> bool {
    BEFORE.take();
    GIFT.take().is_none()
}

/// Does `work`, during which the allocation that comes after `before` others submits a job. Returns whether it was
/// reached.
fn with_gift(pool: &ThreadPool, ran: &Arc<AtomicUsize>, before: usize, work: impl FnOnce()) -> bool {
    let (pool, ran) = (pool.clone(), Arc::clone(ran));
    choose(before, move || pool.execute(move || _ = ran.fetch_add(1, SeqCst)));
    work();
    was_reached()
}

/// Its workers sleep, and all but the first start when they are needed, also with the feature by which workers spin.
fn pool(threads: usize) -> ThreadPool {
    ThreadPool::builder().threads(threads).idle(Idle::PARK).build().expect("the first thread is not refused")
}

/// Runs `work`, which submits `jobs` jobs that count up, once for each of its allocations, until there are no more of
/// them.
fn each_gift_runs(threads: usize, jobs: usize, work: impl Fn(ThreadPool, Arc<AtomicUsize>, usize) -> bool) {
    for before in 0.. {
        let pool = pool(threads);
        let ran = Arc::new(AtomicUsize::new(0));
        let is_given = within(|| {
            let is_given = work(pool.clone(), Arc::clone(&ran), before);
            pool.shutdown().expect("nothing blocks");
            is_given
        });
        assert_eq!(ran.load(SeqCst), jobs + usize::from(is_given), "with {before} allocations before");
        if !is_given {
            assert!(before > 0, "nothing was allocated");
            return;
        }
    }
}

#[test]
fn an_allocator_may_submit_while_a_job_comes_from_outside() {
    each_gift_runs(1, 1, |pool, ran, before| {
        let job = Arc::clone(&ran);
        with_gift(&pool, &ran, before, || pool.execute(move || _ = job.fetch_add(1, SeqCst)))
    });
}

/// The ring is allocated, grows, and becomes full.
#[test]
fn an_allocator_may_submit_while_a_job_submits_many() {
    const JOBS: usize = 5000;
    each_gift_runs(1, JOBS, |pool, ran, before| {
        let giver = pool.clone();
        let job = pool.submit(move || {
            with_gift(&giver, &ran, before, || {
                for _ in 0..JOBS {
                    let ran = Arc::clone(&ran);
                    assert!(try_execute_locally(move || _ = ran.fetch_add(1, SeqCst)).is_ok());
                }
            })
        });
        job.wait().expect("it does not panic")
    });
}

/// The first thing that the worker does with its seat is to show the parts.
#[test]
fn an_allocator_may_submit_while_a_job_forks() {
    each_gift_runs(1, 2, |pool, ran, before| {
        let giver = pool.clone();
        let job = pool.submit(move || {
            let part = || _ = ran.fetch_add(1, SeqCst);
            with_gift(&giver, &ran, before, || _ = giver.fork_join(part, part))
        });
        job.wait().expect("it does not panic")
    });
}

/// Each job but the first starts a thread, and waits for all others.
#[test]
fn an_allocator_may_submit_while_threads_start() {
    const THREADS: usize = 8;
    each_gift_runs(THREADS, THREADS, |pool, ran, before| {
        assert_eq!(pool.stats().workers, 1, "the others come with jobs");
        let all = Arc::new(Barrier::new(THREADS));
        with_gift(&pool, &ran, before, || {
            for _ in 0..THREADS {
                let (all, ran) = (Arc::clone(&all), Arc::clone(&ran));
                pool.execute(move || {
                    all.wait();
                    ran.fetch_add(1, SeqCst);
                });
            }
        })
    });
}

/// The first worker is busy, so that a job starts a thread. An allocation submits another job; and when that has been
/// admitted, and its own memory is asked for, another thread calls `shutdown_now`. So the job comes in late.
#[test]
fn an_allocator_may_submit_a_late_job_while_a_thread_starts() {
    for before in 0.. {
        let is_given = within(|| {
            let pool = pool(2);
            let gate = Arc::new(Barrier::new(2));
            let (begins, has_begun) = mpsc::channel();
            let busy = Arc::clone(&gate);
            pool.execute(move || {
                begins.send(()).expect("the test listens");
                busy.wait();
            });
            has_begun.recv().expect("the worker is there");

            let giver = pool.clone();
            choose(before, move || {
                let closer = giver.clone();
                choose(0, move || _ = thread::spawn(move || closer.shutdown_now()).join().expect("it does not panic"));
                let too_large_for_a_slot = [0_u8; 1000];
                giver.execute(move || _ = black_box(too_large_for_a_slot));
            });
            pool.execute(|| ());
            let is_given = was_reached();
            gate.wait();
            let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            assert_eq!(report.finished + report.discarded, 2 + u64::from(is_given), "with {before} before: {report:?}");
            is_given
        });
        if !is_given {
            assert!(before > 0, "nothing was allocated");
            return;
        }
    }
}
