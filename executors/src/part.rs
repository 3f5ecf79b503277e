//! Parts of a job, on the stack of the thread that waits for them: closures that may borrow, and their outcomes. What
//! they are for, and why no thread waits in vain, is in `part/README.md`.
//!
//! A part stays in place until the thread that made it knows that no other thread has it: it has taken the part back
//! from its [stack](Forker), or has seen that the part is settled. In between, one other thread may have a [`Loan`] of
//! it; the loan settles the part when the closure has run, or when the loan is dropped. All that this takes is in this
//! file: its users pass closures in, and get back what these return.
//!
//! - *There is one loan of a part.* [`lend`] makes one. Of a part that is pushed to a stack, [`Forker::take`] makes one
//!   for the thief, of which there is only one. Only [`Forker::run`] pushes parts.
//! - *The waiting thread sees what the borrower has done, and the outcome*: the state is stored with Release after
//!   these, and loaded with Acquire.
//! - *No thread touches a part that may be gone*: storing the state is the borrower's last access. The bell that it
//!   rings after that is not in the part.
//! - *The part is not gone too soon, whatever panics.* Between the part's push and its end, `Forker::run` calls other
//!   code only through [`contain`] and [`guard`]; and `lend` has a guard that waits.

mod joiners;
#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    containment::{Contained, contain, discard, guard},
    local, recall,
    source::queue::{
        Busy, Span,
        stack::{self, Owner, RecalledStack, Thief},
    },
    sync::{
        Arc,
        atomic::{
            AtomicUsize,
            Ordering::{Acquire, Release},
        },
        cell::UnsafeCell,
    },
};
use joiners::Joiners;
use std::{panic::resume_unwind, ptr::NonNull, thread};

/// No thread has said that it has the part.
const OPEN: usize = 0;
/// The part has run.
const DONE: usize = 1;
/// Only the thread that waits for it will run it.
const RETURNED: usize = 2;
/// The worker on seat 0 has it; for other workers the seat's number is added.
const TAKEN: usize = 3;

/// A part as seen by code that does not know the types of the closure and of its result.
pub(crate) struct Stub {
    /// Runs the closure of the part that begins with this stub. Safety: as for [`run`].
    run: unsafe fn(NonNull<Stub>),
    state: AtomicUsize,
}

impl Stub {
    /// Whether no other thread will do anything with the part any more.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.state.load(Acquire), DONE | RETURNED)
    }

    /// The seat of the worker that has the part.
    ///
    /// # Errors
    ///
    /// [`Busy`] if that worker is about to say so, or is done with the part.
    pub(crate) fn taker(&self) -> Result<usize, Busy> {
        // Acquire: the caller looks up what the worker on that seat has forked. See `Forker::take`.
        self.state.load(Acquire).checked_sub(TAKEN).ok_or(Busy)
    }
}

/// A closure and its outcome. Begins with its stub.
#[repr(C)]
struct Part<F, R> {
    stub: Stub,
    closure: UnsafeCell<Option<F>>,
    outcome: UnsafeCell<Option<thread::Result<R>>>,
}

impl<F, R> Part<F, R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    #[inline(always)]
    fn new(closure: F) -> Self {
        let stub = Stub { run: run::<F, R>, state: AtomicUsize::new(OPEN) };
        Part { stub, closure: UnsafeCell::new(Some(closure)), outcome: UnsafeCell::new(None) }
    }

    /// A pointer for the borrower, which leads back to the whole part.
    #[inline(always)]
    fn stub(&self) -> NonNull<Stub> {
        NonNull::from(self).cast()
    }

    /// Takes the closure, unless it was taken.
    ///
    /// The closure alone, because moving the whole part costs more than the rest of a fork.
    #[inline(always)]
    fn take_closure(&mut self) -> Option<F> {
        // SAFETY: the part is borrowed uniquely, so there is no loan: see `Loan::new`.
        self.closure.with_mut(|closure| unsafe { (*closure).take() })
    }

    /// What the closure returned on another thread, or the payload of its panic, if it has run there.
    fn take_outcome(&mut self) -> Option<thread::Result<R>> {
        // SAFETY: as above.
        self.outcome.with_mut(|outcome| unsafe { (*outcome).take() })
    }

    /// Runs a part that has not been run.
    #[inline(always)]
    fn run_here(&mut self) -> R {
        self.take_closure().expect("it has not run yet")()
    }

    /// The outcome of a part that no other thread has any more; runs the part if it has not been run.
    fn finish(&mut self) -> thread::Result<R> {
        self.take_outcome().unwrap_or_else(|| Ok(self.run_here()))
    }

    /// Calls `wait` until the part is settled. Panics of `wait` are ignored.
    #[cold]
    fn await_end(&self, wait: impl Fn(&Stub)) {
        while !self.stub.is_settled() {
            guard(|| wait(&self.stub));
        }
    }

    /// The outcomes of `one` and of a part that no other thread has any more. What is not returned is dropped; a panic
    /// of that drop is contained.
    #[cold]
    fn both<A>(&mut self, one: thread::Result<A>) -> (A, R) {
        match one.map(|one| Contained::new(one).beside(|| self.finish())) {
            Ok((one, Ok(other))) => (one, other),
            Ok((one, Err(thrown))) => {
                discard(one);
                resume_unwind(thrown)
            }
            Err(thrown) => {
                discard(self.take_closure());
                discard(self.take_outcome());
                resume_unwind(thrown)
            }
        }
    }
}

