//! The result of a closure, or a future, that was submitted to a pool.
//!
//! A task keeps its work until a thread takes it to do it: a worker, when the task's job comes up, or the worker that
//! waits for the result before that. The second is what makes waiting inside a pool safe: a wait either runs the job
//! itself or waits for a job that has begun, so pools do not run out of workers by waiting.

#[cfg(feature = "_futures")]
mod block_on;
#[cfg(feature = "_futures")]
mod continuation;
#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    bell,
    containment::{contain, discard, guard},
    courtesy::Courtesy,
    error::{Panic, TaskError},
    local::{self, Home},
    sync::{
        Mutex, MutexGuard,
        thread::{self, Thread, ThreadId},
        thread_local,
    },
    trampoline::{self, Trampoline},
};
#[cfg(feature = "_futures")]
pub(crate) use block_on::block_on;
#[cfg(feature = "elastic-exec")]
pub(crate) use continuation::completion;
#[cfg(feature = "_futures")]
pub(crate) use continuation::continuation;
use std::{
    any::Any,
    fmt,
    future::Future,
    mem,
    panic::{RefUnwindSafe, UnwindSafe},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

/// The result of a closure given to [`Pool::submit`](crate::Pool::submit), or of a future given to
/// [`FuturesExecutor::submit_future`](crate::FuturesExecutor::submit_future).
///
/// Wait for it by blocking ([`wait`](Self::wait), [`wait_timeout`](Self::wait_timeout)) or by `.await`: the handle is a
/// future of the same result. Dropping the handle lets the job run on, unobserved.
///
/// # Waiting inside a pool
///
/// A job may wait for another job of the same pool. If that job has not begun, the waiting worker runs it itself; if it
/// has, the worker blocks until its end. So jobs that wait for jobs never deadlock for lack of workers, and a wait runs
/// no job but the one that it waits for. (A free worker is needed for a job of another subpool of a dispatcher, which
/// must have room, or, if that one is bound to a thread, that thread; for a job of a timer; for a future that has begun
/// and is suspended; and for whatever is awaited by a future that the waiting worker itself polls to its end, because
/// it had not begun: `await` these instead. Jobs that wait for each other in a circle wait for ever, as threads would.)
/// After [`shutdown_now`](crate::Pool::shutdown_now) a job that has not begun is dropped instead, and the wait reports
/// [`TaskError::Dropped`].
///
/// A job that a waiter runs is nested on the waiter's stack. So a chain of jobs, each of which waits for the one before
/// and none of which has begun, takes stack for each: the 2 MiB that a thread has by default have room for some 3,500
/// small jobs (some 750 in a debug build), and the process ends when the stack overflows. Await such handles in
/// futures (`FuturesExecutor::submit_future`), which hold no stack while they wait, or ask for a larger
/// [`stack_size`](crate::Builder::stack_size).
///
/// All this is about `wait` and `wait_timeout`. Polling the handle as a future never runs the job, so
/// `block_on(handle)` in a job blocks a worker until another worker has run it.
///
/// # Examples
///
/// ```
/// use executors::*;
/// use executors::crossbeam_workstealing_pool::small_pool;
///
/// let pool = small_pool(2);
/// let blocked_for = pool.submit(|| 6 * 7).wait();
/// let awaited = futures::executor::block_on(async { pool.submit(|| 6 * 7).await });
/// assert_eq!((blocked_for.unwrap(), awaited.unwrap()), (42, 42));
/// pool.shutdown().unwrap();
/// ```
#[must_use = "dropping the handle lets the job run unobserved; call `detach` to say so"]
pub struct TaskHandle<T> {
    task: Arc<dyn Outcome<T>>,
    home: Home,
}

/// Makes a task of `closure`: the job to give to its `home`, and the handle to its result.
pub(crate) fn task<F, T>(home: Home, closure: F) -> (impl FnOnce() + Send + 'static, TaskHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    task_of(home, Call(closure))
}

fn task_of<W>(home: Home, work: W) -> (impl FnOnce() + Send + 'static, TaskHandle<W::Output>)
where
    W: Work<Output: Send> + Send + 'static,
{
    let task = Task::new(work);
    let ticket = Ticket(Some(Arc::clone(&task)));
    (move || ticket.redeem(), TaskHandle { task, home })
}

impl<T> TaskHandle<T> {
    /// Blocks until the job has ended and returns what it returned.
    ///
    /// Before it sleeps, the thread yields its core a few times, for about as long as a wake-up takes: a short job may
    /// end meanwhile, and then neither its worker nor this thread has to be woken for the next.
    ///
    /// # Errors
    ///
    /// [`TaskError::Panicked`] with the payload, [`TaskError::Cancelled`], [`TaskError::Dropped`] if the pool refused
    /// the job because it was closed or full, or discarded it later, or [`TaskError::WouldDeadlock`] if the caller is
    /// the job itself (a future only in its first step: in a later one it waits for itself for ever).
    ///
    /// If the job was cancelled or dropped before it began, what it owns may still be there when this returns: a
    /// destructor may wait for the thread that waits here.
    ///
    /// # Panics
    ///
    /// If the handle was polled as a future and has returned the result already.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    ///
    /// let pool = small_pool(2);
    /// assert_eq!(pool.submit(|| 6 * 7).wait()?, 42);
    /// let failed = pool.submit(|| -> u32 { panic!("no such luck") }).wait();
    /// assert_eq!(failed.unwrap_err().to_string(), "the job panicked: no such luck");
    /// # Ok::<(), TaskError>(())
    /// ```
    pub fn wait(self) -> Result<T, TaskError> {
        match self.wait_until(None) {
            Some(result) => result,
            None => unreachable!("without a deadline a wait ends with a result"),
        }
    }

    /// [`wait`](Self::wait) for at most `timeout`.
    ///
    /// A worker that waits for a job of its own pool which has not begun runs that job, and is then not bound by the
    /// timeout.
    ///
    /// # Errors
    ///
    /// The handle, if the job has not ended in time; wait again, or drop it.
    ///
    /// # Panics
    ///
    /// If the handle was polled as a future and has returned the result already.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let (pool, (tell, told)) = (small_pool(2), channel());
    /// let handle = pool.submit(move || told.recv());
    /// let handle = handle.wait_timeout(Duration::from_millis(1)).expect_err("no thread has told it anything");
    /// tell.send(7)?;
    /// assert_eq!(handle.wait_timeout(Duration::from_secs(60)).expect("in time")?, Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_timeout(self, timeout: Duration) -> Result<Result<T, TaskError>, Self> {
        // A timeout beyond the range of the clock is none.
        self.wait_until(bell::deadline(timeout)).ok_or(self)
    }

    /// Whether the job has ended, or will never begin.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Keeps the job from running if it has not begun; what its closure owns is dropped at once.
    ///
    /// Returns whether that succeeded; then a wait reports [`TaskError::Cancelled`]. A job that has begun runs on.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::sync::mpsc::channel;
    ///
    /// let (pool, (open, gate), (tell, told)) = (small_pool(1), channel::<()>(), channel());
    /// let runs = pool.submit(move || {
    ///     tell.send(()).unwrap();
    ///     gate.recv().is_err()
    /// });
    /// told.recv()?;
    /// let waits = pool.submit(|| ());
    /// assert!(waits.cancel());
    /// assert!(matches!(waits.wait(), Err(TaskError::Cancelled)));
    /// assert!(!runs.cancel(), "it has begun");
    /// drop(open);
    /// assert_eq!(runs.wait()?, true);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self) -> bool {
        self.task.cancel()
    }

    /// Lets the job run unobserved. If its result is there already, it is dropped here; a panic in its `Drop` is
    /// caught.
    pub fn detach(self) {
        self.drop_result();
    }

    /// Whether the job is a future: it may wait for other jobs without running them.
    pub(crate) fn awaits(&self) -> bool {
        self.task.awaits()
    }

    /// In a job of the same pool: runs the job if it has not begun.
    pub(crate) fn help(&self) {
        local::help(self.home, || self.task.run_if_queued(), || self.task.drop_if_queued());
    }

    /// Drops the result if it is there already. Dropping the handle does so only with the task, which the pool keeps
    /// until the job's turn comes, even if the job [has run](Self::help).
    pub(crate) fn drop_result(&self) {
        self.task.drop_result();
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Option<Result<T, TaskError>> {
        self.help();
        if let Poll::Ready(result) = self.task.poll(None) {
            return Some(result);
        }
        let (mut courtesy, mut now) = (Courtesy::new(), Instant::now());
        while courtesy.grants_yield(now, deadline) {
            now = courtesy.yields(now);
            if let Poll::Ready(result) = self.task.poll(None) {
                courtesy.has_come();
                return Some(result);
            }
        }
        loop {
            if let Poll::Ready(result) = self.task.poll(Some(Waiter::Thread(thread::current()))) {
                return Some(result);
            }
            if self.task.runs_on(thread::current().id()) {
                return Some(Err(TaskError::WouldDeadlock));
            }
            match deadline {
                None => {
                    courtesy.sleeps();
                    thread::park();
                }
                Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                    Some(left) if !left.is_zero() => {
                        courtesy.sleeps();
                        thread::park_timeout(left);
                    }
                    _ => return None,
                },
            }
        }
    }
}

