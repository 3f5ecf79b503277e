//! The states of a crew's life, and waiting for them.

#[cfg(all(test, executors_loom))]
mod model;

use super::{roll::RollWord, staff::Terms};
use crate::{
    apart::Apart,
    bell::{self, Bell},
    courtesy,
    placement::core_count,
    sync::atomic::{
        AtomicU8, AtomicUsize,
        Ordering::{Acquire, SeqCst},
        fence,
    },
};
use std::time::{Duration, Instant};

/// Whether a crew takes jobs, how many of its workers are at work, and the threads that wait for that to change.
///
/// All writes are SeqCst: the argument in `crew/README.md` rests on the order of the phases, the roll and the fences
/// around them. For `threads`: a thread that waits for zero must see the last decrement; the bell's fences ensure that.
#[derive(Debug)]
pub(super) struct Life {
    /// [`CLOSED`], [`DISCARDING`], [`OVER`]. Written by closing and ending only, read by every submit.
    phase: Apart<AtomicU8>,
    /// Its workers. A thread is counted out [here](Life::become_idle), so that those who wait for that are told.
    pub(super) roll: Apart<RollWord>,
    /// How many threads have begun to become idle [without a look](Life::become_idle_blindly).
    blind_exits: AtomicUsize,
    /// Threads that have been started and have not signed off.
    threads: AtomicUsize,
    /// Rung when the last active worker becomes idle.
    idle: Bell,
    /// Rung when the last thread signs off, and when the end is declared and there is none. A bell of its own, so that
    /// its waiters are not woken for less.
    gone: Bell,
}

/// Jobs from outside are refused.
const CLOSED: u8 = 1;
/// Jobs from workers are refused, too.
const DISCARDING: u8 = 2;
/// Nothing is left, no thread is at work, workers leave. Never without `CLOSED`.
const OVER: u8 = 4;

impl Life {
    pub(super) fn new() -> Self {
        Life {
            phase: Apart::new(AtomicU8::new(0)),
            roll: Apart::new(RollWord::new()),
            blind_exits: AtomicUsize::new(0),
            threads: AtomicUsize::new(0),
            idle: Bell::default(),
            gone: Bell::default(),
        }
    }

    /// Acquire: a thread that learns of a phase also sees what preceded it. Where more is needed, there is a fence.
    #[inline]
    fn phase(&self) -> u8 {
        self.phase.load(Acquire)
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.phase() & CLOSED != 0
    }

    #[inline]
    pub(super) fn is_discarding(&self) -> bool {
        self.phase() & DISCARDING != 0
    }

    #[inline]
    pub(super) fn is_closed_or_discarding(&self) -> bool {
        self.phase() & (CLOSED | DISCARDING) != 0
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.phase() & OVER != 0
    }

    #[inline]
    pub(super) fn is_discarding_or_over(&self) -> bool {
        self.phase() & (DISCARDING | OVER) != 0
    }

    /// Returns whether it was open.
    pub(super) fn close(&self) -> bool {
        self.phase.fetch_or(CLOSED, SeqCst) & CLOSED == 0
    }

    pub(super) fn begin_discarding(&self) {
        self.phase.fetch_or(DISCARDING, SeqCst);
    }

    /// Declares the end. Returns whether this call did.
    pub(super) fn end(&self) -> bool {
        let ended = self.phase.fetch_or(OVER, SeqCst) & OVER == 0;
        // All threads may have left before, while another stood in for them. Otherwise the last one rings: it counts
        // itself out after this read-modify-write, and so after the end was declared.
        if ended && self.threads.fetch_add(0, SeqCst) == 0 {
            self.gone.ring();
        }
        ended
    }

    /// Counts out a thread that has nothing to do, after a check whether there is `nothing_left` for others either.
    pub(super) fn become_idle(&self, busy: bool, nothing_left: impl FnOnce() -> bool) {
        // If others stay active, no waiter's condition is met: then neither the lock nor the check is needed while a
        // thread waits.
        if self.idle.is_awaited() && self.roll.become_idle_beside_others(busy) {
            return;
        }
        self.idle.ring_by(nothing_left, || self.roll.become_idle(busy));
    }

    /// Counts out a thread that has not looked whether its last job has put others in; afterwards it may look whether
    /// the crew `is_idle`, as a waiter does.
    pub(super) fn become_idle_blindly(&self, busy: bool, is_idle: impl FnOnce() -> bool) {
        self.blind_exits.fetch_add(1, SeqCst);
        // Between what that job has put in and the look for waiters.
        fence(SeqCst);
        // Under the lock even if others stay active: one of them may have it, and have looked already.
        self.idle.ring_and_look(|| self.roll.become_idle(busy), is_idle);
    }

    /// How many threads have begun to [become idle blindly](Self::become_idle_blindly). If it is the same before a look
    /// at the source, and after a look at the roll that finds no thread active, each thread that has left so meanwhile
    /// had put in before the look at the source all that it puts in.
    pub(super) fn blind_exits(&self) -> usize {
        self.blind_exits.load(SeqCst)
    }

    /// Whether a thread waits for the workers to be idle.
    pub(super) fn is_awaited(&self) -> bool {
        self.idle.is_awaited()
    }

    /// An active worker that is not needed for the core counts itself out, as in [`become_idle`](Self::become_idle).
    /// Returns whether it did.
    pub(super) fn resign(&self, terms: &Terms, nothing_left: impl FnOnce() -> bool) -> bool {
        let mut without = None;
        self.idle.ring_by(nothing_left, || {
            without = self.roll.resign(terms.core);
            without.is_some_and(|roll| roll.active() == 0)
        });
        without.is_some()
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.load(SeqCst)
    }

    /// Whether there is a core for each thread: then a thread that looks is in no other's way.
    pub(super) fn has_few_threads(&self) -> bool {
        courtesy::LOOKS && self.threads() <= core_count()
    }

    /// To be called before the thread serves: before it is started, or has its crew.
    pub(super) fn thread_starts(&self) {
        self.threads.fetch_add(1, SeqCst);
    }

    /// The same where the end may have been declared: if it has, returns false, and the thread must not be started.
    /// Otherwise threads that wait for the end wait for this one, too.
    pub(super) fn admits_thread(&self) -> bool {
        // Counted first: `await_end` reads the end and then the count, so one of us sees the other.
        self.thread_starts();
        let may_start = !self.is_over();
        if !may_start {
            self.thread_ended();
        }
        may_start
    }

    pub(super) fn thread_ended(&self) {
        if self.threads.fetch_sub(1, SeqCst) == 1 {
            self.gone.ring();
        }
    }

    /// Blocks until `is_idle` holds, or has held since this call began; at most for `timeout`. Returns whether it has.
    pub(super) fn await_idle(&self, timeout: Option<Duration>, is_idle: impl FnMut() -> bool) -> bool {
        self.idle.wait_together(timeout.and_then(bell::deadline), is_idle)
    }

    /// Blocks until the end is declared and no thread is left, at most until the `deadline`. Returns whether it is so.
    pub(super) fn await_end(&self, deadline: Option<Instant>) -> bool {
        let has_gone = || self.is_over() && self.threads() == 0;
        if self.has_few_threads() && deadline.is_none_or(|deadline| deadline >= Instant::now() + courtesy::LONG_WAIT) {
            courtesy::look(has_gone);
        }
        loop {
            if !self.gone.wait_until(deadline, has_gone) {
                return false;
            }
            // A read-modify-write, as in `thread_starts`, and one of these two comes first: either we see that thread,
            // or its starter sees the end that we have seen.
            if self.threads.fetch_add(0, SeqCst) == 0 {
                return true;
            }
        }
    }
}
