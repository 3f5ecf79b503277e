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
    backing::Backing,
    builder::{Build, Builder, sealed::Recipe},
    containment::{self, contain, discard_payload, ignore},
    error::{BuildError, BuildErrorKind, ShutdownReport, message_of},
    futures_executor::{JoinHandle, spawn_task, step},
    job::{Job, Run},
    ledger::Ledger,
    local::{self, Attendant, Help, PoolId},
    meter::Exporter,
    options::{Options, PanicHandler, Placement},
    pool::{Stats, impl_futures_executor, impl_pool},
};
use std::{
    any::Any,
    cell::{Cell, OnceCell, RefCell},
    collections::VecDeque,
    fmt,
    future::Future,
    io, ptr,
    sync::{
        Arc, Barrier, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
            fence,
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
    /// If `threads` is 0, or the operating system refuses a thread; [`builder`](Self::builder) returns an error
    /// instead.
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
            BuildErrorKind::Spawn { worker: None, threads, source }
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
/// It is held by handles, and for the moment of a submit by workers; when it is dropped, the pool's queue is closed and
/// its threads end behind the last job.
struct Wrapped {
    pool: ThreadPool,
    records: Arc<Records>,
}

/// What is known of the jobs. Shared with the worker threads, each of which counts for itself.
struct Records {
    /// SeqCst, as it is ordered with the ledger: see [`Wrapped::deliver`].
    closed: AtomicBool,
    /// Set before `closed`, and looked at by itself: a job that is begun just before may run.
    discarding: AtomicBool,
    /// Counted before the ledger tells of it, which publishes it to whoever waits.
    discarded: AtomicU64,
    /// Tells when all jobs have ended. The crate's own two counts cannot be read at one moment.
    ledger: Ledger,
    /// Whether somebody has seen the closed pool come to its end. Locked by steps of futures that ask to be let in
    /// before.
    over: Mutex<bool>,
    /// Published by the ledger, when the job's end is counted.
    panicked: AtomicU64,
    panic_handler: Option<PanicHandler>,
    exporter: Exporter,
}

/// Who a worker thread of the crate's pool is. The crate has no start hook, so the pool's first jobs enlist its
/// threads; as no job's panic reaches a thread, these are its threads for good.
struct Worker {
    index: usize,
    records: Arc<Records>,
    pool: Weak<Wrapped>,
    /// Whether a job runs: what is given otherwise comes from the destructor of a thread-local, when the thread ends.
    at_work: Cell<bool>,
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
            ledger: Ledger::new(threads),
            over: Mutex::new(false),
            panicked: AtomicU64::new(0),
            panic_handler,
            exporter: Exporter::new(LABEL),
        });
        let wrapped = Arc::new(Wrapped { pool, records });
        // Each thread takes one of these jobs, as none ends before all have begun. Nobody else need wait for that: all
        // other jobs are behind them in the crate's one queue.
        let barrier = Arc::new(Barrier::new(threads));
        for index in 0..threads {
            let all_here = Arc::clone(&barrier);
            let worker = Worker {
                index,
                records: Arc::clone(&wrapped.records),
                pool: Arc::downgrade(&wrapped),
                at_work: Cell::new(false),
                orphans: RefCell::default(),
            };
            wrapped.pool.execute(move || {
                all_here.wait();
                local::settle(worker.records.id(), &ThisWorker);
                WORKER.with(|cell| assert!(cell.set(worker).is_ok(), "a thread belongs to one pool"));
            });
        }
        wrapped
    }

    /// Gives `closure` to the pool if it is open, or gives it back. A closed pool is asked whether it counts this one
    /// nevertheless.
    #[inline]
    fn deliver<F>(&self, closure: F, though_closed: impl FnOnce(&Records) -> bool) -> Result<(), F>
    where
        F: FnOnce() + Send + 'static,
    {
        let records = &*self.records;
        match self.this_worker() {
            Some(_) if records.discarding.load(SeqCst) => return Err(closure),
            Some(worker) => records.ledger.accept_inside(worker),
            None => {
                // Before the look at `closed`: who closes the pool and then sees nothing outstanding has seen all that
                // will ever be accepted from outside.
                records.ledger.accept_outside();
                if records.closed.load(SeqCst) {
                    records.ledger.strike();
                    if !though_closed(records) {
                        return Err(closure);
                    }
                }
            }
        }
        self.pool.execute(move || WORKER.with(|worker| worker.get().expect("enlisted by the first job").run(closure)));
        Ok(())
    }

    /// Which worker of this pool the current thread is, if it is one: then it runs one of its jobs.
    #[inline]
    fn this_worker(&self) -> Option<usize> {
        let of_this_pool = |worker: &&Worker| ptr::eq(&*worker.records, &*self.records);
        WORKER.try_with(|worker| worker.get().filter(of_this_pool).map(|worker| worker.index)).ok().flatten()
    }
}

impl Records {
    fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    fn over(&self) -> MutexGuard<'_, bool> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a step of a future that was accepted before, although the pool is closed: unless that has come to its
    /// end.
    fn accept_while_draining(&self) -> bool {
        let mut over = self.over();
        // Under the lock, so that two steps do not take each other for a reason to go on.
        *over = *over || self.ledger.outstanding() == 0;
        let accepted = !*over && !self.discarding.load(SeqCst);
        if accepted {
            self.ledger.accept_outside();
        }
        accepted
    }