/// The right to run a part, once.
pub(crate) struct Loan {
    stub: NonNull<Stub>,
    /// The threads to tell when the part is settled.
    joiners: Arc<Joiners>,
    /// The state that the part gets when this is dropped.
    state: usize,
}

// SAFETY: closure and result of a part are `Send`, and only the holder of the loan accesses them (see `new`); the state
// is atomic.
unsafe impl Send for Loan {}

impl Loan {
    /// # Safety
    ///
    /// `stub` leads to a whole part, of which this is the only loan. Until the part is settled, it is not dropped,
    /// moved or borrowed uniquely.
    unsafe fn new(stub: NonNull<Stub>, joiners: &Arc<Joiners>) -> Self {
        Loan { stub, joiners: Arc::clone(joiners), state: RETURNED }
    }

    /// Runs the part. If it panics, only the thread that waits for it is told.
    pub(crate) fn run(mut self) {
        // SAFETY: the part exists, because it is not settled (see `new`), and `run` is of its type; it is called once,
        // because the loan is consumed.
        unsafe { (self.stub.as_ref().run)(self.stub) };
        self.state = DONE;
    }
}

impl Drop for Loan {
    /// Settles the part. As soon as the waiting thread sees that, it may be gone, and the part with it.
    fn drop(&mut self) {
        // SAFETY: the part exists until this store, and no reference to it is kept after that.
        unsafe { (*self.stub.as_ptr()).state.store(self.state, Release) };
        self.joiners.ring();
    }
}

/// # Safety
///
/// `stub` is that of a `Part<F, R>` of which the caller has the loan. To be called once.
unsafe fn run<F: FnOnce() -> R, R>(stub: NonNull<Stub>) {
    // SAFETY: the caller vouches for the type, and for the part to exist until it is settled, which comes after this.
    let part = unsafe { stub.cast::<Part<F, R>>().as_ref() };
    // SAFETY: only the holder of the loan accesses what is in the part.
    let closure = part.closure.with_mut(|closure| unsafe { (*closure).take() });
    let outcome = contain(closure.expect("a part is run once"));
    // SAFETY: as above. There is no former outcome that would be dropped.
    part.outcome.with_mut(|place| unsafe { *place = Some(outcome) });
}

/// Returns the result of `closure`. `give` has to arrange that another thread runs the loan, or that the loan is
/// dropped; if it is dropped, `closure` runs here. Blocks until one of these has happened.
pub(crate) fn lend<F, R>(closure: F, give: impl FnOnce(Loan)) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let joiners = Arc::new(Joiners::default());
    let mut part = Part::new(closure);
    // Waits also if `give` panics.
    let waits = Waits { stub: &part.stub, joiners: &joiners };
    // SAFETY: the part is made here, and lent once. It is not touched before `waits` is dropped, which returns when it
    // is settled.
    give(unsafe { Loan::new(part.stub(), &joiners) });
    if part.stub.is_settled() {
        drop(waits);
    } else {
        local::blocking(|| drop(waits));
    }
    part.finish().unwrap_or_else(|thrown| resume_unwind(thrown))
}

/// Waits, when it is dropped, until the part is settled.
struct Waits<'a> {
    stub: &'a Stub,
    joiners: &'a Joiners,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.joiners.wait_until(|| self.stub.is_settled(), || false);
    }
}

/// Two closures, of which one may be lent.
///
/// Made where the closures are, before anything else: they are written to their places in pieces, and copying them as a
/// whole from there would have to wait until these pieces have reached the cache, which takes longer than all else.
pub(crate) struct Fork<One, Other, B> {
    one: Option<One>,
    other: Part<Other, B>,
}

impl<One, Other, A, B> Fork<One, Other, B>
where
    One: FnOnce() -> A,
    Other: FnOnce() -> B + Send,
    B: Send,
{
    #[inline(always)]
    pub(crate) fn new(one: One, other: Other) -> Self {
        Fork { one: Some(one), other: Part::new(other) }
    }

    /// Runs both, one after the other.
    #[cold]
    pub(crate) fn run_here(&mut self) -> (A, B) {
        let one = self.one.take().expect("a fork is run once");
        self.other.both(contain(one))
    }

    /// Both closures, neither of which has run.
    pub(crate) fn take(&mut self) -> (One, Other) {
        self.one.take().zip(self.other.take_closure()).expect("a fork is run once")
    }
}

