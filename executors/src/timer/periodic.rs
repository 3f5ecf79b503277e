//! A job that comes up repeatedly.
//!
//! The job and its executor are in one place at a time: in a [`Stage`] while the job waits for its time, and in an
//! [`Occurrence`] from then until its end. So the job cannot overlap with itself. The lock of the stage is taken before
//! that of the agenda, never under it.

use super::{
    TimerError,
    agenda::{Agenda, Key},
};
use crate::{
    common::Executor,
    containment::{contain, discard, guard},
    local,
};
use std::{
    fmt, mem,
    panic::{RefUnwindSafe, UnwindSafe, resume_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// When a job comes up.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rhythm {
    /// At the multiples of `period` after `start`.
    Rate { start: Duration, period: Duration },
    /// That long after its last end.
    Delay(Duration),
}

impl Rhythm {
    pub(crate) fn step(self) -> Duration {
        match self {
            Rhythm::Rate { period: step, .. } | Rhythm::Delay(step) => step,
        }
    }

    /// The first time after `now`.
    fn next(self, now: Duration) -> Duration {
        match self {
            Rhythm::Rate { start, period } => {
                let into_period = now.saturating_sub(start).as_nanos() % period.as_nanos();
                now.saturating_add(period - from_nanos(into_period))
            }
            Rhythm::Delay(delay) => now.saturating_add(delay),
        }
    }
}

/// A duration of `nanos`, which are known to fit.
fn from_nanos(nanos: u128) -> Duration {
    const SECOND: u128 = 1_000_000_000;
    Duration::new((nanos / SECOND) as u64, (nanos % SECOND) as u32)
}

/// A handle to a job that a [`Timer`](super::Timer) repeats.
///
/// Dropping it lets the job go on; clones are handles to the same job.
#[derive(Clone)]
#[must_use = "dropping the handle lets the job go on for ever; call `detach` to say so"]
pub struct Periodic {
    job: Arc<dyn Cancel>,
}

impl Periodic {
    /// The job comes up at `first` for the first time.
    pub(crate) fn begin<E, F>(
        agenda: Arc<Agenda>,
        first: Duration,
        rhythm: Rhythm,
        executor: E,
        job: F,
    ) -> Result<Periodic, TimerError>
    where
        E: Executor + 'static,
        F: FnMut() + Send + 'static,
    {
        agenda.take_handle();
        let repeated = Arc::new(Repeated { agenda, rhythm, stage: Mutex::new(Stage::Given) });
        // As after a run, except that the timer's thread may be refused.
        repeated.schedule(first, Load { executor, job })?;
        Ok(Periodic { job: repeated })
    }

    /// Ends the repetition: the job does not begin again. Returns `false` if it had been cancelled or had come up for
    /// the last time before.
    ///
    /// A job that is running runs to its end. What the job owns is dropped at once if it is waiting for its time, and
    /// otherwise when its executor is done with it.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::time::Duration;
    ///
    /// let (timer, clock) = Timer::manual();
    /// let second = Duration::from_secs(1);
    /// let ticking = timer.at_fixed_rate(second, &RunNowExecutor::new(), || println!("tick"))?;
    /// clock.advance(second);
    /// assert!(ticking.cancel());
    /// clock.advance(second); // nothing is printed
    /// assert!(!ticking.cancel(), "it has been");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self) -> bool {
        self.job.cancel()
    }

    /// Whether the job will come up again: it was not cancelled, and its executor has not [dropped it for
    /// good](super#the-end-of-an-executor).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::time::Duration;
    ///
    /// let (timer, clock) = Timer::manual();
    /// let second = Duration::from_secs(1);
    /// let ticking = timer.with_fixed_delay(second, &RunNowExecutor::new(), || println!("tick"))?;
    /// assert!(ticking.is_scheduled());
    /// ticking.cancel();
    /// assert!(!ticking.is_scheduled());
    /// # let _ = clock;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_scheduled(&self) -> bool {
        self.job.is_scheduled()
    }

    /// Lets the job go on for ever.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::time::Duration;
    ///
    /// let (timer, clock) = Timer::manual();
    /// let second = Duration::from_secs(1);
    /// timer.at_fixed_rate(second, &RunNowExecutor::new(), || println!("tick"))?.detach();
    /// clock.advance(second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn detach(self) {}
}

/// The shared state is behind a lock, under which no user code runs.
impl UnwindSafe for Periodic {}
impl RefUnwindSafe for Periodic {}

impl fmt::Debug for Periodic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Periodic").field("scheduled", &self.is_scheduled()).finish_non_exhaustive()
    }
}

/// What a handle can do with a job whose type it does not know.
trait Cancel: Send + Sync {
    fn cancel(&self) -> bool;
    fn is_scheduled(&self) -> bool;
}

struct Repeated<E, F> {
    /// Held like by a handle until the job is [`Stage::Over`].
    agenda: Arc<Agenda>,
    rhythm: Rhythm,
    stage: Mutex<Stage<E, F>>,
}

struct Load<E, F> {
    executor: E,
    job: F,
}

enum Stage<E, F> {
    /// The job waits for its time.
    Scheduled(Key, Load<E, F>),
    /// Its executor has it.
    Given,
    /// Its executor has it, but it must not begin any more.
    Cancelled,
    /// It does not come up again.
    Over,
}

