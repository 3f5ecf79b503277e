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

use crate::{
    bell::Bell,
    builder::{Build, Builder, sealed::Recipe},
    common::{SHUTDOWN_PATIENCE, ignore},
    containment::{self, contain, discard_payload},
    error::{BuildError, BuildErrorKind, Rejected, ShutdownError, ShutdownReport, WaitError, message_of},
    futures_executor::{JoinHandle, spawn_task, step},
    handle::{TaskHandle, task},
    job::Job,
    local::{self, Attendant, PoolId, Post},
    meter::{Exporter, Meter, Reading},
    options::{Options, PanicHandler, Placement},
    pool::{Stats, impl_futures_executor, impl_pool},
};
use crossbeam_utils::CachePadded;
use std::{
    any::Any,
    cell::{OnceCell, RefCell},
    collections::VecDeque,
    fmt,
    future::Future,
    io,
    sync::{
        Arc, Barrier, Weak,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};
use threadpool::ThreadPool;

const LABEL: &str = "threadpool_executor";

/// A handle to a pool of the crate `threadpool`. See the [module](self).
///
/// Differences from the other pools: `shutdown` waits for the jobs, but the threads leave only when the last handle is
/// dropped; all threads have the same name; hooks, idling and placement cannot be chosen.
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
    /// If `threads` is 0, or the operating system refuses a thread; [`builder`](Self::builder) returns an error instead.
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
            if name.contains('\0') {
                return Err(BuildErrorKind::NameWithNul { name: name.clone() }.into());
            }
            builder = builder.thread_name(name.clone());
        }
        if let Some(bytes) = options.stack_size {
            builder = builder.thread_stack_size(bytes);
        }
        // The crate panics where a thread is refused, and ends those that it has started.
        let pool = contain(|| builder.build()).map_err(|payload| {
            let source = io::Error::other(message_of(&*payload).to_owned());
            BuildErrorKind::Spawn { worker: 0, threads, source }
        })?;
        Ok(ThreadPoolExecutor { handle: Handle(Wrapped::start(pool, options.panic_handler.clone())) })
    }
}

impl Build for ThreadPoolExecutor {}

impl Recipe for ThreadPoolExecutor {
    type Extra = ();

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, (): ()) -> Result<Self, BuildError> {
        let asked = [
            ("on_start", options.on_start.is_some()),
            ("on_stop", options.on_stop.is_some()),
            ("idle", options.idle.is_some()),
            ("fairness", options.fairness.is_some()),
            ("placement", options.placement != Placement::Auto),
        ];
        if let Some((option, _)) = asked.into_iter().find(|(_, asked)| *asked) {
            let remedy = "leave it out, or use `crossbeam_channel_pool`";
            return Err(BuildErrorKind::Unsupported { option, pool: LABEL, remedy }.into());
        }
        Self::start(&options)
    }
}

