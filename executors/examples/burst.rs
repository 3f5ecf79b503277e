//! A pool for many jobs at once after long idle periods; and what happens to jobs of different lengths.
//!
//! Run with `cargo run --release --example burst`.

use executors::{
    BuildError, Executor, Pool,
    burst_pool::{BurstError, BurstPool, ThreadPool, WhenBusy},
};
use std::{
    sync::mpsc::{self, channel},
    time::{Duration, Instant},
};

fn main() -> Result<(), BuildError> {
    handle_alarms()?;
    refuse()?;
    for steals in [false, true] {
        run_uneven_jobs(steals)?;
    }
    Ok(())
}

/// Each worker has a handler of its own, with state of its own. The stations take turns: none takes what was dealt to
/// another one, even if that would be faster.
fn handle_alarms() -> Result<(), BuildError> {
    let mut pool = BurstPool::builder().stealing(false).build()?;
    let (tell, told) = channel();
    for station in ["north", "east", "south"] {
        let tell = tell.clone();
        let mut alarms = 0;
        pool.spawn(move |_fire: u32| {
            alarms += 1;
            tell.send((station, alarms)).expect("main listens");
        });
    }
    pool.send_all(0..3).expect("there are workers");
    for (station, alarms) in told.iter().take(3) {
        println!("{station} has had {alarms} alarm(s)");
        assert_eq!(alarms, 1);
    }
    assert_eq!(pool.shutdown().expect("no handler blocks").finished, 3);
    Ok(())
}

/// If no worker can start now, the sender wants to know.
fn refuse() -> Result<(), BuildError> {
    let mut pool = BurstPool::builder().when_busy(WhenBusy::Refuse).build()?;
    let (release, released) = mpsc::channel::<()>();
    pool.spawn(move |_value| assert!(released.recv().is_err()));
    let refused = pool.send_all(["one", "two", "three"]);
    assert_eq!(refused, Err(BurstError::Busy(vec!["two", "three"])));
    println!("{refused:?}: {:?}", refused.clone().map_err(BurstError::into_value));
    drop(release);
    pool.shutdown().expect("nothing blocks any more");
    Ok(())
}

/// Every eighth of 32 jobs takes 10 ms, the others no time.
fn run_uneven_jobs(steals: bool) -> Result<(), BuildError> {
    let pool = ThreadPool::builder().threads(4).stealing(steals).build()?;
    let mut delays = Vec::new();
    for _ in 0..20 {
        let begin = Instant::now();
        let handles: Vec<_> = (0..32)
            .map(|job| {
                pool.submit(move || {
                    let delay = begin.elapsed();
                    if job % 8 == 0 {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    delay
                })
            })
            .collect();
        delays.extend(handles.into_iter().map(|handle| handle.wait().expect("no job panics")));
    }
    delays.sort_unstable();
    let (mean, worst) = (delays.iter().sum::<Duration>() / 640, delays[639]);
    println!("stealing {steals}: jobs began after {mean:.1?} on average, the last of them after {worst:.1?}");
    pool.shutdown().expect("nothing blocks");
    Ok(())
}
