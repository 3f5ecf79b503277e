#![doc = include_str!("rusty_pool.md")]

#[cfg(feature = "compat-rusty-pool-async")]
use crate::FuturesExecutor;
use crate::{
    Pool, builder,
    elastic_pool::{self, KEEP_ALIVE},
    error::WaitError,
    handle::block_on,
    options::MAX_THREADS,
};
use crossbeam_channel::SendError;
use futures_channel::oneshot;
use std::{
    fmt,
    future::Future,
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

/// The most threads that [`ThreadPool::new`] and [`Builder::max_size`] take.
pub const MAX_SIZE: usize = (1 << (usize::BITS / 2)) - 1;

type Job = Box<dyn FnOnce() + Send + 'static>;

/// What a [`ThreadPool`] runs: closures, and whatever else implements this.
pub trait Task<R: Send>: Send {
    /// Does it.
    fn run(self) -> R;

    /// The task as a closure, if it is one.
    fn into_fn(self) -> Option<Box<dyn FnOnce() -> R + Send + 'static>>;

    /// Whether the task is a closure.
    fn is_fn(&self) -> bool;
}

impl<R, F> Task<R> for F
where
    R: Send,
    F: FnOnce() -> R + Send + 'static,
{
    fn run(self) -> R {
        self()
    }

    fn into_fn(self) -> Option<Box<dyn FnOnce() -> R + Send + 'static>> {
        Some(Box::new(self))
    }

    fn is_fn(&self) -> bool {
        true
    }
}

/// The result of a task.
#[derive(Debug)]
pub struct JoinHandle<T: Send> {
    /// Where the result arrives. Cancelled if the task panics.
    pub receiver: oneshot::Receiver<T>,
}

impl<T: Send> JoinHandle<T> {
    /// Blocks until the task has ended.
    ///
    /// # Errors
    ///
    /// If it panicked.
    pub fn try_await_complete(self) -> Result<T, oneshot::Canceled> {
        block_on(self.receiver)
    }

    /// Blocks until the task has ended.
    ///
    /// # Panics
    ///
    /// If it panicked.
    pub fn await_complete(self) -> T {
        self.try_await_complete().expect("the task panicked, so that it has no result")
    }
}

/// A handle to a pool that grows and shrinks. See the [module](self).
///
/// The pool ends when all handles are gone, those that spawned futures and jobs hold included, and all work is done.
#[derive(Clone)]
pub struct ThreadPool {
    pool: elastic_pool::ThreadPool,
    name: String,
}

impl ThreadPool {
    /// A pool of `core_size` threads that stay, and up to `max_size` in all, of which the others leave after
    /// `keep_alive` without work.
    ///
    /// # Panics
    ///
    /// If `max_size` is 0, less than `core_size`, or more than [`MAX_SIZE`].
    pub fn new(core_size: usize, max_size: usize, keep_alive: Duration) -> Self {
        Self::new_named(default_name(), core_size, max_size, keep_alive)
    }

    /// [`new`](Self::new) with a name: threads are called `{name}_thread_1` and so on.
    ///
    /// # Panics
    ///
    /// As `new`, and if the name contains a NUL.
    pub fn new_named(name: String, core_size: usize, max_size: usize, keep_alive: Duration) -> Self {
        Self::start(elastic_pool::ThreadPool::builder(), name, core_size, max_size, keep_alive)
    }

    fn start(
        builder: builder::Builder<elastic_pool::ThreadPool>,
        name: String,
        core_size: usize,
        max_size: usize,
        keep_alive: Duration,
    ) -> Self {
        assert!(
            max_size > 0 && max_size >= core_size,
            "max_size is {max_size}: it must be at least 1 and at least core_size, {core_size}"
        );
        assert!(max_size <= MAX_SIZE, "max_size is {max_size}: it must not exceed {MAX_SIZE}");
        let mut builder = builder
            .name(name.as_str())
            .core(core_size.min(MAX_THREADS))
            .max(max_size.min(MAX_THREADS))
            .keep_alive(keep_alive.max(Duration::from_nanos(1)));
        builder.options.thread_names = |name, worker| format!("{name}_thread_{}", worker + 1);
        let pool = builder.build().unwrap_or_else(|error| panic!("{error}"));
        ThreadPool { pool, name }
    }

    /// How many threads there are.
    pub fn get_current_worker_count(&self) -> usize {
        self.pool.worker_count()
    }

    /// How many threads have nothing to do.
    pub fn get_idle_worker_count(&self) -> usize {
        self.pool.idle_count()
    }