/// A pool with one worker for each core that the process may use, or as many as `EXECUTORS_NUM_THREADS` says.
///
/// # Panics
///
/// If the operating system refuses a thread, or the variable is not a number of at least 1.
#[cfg(feature = "defaults")]
impl Default for ThreadPoolExecutor {
    fn default() -> Self {
        Self::start(&Options::new()).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPoolExecutor);
impl_futures_executor!(ThreadPoolExecutor);

#[derive(Clone)]
struct Handle(Arc<Wrapped>);

/// The crate's pool, and what it does not know.
///
/// It is held by handles, and for the moment of a submit by workers; when it is dropped, the pool's queue is closed and its
/// threads end behind the last job.
struct Wrapped {
    pool: ThreadPool,
    records: Arc<Records>,
}

/// What is known of the jobs. Shared with the worker threads, each of which counts for itself.
struct Records {
    closed: AtomicBool,
    discarding: AtomicBool,
    discarded: AtomicU64,
    /// Jobs accepted and not ended. Counted up before `closed` is looked at, so that who closes and then sees none has seen
    /// all that will ever be accepted from outside. The crate's own two counts cannot be read at one moment.
    outstanding: AtomicUsize,
    /// Rung when the last outstanding job ends.
    bell: Bell,
    panic_handler: Option<PanicHandler>,
    meters: Box<[CachePadded<Meter>]>,
    exporter: Exporter,
}

/// Who a worker thread of the crate's pool is. The crate has no start hook, so the pool's first jobs enlist its threads; as
/// no job's panic reaches a thread, these are its threads for good.
struct Worker {
    index: usize,
    records: Arc<Records>,
    pool: Weak<Wrapped>,
    /// Jobs that this worker's jobs gave to the pool when its last handle was gone and its queue closed.
    orphans: RefCell<VecDeque<Job>>,
}

thread_local! {
    static WORKER: OnceCell<Worker> = const { OnceCell::new() };
}

impl Wrapped {
    fn start(pool: ThreadPool, panic_handler: Option<PanicHandler>) -> Arc<Self> {
        let threads = pool.max_count();
        let records = Arc::new(Records {
            closed: AtomicBool::new(false),
            discarding: AtomicBool::new(false),
            discarded: AtomicU64::new(0),
            outstanding: AtomicUsize::new(0),
            bell: Bell::default(),
            panic_handler,
            meters: (0..threads).map(|_| CachePadded::default()).collect(),
            exporter: Exporter::new(LABEL),
        });
        let wrapped = Arc::new(Wrapped { pool, records });
        // Each thread takes one of these jobs, as none ends before all have begun.
        let barrier = Arc::new(Barrier::new(threads + 1));
        for index in 0..threads {
            let all_here = Arc::clone(&barrier);
            let worker = Worker {
                index,
                records: Arc::clone(&wrapped.records),
                pool: Arc::downgrade(&wrapped),
                orphans: RefCell::default(),
            };
            wrapped.pool.execute(move || {
                all_here.wait();
                WORKER.with(|cell| assert!(cell.set(worker).is_ok(), "a thread belongs to one pool"));
            });
        }
        barrier.wait();
        wrapped
    }

    /// Gives `closure` to the pool if it is open, or `though_closed` says so, told how many jobs are outstanding; else gives
    /// it back.
    #[inline]
    fn deliver<F>(&self, closure: F, though_closed: impl FnOnce(usize) -> bool) -> Result<(), F>
    where
        F: FnOnce() + Send + 'static,
    {
        let records = &self.records;
        let others = records.outstanding.fetch_add(1, SeqCst);
        if records.closed.load(SeqCst) && (records.discarding.load(SeqCst) || !though_closed(others)) {
            records.one_less();
            return Err(closure);
        }
        self.pool.execute(move || WORKER.with(|worker| worker.get().expect("enlisted by the first job").run(closure)));
        Ok(())
    }

    /// A new job: from outside only while the pool is open.
    #[inline]
    fn deliver_new<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), F> {
        self.deliver(closure, |_others| self.is_on_worker())
    }

    fn is_on_worker(&self) -> bool {
        local::is_at(self.records.id())
    }

    /// Waits until no job is outstanding.
    fn await_quiet(&self, timeout: Option<Duration>) -> bool {
        self.records.bell.wait_until(timeout, || self.records.outstanding.load(SeqCst) == 0)
    }

    fn close(&self) -> bool {
        !self.records.closed.swap(true, SeqCst)
    }

    fn shutdown_report(&self) -> ShutdownReport {
        let reading = self.records.reading();
        ShutdownReport {
            finished: reading.ended,
            discarded: self.records.discarded.load(Relaxed),
            running: reading.running,
            queued: self.records.outstanding.load(SeqCst).saturating_sub(reading.running),
        }
    }
}

impl Records {
    fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    /// A job has ended, or was not accepted. Returns how many are left.
    fn one_less(&self) -> usize {
        let left = self.outstanding.fetch_sub(1, SeqCst) - 1;
        if left == 0 {
            self.bell.ring();
        }
        left
    }

    fn reading(&self) -> Reading {
        self.meters.iter().map(|meter| meter.read()).sum()
    }
}

impl Worker {
    /// Runs a job, and what it leaves to this worker.
    #[inline]
    fn run(&self, closure: impl FnOnce()) {
        self.run_one(closure);
        while let Some(mut orphan) = self.next_orphan() {
            self.run_one(|| orphan.run());
        }
    }

    fn next_orphan(&self) -> Option<Job> {
        self.orphans.borrow_mut().pop_front()
    }

