//! Pools that cannot be built say why, and what to do; pools that can be built are as requested.

use super::{
    subject::{Crew, with, with_pool},
    tools::{Counter, ask_all, names_of},
};
use crate::support::{
    child::Child,
    threads,
    watchdog::{until, within},
};
use executors::{BuildError, Executor, Fairness, Idle, Placement, Pool, THREADS_VARIABLE};
use std::{
    collections::BTreeSet,
    env,
    error::Error,
    hint::black_box,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

#[track_caller]
fn refusal<P>(result: Result<P, BuildError>) -> BuildError {
    match result {
        Ok(_) => panic!("this pool should not have been built"),
        Err(error) => error,
    }
}

pub(crate) fn no_threads_are_refused(subject: &impl Crew) {
    let error = refusal(subject.builder().threads(0).build());
    assert!(error.to_string().contains("at least 1"), "the error says what to do: {error}");
    assert!(!error.is_thread_refused());
}

/// More threads than the parker serves, for subjects whose largest size is their parker's limit.
pub(crate) fn too_many_threads_are_refused(subject: &impl Crew) {
    let limit = subject.at_most(usize::MAX);
    let error = refusal(subject.builder().threads(limit + 1).build());
    let text = error.to_string();
    assert!(text.contains(&limit.to_string()) && text.contains(&(limit + 1).to_string()), "{text}");
    assert!(text.contains("dynamic"), "the error says what to do: {text}");
    assert!(!error.is_thread_refused());
    with_pool(subject, limit, |pool| assert_eq!(pool.submit(|| 1).wait().expect("no panic"), 1));
}

/// Refused before anything is allocated for each of them.
pub(crate) fn absurdly_many_threads_are_refused(subject: &impl Crew) {
    for threads in [1 << 20, 1_000_000_000, usize::MAX] {
        let error = refusal(subject.builder().threads(threads).build());
        assert!(error.to_string().contains(&threads.to_string()), "{error}");
        assert!(!error.to_string().contains("parker"), "no parker would help: {error}");
        assert!(!error.is_thread_refused());
    }
}

pub(crate) fn a_name_with_nul_is_refused(subject: &impl Crew) {
    let error = refusal(subject.builder().threads(2).name("nul\0within").build());
    assert!(error.to_string().contains("NUL"), "{error}");
}

/// If the system refuses threads, that is an error, and the threads that it had granted are gone again.
pub(crate) fn refused_threads_are_an_error(subject: &impl Crew) {
    // The stacks of four threads fit into the address space, those of twelve do not.
    const STACK: usize = 256 << 20;
    const ADDRESSES: u64 = 2 << 30;
    Child::default().address_space(ADDRESSES).run(|| {
        let Some(before) = threads::count() else { return };
        let error = refusal(subject.builder().threads(12).stack_size(STACK).build());
        assert!(error.is_thread_refused(), "{error}");
        assert!(error.to_string().contains("fewer threads"), "the error says what to do: {error}");
        assert!(error.source().is_some(), "the system's error is kept");
        until("the threads are gone again", || threads::count() == Some(before));
        // The system takes a thread off its list before that thread's stack can be used again.
        let mut pool = None;
        until("two threads are possible", || {
            pool = subject.builder().threads(2).stack_size(STACK).build().ok();
            pool.is_some()
        });
        let pool = pool.expect("built");
        assert_eq!(pool.submit(|| 2).wait().expect("no panic"), 2);
        pool.shutdown().expect("nothing blocks");
    });
}

pub(crate) fn threads_are_named(subject: &impl Crew) {
    with(subject.builder().threads(3).name("crew").build().expect("three threads"), |pool| {
        assert_eq!(names_of(pool, 3), ["crew-0", "crew-1", "crew-2"]);
    });
}

/// The given name, at least as the beginning.
pub(crate) fn thread_names_begin_with_the_given_name(subject: &impl Crew) {
    with(subject.builder().threads(3).name("crew").build().expect("three threads"), |pool| {
        let names = names_of(pool, 3);
        assert!(names.iter().all(|name| name.starts_with("crew")), "{names:?}");
    });
}

/// A stack that is larger than the default carries a recursion that the default would not.
pub(crate) fn stacks_are_as_large_as_asked_for(subject: &impl Crew) {
    #[inline(never)]
    fn dig(depth: usize) -> usize {
        let ballast = black_box([depth as u8; 1024]);
        if depth == 0 { 0 } else { dig(depth - 1) + usize::from(ballast[0] == depth as u8) }
    }

    with(subject.builder().threads(1).stack_size(64 << 20).build().expect("one thread"), |pool| {
        // 16 MiB of ballast alone.
        assert_eq!(pool.submit(|| dig(16 * 1024)).wait().expect("no panic"), 16 * 1024);
    });
}

/// Each worker calls the hook with its index, once, before its first job, and on its own thread.
pub(crate) fn start_hooks_run_before_jobs(subject: &impl Crew) {
    let started = Arc::new(Mutex::new(Vec::new()));
    let (note, seen) = (Arc::clone(&started), Arc::clone(&started));
    let hook = move |worker| note.lock().expect("no panic under this lock").push((worker, thread::current().id()));
    with(subject.builder().threads(4).on_start(hook).build().expect("four threads"), |pool| {
        let known = ask_all(pool, 4, move || {
            let started = seen.lock().expect("no panic under this lock");
            started.iter().filter(|(_, thread)| *thread == thread::current().id()).count()
        });
        assert_eq!(known, [1, 1, 1, 1], "before its first job each worker has called the hook once");
    });
    let indices: BTreeSet<_> =
        started.lock().expect("no panic under this lock").iter().map(|(worker, _)| *worker).collect();
    assert_eq!(indices, (0..4).collect());
}

/// A start hook may give its pool work: it is a worker already.
pub(crate) fn start_hooks_may_spawn(subject: &impl Crew) {
    let ran = Counter::default();
    let count = ran.clone();
    let hook = move |_| {
        let count = count.clone();
        assert!(executors::try_execute_locally(move || count.add()).is_ok());
    };
    with(subject.builder().threads(3).on_start(hook).build().expect("three threads"), |pool| {
        assert_eq!(names_of(pool, 3).len(), 3);
        pool.join().expect("this is no worker");
        assert_eq!(ran.get(), 3);
    });
}

/// The environment decides where the program does not.
pub(crate) fn the_environment_sets_the_number_of_threads(subject: &impl Crew) {
    Child::default().variable(THREADS_VARIABLE, "3").run(|| {
        with(subject.builder().build().expect("three threads"), |pool| {
            assert_eq!(names_of(pool, 3).len(), 3);
            assert_eq!(pool.stats().workers, 3);
        });
        with(subject.builder().threads(2).build().expect("two threads"), |pool| {
            assert_eq!(names_of(pool, 2).len(), 2);
            assert_eq!(pool.stats().workers, 2, "the program has the last word");
        });
    });
}

pub(crate) fn a_malformed_number_in_the_environment_is_refused(subject: &impl Crew) {
    for nonsense in ["many", "99999999999999999999999"] {
        Child::default().variable(THREADS_VARIABLE, nonsense).run(|| {
            let value = env::var(THREADS_VARIABLE).expect("this is the child");
            let text = refusal(subject.builder().build()).to_string();
            assert!(text.contains(THREADS_VARIABLE) && text.contains(&value), "{text}");
            assert_eq!(subject.pool(2).submit(|| 1).wait().expect("no panic"), 1, "it is not read here");
        });
    }
}

pub(crate) fn zero_in_the_environment_is_refused(subject: &impl Crew) {
    Child::default().variable(THREADS_VARIABLE, "0").run(|| {
        let text = refusal(subject.builder().build()).to_string();
        assert!(text.contains(THREADS_VARIABLE) && text.contains("from 1 to"), "{text}");
    });
}

/// One worker for each core, if nothing says otherwise.
pub(crate) fn the_default_is_a_worker_for_each_core(subject: &impl Crew) {
    let cores = thread::available_parallelism().expect("this is known wherever tests run").get();
    if std::env::var_os(THREADS_VARIABLE).is_none() {
        with(subject.builder().build().expect("as many threads as cores"), |pool| {
            assert_eq!(names_of(pool, cores).len(), cores);
            assert_eq!(pool.stats().workers, cores);
        });
    }
}

/// A pool that cannot do something says so instead of ignoring it.
pub(crate) fn options_that_cannot_be_honoured_are_refused(subject: &impl Crew) {
    let builder = || subject.builder().threads(1);
    let attempts = [
        ("on_start", builder().on_start(|_| ())),
        ("on_stop", builder().on_stop(|_| ())),
        ("idle", builder().idle(Idle::Spin)),
        ("fairness", builder().fairness(Fairness::COUNTED)),
        ("time_slice", builder().time_slice(Duration::from_micros(200))),
        ("placement", builder().placement(Placement::Floating)),
    ];
    for (option, builder) in attempts {
        let error = refusal(builder.build());
        assert!(error.to_string().contains(option), "the option is named: {error}");
        assert!(!error.is_thread_refused());
    }
}

/// A core that does not exist, or to which no worker can be pinned.
pub(crate) fn impossible_cores_are_refused(subject: &impl Crew) {
    let error = refusal(subject.builder().threads(1).placement(Placement::Cores(vec![1_000_000])).build());
    let can_pin = cfg!(all(feature = "thread-pinning", not(target_vendor = "apple")));
    let expected = if can_pin { "1000000" } else { "thread-pinning" };
    assert!(error.to_string().contains(expected), "{error}");
}

pub(crate) fn a_clone_of_a_builder_builds_such_a_pool(subject: &impl Crew) {
    let (threads, starts) = (subject.at_most(2), Counter::default());
    let count = starts.clone();
    let builder = subject.builder().threads(threads).name("alike").on_start(move |_worker| count.add());
    for builder in [builder.clone(), builder] {
        let before = starts.get();
        with(builder.build().expect("two threads at most"), |pool| {
            assert_eq!(pool.max_workers(), threads);
            assert!(names_of(pool, 1).iter().all(|name| name.starts_with("alike-")));
            assert!(starts.get() > before);
        });
    }
}

/// The debug format of pool and builder never blocks, and tells the kind of pool.
pub(crate) fn pools_can_be_printed(subject: &impl Crew) {
    assert!(!format!("{:?}", subject.builder().threads(1).name("printed")).is_empty());
    with_pool(subject, 2, |pool| {
        let local = pool.clone();
        let inside = pool.submit(move || format!("{local:?}")).wait().expect("no panic");
        assert!(!inside.is_empty());
        assert!(format!("{pool:?}").contains("pool"), "{pool:?}");
    });
    within(|| {
        let pool = subject.pool(2);
        pool.shutdown_async();
        assert!(!format!("{pool:?}").is_empty());
    });
}
