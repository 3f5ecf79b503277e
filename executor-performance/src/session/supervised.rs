//! Executors as a session lets them take their turns: an interrupt ends the trying out, and failures take no time from
//! the others.

use crate::{
    clock::{Clock, WallClock},
    experiment::{Subject, Turn},
    failure::Failure,
    interrupt::Interrupt,
    usage::Usage,
};
use std::{cell::Cell, fmt, rc::Rc, time::Duration};

/// What the executors of one run have in common. As a clock it shows the time of the run without that of turns that
/// failed: one executor that hangs for longer than the budget must not leave the others with the least number of
/// samples.
pub(super) struct Supervision {
    interrupt: Interrupt,
    trying: Cell<bool>,
    clock: WallClock,
    lost: Cell<Duration>,
}

impl Supervision {
    /// Of a run that begins now, with trying out.
    pub(super) fn begin(interrupt: Interrupt) -> Self {
        Supervision { interrupt, trying: Cell::new(true), clock: WallClock::start(), lost: Cell::new(Duration::ZERO) }
    }

    /// From now on samples are taken.
    pub(super) fn end_trying(&self) {
        self.trying.set(false);
    }

    /// The time since the run began, all of it.
    pub(super) fn whole_time(&self) -> Duration {
        self.clock.now()
    }

    /// Lets an executor take a turn, unless it is only tried out and an interrupt came. The sampler checks for
    /// interrupts itself, between turns, so a turn that it wants does not fail for that.
    fn take<S>(&self, turn: impl FnOnce() -> Result<S, Failure>) -> Result<S, Failure> {
        if self.trying.get() && self.interrupt.came() {
            return Err(Failure::Interrupted);
        }
        let began = self.clock.now();
        turn().inspect_err(|_| self.lost.set(self.lost.get() + (self.clock.now() - began)))
    }
}

impl Clock for Supervision {
    fn now(&self) -> Duration {
        self.clock.now() - self.lost.get()
    }
}

/// One of these executors.
pub(super) struct Supervised<T: Turn> {
    subject: Box<dyn Subject<T>>,
    supervision: Rc<Supervision>,
}

impl<T: Turn> Supervised<T> {
    pub(super) fn new(subject: Box<dyn Subject<T>>, supervision: &Rc<Supervision>) -> Self {
        Supervised { subject, supervision: Rc::clone(supervision) }
    }
}

impl<T: Turn> fmt::Debug for Supervised<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.subject.fmt(f)
    }
}

impl<T: Turn> Subject<T> for Supervised<T> {
    fn name(&self) -> &'static str {
        self.subject.name()
    }

    fn take(&self, turn: &T) -> Result<T::Sample, Failure> {
        self.supervision.take(|| self.subject.take(turn))
    }

    fn take_metered(&self, turn: &T) -> Result<(T::Sample, Usage), Failure> {
        self.supervision.take(|| self.subject.take_metered(turn))
    }

    fn renew(&self) {
        self.subject.renew();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Sample;
    use serde::{Deserialize, Serialize};
    use std::time::Instant;

    /// Does nothing.
    #[derive(Debug, Serialize, Deserialize)]
    struct Nothing;

    impl Turn for Nothing {
        type Sample = Nothing;
    }

    impl Sample for Nothing {
        fn cost(&self) -> f64 {
            1.0
        }
    }

    #[derive(Debug)]
    struct Obedient;

    impl Subject<Nothing> for Obedient {
        fn name(&self) -> &'static str {
            "obedient"
        }

        fn take(&self, _turn: &Nothing) -> Result<Nothing, Failure> {
            Ok(Nothing)
        }
    }

    #[test]
    fn an_interrupt_ends_the_trying_out_and_no_sample() {
        let interrupt = Interrupt::default();
        let supervision = Rc::new(Supervision::begin(interrupt.clone()));
        let subject = Supervised::new(Box::new(Obedient), &supervision);
        assert!(subject.take(&Nothing).is_ok());
        interrupt.come();
        assert!(matches!(subject.take(&Nothing), Err(Failure::Interrupted)));
        supervision.end_trying();
        assert!(subject.take(&Nothing).is_ok() && subject.take_metered(&Nothing).is_ok());
    }

    const LONG: Duration = Duration::from_millis(20);

    /// Takes its time, and fails if it is said so.
    #[derive(Debug)]
    struct Slow {
        fails: bool,
    }

    impl Subject<Nothing> for Slow {
        fn name(&self) -> &'static str {
            "slow"
        }

        fn take(&self, _turn: &Nothing) -> Result<Nothing, Failure> {
            let began = Instant::now();
            while began.elapsed() < LONG {
                std::thread::yield_now();
            }
            if self.fails { Err(Failure::Submission) } else { Ok(Nothing) }
        }
    }

    #[test]
    fn a_turn_that_fails_takes_no_time_from_the_others() {
        let began = Instant::now();
        let supervision = Rc::new(Supervision::begin(Interrupt::default()));
        let slow = |fails| Supervised::new(Box::new(Slow { fails }), &supervision);
        assert!(slow(true).take(&Nothing).is_err() && slow(true).take_metered(&Nothing).is_err());
        assert!(supervision.now() + 2 * LONG <= began.elapsed());
        assert!(slow(false).take(&Nothing).is_ok() && supervision.now() >= LONG);
        assert!(supervision.whole_time() >= 3 * LONG);
    }
}
