//! Delayed and repeated jobs; a timeout; and a test that does not wait.
//!
//! Run with `cargo run --example timers`.

use executors::{
    Executor, FuturesExecutor, Pool, TaskError,
    crossbeam_workstealing_pool::small_pool,
    run_now::RunNowExecutor,
    timer::{Timer, TimerError},
};
use futures::future::{Either, pending, select};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc::channel,
    },
    time::{Duration, Instant},
};

const MILLISECOND: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = small_pool(2);
    let timer = Timer::shared();

    // Once.
    let start = Instant::now();
    let later = timer.after(5 * MILLISECOND, &pool, move || start.elapsed())?;
    assert!(later.wait()? >= 5 * MILLISECOND);
    let never = timer.after(Duration::from_secs(3600), &pool, || unreachable!("it is cancelled"))?;
    assert!(never.cancel());
    assert!(matches!(never.wait(), Err(TaskError::Cancelled)));

    // Again and again.
    let (tell, told) = channel();
    let rate = timer.at_fixed_rate(2 * MILLISECOND, &pool, move || tell.send(start.elapsed()).unwrap_or_default())?;
    assert_eq!(told.iter().take(5).count(), 5);
    assert!(rate.cancel());
    let (tell, told) = channel();
    let poll = timer.with_fixed_delay(MILLISECOND, &pool, move || tell.send("asked once more").unwrap_or_default())?;
    assert_eq!(told.iter().take(3).count(), 3);
    assert!(poll.cancel());
    assert!(matches!(timer.with_fixed_delay(Duration::ZERO, &pool, || ()), Err(TimerError::ZeroPeriod)));

    // A future that sleeps, here as a timeout: a job that does nothing, run by the timer itself.
    let sleep = timer.after(5 * MILLISECOND, &RunNowExecutor::new(), || ())?;
    let timed = pool.submit_future(async {
        match select(pending::<&str>(), sleep).await {
            Either::Left((value, timeout)) => {
                // Otherwise it stays on the timer until its time.
                timeout.cancel();
                value
            }
            Either::Right(_) => "too late",
        }
    });
    assert_eq!(timed.wait()?, "too late");

    // A day in no time.
    let (timer, clock) = Timer::manual();
    let hours = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&hours);
    let hour = Duration::from_secs(3600);
    let chime = timer.at_fixed_rate(hour, &pool, move || {
        count.fetch_add(1, SeqCst);
    })?;
    for _ in 0..24 {
        clock.advance(hour);
        pool.join()?;
    }
    assert_eq!(hours.load(SeqCst), 24);
    assert!(chime.cancel());

    pool.shutdown()?;
    Ok(())
}
