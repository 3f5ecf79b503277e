//! The pools of other crates, as executors of this one: each gets jobs by its most direct call for a closure whose end
//! is not awaited, from outside and from its own workers.
//!
//! None of them knows the contract that this workspace's executors keep. A peer that panics on wrong use, loses jobs or
//! never ends is not corrected here: the measurement notices, and reports it.

mod async_executor;
mod burst_pool;
mod departures;
#[cfg(peers_forte)]
mod forte;
mod futures;
mod rayon;
mod rayon_fifo;
mod rusty_pool;
mod threadpool;
mod tokio;
mod workerpool;

#[cfg(peers_burst_pool)]
pub(super) use self::burst_pool::BurstPool;
#[cfg(peers_forte)]
pub(super) use self::forte::Forte;
pub(super) use self::{
    async_executor::AsyncExecutor,
    burst_pool::CompatBurstPool,
    futures::Futures,
    rayon::Rayon,
    rayon_fifo::RayonFifo,
    rusty_pool::{CompatRustyPool, RustyPool},
    threadpool::{Threadpool, ThreadpoolCrossbeamChannel},
    tokio::Tokio,
    workerpool::Workerpool,
};

use super::adapter::{Adapted, FuturePool, Pool, TaskPool};
use std::{thread, time::Duration};

/// How long a pool may take to shut down, as for this workspace's executors.
const PATIENCE: Duration = Duration::from_secs(5);

/// Yields the core until it is `done`, a few times, as threads that wait for the end of this workspace's pools do.
/// Returns whether it is.
fn yield_until(done: impl Fn() -> bool) -> bool {
    const YIELDS: usize = 8;
    for _ in 0..YIELDS {
        if done() {
            return true;
        }
        thread::yield_now();
    }
    done()
}

/// The error of pools that cannot be waited for while there is a handle.
fn needs_last_handle() -> Result<(), String> {
    Err("the pool ends with its last handle, not before".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::adapter::ends_after_its_jobs, *};

    #[test]
    fn pools_end_after_their_jobs() {
        ends_after_its_jobs(AsyncExecutor::new(2).expect("built"));
        ends_after_its_jobs(CompatBurstPool::new(2).expect("built"));
        ends_after_its_jobs(Futures::new(2).expect("built"));
        ends_after_its_jobs(Rayon::new(2).expect("built"));
        ends_after_its_jobs(RayonFifo::new(2).expect("built"));
        ends_after_its_jobs(RustyPool::new(2));
        ends_after_its_jobs(RustyPool::growing(2));
        ends_after_its_jobs(CompatRustyPool::growing(2));
        ends_after_its_jobs(Threadpool::new(2));
        ends_after_its_jobs(ThreadpoolCrossbeamChannel::new(2));
        ends_after_its_jobs(Tokio::new(2).expect("built"));
        ends_after_its_jobs(Workerpool::new(2));
        // Not `BurstPool`, which may lose one; nor `Forte`, which has no way to wait for them.
    }

    #[test]
    fn pools_that_end_with_their_last_handle_say_so() {
        let pool = Rayon::new(1).expect("built");
        assert!(pool.finish().expect_err("a handle is left").contains("last handle"));
        pool.end().expect("in time");
    }
}
