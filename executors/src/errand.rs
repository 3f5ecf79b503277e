//! An errand: a future that is polled to its end, and for whose outcome nobody waits.
//!
//! What runs on an executor is a [`Step`]: a job that polls the future once. A step that leaves the future pending ends
//! without a successor, and a waker makes the next one; or, if the future was woken meanwhile, the step is the
//! successor of itself. So there is one step at a time, and whoever has it has the future.
//!
//! A future has one allocation, with its [`Site`] and its [`State`], which says who may do what, and why that is safe.
//! Most steps change nothing there:
//!
//! - The first step, and one that wakes itself, begin and end with a load. That a future *wakes itself*, as one does
//!   that yields, is noted on the thread that polls it, and nowhere else ([`Polled`]).
//! - A future that ends, and of which there are no wakers, is freed without further ado: nobody else knows of it.
//! - Waking and falling asleep are one read-modify-write each; a waker that is used up by that, on a thread of the
//!   executor, gives its reference to the step.
//!
//! If there is no waker left, the future can never go on, and is dropped: by the step that leaves it so, or, when its
//! last waker is dropped, by a last step, which is put where the others were. So a drop that causes other drops, and so
//! on, takes no stack. (An executor that is over, or discards, leaves it to the [remnants](crate::remnants).)

#[cfg(all(test, executors_loom))]
mod model;
mod polled;
mod state;
#[cfg(all(test, not(executors_loom)))]
mod tests;

use self::{
    polled::Polled,
    state::{Left, Pause, State, Woken},
};
use crate::{
    containment::{contain, discard, discard_payload, guard},
    local, remnants,
    sync::cell::UnsafeCell,
};
use std::{
    future::Future,
    mem::{self, ManuallyDrop},
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll, RawWaker, RawWakerVTable, Waker},
};

/// Where the steps of an errand run.
///
/// # Safety
///
/// [`put`](Self::put) must do as it says, and what comes before a call of it must happen before the step runs, or is
/// dropped. What [`is_here`](Self::is_here) says just before a call on the same thread must hold until that returns.
pub(crate) unsafe trait Site: Send + Sync + 'static {
    /// Whether the calling thread is one on which steps run, so that it needs nothing of the site any more once it has
    /// put a step.
    fn is_here(&self) -> bool;

    /// Puts `step` where it will run, or lets go of it.
    ///
    /// # Safety
    ///
    /// `site` is valid until the step is put: nothing of it may be used after that, unless the calling thread [is not
    /// here](Self::is_here). Then it is valid until this returns.
    unsafe fn put(site: *const Self, step: impl FnOnce() + Send + 'static, by: By);
}

/// Who puts a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// The step before, at its end: the calling thread does nothing more in that job. A step that is refused can be
    /// dropped here, as a future that has ended is.
    Step,
    /// A waker, of whichever kind of thread. A step that is refused must be dropped elsewhere: see
    /// [`remnants`](crate::remnants).
    Waker,
}

impl By {
    /// Drops a `step` that is refused.
    pub(crate) fn let_go(self, step: impl FnOnce() + Send + 'static) {
        match self {
            By::Step => discard(step),
            By::Waker => remnants::drop_elsewhere(step),
        }
    }
}

/// A future, until there is neither a step nor a waker.
struct Errand<F, S> {
    state: State,
    site: S,
    /// Of whoever has the step; dropped by that one.
    future: UnsafeCell<ManuallyDrop<F>>,
}

/// The first step of an errand with this `future`, which is put to the `site` when it is woken.
pub(crate) fn first_step<F, S>(future: F, site: S) -> impl FnOnce() + Send + 'static
where
    F: Future<Output = ()> + Send + 'static,
    S: Site,
{
    let errand = Errand { state: State::new(), site, future: UnsafeCell::new(ManuallyDrop::new(future)) };
    Step { errand: NonNull::from(Box::leak(Box::new(errand))) }.into_job()
}

/// The right to poll the future of an errand, and to drop it, which happens if the step does not run. It has one of the
/// references that the state counts: while there is a step, there is the errand.
struct Step<F, S>
where
    F: Future<Output = ()> + Send + 'static,
    S: Site,
{
    errand: NonNull<Errand<F, S>>,
}

// SAFETY: the future, which this thread polls or drops, is `Send`; the site is `Send` and `Sync`; and the state
// consists of atomics.
unsafe impl<F, S> Send for Step<F, S>
where
    F: Future<Output = ()> + Send + 'static,
    S: Site,
{
}

