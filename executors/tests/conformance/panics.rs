//! A panic stays within its job: caught, counted once, reported once, and the worker is as it was.

use super::{
    subject::{Crew, Subject, with, with_pool},
    tools::{self, Counter, Life, Witness, ask_all, names_of, occupy, panic_on_all, panic_quietly},
};
use crate::support::{
    child::Child,
    log_book, threads,
    watchdog::{PATIENCE, until, within},
};
use executors::{Executor, Pool};
use std::{
    any::Any,
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, mpsc},
    thread,
};

/// Panics whenever it is dropped, until `lives` are used up; then counts.
struct Bomb {
    lives: u32,
    gone: Counter,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        match self.lives.checked_sub(1) {
            Some(lives) => panic_quietly(Bomb { lives, gone: self.gone.clone() }),
            None => self.gone.add(),
        }
    }
}

/// Does `action` and drops the payload of its panic, then that of the panic in that drop, until nothing panics any
/// more.
fn defuse(action: impl FnOnce()) {
    let mut result = catch_unwind(AssertUnwindSafe(action));
    while let Err(payload) = result {
        result = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
}

fn until_all_gone(gone: &Counter, expected: usize) {
    until("all captured values are dropped", || gone.get() == expected);
}

pub(crate) fn each_panic_is_reported_once(subject: &impl Crew) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let book = Arc::clone(&reports);
    let handler = move |payload: &(dyn Any + Send)| {
        book.lock().expect("no panic under this lock").push(*payload.downcast_ref::<u64>().expect("all panic alike"));
    };
    with(subject.builder().threads(2).panic_handler(handler).build().expect("two threads"), |pool| {
        for job in 0..100_u64 {
            match job % 4 {
                0 => pool.execute(move || panic_quietly(job)),
                1 => pool.submit(move || panic_quietly(job)).detach(),
                2 => assert_eq!(pool.execute_batch([move || panic_quietly(job)]), 1),
                _ => pool.execute(|| ()),
            }
        }
        pool.join().expect("this is no worker");
        let mut reported = reports.lock().expect("no panic under this lock").clone();
        reported.sort_unstable();
        assert_eq!(reported, (0..100).filter(|job| job % 4 != 3).collect::<Vec<_>>());
        assert_eq!((pool.stats().panicked, pool.stats().finished), (75, 100));
    });
}

pub(crate) fn panics_are_counted_once(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for job in 0..60_u64 {
            match job % 3 {
                0 => pool.execute(|| panic_quietly("expected")),
                1 => drop(pool.submit(|| panic_quietly("expected")).wait()),
                _ => pool.execute(|| ()),
            }
        }
        pool.join().expect("this is no worker");
        assert_eq!((pool.stats().panicked, pool.stats().finished), (40, 60));
    });
}

/// The handler runs for each panic although it panics itself, and no worker is lost to it.
pub(crate) fn a_panicking_handler_is_survived(subject: &impl Crew) {
    let calls = Counter::default();
    let count = calls.clone();
    let handler = move |_: &(dyn Any + Send)| {
        count.add();
        panic_quietly("the handler, too");
    };
    with(subject.builder().threads(2).panic_handler(handler).build().expect("two threads"), |pool| {
        (0..10).for_each(|_| pool.execute(|| panic_quietly("expected")));
        pool.join().expect("this is no worker");
        assert_eq!((calls.get(), pool.stats().panicked), (10, 10));
        assert_eq!(names_of(pool, 2).len(), 2, "both workers work");
    });
}

/// The handler is dropped with what is left of the pool, possibly by the last thread when that ends.
pub(crate) fn handlers_that_panic_when_dropped_are_survived(subject: &impl Crew) {
    let noise = Child::default().run(|| {
        for round in 0..10 {
            let (bomb, life) = (tools::Bomb, Life::new());
            let mark = life.mark();
            let handler = move |_: &(dyn Any + Send)| {
                let _captured = (&bomb, &mark);
            };
            let pool = subject.builder().threads(2).panic_handler(handler).build().expect("two threads");
            let other = pool.clone();
            pool.execute(move || drop(other));
            if round % 2 == 0 {
                pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            }
            drop(pool);
            life.until_over();
        }
    });
    assert_eq!(noise, "");
}

