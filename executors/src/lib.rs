//! High-performance task executors behind one trait and one contract.
//!
//! An [`Executor`] runs jobs: closures that are submitted to it with [`execute`](Executor::execute). A [`Pool`] also
//! returns results, can be waited for, and keeps statistics. Which executor fits best depends on the program:
//!
//! | executor | for |
//! |---|---|
//! | [`crossbeam_workstealing_pool`] | jobs that spawn jobs; also the choice if in doubt |
//! | [`crossbeam_channel_pool`] | jobs from outside the pool that must start in order |
//! | [`elastic_pool`] | jobs that block: threads come and go as they are needed |
//! | [`burst_pool`] | long idle periods, and then as many jobs as workers at once, which take long or block |
//! | [`dispatcher`] | jobs of several kinds on one set of threads: limits for each kind, priorities, jobs bound to a thread |
//! | [`threadpool_executor`] | programs that have chosen the crate `threadpool` |
//! | [`run_now`] | no threads at all: for tests, and for interfaces that require an executor |
//!
//! ```
//! use executors::*;
//! use executors::crossbeam_workstealing_pool;
//!
//! let pool = crossbeam_workstealing_pool::ThreadPool::builder().threads(4).build()?;
//! let answer = pool.submit(|| 6 * 7);
//! assert_eq!(answer.wait().unwrap(), 42);
//! pool.shutdown().expect("everything has run");
//! # Ok::<(), BuildError>(())
//! ```
//!
//! In addition, for use with any executor:
//!
//! | module | for |
//! |---|---|
//! | [`group`] | jobs that are awaited, or cancelled, as a whole |
//! | [`sequence`] | one function applied to many elements |
//! | [`timer`] | jobs that run after a delay, or repeatedly |
//!
//! # The contract
//!
//! Every accepted job runs exactly once, on the executor to which it was submitted, whatever other jobs do. Panics are
//! caught and reported. A closed pool still runs what it has accepted; dropping the last handle closes a pool. The jobs
//! that do not run are those that the program itself cancels or discards (`TaskHandle::cancel`, `shutdown_now`,
//! `Saturation::DiscardOldest`), loses to a `Parker` of its own that panics, or leaves behind when it ends. The [full
//! text][contract] is in the repository; one suite of tests checks every executor against it.
//!
//! [contract]: https://github.com/Bathtor/rust-executors/blob/master/docs/contract.md
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `threadpool-exec` | yes | [`threadpool_executor`] |
//! | `cb-channel-exec` | yes | [`crossbeam_channel_pool`] |
//! | `workstealing-exec` | yes | [`crossbeam_workstealing_pool`] |
//! | `elastic-exec` | yes | [`elastic_pool`] |
//! | `burst-exec` | yes | [`burst_pool`] |
//! | `dispatcher-exec` | yes | [`dispatcher`] |
//! | `compat-burst-pool` | no | `compat::burst_pool`: the interface of the crate burst-pool |
//! | `compat-rusty-pool` | no | `compat::rusty_pool`: the interface of the crate rusty_pool |
//! | `compat-rusty-pool-async` | no | its `spawn` and `spawn_await` as well |
//! | `defaults` | yes | `Default` for the pools: one worker for each core that the caller may use |
//! | `ws-timed-fairness` | yes | the default [`Fairness`] of the work-stealing pool is timed (1 ms, and at most 61 jobs) rather than counted (61 jobs) |
//! | `ws-no-park` | no | the default [`Idle`] of the work-stealing pool is to spin |
//! | `thread-pinning` | no | workers are pinned to cores by default (except in the elastic pool and `BurstPool`), and can be by choice (`threadpool_executor` supports neither) |
//! | `numa-aware` | no | workers steal from near cores first; implies `thread-pinning` |
//! | `produce-metrics` | no | executors publish [metrics](#metrics) through the crate `metrics` |
//!
//! Features only add items and set defaults: how a pool behaves is chosen for each pool by its [`Builder`]. Futures
//! need no feature of their own: `FuturesExecutor` and [`sequence::serial`] come with any pool.
//!
//! # Metrics
//!
//! | metric | kind | labels | what it says |
//! |---|---|---|---|
//! | `executors.jobs_executed` | counter | `executor`, `thread_id` | jobs that have ended |
//! | `executors.jobs_queued` | gauge | `executor` | jobs that wait |
//!
//! `executor` is the kind of the executor (such as `crossbeam_workstealing_pool`): figures of executors of one kind add
//! up. `thread_id` is the number of the worker. Workers publish when they run out of jobs and now and then while they
//! are busy, not for each job, so the gauge is a sample. (`threadpool_executor` publishes after each job if few
//! wait, and otherwise now and then, so that the last jobs may be published shortly after `join`; `run_now` after each
//! job.)
//!
//! A recorder may be installed at any time; [`Executor::register_metrics`] gives it units and descriptions. An
//! [example](https://github.com/Bathtor/rust-executors/blob/master/executors/examples/metrics.rs) prints what it gets.

