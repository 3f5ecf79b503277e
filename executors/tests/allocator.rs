//! An allocator that submits a job to the pool that allocates from it, as an allocator that reports what it does might.
#![cfg(feature = "workstealing-exec")]

mod support;

use executors::{Executor, Pool, crossbeam_workstealing_pool::ThreadPool, try_execute_locally};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::{Cell, RefCell},
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
use support::watchdog::within;

/// The system's allocator, in which one chosen allocation of a thread submits a job.
struct Giver;

#[global_allocator]
static ALLOCATOR: Giver = Giver;

thread_local! {
    /// How many allocations come before the chosen one.
    static BEFORE: Cell<Option<usize>> = const { Cell::new(None) };
    /// The pool that gets the job, and the counter of its runs.
    static TO: RefCell<Option<(ThreadPool, Arc<AtomicUsize>)>> = const { RefCell::new(None) };
}

// SAFETY: everything is passed to the system's allocator as it came, whether or not a job is submitted first.
unsafe impl GlobalAlloc for Giver {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = BEFORE.get();
        BEFORE.set(before.and_then(|before| before.checked_sub(1)));
        if before == Some(0) {
            TO.with_borrow(|to| {
                let (pool, ran) = to.as_ref().expect("the pool is set before an allocation is chosen");
                let ran = Arc::clone(ran);
                pool.execute(move || _ = ran.fetch_add(1, SeqCst));
            });
        }
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) };
    }
}

/// Does `work`, during which the allocation that comes after `before` others submits a job. Returns whether it was
/// reached.
fn with_gift(pool: &ThreadPool, ran: &Arc<AtomicUsize>, before: usize, work: impl FnOnce()) -> bool {
    TO.set(Some((pool.clone(), Arc::clone(ran))));
    BEFORE.set(Some(before));
    work();
    let is_given = BEFORE.take().is_none();
    TO.take();
    is_given
}

/// Runs `work`, which submits `jobs` jobs that count up, once for each of its allocations, until there are no more of
/// them.
fn each_gift_runs(threads: usize, jobs: usize, work: impl Fn(ThreadPool, Arc<AtomicUsize>, usize) -> bool) {
    for before in 0.. {
        let pool = ThreadPool::builder().threads(threads).build().expect("the first thread is not refused");
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

/// Each job starts a thread, and waits for all others.
#[test]
fn an_allocator_may_submit_while_threads_start() {
    const THREADS: usize = 8;
    each_gift_runs(THREADS, THREADS, |pool, ran, before| {
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