/// A captured value that panics when it is dropped: by the job, by cancelling, by the end of the pool.
pub(crate) fn captures_that_panic_when_dropped_are_survived(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let gone = Counter::default();
        let bomb = || Bomb { lives: 1, gone: gone.clone() };
        for _ in 0..10 {
            let captured = bomb();
            pool.execute(move || drop(captured));
            let captured = bomb();
            pool.submit(move || drop(captured)).detach();
        }
        pool.join().expect("this is no worker");
        assert_eq!((gone.get(), pool.stats().panicked), (20, 20));

        let gate = occupy(pool, 2);
        let captured = bomb();
        let cancelled = pool.submit(move || drop(captured));
        // Whether the canceller sees the panic is not promised, but the pool does not suffer.
        defuse(|| assert!(cancelled.cancel()));
        for _ in 0..10 {
            let captured = bomb();
            pool.execute(move || drop(captured));
        }
        pool.shutdown_now();
        gate.open();
        until_all_gone(&gone, 31);
    });
}

/// A payload that panics when it is dropped, the payload of that panic too, and so on: the classic way to lose a
/// worker.
pub(crate) fn payloads_that_panic_when_dropped_are_survived(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gone = Counter::default();
        for lives in [1, 3] {
            let (first, second) = (Bomb { lives, gone: gone.clone() }, Bomb { lives, gone: gone.clone() });
            pool.execute(move || panic_quietly(first));
            // If the job has ended before the handle is dropped, it is this thread that drops the payload.
            defuse(|| pool.submit(move || panic_quietly(second)).detach());
            pool.join().expect("this is no worker");
        }
        until_all_gone(&gone, 4);
        assert_eq!(pool.submit(|| 1).wait().expect("the pool works"), 1);
        assert_eq!(pool.stats().panicked, 4);
    });
}

/// The result of a job that is not waited for is dropped on the worker, or with the handle.
pub(crate) fn results_that_panic_when_dropped_are_survived(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gone = Counter::default();
        for _ in 0..10 {
            let result = Bomb { lives: 1, gone: gone.clone() };
            defuse(|| pool.submit(move || result).detach());
        }
        until_all_gone(&gone, 10);
        assert_eq!(pool.submit(|| 1).wait().expect("the pool works"), 1);
    });
}

/// Also by the owner of the handle, if the job has ended before the handle is dropped.
pub(crate) fn results_that_panic_at_the_handle_are_survived(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gone = Counter::default();
        for _ in 0..10 {
            let result = Bomb { lives: 2, gone: gone.clone() };
            let handle = pool.submit(move || result);
            pool.join().expect("this is no worker");
            handle.detach();
        }
        assert_eq!(gone.get(), 10);
        assert_eq!(pool.stats().panicked, 0);
    });
}

/// What hooks own is dropped by the last owner of the pool: most often a thread of the user's.
pub(crate) fn hooks_that_panic_when_dropped_are_survived(subject: &impl Crew) {
    within(|| {
        let gone = Counter::default();
        let hook = || {
            let bomb = Bomb { lives: 1, gone: gone.clone() };
            move |_index| _ = &bomb
        };
        let pool = subject.builder().threads(2).on_start(hook()).on_stop(hook()).build().expect("two threads");
        pool.shutdown_borrowed().expect("nothing blocks");
        drop(pool);
        until_all_gone(&gone, 2);
    });
}

/// After many panics the same workers have the same seats.
pub(crate) fn workers_keep_their_names(subject: &impl Crew) {
    let threads = 4;
    with(subject.builder().threads(threads).name("seat").build().expect("four threads"), |pool| {
        let names = || {
            let names = names_of(pool, threads);
            // A worker that has told its name may still be in that job: dealing without stealing would pass it over.
            pool.join().expect("this is no worker");
            names
        };
        let before = names();
        for _ in 0..3 {
            panic_on_all(pool, threads);
            assert_eq!(names(), before);
        }
        assert_eq!(pool.stats().workers, threads);
    });
}

