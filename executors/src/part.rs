//! A part of a job, on the stack of who waits for it: a closure that may borrow, and what comes of it.
//!
//! Whoever makes a part keeps it where it is until it knows that nobody else has it: it has taken it back from where it
//! had put it ([`into_closure`](Part::into_closure)), or it has seen that it [is settled](Part::is_settled). In between
//! one other thread may have a [`Loan`] of it, which settles the part when the closure has run, or when it is dropped.
//! (`fork/README.md` tells what parts are for.)
//!
//! - *What the borrower has done, and the outcome, is seen by who waits*: the state is stored Release behind it, and
//!   loaded Acquire.
//! - *Nobody touches a part that may be gone*: the store of the state is the borrower's last access. It rings the bell,
//!   which is not in the part, behind that.
//!
//! `source/stealing/forks/model.rs` fails if the state is stored, or loaded, Relaxed, and if the bell is not rung.

use crate::{
    bell::Bell,
    containment::contain,
    sync::{
        atomic::{
            AtomicU8,
            Ordering::{Acquire, Release},
        },
        cell::UnsafeCell,
    },
};
use std::{mem::ManuallyDrop, ptr::NonNull, thread};

/// What became of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// Nobody has begun it, or it runs.
    Open,
    /// It has run.
    Done,
    /// Nobody will run it but who waits for it.
    Returned,
}

/// What a part is for whoever does not know the types of the closure and of what it returns.
pub(crate) struct Stub {
    /// Runs the closure of the part that begins with this stub.
    run: unsafe fn(NonNull<Stub>),
    state: AtomicU8,
    /// Heard by who waits for the part.
    bell: NonNull<Bell>,
}

/// A closure, and what comes of it. Begins with its stub.
#[repr(C)]
pub(crate) struct Part<F, R> {
    stub: Stub,
    closure: UnsafeCell<Option<F>>,
    outcome: UnsafeCell<Option<thread::Result<R>>>,
}

impl<F, R> Part<F, R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    /// A part whose end is told to those who listen to `bell`.
    #[inline(always)]
    pub(crate) fn new(closure: F, bell: &Bell) -> Self {
        let stub = Stub { run: run::<F, R>, state: AtomicU8::new(State::Open as u8), bell: NonNull::from(bell) };
        Part { stub, closure: UnsafeCell::new(Some(closure)), outcome: UnsafeCell::new(None) }
    }

    /// For who is to [lend](Loan::new) it.
    #[inline(always)]
    pub(crate) fn stub(&self) -> NonNull<Stub> {
        // Of the whole part, to which the stub leads back.
        NonNull::from(self).cast()
    }

    /// Whether nobody else will do anything with it any more.
    pub(crate) fn is_settled(&self) -> bool {
        self.stub.state.load(Acquire) != State::Open as u8
    }

    /// The closure of a part that nobody has run.
    ///
    /// Out of its place, as to move all of a part costs more than the rest of a fork.
    #[inline(always)]
    pub(crate) fn take_closure(&mut self) -> F {
        // SAFETY: borrowed uniquely, so there is no loan any more.
        self.closure.with_mut(|closure| unsafe { (*closure).take() }).expect("nobody has run it")
    }

    /// What came of a part that is settled; if nobody has run it, it is run here.
    ///
    /// # Errors
    ///
    /// What the closure threw, if another thread has run it.
    pub(crate) fn take_outcome(&mut self) -> thread::Result<R> {
        // SAFETY: as above.
        let outcome = self.outcome.with_mut(|outcome| unsafe { (*outcome).take() });
        outcome.unwrap_or_else(|| Ok(self.take_closure()()))
    }
}

/// The right to run a part, once.
pub(crate) struct Loan(NonNull<Stub>);

// SAFETY: closure and result of a part are `Send`, and whoever has the loan is alone with both; the state is atomic, the
// bell `Sync`.
unsafe impl Send for Loan {}

impl Loan {
    /// # Safety
    ///
    /// `stub` is that of a part which stays where it is until it is settled. There is no other loan of it, and was none.
    /// Its bell outlives the loan.
    pub(crate) unsafe fn new(stub: NonNull<Stub>) -> Self {
        Loan(stub)
    }

    /// Runs the part. What it throws is who waits for it told, and nobody else.
    pub(crate) fn run(self) {
        let Loan(stub) = *ManuallyDrop::new(self);
        // SAFETY: there is the part, as it is not settled, and `run` is of its type; it is called once, as the loan is
        // consumed.
        unsafe { (stub.as_ref().run)(stub) }
    }
}

impl Drop for Loan {
    /// The part is not run here.
    fn drop(&mut self) {
        // SAFETY: there is the part, as it is not settled, and whoever settles it has the only loan.
        unsafe { settle(self.0, State::Returned) }
    }
}

/// # Safety
///
/// `stub` is that of a `Part<F, R>` of which the caller has the loan, to be called once.
unsafe fn run<F: FnOnce() -> R, R>(stub: NonNull<Stub>) {
    {
        // SAFETY: the caller vouches for the type, and for the part to be there until it is settled, below.
        let part = unsafe { stub.cast::<Part<F, R>>().as_ref() };
        // SAFETY: who has the loan is alone with what is in the part.
        let closure = part.closure.with_mut(|closure| unsafe { (*closure).take() });
        let outcome = contain(closure.expect("a part is run once"));
        // SAFETY: as above. There is no former outcome that would be dropped.
        part.outcome.with_mut(|place| unsafe { *place = Some(outcome) });
    }
    // SAFETY: as above, and this is the caller's last access.
    unsafe { settle(stub, State::Done) }
}

/// Tells who waits. It may be gone, and the part with it, as soon as it has been told.
///
/// # Safety
///
/// There is the part, and the caller has the loan; its bell outlives this call.
unsafe fn settle(stub: NonNull<Stub>, state: State) {
    let stub = stub.as_ptr();
    // SAFETY: the caller vouches for it.
    let bell = unsafe { (*stub).bell };
    // SAFETY: as above. No reference to the part is kept behind the store.
    unsafe { (*stub).state.store(state as u8, Release) };
    // SAFETY: as above.
    unsafe { bell.as_ref() }.ring();
}
