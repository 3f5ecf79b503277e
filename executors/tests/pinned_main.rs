//! What the main thread is pinned to does not limit the pools that other threads build. (A file of its own, because it
//! pins the main thread of its process.)
#![cfg(all(feature = "thread-pinning", feature = "cb-channel-exec"))]

mod support;

use executors::{Placement, Pool, crossbeam_channel_pool::ThreadPool};
use support::threads::{allowed_cores, pin_main_thread};

#[test]
fn workers_may_be_pinned_to_cores_that_the_main_thread_does_not_use() {
    let all = core_affinity::get_core_ids().expect("the system tells");
    if !pin_main_thread() {
        println!("skipped: this takes Linux and several cores");
        return;
    }
    let last = all.last().expect("there are several").id;
    let pool_on = |core| ThreadPool::builder().threads(1).placement(Placement::Cores(vec![core])).build();
    let pool = pool_on(last).expect("the process may use this core");
    assert_eq!(pool.submit(allowed_cores).wait().expect("no panic"), Some(last.to_string()));
    let error = pool_on(1023).expect_err("there are fewer cores");
    let all: Vec<_> = all.iter().map(|core| core.id).collect();
    assert!(error.to_string().contains(&format!("{all:?}")), "{error}");
}
