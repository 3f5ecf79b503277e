//! The pool of the crate [threadpool](https://crates.io/crates/threadpool), behind this crate's traits and contract.
//!
//! For programs that have chosen that crate, and as a yardstick. The other pools of this crate do the same faster.
//!
//! # Examples
//!
//! ```
//! use executors::*;
//! use executors::threadpool_executor::ThreadPoolExecutor;
//! use std::sync::mpsc::channel;
//!
//! let n_workers = 4;
//! let n_jobs = 8;
//! let pool = ThreadPoolExecutor::new(n_workers);
//!
//! let (tx, rx) = channel();
//! for _ in 0..n_jobs {
//!     let tx = tx.clone();
//!     pool.execute(move || {
//!         tx.send(1).expect("channel will be there waiting for the pool");
//!     });
//! }
//!
//! assert_eq!(rx.iter().take(n_jobs).sum::<i32>(), 8);
//! ```

mod handle;
mod ledger;
mod records;
mod site;
mod this_worker;
mod worker;
mod wrapped;

use crate::{
    backing::{impl_futures_executor, impl_pool},
    builder::{Build, Builder, sealed::Recipe},
    containment::contain,
    error::{BuildError, BuildErrorKind, error_of},
    options::{Options, Placement, without_nul},
};
use handle::Handle;

const LABEL: &str = "threadpool_executor";

/// A handle to a pool of the crate `threadpool`. See the [module](self).
///
/// [How it differs from the other pools][differs] is part of their contract: among others, its threads leave only when
/// the last handle is dropped, every job is boxed, and most options cannot be chosen.
///
/// [differs]: https://github.com/Bathtor/rust-executors/blob/master/docs/contract.md#threadpoolexecutor
#[derive(Clone, Debug)]
#[must_use = "a pool that is dropped at once runs nothing more"]
pub struct ThreadPoolExecutor {
    handle: Handle,
}

impl ThreadPoolExecutor {
    /// Starts a pool of `threads` workers.
    ///
    /// # Panics
    ///
    /// If `threads` is 0 or more than 1 048 575, or the operating system refuses a thread; [`builder`](Self::builder)
    /// returns an error instead.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, threadpool_executor::ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::new(4);
    /// pool.execute(|| println!("on one of four workers"));
    /// pool.shutdown().unwrap();
    /// ```
    pub fn new(threads: usize) -> ThreadPoolExecutor {
        Self::start(&Options::with_threads(threads)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Chooses threads, name, stack size and panic handler. Other options are refused by `build`.
    pub fn builder() -> Builder<ThreadPoolExecutor> {
        Builder::new(())
    }

    fn start(options: &Options) -> Result<ThreadPoolExecutor, BuildError> {
        let threads = options.thread_count()?;
        let mut builder = threadpool::Builder::new().num_threads(threads);
        if let Some(name) = &options.name {
            builder = builder.thread_name(without_nul(name.clone())?);
        }
        if let Some(bytes) = options.stack_size {
            builder = builder.thread_stack_size(bytes);
        }
        // The crate panics if a thread is refused, and ends those that it has started.
        let pool = contain(|| builder.build()).map_err(|payload| BuildErrorKind::Spawn {
            worker: None,
            threads,
            source: error_of(payload),
        })?;
        Ok(ThreadPoolExecutor { handle: Handle::new(pool, options) })
    }
}

impl Build for ThreadPoolExecutor {}

impl Recipe for ThreadPoolExecutor {
    type Extra = ();

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, (): ()) -> Result<Self, BuildError> {
        let asked = [
            ("preheat", options.preheat.is_some()),
            ("on_start", options.on_start.is_some()),
            ("on_stop", options.on_stop.is_some()),
            ("idle", options.idle.is_some()),
            ("fairness", options.fairness.is_some()),
            ("time_slice", options.time_slice.is_some()),
            ("placement", options.placement != Placement::Auto),
        ];
        if let Some((option, _)) = asked.into_iter().find(|(_, asked)| *asked) {
            let remedy = "leave it out, or use `crossbeam_channel_pool`";
            return Err(BuildErrorKind::Unsupported { option, pool: LABEL, remedy }.into());
        }
        Self::start(&options)
    }
}

/// A pool with one worker for each core that the caller may use, or as many as `EXECUTORS_NUM_THREADS` says.
///
/// # Panics
///
/// If the operating system refuses a thread, or the variable is not a number from 1 to 1 048 575.
#[cfg(feature = "defaults")]
impl Default for ThreadPoolExecutor {
    fn default() -> Self {
        Self::start(&Options::new()).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPoolExecutor);
impl_futures_executor!(ThreadPoolExecutor);
