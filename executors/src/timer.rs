//! Jobs that are given to an executor later: once, or repeatedly.
//!
//! A [`Timer`] has one thread, which starts with the first job that is scheduled, and ends when no job is scheduled and
//! no handle to the timer is left. The thread only gives jobs to executors, so a job that takes long delays no other.
//! An executor that runs jobs in the thread that submits them, or blocks that thread, does delay others, such as
//! [`run_now`](crate::run_now), and full pools that were built with such a `Saturation` or `WhenBusy`.
//!
//! # Examples
//!
//! ```
//! use executors::{*, timer::Timer};
//! use executors::crossbeam_workstealing_pool::small_pool;
//! use std::{sync::mpsc::channel, time::Duration};
//!
//! let pool = small_pool(2);
//! let timer = Timer::shared();
//! let later = timer.after(Duration::from_millis(10), &pool, || "10 ms later")?;
//! assert_eq!(later.wait()?, "10 ms later");
//!
//! let (tell, told) = channel();
//! let beat = timer.at_fixed_rate(Duration::from_millis(5), &pool, move || tell.send("tick").unwrap())?;
//! assert_eq!(told.iter().take(3).collect::<Vec<_>>(), ["tick"; 3]);
//! assert!(beat.cancel());
//! pool.shutdown()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Times
//!
//! Times are monotonic, with the resolution of [`std::time::Instant`]. No job is given to its executor too early; how
//! late it starts depends on the operating system (usually well below a millisecond), and on how long the job then
//! waits in the executor. Any delay is possible, but a time beyond the range of the clock never comes: such a job keeps
//! its executor open, and the timer's thread alive, until it is cancelled. A period of 0 is a [`TimerError`].
//!
//! Whether time goes on while the machine is suspended is up to the system, as for `Instant`. On Linux and macOS it
//! does not: a job that is due in an hour comes up when the machine has been awake for an hour.
//!
//! # The end of an executor
//!
//! A scheduled job owns a handle to its executor: a pool that is not shut down stays open until the job's time, or
//! until the job is cancelled. A job that comes up when its executor is closed is dropped, with one `warn!`, and does
//! not come up again; nor does a job that its executor accepts, and drops when it is shut down at once
//! ([`shutdown_now`](crate::Pool::shutdown_now)). In these cases the handle of a job that was scheduled once reports
//! [`TaskError::Dropped`](crate::TaskError::Dropped), and [`Periodic::is_scheduled`] is false.
//!
//! The same happens to a job that was scheduled once if its executor is so full that it refuses the job, or discards it
//! for another. A repeated job only misses that time ([`Executor::may_accept_later`]).
//!
//! # The end of the process
//!
//! A timer does not keep the process alive: what is scheduled when `main` returns does not come up. Wait for the handle
//! of a job that must run.
//!
//! # Cost
//!
//! What is scheduled is in a search tree behind one lock. With `n` jobs scheduled, it takes a time of O(log `n`) to
//! schedule one more, to cancel one, and to give one to its executor. The thread is woken for a new job only if that is
//! due before all others.
//!
//! A job that is scheduled once takes two allocations. A repeated job takes one each time, and one more if it is larger
//! than four words, together with the handle to its executor. The tree allocates once for several jobs.
//!
//! # Tests
//!
//! [`Timer::manual`] gives a timer whose time advances when a test says so.

mod agenda;
mod clock;
mod periodic;

