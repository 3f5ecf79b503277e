//! One set of threads for jobs of several kinds: computing, waiting for a disk, and what must stay on one thread.
//!
//! Run with `cargo run --release --example dispatcher`.

use executors::{
    Executor, Pool,
    dispatcher::{Dispatcher, Priority},
};
use std::{
    cell::RefCell,
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

fn main() -> Result<(), Box<dyn Error>> {
    // Four that compute, three that wait for the disk, and the thread of the window.
    let dispatcher =
        Dispatcher::builder().threads(8).cpu_limit(4).subpool("disk", 3).bound_subpool("window").name("app").build()?;
    read_files(&dispatcher)?;
    draw(&dispatcher)?;
    answer_the_user_first(&dispatcher)?;
    println!("{}", dispatcher.subpool("dsik").expect_err("there is none of that name"));
    dispatcher.shutdown()?;
    Ok(())
}

/// However many reads are waiting, three run at a time, and the cores stay free for what computes.
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
    println!("{:?}", disk.stats());
    assert_eq!(dispatcher.cpu().submit(|| 6 * 7).wait()?, 42);
    dispatcher.join()?;
    println!("at most {} files were read at a time", most.load(SeqCst));
    assert!(most.load(SeqCst) <= 3);
    Ok(())
}

/// What belongs to a thread stays there.
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
        disk.with_priority(priority).execute(move || order.lock().expect("nobody panics here").push(what));
    }
    disk.resume();
    dispatcher.join()?;
    let order = order.lock().expect("nobody panics here");
    println!("{order:?}");
    assert_eq!(*order, ["answer", "load", "back up"]);
    Ok(())
}
