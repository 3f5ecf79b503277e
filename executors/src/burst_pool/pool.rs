//! The pool that takes values.

use super::{
    BurstError, CHARTER,
    handle::{CrewHandle, Handle},
    recipe::BurstOptions,
    team::{Handler, Team},
};
use crate::{
    backing::{Backing, SHUTDOWN_PATIENCE},
    builder::{Build, Builder, sealed::Recipe},
    containment::Contained,
    crew::{Setup, Terms},
    error::{BuildError, BuildErrorKind, ShutdownError, ShutdownReport, WaitError},
    mailbox::Mailboxes,
    options::{MAX_THREADS, Options},
    parker,
    pool::Stats,
    source::mail::MailSource,
};
use std::{fmt, sync::Arc, time::Duration};

/// A pool of workers that handle values, each with a handler of its own. See the [module](super).
///
/// It cannot be cloned, unlike the handles of other pools. To send from several threads, spawn the workers first, which
/// needs unique access, and then share the pool by a reference or an `Arc`, which is all that sending needs.
///
/// When it is dropped, the pool closes, handles what it has accepted, and its threads end; the drop does not wait for
/// that, but [`shutdown`](Self::shutdown) does.
///
/// It ends like a [`Pool`](crate::Pool), with two differences. What is called `shutdown_async` there is
/// [`close`](Self::close) here. And [`shutdown`](Self::shutdown) returns a report or a typed error, and may follow a
/// close, after which that of an [`Executor`](crate::Executor) returns an error at once.
///
/// Handlers are dropped together: when the pool is dropped and what it has accepted has been handled (or discarded), by
/// the thread that comes last. So [`close`](Self::close), [`shutdown_timeout`](Self::shutdown_timeout) and
/// [`shutdown_now`](Self::shutdown_now) drop none.
#[must_use = "a pool that is dropped at once handles nothing"]
pub struct BurstPool<T> {
    handle: Handle<true>,
    team: Arc<Team<T>>,
}

impl<T> BurstPool<T> {
    /// A pool without workers: [`spawn`](Self::spawn) some.
    pub fn new() -> Self {
        Self::builder().build().expect("the defaults can be honoured anywhere")
    }

    /// Chooses names, hooks and policies. There is no number of threads to choose: each [`spawn`](Self::spawn) starts
    /// one.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::{BurstError, BurstPool, WhenBusy};
    ///
    /// let mut pool = BurstPool::builder().name("alarm").when_busy(WhenBusy::Refuse).build()?;
    /// assert_eq!(pool.send("too early"), Err(BurstError::NoWorkers("too early")));
    /// pool.spawn(|text| println!("{text}"));
    /// assert_eq!(pool.send("in time"), Ok(()));
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<Self> {
        Builder::new(BurstOptions::DEFAULT)
    }

    /// How many workers there are. None when the pool has ended.
    #[must_use]
    pub fn worker_count(&self) -> usize {
        self.handle.boxes().workers().min(self.handle.workers_left())
    }

    /// Blocks until the pool is idle: everything that it has accepted has been handled. Values that are sent before
    /// that moment prolong the wait.
    ///
    /// # Errors
    ///
    /// [`WaitError::FromWorker`] if called from a handler of this pool.
    pub fn join(&self) -> Result<(), WaitError> {
        self.handle.join(None)
    }

    /// Like [`join`](Self::join), for at most `timeout`.
    ///
    /// # Errors
    ///
    /// As `join`, and [`WaitError::TimedOut`].
    pub fn join_timeout(&self, timeout: Duration) -> Result<(), WaitError> {
        self.handle.join(Some(timeout))
    }