use self::{
    agenda::{Agenda, Key},
    clock::SystemClock,
    periodic::Rhythm,
};
pub use self::{clock::ManualClock, periodic::Periodic};
use crate::{
    backing::HUGE,
    common::Executor,
    local::Home,
    task::{TaskHandle, task},
};
use std::{
    error::Error,
    fmt, io,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

/// Gives jobs to executors later. See the [module](self).
///
/// Clones are handles to the same timer. Scheduled jobs stay scheduled when the last one is dropped.
pub struct Timer {
    agenda: Arc<Agenda>,
}

impl Timer {
    /// The timer that the whole process shares.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool, timer::Timer};
    /// use std::time::Duration;
    ///
    /// let pool = small_pool(1);
    /// let later = Timer::shared().after(Duration::from_millis(1), &pool, || "a millisecond later")?;
    /// assert_eq!(later.wait()?, "a millisecond later");
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shared() -> Timer {
        static SHARED: Mutex<Weak<Agenda>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agenda) = shared.upgrade() {
            return Timer::of(agenda);
        }
        let timer = Timer::new();
        *shared = Arc::downgrade(&timer.agenda);
        timer
    }

    /// A timer with a thread of its own, for executors that run jobs in that thread, or block it. For others
    /// [`shared`](Self::shared) is enough.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::{thread, time::Duration};
    ///
    /// let timer = Timer::new();
    /// let here = timer.after(Duration::from_millis(1), &RunNowExecutor::new(), || thread::current().id())?;
    /// assert_ne!(here.wait()?, thread::current().id(), "it is the timer's");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new() -> Timer {
        Timer::of(Arc::new(Agenda::new(Box::new(SystemClock::new()))))
    }

    /// A timer with a thread of its own whose time stands still, and the clock that advances it.
    ///
    /// What is scheduled when the last clone of the clock is dropped comes up no more: unless it is cancelled, it keeps
    /// its executor open and the timer's thread alive.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool, timer::Timer};
    /// use std::time::Duration;
    ///
    /// let pool = small_pool(1);
    /// let (timer, clock) = Timer::manual();
    /// let hour = Duration::from_secs(60 * 60);
    /// let later = timer.after(24 * hour, &pool, || "a day later")?;
    /// clock.advance(23 * hour);
    /// assert!(!later.is_finished());
    /// clock.advance(hour);
    /// assert_eq!(later.wait()?, "a day later");
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn manual() -> (Timer, ManualClock) {
        let hands = clock::Hands::default();
        let timer = Timer::of(Arc::new(Agenda::new(Box::new(hands.clone()))));
        let clock = ManualClock::new(hands, Arc::clone(&timer.agenda));
        (timer, clock)
    }

    fn of(agenda: Arc<Agenda>) -> Timer {
        agenda.take_handle();
        Timer { agenda }
    }

    /// Gives `job` to `executor` when `delay` has passed, and returns a handle to its result.
    ///
    /// The handle is like that of [`Pool::submit`](crate::Pool::submit), and can cancel the job until it begins. But
    /// because the executor cannot run the job before its time, waiting for it in a job blocks a worker. In the timer's
    /// own thread (in a job of [`run_now`](crate::run_now)) the wait would never end, because only that thread can give
    /// the job to its executor.
    ///
    /// With [`RunNowExecutor`](crate::run_now::RunNowExecutor) and a job that does nothing, the handle is a future that
    /// sleeps.
    ///
    /// # Errors
    ///
    /// [`TimerError::ThreadRefused`] if the timer's thread had to be started and could not be; `job` is dropped then.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool, timer::Timer};
    /// use std::time::Duration;
    ///
    /// let (pool, timer) = (small_pool(1), Timer::shared());
    /// let reminder = timer.after(Duration::from_secs(3600), &pool, || "time to go")?;
    /// assert!(reminder.cancel());
    /// assert!(matches!(reminder.wait(), Err(TaskError::Cancelled)));
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn after<E, F, T>(&self, delay: Duration, executor: &E, job: F) -> Result<TaskHandle<T>, TimerError>
    where
        E: Executor + 'static,
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if size_of::<F>() > HUGE {
            let boxed: Box<dyn FnOnce() -> T + Send> = Box::new(job);
            return self.after(delay, executor, boxed);
        }
        let appointment = Appointment { key: self.agenda.key(delay), agenda: Arc::clone(&self.agenda) };
        let (key, executor) = (appointment.key, executor.clone());
        let (job, handle) = task(Home::NOWHERE, move || {
            // Dropped when the handle cancels the job: that takes the entry off the agenda.
            drop(appointment);
            job()
        });
        self.agenda.enter(key, Box::new(move || executor.execute(job)))?;
        Ok(handle)
    }

    /// Gives `job` to `executor` repeatedly: after `period`, after twice `period`, and so on.
    ///
    /// The job does not overlap with itself: if it has not ended when its time comes, that time is skipped, and it runs
    /// again at the next multiple of `period` after its end. If it panics, its executor handles that as for any job,
    /// and the next time comes nevertheless. If the executor is full, the job misses that time; once it is closed, the
    /// job [does not come up again](self#the-end-of-an-executor).
    ///
    /// # Errors
    ///
    /// [`TimerError::ZeroPeriod`] if `period` is 0, [`TimerError::ThreadRefused`] if the timer's thread had to be
    /// started and could not be; `job` is dropped then.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let (timer, clock) = Timer::manual();
    /// let (sender, samples) = channel();
    /// let second = Duration::from_secs(1);
    /// let sampler = timer.at_fixed_rate(second, &RunNowExecutor::new(), move || _ = sender.send("a sample"))?;
    /// (0..3).for_each(|_| clock.advance(second));
    /// sampler.cancel();
    /// assert_eq!(samples.iter().count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at_fixed_rate<E, F>(&self, period: Duration, executor: &E, job: F) -> Result<Periodic, TimerError>
    where
        E: Executor + 'static,
        F: FnMut() + Send + 'static,
    {
        self.at_fixed_rate_after(period, period, executor, job)
    }

    /// [`at_fixed_rate`](Self::at_fixed_rate), but for the first time when `first` has passed, and then each `period`
    /// after that.
    ///
    /// # Errors
    ///
    /// As [`at_fixed_rate`](Self::at_fixed_rate).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let (timer, clock) = Timer::manual();
    /// let (sender, reports) = channel();
    /// let minute = Duration::from_secs(60);
    /// let report = move || _ = sender.send("a report");
    /// // At once, and then each minute.
    /// let reporter = timer.at_fixed_rate_after(Duration::ZERO, minute, &RunNowExecutor::new(), report)?;
    /// clock.advance(Duration::ZERO);
    /// (0..2).for_each(|_| clock.advance(minute));
    /// reporter.cancel();
    /// assert_eq!(reports.iter().count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at_fixed_rate_after<E, F>(
        &self,
        first: Duration,
        period: Duration,
        executor: &E,
        job: F,
    ) -> Result<Periodic, TimerError>
    where
        E: Executor + 'static,
        F: FnMut() + Send + 'static,
    {
        let start = self.agenda.now().saturating_add(first);
        self.repeat(start, Rhythm::Rate { start, period }, executor, job)
    }

    /// Gives `job` to `executor` when `delay` has passed, and again when `delay` has passed after each end of the job,
    /// by return or by panic.
    ///
    /// # Errors
    ///
    /// As [`at_fixed_rate`](Self::at_fixed_rate).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let (timer, clock) = Timer::manual();
    /// let (sender, answers) = channel();
    /// let second = Duration::from_secs(1);
    /// let poll = timer.with_fixed_delay(second, &RunNowExecutor::new(), move || _ = sender.send("an answer"))?;
    /// // Long overdue: it is polled once, and the next time a second after that.
    /// clock.advance(10 * second);
    /// clock.advance(second);
    /// assert!(poll.cancel());
    /// assert_eq!(answers.iter().count(), 2);
    ///
    /// let error = timer.with_fixed_delay(Duration::ZERO, &RunNowExecutor::new(), || ()).unwrap_err();
    /// assert!(error.to_string().contains("ask for at least 1 ns"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_fixed_delay<E, F>(&self, delay: Duration, executor: &E, job: F) -> Result<Periodic, TimerError>
    where
        E: Executor + 'static,
        F: FnMut() + Send + 'static,
    {
        self.with_fixed_delay_after(delay, delay, executor, job)
    }

    /// [`with_fixed_delay`](Self::with_fixed_delay), but for the first time when `first` has passed.
    ///
    /// # Errors
    ///
    /// As [`at_fixed_rate`](Self::at_fixed_rate).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let (timer, clock) = Timer::manual();
    /// let (sender, answers) = channel();
    /// let second = Duration::from_secs(1);
    /// let ask = move || _ = sender.send("an answer");
    /// let poll = timer.with_fixed_delay_after(second, 60 * second, &RunNowExecutor::new(), ask)?;
    /// clock.advance(second);
    /// clock.advance(60 * second);
    /// assert!(poll.cancel());
    /// assert_eq!(answers.iter().count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_fixed_delay_after<E, F>(
        &self,
        first: Duration,
        delay: Duration,
        executor: &E,
        job: F,
    ) -> Result<Periodic, TimerError>
    where
        E: Executor + 'static,
        F: FnMut() + Send + 'static,
    {
        self.repeat(self.agenda.now().saturating_add(first), Rhythm::Delay(delay), executor, job)
    }

    /// For the first time at `first`.
    fn repeat<E, F>(&self, first: Duration, rhythm: Rhythm, executor: &E, job: F) -> Result<Periodic, TimerError>
    where
        E: Executor + 'static,
        F: FnMut() + Send + 'static,
    {
        if rhythm.step().is_zero() {
            return Err(TimerError::ZeroPeriod);
        }
        if size_of::<F>() > HUGE {
            let boxed: Box<dyn FnMut() + Send> = Box::new(job);
            return self.repeat(first, rhythm, executor, boxed);
        }
        Periodic::begin(Arc::clone(&self.agenda), first, rhythm, executor.clone(), job)
    }
}

