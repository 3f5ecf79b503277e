//! Workers leave, and nothing is lost or left behind.

use super::tools::{AT_ONCE, end, occupy, pool, settle, sized};
use crate::support::{
    child::Child,
    gate::Gate,
    threads,
    watchdog::{until, within},
};
use executors::{Executor, Pool, elastic_pool::ThreadPool, try_execute_locally};
use std::{
    hint,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

#[test]
fn workers_beyond_the_core_leave() {
    within(|| {
        let counts = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let hook = |which: usize| {
            let counts = Arc::clone(&counts);
            move |_| {
                counts[which].fetch_add(1, SeqCst);
            }
        };
        let pool = sized(2, 6, AT_ONCE).on_start(hook(0)).on_stop(hook(1)).build().expect("six threads");
        let stopped = || counts[1].load(SeqCst);
        let here = || counts[0].load(SeqCst) - stopped();
        for round in 1..=20 {
            let gate = Gate::default();
            (0..6).for_each(|_| occupy(&pool, &gate));
            assert_eq!(pool.worker_count(), 6);
            gate.open();
            until("four have left", || pool.stats().workers == 2);
            assert_eq!((pool.worker_count(), here()), (2, 2), "the core stays");
            assert!(stopped() >= 4 * round);
        }
        end(&pool);
        assert_eq!(here(), 0);
    });
}

/// The memory of workers that have left is freed, even if no worker comes any more.
#[test]
fn a_worker_that_has_left_keeps_no_stack() {
    const STACK: usize = 256 << 20;
    const WORKERS: usize = 20;
    let stacks = |number: usize| number as u64 * STACK as u64;
    let Some(_) = threads::address_space() else { return };
    // The stacks of other tests would be counted, too.
    Child::default().run(|| {
        let pool = sized(0, WORKERS, AT_ONCE).stack_size(STACK).build().expect("these sizes are possible");
        let before = threads::address_space().expect("as above");
        let used = || threads::address_space().expect("as above") - before;
        let gates: Vec<_> = (0..WORKERS).map(|_| Gate::default()).collect();
        gates.iter().for_each(|gate| occupy(&pool, gate));
        assert!(used() >= stacks(WORKERS));
        for (left, gate) in gates.iter().enumerate() {
            gate.open();
            until("one more has left", || pool.stats().workers < WORKERS - left);
        }
        until("others have freed them", || used() < stacks(WORKERS / 2));
        end(&pool);
    });
}

/// A job that a worker submits on its way out is for workers that come after it.
#[test]
fn a_stop_hook_may_submit() {
    within(|| {
        let (own, ran) = (Arc::new(OnceLock::<ThreadPool>::new()), Arc::new(AtomicUsize::new(0)));
        let (pool_of_hook, left) = (Arc::clone(&own), AtomicUsize::new(3));
        let count = Arc::clone(&ran);
        let hook = move |_| {
            let again = left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
            if let Some(pool) = pool_of_hook.get().filter(|_| again) {
                let count = Arc::clone(&count);
                let job = move || {
                    count.fetch_add(1, SeqCst);
                };
                pool.try_execute(job).expect("the pool is open");
            }
        };
        let pool = sized(0, 1, AT_ONCE).on_stop(hook).build().expect("one thread");
        own.set(pool.clone()).expect("it is set once");
        pool.execute(|| ());
        until("the jobs of the hooks have run", || ran.load(SeqCst) == 3);
        end(&pool);
    });
}

/// A worker that is leaving counts as idle, and takes no jobs: the one that it waits for, and the one that this
/// submits, are for others.
#[test]
fn a_stop_hook_may_wait_for_a_job_that_submits_another() {
    within(|| {
        let (own, ran) = (Arc::new(OnceLock::<ThreadPool>::new()), Arc::new(AtomicUsize::new(0)));
        let (pool_of_hook, count, is_first) = (Arc::clone(&own), Arc::clone(&ran), AtomicUsize::new(1));
        let hook = move |_| {
            let Some(pool) = pool_of_hook.get().filter(|_| is_first.swap(0, SeqCst) == 1) else { return };
            let count = Arc::clone(&count);
            let child = move || _ = count.fetch_add(1, SeqCst);
            let parent = pool.submit(move || (thread::current().id(), try_execute_locally(child).is_ok()));
            let (worker, is_accepted) = parent.wait().expect("it runs");
            assert!(is_accepted && worker != thread::current().id());
        };
        let panics = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&panics);
        let builder = sized(0, 1, AT_ONCE).on_stop(hook).panic_handler(move |_| _ = count.fetch_add(1, SeqCst));
        let pool = builder.build().expect("one thread");
        own.set(pool.clone()).expect("it is set once");
        pool.execute(|| ());
        until("the child has run", || ran.load(SeqCst) == 1);
        end(&pool);
        assert_eq!(panics.load(SeqCst), 0);
    });
}