    /// Closes the pool: it accepts nothing more. What was accepted is still handled, and then the workers leave; this
    /// does not wait for that.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::{BurstError, BurstPool};
    ///
    /// let mut pool = BurstPool::new();
    /// pool.spawn(|value| println!("{value}"));
    /// pool.send(1)?;
    /// pool.close();
    /// assert_eq!(pool.send(2), Err(BurstError::Closed(2)));
    /// assert_eq!(pool.shutdown()?.finished, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        self.handle.close();
    }

    /// Closes the pool, and waits until what it has accepted has been handled and its workers have left, for at most
    /// five seconds.
    ///
    /// As in [`shutdown_timeout`](Self::shutdown_timeout), the limit does not cover the destructors of thread-locals.
    ///
    /// # Errors
    ///
    /// As [`shutdown_timeout`](Self::shutdown_timeout).
    pub fn shutdown(self) -> Result<ShutdownReport, ShutdownError> {
        self.shutdown_timeout(SHUTDOWN_PATIENCE)
    }

    /// Closes the pool, and waits until what it has accepted has been handled and its workers have left, for at most
    /// `timeout`.
    ///
    /// The limit does not cover the destructors of thread-locals that handlers have left on the pool's threads: once
    /// the workers are done, it waits for these, however long they take; but not if such a destructor calls it.
    ///
    /// # Errors
    ///
    /// [`ShutdownError::FromWorker`] if called from a handler of this pool, [`ShutdownError::TimedOut`] with a report
    /// of what is left. The pool is closed in either case.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{ShutdownError, burst_pool::BurstPool};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let mut pool = BurstPool::new();
    /// let (tell, told) = channel::<()>();
    /// pool.spawn(move |()| assert!(told.recv().is_err()));
    /// pool.send(())?;
    /// let result = pool.shutdown_timeout(Duration::from_millis(1));
    /// assert!(matches!(result, Err(ShutdownError::TimedOut { .. })), "the handler waits");
    /// drop(tell);
    /// assert_eq!(pool.shutdown_timeout(Duration::from_secs(60))?.finished, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown_timeout(&self, timeout: Duration) -> Result<ShutdownReport, ShutdownError> {
        self.handle.shutdown_timeout(timeout)
    }

    /// Closes the pool and drops every value that no handler has been called with. Does not wait for the handlers.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::BurstPool;
    /// use std::sync::mpsc::channel;
    ///
    /// let mut pool = BurstPool::new();
    /// let ((enter, entered), (tell, told)) = (channel(), channel::<()>());
    /// pool.spawn(move |value| {
    ///     enter.send(value).unwrap();
    ///     assert!(told.recv().is_err());
    /// });
    /// pool.send_all([1, 2, 3])?;
    /// assert_eq!(entered.recv(), Ok(1));
    /// assert_eq!(pool.shutdown_now().discarded, 2);
    /// drop(tell);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown_now(&self) -> ShutdownReport {
        self.handle.shutdown_now()
    }

    /// A snapshot of the pool's counters; values are its jobs.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::BurstPool;
    ///
    /// let mut pool = BurstPool::new();
    /// (0..2).for_each(|_| pool.spawn(|value| println!("{value}")));
    /// pool.send_all(0..10)?;
    /// pool.join()?;
    /// let stats = pool.stats();
    /// assert_eq!((stats.workers, stats.finished, stats.queued), (2, 10, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.handle.stats()
    }
}

