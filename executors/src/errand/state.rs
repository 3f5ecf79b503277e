//! Who has the future of an errand, and how many may refer to the errand.
//!
//! A word with four flags, and a count of references: one of each waker, and one of the step, if there is one.
//!
//! - *BUSY*: there is a step, in a queue or running. The future is its own.
//! - *WOKEN*: a waker was used while there was a step.
//! - *LOST*: the step is the last one, because there is no waker any more.
//! - *OVER*: there is no future any more.
//!
//! | what happens | before | after |
//! |---|---|---|
//! | **W1** a waker is used | neither BUSY nor OVER | BUSY; the thread that has set it has the step, and puts it |
//! | **W2** | BUSY | WOKEN |
//! | **B** a step begins | WOKEN | not WOKEN |
//! | **B** | LOST | the same: the step is dropped, and the future with it |
//! | **E0** the future is pending, and has woken itself | BUSY | the same, unseen: the step is put again |
//! | **E1** the future is pending | WOKEN | the same: the step is put again |
//! | **E2** | not WOKEN, and there are wakers | not BUSY: it sleeps |
//! | **E3** | not WOKEN, and there are no wakers | the same: the step is dropped, and the future with it |
//! | **D** a step is dropped | BUSY | OVER, not BUSY; or the errand is freed, if nobody else can look |
//! | **L** the last waker is dropped | neither BUSY nor OVER | BUSY and LOST; that thread puts the step |
//!
//! All changes of a word that others may see are read-modify-writes.
//!
//! - *No wake-up is lost.* W2 leaves WOKEN, and only B takes that away, which a poll follows. E2 fails if WOKEN is set,
//!   because it is an exchange. W1 puts a step.
//! - *A poll sees what was written before a wake-up that it answers.* After W1 through the queue in which the step is
//!   put. W2 is a release, also if WOKEN is set already, and B, which takes it away, an acquire: it reads W2 or a later
//!   change, all of which continue the release sequence of W2.
//! - *A step sees what the one before it did.* If it was put again, through the queue. Otherwise E2 is a release, and
//!   W1 or L, one of which follows, an acquire.
//! - *The errand is freed once, and by the last.* The count is that of an [`Arc`](std::sync::Arc): giving up a
//!   reference is a release, and an acquire for the last to do so. A step that finds its own reference alone is the
//!   last, without giving it up: only a step or a waker could make another.
//!
//! The models in `errand/model.rs` fail if E2 does not look for WOKEN, or is no release; if B does not take WOKEN away
//! by an acquire; if W1 is no acquire, W2 no release, or none where WOKEN is set already; if D does not acquire, or
//! giving up a reference is no release, or that of the last no acquire; if L does not set LOST; and if a step is put by
//! a thread that is not here, and nothing keeps the site.

use crate::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::process;

pub(super) struct State(AtomicUsize);

const BUSY: usize = 1;
const WOKEN: usize = 2;
const LOST: usize = 4;
const OVER: usize = 8;
const REFERENCE: usize = 16;

/// What a waker has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Woken {
    /// There was no step. There is one now, and the caller has it.
    Asleep,
    /// There is a step.
    Busy,
    /// There is no future any more.
    Over,
}

/// What follows a step that has left its future pending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pause {
    /// The same step once more: the future was woken meanwhile.
    Woken,
    /// Nothing, until a waker is used. The step's reference is given up.
    Asleep,
    /// Nothing for ever: there is no waker. The step is still there.
    Lost,
}

/// What is left when a waker has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Left {
    /// A step or other wakers.
    Others,
    /// Only the future, which can never go on. There is a step now for dropping it, and the caller has that.
    Future,
    /// Not even that.
    Nobody,
}

impl State {
    /// With a step, and no waker.
    pub(super) fn new() -> Self {
        State(AtomicUsize::new(BUSY | REFERENCE))
    }

    /// B. Returns whether the future is to be polled; otherwise the step only drops it.
    #[inline(always)]
    pub(super) fn begin_step(&self) -> bool {
        // Relaxed: whoever has put the step has seen LOST before that, and a wake-up that is not seen yet will be by a
        // later look.
        let now = self.0.load(Relaxed);
        if now & WOKEN != 0 {
            self.0.fetch_and(!WOKEN, Acquire);
        }
        now & LOST == 0
    }

    /// E1 to E3. (At E0 nobody asks.)
    #[inline(always)]
    pub(super) fn end_step(&self) -> Pause {
        // Relaxed: after E1 the next step looks again, and after E3 that which drops the future.
        let mut now = self.0.load(Relaxed);
        loop {
            if now & WOKEN != 0 {
                return Pause::Woken;
            }
            if now == BUSY | REFERENCE {
                return Pause::Lost;
            }
            match self.0.compare_exchange_weak(now, now - BUSY - REFERENCE, Release, Relaxed) {
                Ok(_) => return Pause::Asleep,
                Err(other) => now = other,
            }
        }
    }

    /// D. Returns whether the caller has to free the errand.
    #[inline]
    pub(super) fn end(&self) -> bool {
        if self.0.load(Acquire) & !(WOKEN | LOST) == BUSY | REFERENCE {
            return true;
        }
        // If this reference was not the last one, another thread may free the state from now on.
        self.0.fetch_sub(BUSY + REFERENCE - OVER, AcqRel) / REFERENCE == 1
    }

    /// W1 or W2, by a waker that is kept: a new step gets a reference of its own.
    #[inline]
    pub(super) fn wake(&self) -> Woken {
        self.wake_by(|now| now + BUSY + REFERENCE, |now| now | WOKEN)
    }

    /// W1 or W2, by a waker that is used up: a new step gets its reference, or that is given up, but not if the errand
    /// is over.
    #[inline]
    pub(super) fn wake_and_give_up(&self) -> Woken {
        // There is the reference of the step.
        self.wake_by(|now| now + BUSY, |now| (now | WOKEN) - REFERENCE)
    }

    #[inline(always)]
    fn wake_by(&self, asleep: impl Fn(usize) -> usize, busy: impl Fn(usize) -> usize) -> Woken {
        let mut now = self.0.load(Relaxed);
        loop {
            let (after, found) = match now {
                _ if now & OVER != 0 => return Woken::Over,
                _ if now & BUSY != 0 => (busy(now), Woken::Busy),
                _ => (asleep(now), Woken::Asleep),
            };
            match self.0.compare_exchange_weak(now, after, AcqRel, Relaxed) {
                Ok(_) => return found,
                Err(other) => now = other,
            }
        }
    }

    /// There is one more waker.
    #[inline]
    pub(super) fn share(&self) {
        // Relaxed: the caller has a reference.
        let before = self.0.fetch_add(REFERENCE, Relaxed);
        // As in the standard library's `Arc`: so many can only be leaked, and one too few would be unsound.
        if before > usize::MAX / 2 {
            process::abort();
        }
    }

    /// There is one waker less. (Maybe L.)
    #[inline]
    pub(super) fn lose(&self) -> Left {
        let before = self.0.fetch_sub(REFERENCE, AcqRel);
        if before / REFERENCE > 1 {
            // Another thread may free the state from now on.
            return Left::Others;
        }
        if before & OVER != 0 {
            return Left::Nobody;
        }
        // Nobody else knows of the errand. The queue tells the thread that runs the step.
        self.0.store(BUSY | LOST | REFERENCE, Relaxed);
        Left::Future
    }
}