    /// Declares the end of a closed pool, if nothing was let in at the last moment.
    fn is_over(&self) -> bool {
        let mut over = self.over();
        *over = *over || self.ledger.outstanding() == 0;
        *over
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The thread ends; the pool's address may be another's soon.
        local::move_out();
    }
}

/// Stands for the [`Worker`] of the thread that asks.
struct ThisWorker;

impl Attendant for ThisWorker {
    fn accept(&self, job: Job) -> bool {
        // A thread that ends has no worker any more.
        WORKER.try_with(|worker| worker.get().is_some_and(|worker| worker.accept(job))).unwrap_or(false)
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        let _ = WORKER.try_with(|worker| worker.get().map(|worker| worker.report(payload)));
    }

    fn help(&self, _part: usize) -> Help {
        let discards = |worker: &Worker| worker.records.discarding.load(SeqCst);
        let discards = WORKER.try_with(|worker| worker.get().is_some_and(discards));
        if discards.unwrap_or(false) { Help::Drop } else { Help::Run }
    }
}

impl Worker {
    /// Runs a job, and what it leaves to this worker.
    #[inline]
    fn run(&self, closure: impl FnOnce()) {
        self.at_work.set(true);
        self.run_one(closure);
        while let Some(orphan) = self.next_orphan() {
            self.run_one(|| orphan.run());
        }
        self.at_work.set(false);
    }

    #[inline]
    fn next_orphan(&self) -> Option<Job> {
        self.orphans.borrow_mut().pop_front()
    }

    #[inline]
    fn run_one(&self, closure: impl FnOnce()) {
        let Records { discarding, discarded, ledger, exporter, .. } = &*self.records;
        if discarding.load(SeqCst) {
            discarded.fetch_add(1, SeqCst);
            containment::discard(closure);
            ledger.strike();
            return;
        }
        if let Err(payload) = contain(closure) {
            self.report(&*payload);
            discard_payload(payload);
        }
        ledger.end(self.index, || self.pool.upgrade().is_some_and(|pool| pool.pool.queued_count() > 0));
        exporter.publish_after_job(
            self.index,
            ledger.workers(),
            |worker| ledger.ended_on(worker) as u64,
            || {
                // Of those who end the last jobs at the same time, the last here sees that all have ended.
                fence(SeqCst);
                ledger.outstanding()
            },
        );
    }

    fn accept(&self, job: Job) -> bool {
        match self.pool.upgrade() {
            Some(pool) => pool.deliver(move || job.run(), |_| false).map_err(containment::discard).is_ok(),
            None if !self.at_work.get() => {
                containment::discard(job);
                false
            }
            None => {
                self.records.ledger.accept_inside(self.index);
                self.orphans.borrow_mut().push_back(job);
                true
            }
        }
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        self.records.panicked.fetch_add(1, Relaxed);
        let place = format_args!("A job of {LABEL} on worker {}", self.index);
        containment::report(payload, place, self.records.panic_handler.as_ref());
    }
}

impl Handle {
    fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R> {
        let wrapped = Arc::downgrade(&self.0); // a suspended future does not keep the pool's threads
        let schedule = move |runnable| {
            let step = step(runnable);
            let refused = match wrapped.upgrade() {
                Some(wrapped) => wrapped.deliver(step, Records::accept_while_draining).err(),
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
}

impl Backing for Handle {
    const CLOSED_BEFORE: &str = "was already shut down!";

    fn name(&self) -> &str {
        LABEL
    }

    fn id(&self) -> PoolId {
        self.0.records.id()
    }

    #[inline]
    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), F> {
        self.0.deliver(closure, |_closed| false)
    }

    fn close(&self) -> bool {
        !self.0.records.closed.swap(true, SeqCst)
    }

    fn discard(&self) {
        self.0.records.discarding.store(true, SeqCst);
        self.close();
    }

    fn await_idle(&self, timeout: Option<Duration>) -> bool {
        self.0.records.ledger.await_quiet(timeout, || true)
    }

    fn await_end(&self, timeout: Duration) -> bool {
        self.0.records.ledger.await_quiet(Some(timeout), || self.0.records.is_over())
    }

    fn workers_left(&self) -> usize {
        self.0.pool.active_count()
    }

    fn report(&self) -> ShutdownReport {
        let records = &*self.0.records;
        let finished = records.ledger.ended() as u64;
        // Behind the end there are only those who have not heard of it.
        let outstanding = if *records.over() { 0 } else { records.ledger.outstanding() };
        // The crate still counts a job as active for a moment after its end.
        let running = self.0.pool.active_count().min(outstanding);
        ShutdownReport { running, queued: outstanding - running, finished, discarded: records.discarded.load(SeqCst) }
    }

    fn stats(&self) -> Stats {
        let ShutdownReport { finished: done, discarded, running, queued } = self.report();
        let workers = self.0.pool.max_count();
        Stats {
            workers,
            idle: workers - running,
            busy: running,
            queued,
            running,
            done,
            panicked: self.0.records.panicked.load(Relaxed),
            discarded,
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
