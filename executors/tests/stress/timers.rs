//! Jobs that a timer gives to pools, in real time.

use super::{
    actions::pause,
    jobs::{job, leaf},
    program::Program,
};
use crate::support::random::Random;
use executors::{FuturesExecutor, Pool, TaskHandle, timer::Periodic};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

/// Short, because a program is not over before the time of its last job.
fn delay(random: &mut Random) -> Duration {
    Duration::from_micros(random.below(100))
}

/// A job of the pool; or one of its neighbour, which is open as long as it has to run that.
pub(crate) fn schedule<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) -> TaskHandle<()> {
    let Program { pool, neighbour, timer, .. } = &**program;
    let handle = if random.one_in(3) {
        timer.after(delay(random), neighbour, leaf(program))
    } else {
        timer.after(delay(random), pool, job(program, random))
    };
    handle.expect("a thread")
}

/// Jobs each of which runs in one repetition. The last one cancels the repetition, unless a thread does so before.
pub(crate) fn repeat<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let Program { pool, ledger, timer, .. } = &**program;
    let (is_cancelled, own) = (Arc::new(AtomicBool::new(false)), Arc::new(OnceLock::<Periodic>::new()));
    let mut series = Series {
        jobs: (0..1 + random.below(4)).map(|_| job(program, random)).collect(),
        program: Arc::clone(program),
        is_cancelled: Arc::clone(&is_cancelled),
    };
    let next = {
        let own = Arc::clone(&own);
        move || {
            let job = series.jobs.pop();
            if series.jobs.is_empty() {
                own.wait().cancel();
            }
            match job {
                Some(job) => job(),
                None => series.program.ledger.fail("a repetition goes on after it was cancelled"),
            }
        }
    };
    let (first, step) = (delay(random), delay(random) + Duration::from_nanos(1));
    let repetition = if random.one_in(2) {
        timer.at_fixed_rate_after(first, step, pool, next)
    } else {
        timer.with_fixed_delay_after(first, step, pool, next)
    };
    let repetition = repetition.expect("a thread");
    own.set(repetition.clone()).expect("it is set once");
    if random.one_in(3) {
        pause(random, 20_000);
        is_cancelled.store(true, SeqCst);
        repetition.cancel();
    }
    ledger.unread().repetitions.push(repetition);
}

/// What a repetition owns.
struct Series<P, F> {
    /// Those that have not run.
    jobs: Vec<F>,
    program: Arc<Program<P>>,
    is_cancelled: Arc<AtomicBool>,
}

/// Before the jobs are dropped, and so before their tickets are settled.
impl<P, F> Drop for Series<P, F> {
    fn drop(&mut self) {
        let (ledger, left) = (&self.program.ledger, self.jobs.len());
        if self.is_cancelled.load(SeqCst) { ledger.cancel(left) } else { ledger.lose(left) }
    }
}
