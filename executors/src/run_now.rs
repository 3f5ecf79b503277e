//! An executor that runs each job at once, on the thread that gives it.
//!
//! For interfaces that want an executor where none is needed, and for tests: it keeps the same contract as the pools,
//! without their threads.
//!
//! A job that gives a job to this executor runs it in place, as a function call; a long chain of such jobs takes as much
//! stack.
//!
//! # Examples
//!
//! ```
//! use executors::*;
//! use executors::run_now::RunNowExecutor;
//!
//! let executor = RunNowExecutor::new();
//! executor.execute(|| println!("first"));
//! executor.execute(|| println!("second"));
//! executor.shutdown().unwrap();
//! ```

use crate::{
    ledger::{Engine, Handle},
    pool::impl_pool,
};

/// A handle to an executor that runs jobs in place. See the [module](self).
///
/// Clones share whether the executor is closed, and its counters.
#[derive(Clone, Debug)]
pub struct RunNowExecutor {
    handle: Handle<InPlace>,
}

impl RunNowExecutor {
    /// A new executor, open for jobs.
    #[must_use]
    pub fn new() -> RunNowExecutor {
        RunNowExecutor { handle: Handle::new(InPlace, None) }
    }
}

impl Default for RunNowExecutor {
    fn default() -> Self {
        RunNowExecutor::new()
    }
}

struct InPlace;

impl Engine for InPlace {
    const LABEL: &'static str = "run_now";

    fn start(&self, work: impl FnOnce() + Send + 'static) {
        work();
    }

    fn workers(&self) -> usize {
        0 // none of its own
    }
}

impl_pool!(RunNowExecutor);
