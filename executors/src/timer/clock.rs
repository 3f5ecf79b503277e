//! The time of a timer.

use super::agenda::Agenda;
use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Where a timer gets its time from.
pub(crate) trait Clock: Send + Sync {
    /// The time since some fixed moment; it never goes back.
    fn now(&self) -> Duration;

    /// How long to wait, at most, for the clock to advance by `left`. `None` means until notified.
    fn patience(&self, left: Duration) -> Option<Duration>;
}

/// The time of the machine.
pub(crate) struct SystemClock(Instant);

impl SystemClock {
    pub(crate) fn new() -> Self {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn patience(&self, left: Duration) -> Option<Duration> {
        Some(left)
    }
}

/// The time of a test.
#[derive(Clone, Default)]
pub(crate) struct Hands(Arc<Mutex<Duration>>);

impl Hands {
    fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_add(by);
    }
}

impl Clock for Hands {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn patience(&self, _left: Duration) -> Option<Duration> {
        None
    }
}

/// Moves the time of a [`Timer::manual`](super::Timer::manual). Clones move the same time.
#[derive(Clone)]
pub struct ManualClock {
    hands: Hands,
    agenda: Arc<Agenda>,
}

impl ManualClock {
    pub(crate) fn new(hands: Hands, agenda: Arc<Agenda>) -> Self {
        ManualClock { hands, agenda }
    }

    /// Advances the time in one jump, and waits until all jobs that have become due have been given to their executors.
    ///
    /// A repeated job comes up only once in a jump, however far that is, because its next time is known only when it
    /// ends. Called in the timer's own thread (in a job of [`run_now`](crate::run_now)), this does not wait.
    ///
    /// Called elsewhere, it waits for ever if the timer's thread waits for the caller: in a job that an executor runs
    /// there, or for room in an executor that blocks its submitter, which only the caller can make.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{run_now::RunNowExecutor, timer::Timer};
    /// use std::time::Duration;
    ///
    /// let (timer, clock) = Timer::manual();
    /// let later = timer.after(Duration::from_secs(60), &RunNowExecutor::new(), || ())?;
    /// clock.advance(Duration::from_secs(59));
    /// assert!(!later.is_finished());
    /// clock.advance(Duration::from_secs(1));
    /// later.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn advance(&self, by: Duration) {
        self.agenda.change_and_catch_up(|| self.hands.advance(by));
    }

    /// The time since the timer was made.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::timer::Timer;
    /// use std::time::Duration;
    ///
    /// let (_timer, clock) = Timer::manual();
    /// clock.advance(Duration::from_secs(60));
    /// assert_eq!(clock.now(), Duration::from_secs(60));
    /// ```
    #[must_use]
    pub fn now(&self) -> Duration {
        self.hands.now()
    }
}

/// The shared state is behind locks, under which no user code runs.
impl UnwindSafe for ManualClock {}
impl RefUnwindSafe for ManualClock {}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.now()).finish_non_exhaustive()
    }
}