/// # Panics
///
/// `poll` panics if it has returned the result before.
impl<T> Future for TaskHandle<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.task.poll(Some(Waiter::Future(context.waker().clone())))
    }
}

/// A panic elsewhere leaves the result as it is, or is the result.
impl<T> UnwindSafe for TaskHandle<T> {}
impl<T> RefUnwindSafe for TaskHandle<T> {}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle").field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// What waits for the result.
enum Waiter {
    /// A thread that blocks in a wait.
    Thread(Thread),
    /// A future that awaits the handle.
    Future(Waker),
}

impl Waiter {
    fn wake(self) {
        match self {
            Waiter::Thread(thread) => thread.unpark(),
            Waiter::Future(waker) => guard(|| waker.wake()),
        }
    }

    /// [`wake`](Self::wake) for a task that was dropped.
    ///
    /// The waker may be that of another executor, which drops the future there and then, with the task whose work it
    /// is, and so on along a chain of any length. A thread is told at once.
    fn wake_after_drop(self) {
        match self {
            Waiter::Thread(thread) => thread.unpark(),
            Waiter::Future(waker) => trampoline::run(&TO_BE_WOKEN, waker, |waker| guard(|| waker.wake())),
        }
    }
}

thread_local! {
    /// See [`Waiter::wake_after_drop`].
    static TO_BE_WOKEN: Trampoline<Waker> = const { Trampoline::new() };
}

