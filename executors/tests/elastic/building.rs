//! Sizes: those that are impossible, and those that are not given.

use super::tools::{FOR_EVER, end, sized};
use crate::support::{gate::Gate, watchdog::within};
use executors::{
    Builder, Executor,
    elastic_pool::{Saturation, ThreadPool},
};
use std::time::Duration;

#[test]
fn impossible_pools_are_refused() {
    let refusal = |builder: Builder<ThreadPool>| builder.build().expect_err("this pool is impossible").to_string();
    let error = refusal(sized(3, 2, FOR_EVER));
    assert!(error.contains('3') && error.contains('2') && error.contains("max"), "{error}");
    let error = refusal(sized(0, 0, FOR_EVER));
    assert!(error.contains("at least 1"), "{error}");
    let error = refusal(sized(0, 1, Duration::ZERO));
    assert!(error.contains("keep_alive"), "{error}");
    let error = refusal(sized(0, 1 << 20, FOR_EVER));
    assert!(error.contains(&(1 << 20).to_string()), "{error}");
    for unused in [0, 1 << 20] {
        let error = refusal(sized(1, 3, FOR_EVER).threads(unused));
        assert!(error.contains(&unused.to_string()), "{error}");
    }
    let error = refusal(ThreadPool::builder().core(usize::MAX));
    assert!(error.contains(&usize::MAX.to_string()) && error.contains("fewer"), "{error}");
    let error = refusal(sized(0, 1, FOR_EVER).when_saturated(Saturation::DiscardOldest { queue: 0 }));
    assert!(error.contains("DiscardOldest"), "{error}");
}

#[test]
fn numbers_that_are_left_out_follow_from_the_others() {
    let sizes = |builder: Builder<ThreadPool>| {
        let pool = builder.build().expect("a possible pool");
        pool.start_core_threads();
        let core = pool.worker_count();
        let gate = Gate::default();
        // More jobs than any of these pools can have workers.
        (0..20).for_each(|_| {
            let gate = gate.clone();
            pool.execute(move || gate.pass());
        });
        let max = pool.worker_count();
        gate.open();
        end(&pool);
        (core, max)
    };
    within(|| {
        assert_eq!(sizes(ThreadPool::builder().threads(3)), (3, 3));
        assert_eq!(sizes(ThreadPool::builder().core(3)), (3, 6));
        assert_eq!(sizes(ThreadPool::builder().core(0)), (0, 1));
        assert_eq!(sizes(ThreadPool::builder().max(1)), (1, 1));
        assert_eq!(sizes(ThreadPool::builder().core(1).threads(4)), (1, 4));
        assert_eq!(sizes(ThreadPool::builder().max(4).threads(2)), (2, 4));
    });
}
