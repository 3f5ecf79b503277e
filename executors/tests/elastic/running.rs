//! Futures in both forms, and panics.

use super::tools::{AT_ONCE, FOR_EVER, end, pool, settle};
use crate::support::{suspend, watchdog::within};
use executors::{Executor, FuturesExecutor, Pool};
use futures::executor::block_on;

#[test]
fn futures_run_on_one_worker_or_step_by_step() {
    within(|| {
        let pool = pool(1, 2, AT_ONCE);
        assert_eq!(pool.complete(async { 6 * 7 }).wait().expect("no panic"), 42);
        let yielding = async {
            for _ in 0..10 {
                suspend::yield_once().await;
            }
            8
        };
        assert_eq!(block_on(pool.spawn(yielding)), 8);
        let (tell, told) = futures::channel::oneshot::channel();
        let waiting = pool.complete(told);
        pool.execute(move || tell.send(9).expect("the future waits"));
        assert_eq!(waiting.wait().expect("no panic"), Ok(9));
        end(&pool);
    });
}

#[test]
fn a_worker_that_panics_goes_on() {
    within(|| {
        let pool = pool(1, 1, FOR_EVER);
        for _ in 0..20 {
            pool.execute(|| std::panic::resume_unwind(Box::new("expected by the test")));
            settle(&pool);
            assert_eq!(pool.worker_count(), 1);
        }
        assert_eq!(pool.stats().panicked, 20);
        end(&pool);
    });
}