/// What a task has to do. The thread that takes it out of the task does it.
trait Work {
    /// Whether it is a future, which may wait for other jobs without running them.
    const AWAITS: bool = false;

    type Output;

    fn run(self) -> Self::Output;
}

/// The work of a closure.
struct Call<F>(F);

impl<F: FnOnce() -> T, T> Work for Call<F> {
    type Output = T;

    fn run(self) -> T {
        (self.0)()
    }
}

/// Work and then its result, shared by the job in the queue and the handle.
struct Task<W: Work>(Mutex<Status<W>>);

struct Status<W: Work> {
    stage: Stage<W>,
    waiter: Option<Waiter>,
}

enum Stage<W: Work> {
    /// The work is here; the thread that takes it does it.
    Queued(W),
    /// The work is being done: by that thread, or, once it was suspended, by none that is known.
    Running(Option<ThreadId>),
    /// The result is here, for the handle to take.
    Done(Result<W::Output, TaskError>),
    /// The handle has taken the result.
    Taken,
}

impl<W: Work> Task<W> {
    fn new(work: W) -> Arc<Self> {
        Arc::new(Task(Mutex::new(Status { stage: Stage::Queued(work), waiter: None })))
    }

    fn status(&self) -> MutexGuard<'_, Status<W>> {
        // No foreign code runs under this lock (wakers are cloned before and dropped after), so a panic cannot leave
        // the status half-changed, and no thread can come back here while it holds the lock.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes the work out, leaving `next`. Returns `None`, and changes nothing, if it is not here any more.
    fn take_work(&self, next: Stage<W>) -> Option<(W, Option<Waiter>)> {
        let mut status = self.status();
        // Looked at first: the work, or the result, may be large, and is moved only to leave.
        if !matches!(status.stage, Stage::Queued(_)) {
            return None;
        }
        let ends = matches!(next, Stage::Done(_));
        let Stage::Queued(work) = mem::replace(&mut status.stage, next) else { unreachable!("it was queued") };
        Some((work, if ends { status.waiter.take() } else { None }))
    }

