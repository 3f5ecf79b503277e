//! What a user can choose for a pool.

use super::{MAX_SIZE, ThreadPool, default_name};
use crate::elastic_pool::{self, KEEP_ALIVE};
use std::{num::NonZeroUsize, thread, time::Duration};

/// Configures a [`ThreadPool`].
#[derive(Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct Builder {
    builder: crate::Builder<elastic_pool::ThreadPool>,
    name: Option<String>,
    core_size: Option<usize>,
    max_size: Option<usize>,
    keep_alive: Option<Duration>,
}

impl Default for Builder {
    fn default() -> Self {
        let builder = elastic_pool::ThreadPool::builder();
        Builder { builder, name: None, core_size: None, max_size: None, keep_alive: None }
    }
}

impl Builder {
    /// A builder for a pool with the defaults.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The name of the pool, and the beginning of the names of its threads. The default is `rusty_pool_1` and so on.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// How many threads stay. The default is one for each CPU, or `max_size` if that is less.
    pub fn core_size(mut self, size: usize) -> Builder {
        self.core_size = Some(size);
        self
    }

    /// How many threads there are at most. The default is twice `core_size`.
    pub fn max_size(mut self, size: usize) -> Builder {
        self.max_size = Some(size);
        self
    }

    /// How long threads beyond the core stay without work. The default is a minute.
    pub fn keep_alive(mut self, keep_alive: Duration) -> Builder {
        self.keep_alive = Some(keep_alive);
        self
    }

    /// Called on each thread before its first job.
    pub fn on_worker_start<F>(mut self, callback: F) -> Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.builder = self.builder.on_start(move |_worker| callback());
        self
    }

    /// Called on each thread after its last job.
    pub fn on_worker_stop<F>(mut self, callback: F) -> Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.builder = self.builder.on_stop(move |_worker| callback());
        self
    }

    /// Builds the pool. Its threads start with its first jobs.
    ///
    /// # Panics
    ///
    /// As [`ThreadPool::new_named`].
    pub fn build(self) -> ThreadPool {
        let cpus = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let core_size = self.core_size.unwrap_or_else(|| cpus().min(self.max_size.unwrap_or(MAX_SIZE)));
        let max_size = self.max_size.unwrap_or_else(|| core_size.saturating_mul(2).min(MAX_SIZE));
        let keep_alive = self.keep_alive.unwrap_or(KEEP_ALIVE);
        ThreadPool::start(self.builder, self.name.unwrap_or_else(default_name), core_size, max_size, keep_alive)
    }
}