#[test]
fn a_worker_beyond_the_core_stays_for_its_keep_alive_time() {
    within(|| {
        let keep_alive = Duration::from_millis(50);
        let pool = pool(0, 1, keep_alive);
        let begin = Instant::now();
        pool.execute(|| ());
        until("the worker has left", || pool.worker_count() == 0);
        assert!(begin.elapsed() >= keep_alive);
        end(&pool);
    });
}

/// The time begins with the end of the last job, not with that of the first.
#[test]
fn a_job_restarts_the_keep_alive_time_of_a_worker() {
    within(|| {
        let keep_alive = Duration::from_millis(100);
        let pool = pool(0, 1, keep_alive);
        pool.execute(|| ());
        settle(&pool);
        thread::sleep(keep_alive / 2);
        let begin = Instant::now();
        pool.submit(|| ()).wait().expect("no panic");
        until("the worker has left", || pool.worker_count() == 0);
        assert!(begin.elapsed() >= keep_alive);
        end(&pool);
    });
}

/// Jobs that come just when the time of the only worker runs out.
#[test]
fn a_job_that_meets_a_leaving_worker_is_run() {
    for (core, max) in [(0, 1), (0, 2), (1, 2)] {
        within(|| {
            let pool = pool(core, max, AT_ONCE);
            for round in 0..3000 {
                (0..round % 200).for_each(|_| hint::spin_loop());
                assert_eq!(pool.submit(move || round).wait().expect("no panic"), round);
            }
            assert_eq!(pool.stats().panicked, 0);
            end(&pool);
            assert_eq!(pool.stats().finished, 3000);
        });
    }
}

/// The same while the other workers are blocked, so that none of them gets to the job.
#[test]
fn a_job_that_meets_a_leaving_worker_does_not_wait_for_the_others() {
    within(|| {
        let (pool, gate) = (pool(1, 3, AT_ONCE), Gate::default());
        occupy(&pool, &gate);
        occupy(&pool, &gate);
        for round in 0..3000 {
            (0..round % 200).for_each(|_| hint::spin_loop());
            assert_eq!(pool.submit(move || round).wait().expect("no panic"), round);
        }
        gate.open();
        end(&pool);
    });
}

/// The numbers of workers that have left are reused, and so are their names.
#[test]
fn the_numbers_of_workers_that_have_left_are_reused() {
    const ROUNDS: usize = 50;
    within(|| {
        let started = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&started);
        let hook = move |number| note.lock().expect("no panic under this lock").push(number);
        let pool = sized(0, 4, AT_ONCE).name("low").on_start(hook).build().expect("four threads");
        for _ in 0..ROUNDS {
            let name = pool.submit(|| thread::current().name().map(str::to_owned)).wait().expect("no panic");
            assert_eq!(name.as_deref(), Some("low-0"));
            // A thread on its way out keeps its number until then.
            until("the worker's thread has left", || pool.stats().workers == 0);
        }
        end(&pool);
        assert_eq!(*started.lock().expect("no panic under this lock"), [0; ROUNDS]);
    });
}

/// Workers that have left leave no thread and no memory behind.
#[test]
fn workers_that_have_left_leave_nothing_behind() {
    Child::default().run(|| {
        let Some(before) = threads::count() else { return };
        let pool = pool(0, 4, AT_ONCE);
        for _ in 0..200 {
            pool.submit(|| ()).wait().expect("no panic");
        }
        until("all have left", || threads::count() == Some(before));
        drop(pool);
    });
}
