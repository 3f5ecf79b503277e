//! One set of threads for jobs of several kinds: those that compute, wait for a disk, or must stay on one thread.
//!
//! Run with `cargo run --release --example dispatcher`.

use executors::{
    Executor, FuturesExecutor, Pool, TaskError,
    dispatcher::{Dispatcher, Priority},
    group::Group,
    sequence,
    timer::Timer,
};
use std::{
    cell::RefCell,
    error::Error,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

fn main() -> Result<(), Box<dyn Error>> {
    // Four threads that compute, three that wait for the disk, and the thread of the window.
    let dispatcher =
        Dispatcher::builder().threads(8).cpu_limit(4).subpool("disk", 3).bound_subpool("window").name("app").build()?;
    read_files(&dispatcher)?;
    draw(&dispatcher)?;
    answer_the_user_first(&dispatcher)?;
    continue_elsewhere(&dispatcher)?;
    println!("{}", dispatcher.subpool("dsik").expect_err("there is none of that name"));
    dispatcher.shutdown()?;
    start_small()?;
    keep_the_order()?;
    Ok(())
}

/// However many reads are waiting, three run at a time, and the cores stay free for jobs that compute.
fn read_files(dispatcher: &Dispatcher) -> Result<(), Box<dyn Error>> {
    let disk = dispatcher.subpool("disk")?;
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for _file in 0..12 {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        disk.execute(move || {
            most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::sleep(Duration::from_millis(2));
            now.fetch_sub(1, SeqCst);
        });
    }
    println!("{:?}", disk.status());
    assert_eq!(dispatcher.cpu().submit(|| 6 * 7).wait()?, 42);
    dispatcher.join()?;
    println!("at most {} files were read at a time", most.load(SeqCst));
    assert!(most.load(SeqCst) <= 3);
    Ok(())
}

/// State that belongs to a thread stays there.
fn draw(dispatcher: &Dispatcher) -> Result<(), Box<dyn Error>> {
    thread_local! {
        static CANVAS: RefCell<String> = const { RefCell::new(String::new()) };
    }
    let window = dispatcher.subpool("window")?;
    for letter in "drawn in order".chars() {
        window.execute(move || CANVAS.with_borrow_mut(|canvas| canvas.push(letter)));
    }
    let canvas = window.submit(|| CANVAS.with_borrow(String::clone)).wait()?;
    println!("{canvas}");
    assert_eq!(canvas, "drawn in order");
    Ok(())
}

/// While a subpool is paused its jobs pile up; then the most urgent go first.
fn answer_the_user_first(dispatcher: &Dispatcher) -> Result<(), Box<dyn Error>> {
    let disk = dispatcher.subpool("disk")?;
    disk.set_limit(1)?;
    disk.pause();
    let order = Arc::new(Mutex::new(Vec::new()));
    let jobs = [("back up", Priority::LOWEST), ("load", Priority::NORMAL), ("answer", Priority::HIGHEST)];
    for (what, priority) in jobs {
        let order = Arc::clone(&order);
        disk.with_priority(priority).execute(move || order.lock().expect("no panic under this lock").push(what));
    }
    disk.resume();
    dispatcher.join()?;
    let order = order.lock().expect("no panic under this lock");
    println!("{order:?}");
    assert_eq!(*order, ["answer", "load", "back up"]);
    Ok(())
}

/// A subpool takes all that a pool takes: futures, groups, sequences, and jobs from a timer.
fn continue_elsewhere(dispatcher: &Dispatcher) -> Result<(), Box<dyn Error>> {
    let (cpu, disk, window) = (dispatcher.cpu(), dispatcher.subpool("disk")?, dispatcher.subpool("window")?);
    // While it waits for the disk, this future holds no thread, and does not count towards the limit of jobs that
    // compute.
    let read = disk.submit(|| "1 2 3");
    let sum = cpu.submit_future(async move { read.await.map(|line| line.split(' ').map(str::len).sum::<usize>()) });
    assert_eq!(sum.wait()??, 3);

    // The results are not needed any more. (A worker that is just going on from the read could still begin one of
    // these.)
    dispatcher.join()?;
    disk.pause();
    let group: Group<u32> = (0..10).map(|file| disk.submit(move || file)).collect();
    assert_eq!(group.cancel(), 10);
    disk.resume();
    assert!(group.wait().iter().all(|result| matches!(result, Err(TaskError::Cancelled))));

    // One after the other, and no further than the first failure.
    let stopped = sequence::serial(&window, ["1", "2", "three", "4"], str::parse::<u32>).wait()?;
    assert_eq!(stopped.expect_err("one is no number").done, [1, 2]);

    // In its thread, and in its turn, when the time has come.
    let thread = window.submit(|| thread::current().id()).wait()?;
    let later = Timer::shared().after(Duration::from_millis(1), &window, || thread::current().id())?;
    assert_eq!(later.wait()?, thread);
    println!("continued, cancelled, stopped, and in time");
    Ok(())
}

/// Two threads at first: one for the sound, which does nothing else, and one for the rest. The others start with jobs.
fn start_small() -> Result<(), Box<dyn Error>> {
    let builder = Dispatcher::builder().threads(8).cpu_limit(8).bound_subpool("sound").reserve(1).preheat(2);
    let dispatcher = builder.build()?;
    assert_eq!(dispatcher.stats().workers, 2);
    let meeting = Arc::new(Barrier::new(7));
    for _job in 0..7 {
        let meeting = Arc::clone(&meeting);
        dispatcher.execute(move || _ = meeting.wait());
    }
    dispatcher.join()?;
    println!("{} threads, as seven jobs have met", dispatcher.stats().workers);
    assert_eq!(dispatcher.stats().workers, 8);
    println!("{}", Dispatcher::builder().threads(4).reserve(4).build().expect_err("none is left for the others"));
    dispatcher.shutdown()?;
    Ok(())
}

/// Jobs that only one thread runs anyway may as well run in the order in which they came.
fn keep_the_order() -> Result<(), Box<dyn Error>> {
    let dispatcher = Dispatcher::builder().threads(2).cpu_limit(1).strict_order(true).build()?;
    let lines = Arc::new(Mutex::new(Vec::new()));
    for line in 0..1000 {
        let lines = Arc::clone(&lines);
        dispatcher.execute(move || lines.lock().expect("no panic under this lock").push(line));
    }
    dispatcher.join()?;
    assert!(lines.lock().expect("no panic under this lock").iter().copied().eq(0..1000));
    dispatcher.shutdown()?;
    Ok(())
}