    /// Takes the work out to do it on this thread, unless it has been taken before.
    fn begin(&self) -> Option<W> {
        Some(self.take_work(Stage::Running(Some(thread::current().id())))?.0)
    }

    /// Does the work here, unless it has been taken before.
    fn run(&self) {
        if let Some(work) = self.begin() {
            let waiter = self.end(contain(|| work.run()).map_err(panicked));
            waiter.into_iter().for_each(Waiter::wake);
        }
    }

    /// The work that was taken out has ended. Returns what waits, if there is anything.
    fn end(&self, result: Result<W::Output, TaskError>) -> Option<Waiter> {
        let mut status = self.status();
        status.stage = Stage::Done(result);
        status.waiter.take()
    }

    /// The future that was taken out is pending, and no thread polls it.
    fn suspend(&self) {
        self.status().stage = Stage::Running(None);
    }

    /// Ends the task without running it, unless it has begun, and wakes its waiter by `tell`. Returns whether it has
    /// ended it.
    fn end_unrun(&self, why: TaskError, tell: fn(Waiter)) -> bool {
        match self.take_work(Stage::Done(Err(why))) {
            Some((work, waiter)) => {
                // Before the work is dropped: its destructor may wait for the thread that waits for the result.
                waiter.into_iter().for_each(tell);
                discard(work);
                true
            }
            None => false,
        }
    }
}

/// A result that was not taken is dropped here: by the worker if the handle is gone, otherwise by the thread that drops
/// the handle. A panic in its `Drop` counts neither as a second panic of the job nor as a panic of that thread.
impl<W: Work> Drop for Task<W> {
    fn drop(&mut self) {
        let status = self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !matches!(status.stage, Stage::Taken) {
            discard(mem::replace(&mut status.stage, Stage::Taken));
        }
        if let Some(waiter) = status.waiter.take() {
            discard(waiter);
        }
    }
}

/// Reports the panic of a job to its pool.
pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> TaskError {
    local::report(&*payload);
    TaskError::Panicked(Panic::new(payload))
}

/// What a handle can do with a task whose work it does not know.
trait Outcome<T>: Send + Sync {
    /// If the result is not there yet, `waiter` replaces the former one; `None` leaves that as it is.
    fn poll(&self, waiter: Option<Waiter>) -> Poll<Result<T, TaskError>>;
    /// Whether its work may wait for other jobs without running them.
    fn awaits(&self) -> bool;
    fn run_if_queued(&self);
    fn drop_if_queued(&self);
    fn drop_result(&self);
    fn cancel(&self) -> bool;
    fn is_finished(&self) -> bool;
    fn runs_on(&self, thread: ThreadId) -> bool;
}