impl<T: Send + 'static> BurstPool<T> {
    /// Starts a worker that calls `handler` with each value that it gets.
    ///
    /// A handler that panics is called again with the next value; the panic is caught, counted and reported like a
    /// job's.
    ///
    /// # Panics
    ///
    /// If the operating system refuses the thread, or the pool is closed (unless a handler calls this while it drains);
    /// [`try_spawn`](Self::try_spawn) returns an error instead.
    pub fn spawn<F: FnMut(T) + Send + 'static>(&mut self, handler: F) {
        self.try_spawn(handler).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Like [`spawn`](Self::spawn), but returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// If the operating system refuses the thread, there are too many threads, or the pool is closed (unless a handler
    /// calls this while it drains). The pool stays as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::BurstPool;
    ///
    /// let mut pool = BurstPool::new();
    /// pool.try_spawn(|text| println!("{text}"))?;
    /// pool.send("hello")?;
    /// pool.close();
    /// assert!(pool.try_spawn(|_| ()).is_err(), "it is too late for more workers");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_spawn<F: FnMut(T) + Send + 'static>(&mut self, handler: F) -> Result<(), BuildError> {
        let handler: Handler<T> = Contained::new(Box::new(handler));
        let (crew, boxes) = (&self.handle.crew, self.handle.boxes());
        if crew.is_closed_to_caller() {
            return Err(BuildErrorKind::ClosedToWorkers.into());
        }
        if boxes.workers() >= MAX_THREADS {
            return Err(BuildErrorKind::TooManyWorkers.into());
        }
        crew.seat_one(|seat| self.team.equip(seat, handler), |seat| self.team.strip(seat))?;
        // Only now that the worker exists: nothing may be dealt to a worker that might not come.
        boxes.add_worker();
        Ok(())
    }

    /// Sends `value` to the next idle worker in turn. If no worker is idle, the pool's [`WhenBusy`](super::WhenBusy)
    /// decides.
    ///
    /// Blocks only with [`WhenBusy::Block`](super::WhenBusy::Block).
    ///
    /// The value travels with a pointer. If both fit into [`INLINE_BYTES`](crate::INLINE_BYTES), as values of up to 32
    /// bytes do on a 64-bit system (unless they are aligned to more than `usize` is), no allocation is made for them;
    /// otherwise it is one. A mailbox allocates only when it grows.
    ///
    /// # Errors
    ///
    /// [`BurstError`] with the value inside.
    #[inline]
    pub fn send(&self, value: T) -> Result<(), BurstError<T>> {
        self.handle.offer(value, |value| self.handling(value))
    }

    /// Sends `value` to `worker`, whatever it has to do already. The pool must be open.
    #[cfg(feature = "compat-burst-pool")]
    pub(crate) fn send_to(&self, worker: usize, value: T) {
        self.handle.deal(self.handle.boxes().promise(worker), self.handling(value));
    }

    #[inline]
    fn handling(&self, value: T) -> impl FnOnce() + Send + use<T> {
        let team = Arc::clone(&self.team);
        move || team.handle(value)
    }

    /// Sends all `values`, as by [`send`](Self::send), up to the first that is not accepted. Returns how many were
    /// sent.
    ///
    /// Workers are woken as the values come in, as by single calls of `send`. If all were woken at the end, the first
    /// would wait for the last.
    ///
    /// # Errors
    ///
    /// [`BurstError`] with that value and all that follow it.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::burst_pool::{BurstError, BurstPool, WhenBusy};
    /// use std::sync::mpsc::channel;
    ///
    /// let mut pool = BurstPool::builder().when_busy(WhenBusy::Refuse).build()?;
    /// let (tell, told) = channel::<()>();
    /// pool.spawn(move |_value| assert!(told.recv().is_err()));
    /// assert_eq!(pool.send_all([1, 2, 3]), Err(BurstError::Busy(vec![2, 3])));
    /// drop(tell);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send_all<I: IntoIterator<Item = T>>(&self, values: I) -> Result<usize, BurstError<Vec<T>>> {
        let mut values = values.into_iter();
        let mut sent = 0;
        while let Some(value) = values.next() {
            self.send(value)
                .map_err(|error| error.map(|first| [first].into_iter().chain(values.by_ref()).collect()))?;
            sent += 1;
        }
        Ok(sent)
    }
}

impl<T> Default for BurstPool<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for BurstPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BurstPool")
            .field("workers", &self.worker_count())
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

impl<T> Build for BurstPool<T> {}

impl<T> Recipe for BurstPool<T> {
    type Extra = BurstOptions;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(mut options: Options, extra: BurstOptions) -> Result<Self, BuildError> {
        if options.threads.is_some() {
            let remedy = "call `spawn` once for each worker";
            return Err(BuildErrorKind::Unsupported { option: "threads", pool: "BurstPool", remedy }.into());
        }
        options.refuse_preheat("BurstPool", "leave it out: a thread starts with each `spawn`")?;
        options.prepare_for_any_number_of_threads(CHARTER.label, CHARTER.thread_name)?;
        let source = MailSource::new(Arc::new(Mailboxes::new(0)), extra.theft());
        let (terms, cold, parker) = (Terms::without_hiring(), 0..0, parker::for_bursts());
        let crew = CrewHandle::without_workers(Setup { terms, cold, source, parker, charter: CHARTER, options });
        Ok(BurstPool { handle: Handle::new(crew, extra.when_busy), team: Team::new() })
    }
}
