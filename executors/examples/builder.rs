//! Build a pool to your needs: names, hooks, a handler for panics, policies; and learn why a pool cannot be built.
//!
//! Run with `cargo run --example builder`. The panic message on the terminal is intended.

use executors::{
    BuildError, Executor, Fairness, Idle, Placement, Pool, crossbeam_channel_pool, crossbeam_workstealing_pool, parker,
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

fn main() -> Result<(), BuildError> {
    names_and_hooks()?;
    panics()?;
    policies()?;
    refusals();
    Ok(())
}

fn names_and_hooks() -> Result<(), BuildError> {
    let names = Arc::new(Mutex::new(BTreeSet::new()));
    let (stop, stopped) = mpsc::channel();

    let started = Arc::clone(&names);
    let pool = crossbeam_workstealing_pool::ThreadPool::builder()
        .threads(3)
        // All start at once. By default they start when there are jobs for them.
        .preheat(3)
        .name("render")
        .stack_size(256 * 1024)
        .on_start(move |_worker| {
            let name = thread::current().name().expect("workers have names").to_owned();
            started.lock().expect("no hook panics").insert(name);
        })
        .on_stop(move |worker| stop.send(worker).expect("the main thread listens"))
        .build()?;

    // The last worker has left when this returns, so every hook has been called.
    pool.shutdown_timeout(Duration::from_secs(10)).expect("an idle pool ends");
    let names = names.lock().expect("no hook panics");
    assert_eq!(names.iter().collect::<Vec<_>>(), ["render-0", "render-1", "render-2"]);
    assert_eq!(stopped.try_iter().collect::<BTreeSet<_>>(), BTreeSet::from([0, 1, 2]));
    Ok(())
}

/// Jobs passed to `execute` have no handle that could report their panic; a panic handler gets all of them.
fn panics() -> Result<(), BuildError> {
    let (report, reports) = mpsc::channel();
    let pool = crossbeam_channel_pool::ThreadPool::builder()
        .threads(2)
        .panic_handler(move |payload| {
            let text = payload.downcast_ref::<&str>().copied().unwrap_or("something else");
            report.send(text.to_owned()).expect("the main thread listens");
        })
        .build()?;
    pool.execute(|| panic!("out of luck"));
    assert_eq!(reports.recv().as_deref(), Ok("out of luck"));
    pool.shutdown().expect("the workers live on until now");
    Ok(())
}

/// Policies whose defaults are set by Cargo features can be chosen for each pool.
fn policies() -> Result<(), BuildError> {
    let pool = crossbeam_workstealing_pool::ThreadPool::builder()
        .threads(2)
        // How long a worker looks for jobs before it sleeps. `Idle::Spin` never sleeps.
        .idle(Idle::Park { spin: Duration::from_micros(20) })
        // When a worker with jobs of its own looks for jobs from outside.
        .fairness(Fairness::Counted(100))
        // Wherever the operating system likes, even with the feature `thread-pinning`.
        .placement(Placement::Floating)
        // How workers are woken. Without this call, the parker is one for any number of threads.
        .parker(parker::small())
        .build()?;
    assert_eq!(pool.submit(|| 6 * 7).wait().expect("the job returned"), 42);
    pool.shutdown().expect("nothing is left");
    Ok(())
}

/// `new` panics if a pool cannot be built; a builder returns the reason.
fn refusals() {
    let none = crossbeam_channel_pool::ThreadPool::builder().threads(0).build();
    assert!(none.expect_err("who should run the jobs?").to_string().contains("at least 1"));

    let many = crossbeam_workstealing_pool::ThreadPool::builder().threads(33).parker(parker::small()).build();
    assert!(many.expect_err("the small parker serves 32").to_string().contains("at most 32"));

    // The operating system may refuse a thread, too. That may pass, so this error can be told from the others.
    let name = crossbeam_channel_pool::ThreadPool::builder().threads(1).name("null\0").build();
    assert!(!name.expect_err("no thread can have this name").is_thread_refused());
}