impl<W> Outcome<W::Output> for Task<W>
where
    W: Work<Output: Send> + Send,
{
    fn poll(&self, waiter: Option<Waiter>) -> Poll<Result<W::Output, TaskError>> {
        let former = {
            let mut status = self.status();
            if !matches!(status.stage, Stage::Queued(_) | Stage::Running(_)) {
                let stage = mem::replace(&mut status.stage, Stage::Taken);
                drop(status);
                waiter.into_iter().for_each(discard);
                let Stage::Done(result) = stage else {
                    panic!("a TaskHandle was polled again after it had given its result");
                };
                return Poll::Ready(result);
            }
            if waiter.is_some() { mem::replace(&mut status.waiter, waiter) } else { None }
        };
        former.into_iter().for_each(discard);
        Poll::Pending
    }

    fn awaits(&self) -> bool {
        W::AWAITS
    }

    fn run_if_queued(&self) {
        self.run();
    }

    fn drop_if_queued(&self) {
        self.end_unrun(TaskError::Dropped, Waiter::wake_after_drop);
    }

    fn drop_result(&self) {
        let mut status = self.status();
        if matches!(status.stage, Stage::Done(_)) {
            let result = mem::replace(&mut status.stage, Stage::Taken);
            drop(status);
            discard(result);
        }
    }

    fn cancel(&self) -> bool {
        self.end_unrun(TaskError::Cancelled, Waiter::wake)
    }

    fn is_finished(&self) -> bool {
        matches!(self.status().stage, Stage::Done(_) | Stage::Taken)
    }

    fn runs_on(&self, thread: ThreadId) -> bool {
        matches!(self.status().stage, Stage::Running(Some(runner)) if runner == thread)
    }
}

/// The right to run a task, held by the job in the queue. If dropped unredeemed, it ends the task.
struct Ticket<W: Work>(Option<Arc<Task<W>>>);

impl<W: Work> Ticket<W> {
    fn redeem(mut self) {
        if let Some(task) = self.0.take() {
            task.run();
        }
    }
}

impl<W: Work> Drop for Ticket<W> {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.end_unrun(TaskError::Dropped, Waiter::wake_after_drop);
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::{sync::mpsc, task::Wake};

    /// A waker that does something once.
    struct Does(Mutex<Option<Box<dyn FnOnce() + Send>>>);

    impl Wake for Does {
        fn wake(self: Arc<Self>) {
            let does = self.0.lock().expect("no panic under this lock").take();
            does.into_iter().for_each(|act| act());
        }
    }

    /// Each wake-up drops the next job. What the last one owns waits for the thread that waits for its result.
    #[test]
    fn a_blocked_thread_is_told_however_deep_the_drop_is() {
        const PATIENCE: Duration = Duration::from_secs(60);

        struct Waits(mpsc::Receiver<()>);

        impl Drop for Waits {
            fn drop(&mut self) {
                self.0.recv_timeout(PATIENCE).expect("the thread is told first");
            }
        }

        // Up to more than a trampoline nests.
        for depth in 0..40 {
            let (tell, told) = mpsc::channel();
            let waits = Waits(told);
            let (last, result) = task(Home::NOWHERE, move || {
                let _owned = &waits;
            });
            let (wait, waits_now) = mpsc::channel();
            let waiter = std::thread::spawn(move || {
                assert!(result.task.poll(Some(Waiter::Thread(thread::current()))).is_pending());
                wait.send(()).expect("the test goes on");
                let is_dropped = matches!(result.wait(), Err(TaskError::Dropped));
                tell.send(()).expect("the destructor waits");
                is_dropped
            });
            waits_now.recv().expect("it is registered");
            let mut drop_all: Box<dyn FnOnce() + Send> = Box::new(move || drop(last));
            for _ in 0..depth {
                let (job, mut handle) = task(Home::NOWHERE, || ());
                let waker = Waker::from(Arc::new(Does(Mutex::new(Some(drop_all)))));
                assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
                drop_all = Box::new(move || {
                    let _handle = handle;
                    drop(job);
                });
            }
            drop_all();
            assert!(waiter.join().expect("no panic"));
        }
    }
}