impl<E, F> Repeated<E, F> {
    fn stage(&self) -> MutexGuard<'_, Stage<E, F>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the job and gives up the hold on the agenda: the job is over. Not to be called under the lock.
    fn finish(&self, Load { executor, job }: Load<E, F>) {
        // One by one: if both panic in one drop, the process ends.
        discard(job);
        discard(executor);
        self.agenda.drop_handle();
    }
}

impl<E, F> Repeated<E, F>
where
    E: Executor + 'static,
    F: FnMut() + Send + 'static,
{
    /// Enters the next time of a job that has come up before.
    fn come_again(self: &Arc<Self>, load: Load<E, F>) {
        if let Err(error) = self.schedule(self.rhythm.next(self.agenda.now()), load) {
            // The agenda's thread was there all the time.
            unreachable!("{error}");
        }
    }

    /// Enters the next `time` of a job that is [`Stage::Given`]; ends a job that was cancelled.
    fn schedule(self: &Arc<Self>, time: Duration, load: Load<E, F>) -> Result<(), TimerError> {
        let mut stage = self.stage();
        let entered = if matches!(*stage, Stage::Given) {
            let key = self.agenda.key_at(time);
            let repeated = Arc::clone(self);
            // Under the lock, because otherwise a handle that cancels might not be able to strike it off yet.
            self.agenda.enter(key, Box::new(move || repeated.come_up())).map(|()| Some(key))
        } else {
            Ok(None)
        };
        if let Ok(Some(key)) = entered {
            *stage = Stage::Scheduled(key, load);
        } else {
            *stage = Stage::Over;
            drop(stage);
            self.finish(load);
        }
        entered.map(drop)
    }

    /// The job's time has come: gives it to its executor, unless it was cancelled just now.
    fn come_up(self: Arc<Self>) {
        let load = {
            let mut stage = self.stage();
            match mem::replace(&mut *stage, Stage::Given) {
                Stage::Scheduled(_key, load) => load,
                other => {
                    *stage = other;
                    return;
                }
            }
        };
        let occurrence = Occurrence { repeated: self, load: Some(load) };
        if let Some(executor) = occurrence.load.as_ref().map(|load| load.executor.clone()) {
            executor.execute(move || occurrence.take());
        }
    }
}

impl<E, F> Cancel for Repeated<E, F>
where
    E: Send,
    F: Send,
{
    fn cancel(&self) -> bool {
        let mut stage = self.stage();
        match mem::replace(&mut *stage, Stage::Over) {
            Stage::Scheduled(key, load) => {
                drop(stage);
                self.agenda.strike(key);
                self.finish(load);
                true
            }
            Stage::Given => {
                *stage = Stage::Cancelled;
                true
            }
            other => {
                *stage = other;
                false
            }
        }
    }

    fn is_scheduled(&self) -> bool {
        matches!(*self.stage(), Stage::Scheduled(..) | Stage::Given)
    }
}

/// The job while its executor has it. If this is dropped before the job was taken, it has not been accepted, or was
/// discarded, and is the last occurrence unless the executor was only full.
struct Occurrence<E, F>
where
    E: Executor + 'static,
    F: FnMut() + Send + 'static,
{
    repeated: Arc<Repeated<E, F>>,
    load: Option<Load<E, F>>,
}

impl<E, F> Occurrence<E, F>
where
    E: Executor + 'static,
    F: FnMut() + Send + 'static,
{
    fn take(mut self) {
        if !self.repeated.is_scheduled() {
            return;
        }
        let Some(mut load) = self.load.take() else { return };
        // A panic is reported before the next time is entered: the report may take long, and the job has not ended
        // before it has been made. (Executors of other crates report it afterwards: this thread passes it on to them.)
        let unreported = contain(|| (load.job)()).err().and_then(local::report_and_drop);
        self.repeated.come_again(load);
        if let Some(payload) = unreported {
            resume_unwind(payload);
        }
    }
}

impl<E, F> Drop for Occurrence<E, F>
where
    E: Executor + 'static,
    F: FnMut() + Send + 'static,
{
    fn drop(&mut self) {
        let Some(load) = self.load.take() else { return };
        let mut may_come_again = false;
        guard(|| may_come_again = load.executor.may_accept_later());
        if may_come_again {
            self.repeated.come_again(load);
        } else {
            *self.repeated.stage() = Stage::Over;
            self.repeated.finish(load);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_keeps_to_its_grid() {
        let rate =
            |start, period| Rhythm::Rate { start: Duration::from_nanos(start), period: Duration::from_nanos(period) };
        for (start, period, now, next) in
            [(5, 10, 5, 15), (5, 10, 14, 15), (5, 10, 15, 25), (5, 10, 999, 1005), (0, 1, 7, 8), (3, 7, 10, 17)]
        {
            assert_eq!(rate(start, period).next(Duration::from_nanos(now)), Duration::from_nanos(next), "{now}");
        }
    }

    #[test]
    fn long_periods_are_never_over() {
        let (start, now) = (Duration::from_secs(1), Duration::from_secs(5));
        assert_eq!(Rhythm::Rate { start, period: Duration::MAX }.next(now), Duration::MAX);
        assert_eq!(Rhythm::Delay(Duration::MAX).next(now), Duration::MAX);
        let period = Duration::MAX / 2;
        assert_eq!(Rhythm::Rate { start, period }.next(now), start + period);
    }
}
