//! Parts of a job, on the stack of who waits for them: closures that may borrow, and what comes of them. What they are
//! for, and why nobody waits in vain, is in `part/README.md`.
//!
//! A part stays where it is until who has made it knows that nobody else has it: it has taken the part back from its
//! [stack](Forker), or has seen that the part is settled. In between one other thread may have a [`Loan`] of it, which
//! settles the part when the closure has run, or when the loan is dropped. All that this takes is in this file: who
//! uses it gives closures, and gets what they return.
//!
//! - *There is one loan of a part.* [`lend`] makes one; of a part that is pushed to a stack, [`Forker::take`] makes one
//!   for who has stolen it, which only one has. Only [`Forker::run`] pushes parts.
//! - *What the borrower has done, and the outcome, is seen by who waits*: the state is stored Release behind it, and
//!   loaded Acquire.
//! - *Nobody touches a part that may be gone*: the store of the state is the borrower's last access. Behind it, it
//!   rings a bell that is not in the part.
//! - *The part is not gone too soon, whatever is thrown.* Between its push and its end `Forker::run` calls other code
//!   by [`contain`] and [`guard`] only; and `lend` has a guard that waits.

mod joiners;
#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    barrier::{self, Recalled},
    containment::{contain, discard, guard},
    local,
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

/// Nobody has said that it has the part.
const OPEN: usize = 0;
/// It has run.
const DONE: usize = 1;
/// Nobody will run it but who waits for it.
const RETURNED: usize = 2;
/// The worker on seat 0 has it; the state of those on other seats is as much greater.
const TAKEN: usize = 3;

/// What a part is for whoever does not know the types of the closure and of what it returns.
pub(crate) struct Stub {
    /// Runs the closure of the part that begins with this stub. Safety: as of [`run`].
    run: unsafe fn(NonNull<Stub>),
    state: AtomicUsize,
}

impl Stub {
    /// Whether nobody else will do anything with the part any more.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.state.load(Acquire), DONE | RETURNED)
    }

    /// On which seat the worker is that has the part.
    ///
    /// # Errors
    ///
    /// [`Busy`] if it is about to say so, or is done with it.
    pub(crate) fn taker(&self) -> Result<usize, Busy> {
        self.state.load(Acquire).checked_sub(TAKEN).ok_or(Busy)
    }
}

/// A closure, and what comes of it. Begins with its stub.
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

    /// For who is to borrow it: it leads back to the whole part.
    #[inline(always)]
    fn stub(&self) -> NonNull<Stub> {
        NonNull::from(self).cast()
    }

    /// The closure, unless it was taken.
    ///
    /// Out of its place, as to move all of a part costs more than the rest of a fork.
    #[inline(always)]
    fn take_closure(&mut self) -> Option<F> {
        // SAFETY: borrowed uniquely, so there is no loan any more.
        self.closure.with_mut(|closure| unsafe { (*closure).take() })
    }

    /// What the closure returned, or threw, on another thread, if it has run there.
    fn take_outcome(&mut self) -> Option<thread::Result<R>> {
        // SAFETY: as above.
        self.outcome.with_mut(|outcome| unsafe { (*outcome).take() })
    }

    /// Runs a part that nobody has run.
    #[inline(always)]
    fn run_here(&mut self) -> R {
        self.take_closure().expect("nobody has run it")()
    }

    /// What comes of a part that nobody else has any more.
    fn finish(&mut self) -> thread::Result<R> {
        self.take_outcome().unwrap_or_else(|| Ok(self.run_here()))
    }

    /// Waits, by calls of `wait`, until the part is settled. What these throw is ignored.
    #[cold]
    fn await_end(&self, wait: impl Fn(&Stub)) {
        while !self.stub.is_settled() {
            guard(|| wait(&self.stub));
        }
    }

    /// What comes of `one`, and of a part that nobody else has any more. What is not returned is dropped, and throws
    /// nothing.
    #[cold]
    fn join<A>(&mut self, one: thread::Result<A>) -> (A, R) {
        match one.map(|one| (one, self.finish())) {
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
    /// Those who are told when the part is settled.
    joiners: Arc<Joiners>,
    /// What becomes of the part when this is dropped.
    state: usize,
}

// SAFETY: closure and result of a part are `Send`, and whoever has the loan is alone with both; the state is atomic.
unsafe impl Send for Loan {}

impl Loan {
    fn new(stub: NonNull<Stub>, joiners: &Arc<Joiners>) -> Self {
        Loan { stub, joiners: Arc::clone(joiners), state: RETURNED }
    }

    /// Runs the part. What it throws is told who waits for it, and nobody else.
    pub(crate) fn run(mut self) {
        // SAFETY: there is the part, as it is not settled, and `run` is of its type; it is called once, as the loan is
        // consumed.
        unsafe { (self.stub.as_ref().run)(self.stub) };
        self.state = DONE;
    }
}

impl Drop for Loan {
    /// Settles the part. Who waits may be gone, and the part with it, as soon as it sees that.
    fn drop(&mut self) {
        // SAFETY: there is the part until this store, and no reference to it is kept behind that.
        unsafe { (*self.stub.as_ptr()).state.store(self.state, Release) };
        self.joiners.ring();
    }
}

/// # Safety
///
/// `stub` is that of a `Part<F, R>` of which the caller has the loan, to be called once.
unsafe fn run<F: FnOnce() -> R, R>(stub: NonNull<Stub>) {
    // SAFETY: the caller vouches for the type, and for the part to be there until it is settled, behind this.
    let part = unsafe { stub.cast::<Part<F, R>>().as_ref() };
    // SAFETY: who has the loan is alone with what is in the part.
    let closure = part.closure.with_mut(|closure| unsafe { (*closure).take() });
    let outcome = contain(closure.expect("a part is run once"));
    // SAFETY: as above. There is no former outcome that would be dropped.
    part.outcome.with_mut(|place| unsafe { *place = Some(outcome) });
}

/// What comes of `closure`, for which `give` is to see to it that another thread runs it; or that the loan is dropped,
/// and then it runs here. Blocks until one of these has happened.
pub(crate) fn lend<F, R>(closure: F, give: impl FnOnce(Loan)) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let joiners = Arc::new(Joiners::default());
    let mut part = Part::new(closure);
    // Also if something is thrown here.
    let waits = Waits { stub: &part.stub, joiners: &joiners };
    give(Loan::new(part.stub(), &joiners));
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
/// Made where the closures are, before anything else: they are written to their places in pieces, and to copy them from
/// there as a whole would have to wait until these have reached the cache, which takes longer than all else.
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
        let (one, other) = self.take();
        (one(), other())
    }

    /// Both closures, neither of which has run.
    pub(crate) fn take(&mut self) -> (One, Other) {
        self.one.take().zip(self.other.take_closure()).expect("a fork is run once")
    }
}