/// A worker's own end of its stack of parts.
pub(crate) struct Forker {
    stack: Owner<Stub>,
    joiners: Arc<Joiners>,
}

/// The end of that stack for other threads, and the joiners: the threads that wait for parts that this worker has
/// taken.
pub(crate) struct Forks {
    stack: Thief<Stub>,
    joiners: Arc<Joiners>,
}

/// A new stack of parts.
pub(crate) fn forks() -> (Forker, Forks) {
    let ((owner, thief), joiners) = (stack::stack(), Arc::new(Joiners::default()));
    (Forker { stack: owner, joiners: Arc::clone(&joiners) }, Forks { stack: thief, joiners })
}

impl Forker {
    /// Runs both parts of `fork`, but the other one only if no thread has taken it meanwhile. Calls `tell` when the
    /// other one can be taken, and, if it was taken, `wait` until it is settled; panics of `wait` are ignored.
    ///
    /// If the stack is full, it only runs both.
    #[inline(always)]
    pub(crate) fn run<A, B, One, Other>(
        &self,
        fork: &mut Fork<One, Other, B>,
        tell: impl FnOnce(),
        wait: impl Fn(&Stub),
    ) -> (A, B)
    where
        One: FnOnce() -> A,
        Other: FnOnce() -> B + Send,
        B: Send,
    {
        let Some(place) = self.stack.push(fork.other.stub()) else { return fork.run_here() };
        // From here on the fork must not move, nor this call end, before it is known that no other thread has the part:
        // so no panic may get past this; nor may the part be borrowed uniquely.
        let one = &mut fork.one;
        let one = contain(|| {
            tell();
            one.take().expect("a fork is run once")()
        });
        match (self.stack.pop(place), one) {
            (true, Ok(one)) => Contained::new(one).beside(|| fork.other.run_here()),
            (is_own, one) => {
                if !is_own {
                    fork.other.await_end(wait);
                }
                fork.other.both(one)
            }
        }
    }

    /// A fence between the part that was pushed last and what is read next, as far as other threads need one: see
    /// [`Owner::fence_pushes`].
    #[inline(always)]
    pub(crate) fn fence_parts(&self) {
        self.stack.fence_pushes();
    }

    /// Gives back the privilege of having the stack to itself, if the worker has it.
    pub(crate) fn give_back(&self) {
        self.stack.give_back();
    }

    /// Calls the threads that wait for a part that this worker has, because it has forked something that they may take.
    /// To be called after [`fence_parts`](Self::fence_parts).
    #[inline(always)]
    pub(crate) fn call_joiners(&self) {
        self.joiners.call();
    }

    /// Takes the oldest part of another worker, if it [`is_wanted`](Thief::steal). The taker is on `seat`.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thread was faster.
    pub(crate) fn take(
        &self,
        seat: usize,
        from: &Forks,
        is_wanted: impl FnOnce() -> bool,
    ) -> Result<Option<Loan>, Busy> {
        let Some(stub) = from.stack.steal(is_wanted)? else { return Ok(None) };
        // SAFETY: the thread that has pushed the part keeps it where it is, and shared, until it has popped it, which
        // it cannot do any more, or until the part is settled. A stack gives out each part once, and only here.
        let (taken, loan) = unsafe { (stub.as_ref(), Loan::new(stub, &self.joiners)) };
        // Release: the waiting thread, which loads the seat with Acquire, finds this worker's own stack there. That was
        // made and placed before the worker takes anything.
        taken.state.store(TAKEN + seat, Release);
        Ok(Some(loan))
    }
}

impl Forks {
    /// Where the parts that have not been taken begin and end; exact while no thread puts any in or takes any out.
    pub(crate) fn parts(&self) -> Span {
        self.stack.items()
    }

    /// Whether there are any.
    pub(crate) fn has_parts(&self) -> bool {
        self.parts().len() > 0
    }

    /// Whether neither the worker has its stack to itself nor any thread is about to end that.
    pub(crate) fn is_open(&self) -> bool {
        self.stack.is_open()
    }

    pub(crate) fn recall(&self) -> Option<RecalledStack<'_, Stub>> {
        self.stack.recall()
    }

    /// Blocks until this worker has settled `part`, which it has taken, or has parts that others may take.
    pub(crate) fn wait(&self, part: &Stub) {
        self.joiners.wait_until(|| part.is_settled(), || self.sees_part());
    }

    /// Whether there is a part, even if the worker has spared a fence. To be called after a fence.
    fn sees_part(&self) -> bool {
        recall::sees(!self.is_open(), || self.has_parts(), || self.recall().iter().for_each(recall::end))
    }
}
