//! A job: a closure in six words.
//!
//! Small closures travel inside the job, from `execute` to the queue's slot and on to the worker, without a heap
//! allocation; larger ones are boxed once. One function pointer either runs the closure or drops it, so that a job needs
//! no vtable and a queue of jobs can be dropped at any time without losing what the closures own.

use std::{
    fmt,
    mem::{self, MaybeUninit},
};

/// Words that a closure may take inside a job.
const WORDS: usize = 5;

/// Bytes that a closure may take to travel without an allocation, if its alignment is at most that of `usize`.
///
/// A job is copied into its queue and out of it, so each word costs something in every job; five have room for what most
/// closures capture (a handle, a sender, three numbers).
pub const INLINE_BYTES: usize = WORDS * size_of::<usize>();

type Payload = MaybeUninit<[usize; WORDS]>;

/// What is to become of the closure.
#[derive(Clone, Copy)]
enum Fate {
    Run,
    Discard,
}

/// A closure that runs at most once; dropped with all it owns if it never runs.
///
/// The payload comes first: processors copy a job in pieces of 16 bytes, and a closure that does not begin with one cannot
/// be read back before all of them have reached the cache.
#[repr(C)]
pub(crate) struct Job {
    payload: Payload,
    /// Consumes the payload. Safety: the payload must be the one this pointer was made for, not consumed before.
    consume: unsafe fn(*mut Payload, Fate),
}

const _: () = assert!(size_of::<Job>() == size_of::<Payload>() + size_of::<fn()>());

// SAFETY: a job is made from a closure that is `Send` (`Job::new`), and owns nothing else.
unsafe impl Send for Job {}

impl Job {
    #[inline]
    pub(crate) fn new<F>(closure: F) -> Job
    where
        F: FnOnce() + Send + 'static,
    {
        let mut payload = Payload::uninit();
        if const { fits_inline::<F>() } {
            // SAFETY: `fits_inline` checked size and alignment, and nothing else lives in the payload.
            unsafe { payload.as_mut_ptr().cast::<F>().write(closure) };
            Job { consume: consume_inline::<F>, payload }
        } else {
            // SAFETY: a box of a sized type is one word.
            unsafe { payload.as_mut_ptr().cast::<Box<F>>().write(Box::new(closure)) };
            Job { consume: consume_boxed::<F>, payload }
        }
    }

    /// Runs the closure. Whatever it throws passes through; the closure's own values are dropped in any case.
    ///
    /// The closure is moved out of the job where that lies: moving a whole job to run it costs more than a small job does.
    #[inline]
    pub(crate) fn run(&mut self) {
        let consume = mem::replace(&mut self.consume, consumed);
        // SAFETY: pointer and payload were made together in `new`; from now on the job is consumed.
        unsafe { consume(&mut self.payload, Fate::Run) }
    }
}

/// What is left of a job that has run: nothing to run, nothing to drop.
///
/// # Safety
///
/// None is needed; the type asks for it.
unsafe fn consumed(_payload: *mut Payload, _fate: Fate) {}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: pointer and payload were made together in `new`; `run` leaves a pointer behind that does nothing.
        unsafe { (self.consume)(&mut self.payload, Fate::Discard) }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

const fn fits_inline<F>() -> bool {
    size_of::<F>() <= size_of::<Payload>() && align_of::<F>() <= align_of::<Payload>()
}

/// # Safety
///
/// `payload` holds an `F`, which is moved out or dropped: nobody may use it afterwards.
unsafe fn consume_inline<F: FnOnce()>(payload: *mut Payload, fate: Fate) {
    let closure = payload.cast::<F>();
    match fate {
        // SAFETY: as promised by the caller; the closure now lives on this stack, the payload is dead.
        Fate::Run => (unsafe { closure.read() })(),
        // SAFETY: as promised by the caller.
        Fate::Discard => unsafe { closure.drop_in_place() },
    }
}

/// # Safety
///
/// `payload` holds a `Box<F>`, which is moved out or dropped: nobody may use it afterwards.
unsafe fn consume_boxed<F: FnOnce()>(payload: *mut Payload, fate: Fate) {
    // SAFETY: as promised by the caller; the box is owned here from now on.
    let closure = unsafe { payload.cast::<Box<F>>().read() };
    match fate {
        Fate::Run => closure(),
        Fate::Discard => drop(closure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering::Relaxed},
        },
    };

    /// Counts how often it is dropped; `WEIGHT` words and an alignment make it inline or boxed.
    struct Witness<const WEIGHT: usize>(Arc<AtomicUsize>, [usize; WEIGHT]);

    impl<const WEIGHT: usize> Drop for Witness<WEIGHT> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn run_and_drop_once<const WEIGHT: usize>() {
        let (ran, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let make = || {
            let (ran, witness) = (Arc::clone(&ran), Witness(Arc::clone(&dropped), [7; WEIGHT]));
            Job::new(move || {
                assert_eq!(witness.1, [7; WEIGHT]);
                ran.fetch_add(1, Relaxed);
            })
        };
        drop(make());
        assert_eq!((ran.load(Relaxed), dropped.load(Relaxed)), (0, 1));
        make().run();
        assert_eq!((ran.load(Relaxed), dropped.load(Relaxed)), (1, 2));
        let moved = [make(), make()];
        moved.into_iter().for_each(|mut job| job.run());
        assert_eq!((ran.load(Relaxed), dropped.load(Relaxed)), (3, 4));
    }

    #[test]
    fn every_size_runs_and_drops_once() {
        run_and_drop_once::<0>();
        run_and_drop_once::<3>(); // 3 + 2 words: exactly the payload
        run_and_drop_once::<4>(); // one word too many: boxed
        run_and_drop_once::<1000>();
    }

    #[test]
    fn the_documented_size_is_inline() {
        assert!(fits_inline::<[u8; INLINE_BYTES]>());
        assert!(!fits_inline::<[u8; INLINE_BYTES + 1]>());
    }

    #[test]
    fn over_aligned_closures_keep_their_alignment() {
        #[repr(align(64))]
        struct Aligned(u8);
        let value = Aligned(3);
        Job::new(move || {
            let here = &value;
            assert_eq!(std::ptr::from_ref(here).addr() % 64, 0);
            assert_eq!(here.0, 3);
        })
        .run();
    }

    #[test]
    fn a_panic_passes_through_and_drops_the_captures() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let witness = Witness(Arc::clone(&dropped), [0; 3]);
        let mut job = Job::new(move || {
            let _captured = &witness;
            panic!("expected by the test");
        });
        assert!(catch_unwind(AssertUnwindSafe(|| job.run())).is_err());
        assert_eq!(dropped.load(Relaxed), 1);
    }
}
