//! Queues of jobs: one for each worker, and one for jobs from everywhere; and turns for workers that take from the same
//! one. How they are used together, and what their models show, is in `queue/README.md`.

mod biased_lock;
mod block;
mod huge_page;
pub(crate) mod lane;
pub(crate) mod lanes;
mod presence;
pub(crate) mod privilege;
mod reservation;
pub(crate) mod ring;
pub(crate) mod single;
#[cfg(feature = "_stealing")]
pub(crate) mod stack;
pub(crate) mod tenure;

use crate::sync::thread;
use crossbeam_utils::Backoff;

/// Places in a queue from `next` to before `tail`: what is there that has not been taken.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    next: u32,
    tail: u32,
}

impl Span {
    pub(crate) fn len(self) -> usize {
        (self.tail.wrapping_sub(self.next) as usize).min(ring::MAX_SIZE)
    }

    /// Whether there are any, and the first of these is also the first of `others`.
    pub(crate) fn begins_as(self, others: Self) -> bool {
        self.len() > 0 && self.has_not_moved_since(others)
    }

    /// Whether none has been taken since it was `before`.
    pub(crate) fn has_not_moved_since(self, before: Self) -> bool {
        self.next == before.next
    }
}

/// Another thread is taking jobs there, or was faster: there may be some nevertheless.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// What the first attempt finds that finds something; later ones are not made.
///
/// # Errors
///
/// [`Busy`] if none does, and one could not look.
#[inline(always)]
pub(crate) fn first_found<T>(attempts: impl Iterator<Item = Result<Option<T>, Busy>>) -> Result<Option<T>, Busy> {
    let mut nothing = Ok(None);
    for attempt in attempts {
        match attempt {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(Busy) => nothing = Err(Busy),
        }
    }
    nothing
}

/// Repeats an attempt until no other thread is in its way.
#[inline]
pub(crate) fn insist<T>(mut attempt: impl FnMut() -> Result<T, Busy>) -> T {
    attempt().unwrap_or_else(|Busy| insist_again(attempt))
}

/// Waits for another thread, which mostly copies some jobs and is done, unless it is suspended.
fn snooze(backoff: &Backoff) {
    // A model does not spin: it has to know which thread waits.
    if cfg!(executors_loom) {
        thread::yield_now();
    } else {
        backoff.snooze();
    }
}

/// Separate, because mostly no other thread is in the way: a worker that has just been woken finds all code cold.
#[cold]
#[inline(never)]
fn insist_again<T>(mut attempt: impl FnMut() -> Result<T, Busy>) -> T {
    let backoff = Backoff::new();
    loop {
        snooze(&backoff);
        if let Ok(outcome) = attempt() {
            return outcome;
        }
    }
}
