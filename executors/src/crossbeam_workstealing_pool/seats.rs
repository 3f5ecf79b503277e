//! Tests of which seats other workers look at: see `source/stealing/shown.rs`.

use super::ThreadPool;
use crate::{Executor, Pool, options::Idle};
use std::{
    thread,
    time::{Duration, Instant},
};

/// Far longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(60);

/// In each round workers have jobs of their own: a few, or more than a ring has room for.
#[test]
fn sleeping_workers_are_not_searched() {
    let pool = ThreadPool::builder().threads(3).idle(Idle::PARK).build().expect("three threads");
    for own_jobs in [1, 100, 10_000, 1, 1] {
        let inside = pool.clone();
        pool.execute(move || (0..own_jobs).for_each(|_| inside.execute(|| ())));
        let begin = Instant::now();
        pool.join().expect("this is no worker");
        while pool.handle.source().shown() > 0 {
            assert!(begin.elapsed() < PATIENCE, "{:?}", pool.stats());
            thread::yield_now();
        }
    }
    assert_eq!(pool.stats().finished, 5 + 10_103);
    pool.shutdown().expect("nothing is left");
}