/// Takes a job off the agenda when it is dropped.
struct Appointment {
    key: Key,
    agenda: Arc<Agenda>,
}

impl Drop for Appointment {
    fn drop(&mut self) {
        self.agenda.strike(self.key);
    }
}

impl Clone for Timer {
    fn clone(&self) -> Self {
        Timer::of(Arc::clone(&self.agenda))
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.agenda.drop_handle();
    }
}

/// [`Timer::new`].
impl Default for Timer {
    fn default() -> Self {
        Timer::new()
    }
}

/// The shared state is behind a lock, under which no user code runs.
impl UnwindSafe for Timer {}
impl RefUnwindSafe for Timer {}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("scheduled", &self.agenda.len()).finish_non_exhaustive()
    }
}

/// Why a job could not be scheduled.
#[derive(Debug)]
#[non_exhaustive]
pub enum TimerError {
    /// A job was to be repeated with a period or delay of 0.
    ZeroPeriod,
    /// The operating system refused the timer's thread.
    ThreadRefused(io::Error),
}

impl fmt::Display for TimerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimerError::ZeroPeriod => {
                f.write_str("a job cannot be repeated with a period or delay of 0: ask for at least 1 ns")
            }
            TimerError::ThreadRefused(error) => write!(
                f,
                "the operating system refused the thread of the timer ({error}): end other threads, or raise the limit \
                 of the process"
            ),
        }
    }
}

impl Error for TimerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TimerError::ZeroPeriod => None,
            TimerError::ThreadRefused(error) => Some(error),
        }
    }
}