    /// Runs `task` on the pool.
    pub fn execute<T: Task<()> + 'static>(&self, task: T) {
        self.try_execute(task).unwrap_or_else(never);
    }

    /// [`execute`](Self::execute).
    ///
    /// # Errors
    ///
    /// None as long as there is a handle, which there is.
    pub fn try_execute<T: Task<()> + 'static>(&self, task: T) -> Result<(), SendError<Job>> {
        let job = move || task.run();
        self.pool.try_execute(job).map_err(|refused| SendError(Box::new(refused.into_job()) as Job))
    }

    /// Runs `task` on the pool, for its result.
    pub fn evaluate<R: Send + 'static, T: Task<R> + 'static>(&self, task: T) -> JoinHandle<R> {
        self.try_evaluate(task).unwrap_or_else(never)
    }

    /// [`evaluate`](Self::evaluate).
    ///
    /// # Errors
    ///
    /// As [`try_execute`](Self::try_execute).
    pub fn try_evaluate<R: Send + 'static, T: Task<R> + 'static>(
        &self,
        task: T,
    ) -> Result<JoinHandle<R>, SendError<Job>> {
        let (sender, receiver) = oneshot::channel();
        // Nobody may want the result.
        self.try_execute(move || drop(sender.send(task.run())))?;
        Ok(JoinHandle { receiver })
    }

    /// Runs `future` to its end on one worker, which is blocked while the future waits.
    pub fn complete<R: Send + 'static>(&self, future: impl Future<Output = R> + 'static + Send) -> JoinHandle<R> {
        self.evaluate(|| block_on(future))
    }

    /// [`complete`](Self::complete).
    ///
    /// # Errors
    ///
    /// As [`try_execute`](Self::try_execute).
    pub fn try_complete<R: Send + 'static>(
        &self,
        future: impl Future<Output = R> + 'static + Send,
    ) -> Result<JoinHandle<R>, SendError<Job>> {
        self.try_evaluate(|| block_on(future))
    }

    /// Polls `future` on the pool until it is done; each time it is woken, its next step becomes a job. Keeps the pool
    /// open until then.
    #[cfg(feature = "compat-rusty-pool-async")]
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static + Send) {
        let pool = self.clone();
        let keeping_open = async move {
            future.await;
            drop(pool);
        };
        self.pool.spawn(keeping_open).detach();
    }

    /// [`spawn`](Self::spawn).
    ///
    /// # Errors
    ///
    /// As [`try_execute`](Self::try_execute).
    #[cfg(feature = "compat-rusty-pool-async")]
    pub fn try_spawn(&self, future: impl Future<Output = ()> + 'static + Send) -> Result<(), SendError<Job>> {
        self.spawn(future);
        Ok(())
    }

    /// [`spawn`](Self::spawn), for the future's result.
    #[cfg(feature = "compat-rusty-pool-async")]
    pub fn spawn_await<R: Send + 'static>(&self, future: impl Future<Output = R> + 'static + Send) -> JoinHandle<R> {
        self.try_spawn_await(future).unwrap_or_else(never)
    }

    /// [`spawn_await`](Self::spawn_await).
    ///
    /// # Errors
    ///
    /// As [`try_execute`](Self::try_execute).
    #[cfg(feature = "compat-rusty-pool-async")]
    pub fn try_spawn_await<R: Send + 'static>(
        &self,
        future: impl Future<Output = R> + 'static + Send,
    ) -> Result<JoinHandle<R>, SendError<Job>> {
        let (sender, receiver) = oneshot::channel();
        // Nobody may want the result.
        self.try_spawn(async move { drop(sender.send(future.await)) })?;
        Ok(JoinHandle { receiver })
    }

    /// Blocks until the pool is idle, also if more jobs come in meanwhile.
    ///
    /// # Panics
    ///
    /// In a job of this pool, which would wait for itself.
    pub fn join(&self) {
        self.pool.join().unwrap_or_else(|error| panic!("{error}"));
    }

    /// [`join`](Self::join) for at most `time_out`.
    pub fn join_timeout(&self, time_out: Duration) {
        if self.pool.join_timeout(time_out) == Err(WaitError::FromWorker) {
            thread::sleep(time_out); // the caller itself keeps the pool from being idle
        }
    }

    /// Gives this handle up. The pool ends, behind its last job, when all are given up.
    pub fn shutdown(self) {}

    /// Blocks until the pool is idle, and gives this handle up.
    ///
    /// # Panics
    ///
    /// As [`join`](Self::join).
    pub fn shutdown_join(self) {
        self.join();
    }

    /// [`shutdown_join`](Self::shutdown_join) for at most `timeout`.
    pub fn shutdown_join_timeout(self, timeout: Duration) {
        self.join_timeout(timeout);
    }

    /// The name of the pool.
    pub fn get_name(&self) -> &str {
        &self.name
    }

    /// Starts threads until the core is full.
    pub fn start_core_threads(&self) {
        self.pool.start_core_threads();
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("name", &self.name).field("pool", &self.pool).finish()
    }
}

/// A pool with a core thread for each CPU and twice as many at most, which stay for a minute without work.
impl Default for ThreadPool {
    fn default() -> Self {
        Builder::new().build()
    }
}

fn never<R>(_refused: SendError<Job>) -> R {
    unreachable!("a pool is open as long as there is a handle")
}

/// `rusty_pool_1` and so on.
fn default_name() -> String {
    static POOLS: AtomicUsize = AtomicUsize::new(1);
    format!("rusty_pool_{}", POOLS.fetch_add(1, Relaxed))
}

/// Chooses what a [`ThreadPool`] is to be.
#[derive(Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct Builder {
    builder: builder::Builder<elastic_pool::ThreadPool>,
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
    /// Nothing is chosen yet.
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

    /// Makes the pool. Threads come with its first jobs.
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
