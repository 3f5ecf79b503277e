//! Choose what workers do when there is nothing to do: sleep, or spin for the sake of a quick start.
//!
//! Run with `cargo run --release --example idle`. It prints how long a job waits for an idle pool.

use executors::{BuildError, Executor, Idle, Pool, crossbeam_workstealing_pool::ThreadPool};
use std::{
    thread,
    time::{Duration, Instant},
};

const ROUNDS: usize = 50;

/// The median time from submission to start of a job, on a pool that has been idle.
fn reaction(pool: &impl Pool) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            thread::sleep(Duration::from_millis(2));
            let submitted = Instant::now();
            pool.submit(move || submitted.elapsed()).wait().expect("the job returned")
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn main() -> Result<(), BuildError> {
    let choices = [
        ("sleep at once", Idle::Park { spin: Duration::ZERO }),
        ("sleep after 5 us (the default)", Idle::PARK),
        ("never sleep", Idle::Spin),
    ];
    for (name, idle) in choices {
        let pool = ThreadPool::builder().threads(1).idle(idle).build()?;
        println!("{name:32} {:>12.1?}", reaction(&pool));

        // A result may be seen a moment before its job is counted; an idle pool has counted all of them.
        pool.join().expect("this is not a job of the pool");
        assert_eq!(pool.stats().finished, ROUNDS as u64);
        if idle == Idle::Spin {
            assert_eq!(pool.stats().wake_ups, 0, "a worker that never sleeps is never woken");
        }
        pool.shutdown().expect("nothing is left");
    }
    Ok(())
}
