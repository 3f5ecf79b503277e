//! A model of a full pool that discards.

use super::{Handle, Saturation};
use crate::{
    backing::Backing,
    crew::{Terms, model::Tally},
    options::{Idle, Options},
    sync::check_reaching,
};
use std::time::Duration;

/// There is room for two of three jobs: one of them may be discarded, and the one that takes its place has its slot.
#[test]
fn each_job_runs_or_is_discarded_for_another() {
    check_reaching(2, ["one is discarded", "all run"], |[is_discarded, all_run]| {
        let terms = Terms { core: 0, max: 1, only_replaces: false, keep_alive: Duration::ZERO };
        // No clocks: they would make the executions of a model differ.
        let options = Options { idle: Some(Idle::Park { spin: Duration::ZERO }), ..Options::new() };
        let (pool, ran) = (Handle::new(terms, Saturation::DiscardOldest { queue: 1 }, options), Tally::default());
        (0..3).for_each(|_| assert!(pool.admit(ran.mark()).is_ok()));
        assert!(pool.await_idle(None));
        let discarded = pool.report().discarded as usize;
        is_discarded.is_reached_if(discarded == 1);
        all_run.is_reached_if(discarded == 0);
        assert_eq!(ran.count() + discarded, 3);
        let semaphore = &pool.bound.as_ref().unwrap().semaphore;
        let slots: Vec<_> = std::iter::from_fn(|| semaphore.take()).collect();
        assert_eq!(slots.len(), 2, "no slot is lost, and none is given back twice");
        loom::skip_branch();
        pool.close();
        assert!(pool.await_end(Duration::MAX));
    });
}
