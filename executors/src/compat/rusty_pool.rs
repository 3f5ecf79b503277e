#![doc = include_str!("rusty_pool.md")]

mod builder;
mod join_handle;
mod task;

pub use builder::Builder;
pub use join_handle::JoinHandle;
pub use task::Task;

#[cfg(feature = "compat-rusty-pool-async")]
use crate::FuturesExecutor;
use crate::{
    Pool, backing::HUGE, containment::guard, elastic_pool, error::WaitError, options::MAX_THREADS, task::block_on,
};
use crossbeam_channel::SendError;
use futures_channel::oneshot;
use std::{
    fmt,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// The most threads that [`ThreadPool::new`] and [`Builder::max_size`] take.
pub const MAX_SIZE: usize = (1 << (usize::BITS / 2)) - 1;

type Job = Box<dyn FnOnce() + Send + 'static>;

/// A handle to a pool that grows and shrinks. See the [module](self).
///
/// The pool ends when all handles are gone, including those that spawned futures and jobs hold, and all work is done.
#[derive(Clone)]
pub struct ThreadPool {
    pool: elastic_pool::ThreadPool,
    name: Arc<str>,
}

impl ThreadPool {
    /// A pool of `core_size` threads that stay, and up to `max_size` threads in all; those beyond the core leave after
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
        builder: crate::Builder<elastic_pool::ThreadPool>,
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
        ThreadPool { pool, name: name.into() }
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
    /// None: the pool is open as long as there is a handle, and here is one.
    pub fn try_execute<T: Task<()> + 'static>(&self, task: T) -> Result<(), SendError<Job>> {
        if size_of::<T>() > HUGE && task.is_fn() {
            // By `run` it would be moved to the worker's stack.
            return self.try_execute(task.into_fn().expect("a task for which is_fn is true becomes a closure"));
        }
        let job = move || task.run();
        self.pool.try_execute(job).map_err(|refused| SendError(Box::new(refused.into_job()) as Job))
    }

    /// Runs `task` on the pool, and returns a handle to its result.
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
        if size_of::<T>() > HUGE && task.is_fn() {
            // As in `try_execute`.
            return self.try_evaluate(task.into_fn().expect("a task for which is_fn is true becomes a closure"));
        }
        let (sender, receiver) = oneshot::channel();
        self.try_execute(move || deliver(sender, task.run()))?;
        Ok(JoinHandle { receiver })
    }

    /// Runs `future` to its end on one worker, which is blocked while the future waits.
    pub fn complete<R: Send + 'static>(&self, future: impl Future<Output = R> + 'static + Send) -> JoinHandle<R> {
        self.try_complete(future).unwrap_or_else(never)
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
        // However large it is, the worker has it in a box.
        let future = Box::pin(future);
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
        self.pool.spawn_detached(keeping_open);
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

    /// [`spawn`](Self::spawn), with a handle to the future's result.
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
        self.try_spawn(async move { deliver(sender, future.await) })?;
        Ok(JoinHandle { receiver })
    }

    /// Blocks until the pool is idle, even if more jobs come in meanwhile. Then all threads that wait go on.
    ///
    /// # Panics
    ///
    /// In a job of this pool, or in one of its callbacks, which would wait for itself.
    pub fn join(&self) {
        self.pool.join().unwrap_or_else(|error| panic!("{error}"));
    }

    /// [`join`](Self::join) for at most `time_out`.
    pub fn join_timeout(&self, time_out: Duration) {
        if self.pool.join_timeout(time_out) == Err(WaitError::FromWorker) {
            thread::sleep(time_out); // the caller itself keeps the pool from being idle
        }
    }

    /// Drops this handle. The pool ends after its last job, when all handles are dropped.
    pub fn shutdown(self) {}

    /// Blocks until the pool is idle, and drops this handle.
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

/// A pool with a core thread for each CPU, and twice as many threads at most; those beyond the core stay for a minute
/// without work.
impl Default for ThreadPool {
    fn default() -> Self {
        Builder::new().build()
    }
}

/// Sends `result` to its handle, which may be gone already. A panic in the drop of a result that nobody takes, or of a
/// waker, is none of the job's.
fn deliver<R>(sender: oneshot::Sender<R>, result: R) {
    guard(|| drop(sender.send(result)));
}

fn never<R>(_refused: SendError<Job>) -> R {
    unreachable!("a pool is open as long as there is a handle")
}

/// `rusty_pool_1` and so on.
fn default_name() -> String {
    static POOLS: AtomicUsize = AtomicUsize::new(1);
    format!("rusty_pool_{}", POOLS.fetch_add(1, Relaxed))
}