#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What pools have in common comes with every pool that needs it.
#![cfg_attr(
    docsrs,
    doc(auto_cfg(hide(feature = "_futures", feature = "_crew", feature = "_queues", feature = "_stealing")))
)]
// With some pools switched off, parts of the machinery that they share are unused: with only one pool, items in about a
// hundred places. And the documentation, which covers the whole crate, has links to items that are not there.
#![cfg_attr(
    not(all(
        feature = "threadpool-exec",
        feature = "cb-channel-exec",
        feature = "workstealing-exec",
        feature = "elastic-exec",
        feature = "burst-exec",
        feature = "dispatcher-exec"
    )),
    allow(dead_code, rustdoc::broken_intra_doc_links)
)]

mod apart;
#[cfg(feature = "_crew")]
mod asymmetric_fence;
mod backing;
mod bell;
pub mod bichannel;
mod builder;
#[cfg(feature = "burst-exec")]
pub mod burst_pool;
pub mod common;
#[cfg(any(feature = "compat-rusty-pool", feature = "compat-burst-pool"))]
pub mod compat;
mod containment;
mod courtesy;
#[cfg(feature = "_crew")]
mod crew;
#[cfg(feature = "cb-channel-exec")]
pub mod crossbeam_channel_pool;
#[cfg(feature = "workstealing-exec")]
pub mod crossbeam_workstealing_pool;
mod daemon;
#[cfg(feature = "dispatcher-exec")]
pub mod dispatcher;
#[cfg(feature = "elastic-exec")]
pub mod elastic_pool;
#[cfg(feature = "_futures")]
mod errand;
mod error;
#[cfg(feature = "_futures")]
pub mod futures_executor;
pub mod group;
mod job;
#[cfg(feature = "_crew")]
mod joining;
mod local;
#[cfg(feature = "burst-exec")]
mod mailbox;
mod meter;
#[cfg(feature = "numa-aware")]
pub mod numa_utils;
mod options;
pub mod parker;
#[cfg(feature = "_stealing")]
mod part;
mod placement;
mod pool;
#[cfg(feature = "_crew")]
mod recall;
#[cfg(feature = "_futures")]
mod remnants;
#[cfg(any(feature = "_crew", feature = "produce-metrics"))]
mod rows;
pub mod run_now;
mod seccomp;
pub mod sequence;
#[cfg(feature = "_crew")]
mod source;
mod sync;
mod task;
#[cfg(feature = "threadpool-exec")]
pub mod threadpool_executor;
#[cfg(feature = "_crew")]
mod time_slice;
pub mod timer;
mod trampoline;

#[cfg(feature = "_futures")]
pub use crate::futures_executor::{FuturesExecutor, JoinHandle};
pub use crate::{
    builder::{Build, Builder},
    common::{CanExecute, Executor},
    error::{BuildError, Failure, Panic, Rejected, ShutdownError, ShutdownReport, TaskError, WaitError},
    job::INLINE_BYTES,
    local::try_execute_locally,
    options::{Fairness, Idle, Placement, THREADS_VARIABLE, features},
    pool::{Pool, Stats},
    task::TaskHandle,
};

/// Tests the example of the crate's README.
#[cfg(all(doctest, feature = "workstealing-exec"))]
#[doc = include_str!("../README.md")]
struct Readme;