impl<F, S> Step<F, S>
where
    F: Future<Output = ()> + Send + 'static,
    S: Site,
{
    const WAKER: &'static RawWakerVTable =
        &RawWakerVTable::new(Self::clone_waker, Self::wake, Self::wake_by_ref, Self::drop_waker);

    fn into_job(self) -> impl FnOnce() + Send + 'static {
        move || self.run()
    }

    fn state(&self) -> &State {
        // SAFETY: the errand is not freed while there is the step, whose reference it counts; of the state there are
        // only shared references.
        unsafe { &(*self.errand.as_ptr()).state }
    }

    #[inline(always)]
    fn run(self) {
        if !self.state().begin_step() {
            return; // dropped with its future
        }
        let polled = Polled::begin(self.errand.cast());
        let outcome = contain(|| self.poll());
        let wakes_itself = polled.end();
        match outcome {
            Ok(Poll::Pending) => self.pause(wakes_itself),
            Ok(Poll::Ready(())) => drop(self),
            Err(payload) => {
                local::report(&*payload);
                drop(self);
                discard_payload(payload);
            }
        }
    }

    #[inline(always)]
    fn poll(&self) -> Poll<()> {
        // Not dropped: the step lends it its own reference.
        // SAFETY: the functions of the table do what is asked of them, see there. Until this returns there is the step.
        let waker = ManuallyDrop::new(unsafe { Waker::new(self.errand.as_ptr().cast_const().cast(), Self::WAKER) });
        // SAFETY: the errand is not freed while there is the step.
        let future = unsafe { &(*self.errand.as_ptr()).future };
        future.with_mut(|future| {
            // SAFETY: whoever has the step has the future, which no step has dropped: the one that does so has no
            // successor. It is never moved out of the errand.
            let future = unsafe { Pin::new_unchecked(&mut **future) };
            future.poll(&mut Context::from_waker(&waker))
        })
    }

    /// The future is pending.
    #[inline(always)]
    fn pause(self, wakes_itself: bool) {
        if !wakes_itself {
            match self.state().end_step() {
                Pause::Woken => {}
                // The reference is given up, and other threads may have the errand now.
                Pause::Asleep => return mem::forget(self),
                Pause::Lost => return drop(self),
            }
        }
        self.put(By::Step);
    }

    #[inline(always)]
    fn put(self, by: By) {
        // SAFETY: the errand is not freed while there is the step.
        let site = unsafe { &raw const (*self.errand.as_ptr()).site };
        // SAFETY: as above.
        if unsafe { (*site).is_here() } {
            // SAFETY: the step's reference keeps the site until the step is put.
            unsafe { S::put(site, self.into_job(), by) };
        } else {
            let waker = self.waker();
            // SAFETY: the waker's reference keeps the site.
            unsafe { S::put(site, self.into_job(), by) };
            drop(waker);
        }
    }

    fn waker(&self) -> Waker {
        self.state().share();
        // SAFETY: as in `poll`; the waker has a reference of its own.
        unsafe { Waker::new(self.errand.as_ptr().cast_const().cast(), Self::WAKER) }
    }
}

impl<F, S> Drop for Step<F, S>
where
    F: Future<Output = ()> + Send + 'static,
    S: Site,
{
    fn drop(&mut self) {
        // SAFETY: the errand is not freed while there is the step.
        let future = unsafe { &(*self.errand.as_ptr()).future };
        // SAFETY: as in `poll`; and no step follows this one, so nobody uses the future any more.
        future.with_mut(|future| guard(|| unsafe { ManuallyDrop::drop(&mut *future) }));
        if self.state().end() {
            // SAFETY: made by `Box::leak`, and no step or waker is left.
            drop(unsafe { Box::from_raw(self.errand.as_ptr()) });
        }
    }
}

/// The functions of wakers. Each is called with the pointer of a waker, which has a reference to the errand, or borrows
/// that of the step that polls it.
impl<F, S> Step<F, S>
where
    F: Future<Output = ()> + Send + 'static,
    S: Site,
{
    fn errand(waker: *const ()) -> NonNull<Errand<F, S>> {
        NonNull::new(waker.cast_mut()).expect("a waker has a pointer to an errand").cast()
    }

    /// # Safety
    ///
    /// There is the errand at `waker`.
    unsafe fn clone_waker(waker: *const ()) -> RawWaker {
        // SAFETY: the caller vouches for it.
        unsafe { (*Self::errand(waker).as_ptr()).state.share() };
        RawWaker::new(waker, Self::WAKER)
    }

    /// # Safety
    ///
    /// There is the errand, and the reference of this waker, which is given up.
    unsafe fn wake(waker: *const ()) {
        let errand = Self::errand(waker);
        // SAFETY: the caller vouches for it.
        let Errand { state, site, .. } = unsafe { errand.as_ref() };
        if Polled::wakes_itself(errand.cast()) {
            // SAFETY: as above.
            return unsafe { Self::drop_waker(waker) };
        }
        if !site.is_here() {
            // Its reference keeps the site until the step is put, and is given up even if a user's parker panics.
            // SAFETY: this has the reference from now on.
            return unsafe { Waker::new(waker, Self::WAKER) }.wake_by_ref();
        }
        match state.wake_and_give_up() {
            // SAFETY: the thread is here, and the step's reference keeps the site until the step is put.
            Woken::Asleep => unsafe { S::put(site, Step { errand }.into_job(), By::Waker) },
            Woken::Busy => {}
            // SAFETY: as above.
            Woken::Over => unsafe { Self::drop_waker(waker) },
        }
    }

    /// # Safety
    ///
    /// There is the errand at `waker`, until this returns.
    unsafe fn wake_by_ref(waker: *const ()) {
        let errand = Self::errand(waker);
        // SAFETY: the caller vouches for it.
        let Errand { state, site, .. } = unsafe { errand.as_ref() };
        if !Polled::wakes_itself(errand.cast()) && matches!(state.wake(), Woken::Asleep) {
            // SAFETY: the waker's reference keeps the site.
            unsafe { S::put(site, Step { errand }.into_job(), By::Waker) };
        }
    }

    /// # Safety
    ///
    /// There is the errand, and the reference of this waker, which is given up.
    unsafe fn drop_waker(waker: *const ()) {
        let errand = Self::errand(waker);
        // SAFETY: the caller vouches for it.
        match unsafe { (*errand.as_ptr()).state.lose() } {
            Left::Others => {}
            // SAFETY: made by `Box::leak`, and no step or waker is left.
            Left::Nobody => drop(unsafe { Box::from_raw(errand.as_ptr()) }),
            // A user's parker may panic, but this is a drop. The step is put, or gone, by then.
            Left::Future => guard(|| Step { errand }.put(By::Waker)),
        }
    }
}