    #[inline]
    fn run_one(&self, closure: impl FnOnce()) {
        if self.records.discarding.load(SeqCst) {
            self.records.discarded.fetch_add(1, Relaxed); // published by the count of the outstanding
            containment::discard(closure);
        } else {
            self.meter().job_begun();
            let post = Post::new(self.records.id(), self);
            let standing = post.enter();
            if let Err(payload) = contain(closure) {
                self.report(&*payload);
                discard_payload(payload);
            }
            drop(standing);
            self.meter().job_ended();
        }
        let left = self.records.one_less();
        let exporter = &self.records.exporter;
        if exporter.is_due(left, || self.meter().read()) {
            exporter.publish(self.index, || self.meter().read(), || left);
        }
    }

    fn meter(&self) -> &Meter {
        &self.records.meters[self.index]
    }
}

impl Attendant for Worker {
    fn accept(&self, mut job: Job) -> bool {
        match self.pool.upgrade() {
            Some(pool) => pool.deliver_new(move || job.run()).map_err(containment::discard).is_ok(),
            None => {
                self.records.outstanding.fetch_add(1, SeqCst);
                self.orphans.borrow_mut().push_back(job);
                true
            }
        }
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        self.meter().job_panicked();
        let place = format_args!("A job of {LABEL} on worker {}", self.index);
        containment::report(payload, place, self.records.panic_handler.as_ref());
    }
}

impl Handle {
    #[inline]
    fn execute<F: FnOnce() + Send + 'static>(&self, closure: F) {
        if let Err(closure) = self.0.deliver_new(closure) {
            ignore(closure);
        }
    }

    #[inline]
    fn try_execute<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.0.deliver_new(closure).map_err(Rejected)
    }

    fn execute_batch<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        let mut accepted = 0;
        for closure in closures {
            if let Err(closure) = self.0.deliver_new(closure) {
                ignore(closure);
                break;
            }
            accepted += 1;
        }
        accepted
    }

    fn submit<F, T>(&self, closure: F) -> TaskHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = task(self.0.records.id(), closure);
        // A job that is not accepted tells its handle so when it is dropped.
        let _ = self.0.deliver_new(job);
        handle
    }

    fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R> {
        let wrapped = Arc::downgrade(&self.0); // a suspended future does not keep the pool's threads
        let schedule = move |runnable| {
            let step = step(runnable);
            let refused = match wrapped.upgrade() {
                // While the pool drains, its futures go on.
                Some(wrapped) => wrapped.deliver(step, |others| others > 0).err(),
                None => Some(step),
            };
            if let Some(step) = refused {
                ignore(step); // cancels the future
            }
        };
        let (runnable, handle) = spawn_task(future, schedule);
        self.execute(step(runnable));
        handle
    }

    fn join(&self, timeout: Option<Duration>) -> Result<(), WaitError> {
        if self.0.is_on_worker() {
            return Err(WaitError::FromWorker);
        }
        if self.0.await_quiet(timeout) { Ok(()) } else { Err(WaitError::TimedOut) }
    }

    fn shutdown_async(&self) {
        if !self.0.close() {
            log::warn!("{LABEL} was already shut down!");
        }
    }

    fn shutdown_borrowed(&self) -> Result<(), String> {
        if !self.0.close() {
            return Err("Pool was already shut down!".to_owned());
        }
        self.shutdown_timeout(SHUTDOWN_PATIENCE).map(drop).map_err(ShutdownError::into_message)
    }

    fn shutdown_timeout(&self, timeout: Duration) -> Result<ShutdownReport, ShutdownError> {
        self.0.close();
        match self.join(Some(timeout)) {
            Ok(()) => Ok(self.0.shutdown_report()),
            Err(WaitError::FromWorker) => Err(ShutdownError::FromWorker),
            Err(WaitError::TimedOut) => {
                let report = self.0.shutdown_report();
                Err(ShutdownError::TimedOut { waited: timeout, workers: self.0.pool.active_count(), report })
            }
        }
    }

    fn shutdown_now(&self) -> ShutdownReport {
        self.0.records.discarding.store(true, SeqCst);
        self.0.close();
        self.0.shutdown_report()
    }

    fn stats(&self) -> Stats {
        let report = self.0.shutdown_report();
        let workers = self.0.pool.max_count();
        let busy = report.running.min(workers);
        Stats {
            workers,
            idle: workers - busy,
            busy,
            queued: report.queued,
            running: report.running,
            done: report.finished,
            panicked: self.0.records.reading().panicked,
            discarded: report.discarded,
            ..Stats::default()
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(LABEL)
            .field("pool", &self.0.pool)
            .field("closed", &self.0.records.closed)
            .finish_non_exhaustive()
    }
}