/// Hooks that panic: reported like a job's panic, and no worker is lost.
pub(crate) fn panicking_hooks_are_survived(subject: &impl Crew) {
    let (starts, stops, reports) = (Counter::default(), Counter::default(), Counter::default());
    let count = |counter: &Counter| {
        let counter = counter.clone();
        move |_index| {
            counter.add();
            panic_quietly("the hook fails");
        }
    };
    let reported = reports.clone();
    let builder = subject.builder().threads(3).on_start(count(&starts)).on_stop(count(&stops));
    let pool = builder.panic_handler(move |_| reported.add()).build().expect("three threads");
    with(pool, |pool| {
        assert_eq!(names_of(pool, 3).len(), 3, "all workers work");
        assert_eq!((starts.get(), reports.get()), (3, 3));
        assert_eq!(pool.stats().panicked, 0, "a hook is no job");
    });
    assert_eq!((stops.get(), reports.get()), (3, 6));
}

/// An `error!` names pool and worker.
pub(crate) fn panics_are_logged_with_pool_and_worker(subject: &impl Crew) {
    log_book::open();
    let name = format!("log-{}", crate::support::case::name());
    with(subject.builder().threads(1).name(&*name).build().expect("one thread"), |pool| {
        pool.execute(|| panic_quietly("a message to be found"));
        pool.join().expect("this is no worker");
        let entries = log_book::of_all_threads(&name);
        assert_eq!(entries.len(), 1, "one panic, one entry: {entries:?}");
        let (level, entry) = &entries[0];
        assert_eq!(*level, log::Level::Error);
        assert!(entry.contains("a message to be found") && entry.contains("worker 0"), "{entry}");
    });
}

/// A job that spawns others and then panics does not affect them.
pub(crate) fn other_jobs_are_unaffected(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let (send, receive) = mpsc::channel();
        let local = pool.clone();
        pool.execute(move || {
            for number in 0..50 {
                let send = send.clone();
                local.execute(move || send.send(number).expect("the test listens"));
            }
            panic_quietly("after spawning");
        });
        assert_eq!(receive.iter().collect::<BTreeSet<_>>(), (0..50).collect());
    });
}

/// Everything a panicking pool owned is dropped at its end.
pub(crate) fn nothing_leaks_after_panics(subject: &impl Crew) {
    let (life, dropped) = (Life::new(), Counter::default());
    within(|| {
        let mark = life.mark();
        let pool = subject.builder().threads(2).panic_handler(move |_| drop(Arc::clone(&mark))).build();
        let pool = pool.expect("two threads");
        for _ in 0..20 {
            let witness = Witness(dropped.clone());
            pool.execute(move || {
                let _captured = &witness;
                panic_quietly("expected");
            });
        }
        drop(pool);
        life.until_over();
        assert_eq!(dropped.get(), 20);
    });
}

/// `thread::panicking` is false again when the next job begins.
pub(crate) fn the_next_job_does_not_see_a_panic(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        for _ in 0..3 {
            pool.execute(|| panic_quietly("expected"));
            assert_eq!(ask_all(pool, 1, thread::panicking), [false]);
        }
    });
}

/// A panic of the logger is caught and dropped, wherever the pool logs something.
pub(crate) fn a_panicking_logger_changes_nothing(subject: &impl Crew) {
    struct Panicking;

    impl log::Log for Panicking {
        fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
            true
        }

        fn log(&self, _record: &log::Record<'_>) {
            panic!("by the logger");
        }

        fn flush(&self) {}
    }

    // A sanitizer's build takes seconds to tell where each of these panics comes from.
    Child::default().variable("RUST_BACKTRACE", "0").run(|| {
        log::set_logger(&Panicking).expect("there is no other logger in this process");
        log::set_max_level(log::LevelFilter::Trace);
        let before = threads::count();
        let (pool, dropped) = (subject.pool(2), subject.pool(2));
        pool.execute(|| panic!("by the job"));
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().panicked, 1);
        pool.shutdown_borrowed().expect("nothing blocks");
        pool.execute(|| ());
        pool.shutdown_async();
        drop((pool, dropped));
        until("the threads are gone", || threads::count() == before);
    });
}