/// A worker's own end of the stack of its parts.
pub(crate) struct Forker {
    stack: Owner<Stub>,
    joiners: Arc<Joiners>,
}

/// The end of that stack that is for others, and those of them who wait for parts that this worker has taken.
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
    /// Runs both parts of `fork`, but the other only if nobody has taken it meanwhile. `tell` is called when it can be
    /// taken, and if somebody has, `wait` until it is settled: what that throws is ignored.
    ///
    /// If the stack is full, it just runs both.
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
        // From here on the fork must not move, nor this call end, before it is known that nobody has the part: so
        // nothing may be thrown past this; nor may the part be borrowed uniquely.
        let one = &mut fork.one;
        let one = contain(|| {
            tell();
            one.take().expect("a fork is run once")()
        });
        match (self.stack.pop(place), one) {
            (true, Ok(one)) => (one, fork.other.run_here()),
            (is_own, one) => {
                if !is_own {
                    fork.other.await_end(wait);
                }
                fork.other.join(one)
            }
        }
    }

    /// A fence between the part that was pushed last and what is read next, as far as others need one: see
    /// [`Owner::order_pushes`].
    #[inline(always)]
    pub(crate) fn order_parts(&self) {
        self.stack.order_pushes();
    }

    /// Calls those who wait for a part that this worker has, as it has forked what they may take. Behind
    /// [`order_parts`](Self::order_parts).
    #[inline(always)]
    pub(crate) fn call_joiners(&self) {
        self.joiners.call();
    }

    /// Takes a part from another worker, the oldest that it has, if it [`is_wanted`](Thief::steal). This one is on
    /// `seat`.
    ///
    /// # Errors
    ///
    /// [`Busy`] if somebody else was faster.
    pub(crate) fn take(
        &self,
        seat: usize,
        from: &Forks,
        is_wanted: impl FnOnce() -> bool,
    ) -> Result<Option<Loan>, Busy> {
        let Some(stub) = from.stack.steal(is_wanted)? else { return Ok(None) };
        // SAFETY: whoever has pushed the part keeps it until it has popped it, which it cannot any more, or it is
        // settled. A stack gives each out once, and only here.
        unsafe { stub.as_ref() }.state.store(TAKEN + seat, Release);
        Ok(Some(Loan::new(stub, &self.joiners)))
    }
}

impl Forks {
    /// Where the parts begin and end that nobody has taken; exact when nobody puts in or takes out.
    pub(crate) fn parts(&self) -> Span {
        self.stack.items()
    }

    /// Whether there are any.
    pub(crate) fn has_parts(&self) -> bool {
        self.parts().len() > 0
    }

    /// Whether neither the worker has its stack to itself nor anybody is about to change that.
    pub(crate) fn is_open(&self) -> bool {
        self.stack.is_open()
    }

    pub(crate) fn recall(&self) -> Option<RecalledStack<'_, Stub>> {
        self.stack.recall()
    }

    /// Blocks until this worker has settled the part, which it has taken, or has others.
    pub(crate) fn wait(&self, part: &Stub) {
        self.joiners.wait_until(|| part.is_settled(), || self.sees_part());
    }

    /// Whether there is one, also if the worker has spared a fence. Behind a fence.
    fn sees_part(&self) -> bool {
        // In this order: if it is not reserved any more, that must have been so before the look.
        let spares_fence = !self.is_open();
        self.has_parts()
            || spares_fence && {
                barrier::end_recalls(self.recall().iter().map(|stack| stack as &dyn Recalled));
                self.has_parts()
            }
    }
}
