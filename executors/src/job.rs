//! A job: a closure in six words.
//!
//! Small closures travel inside the job, from `execute` to the queue's slot and on to the worker, without a heap
//! allocation; larger ones are boxed once. The job points to a static that describes the closure's type: how to run it,
//! how to drop it (so that a queue of jobs can be dropped at any time without losing what the closures own), and how
//! many words it takes.

pub(crate) mod hand;
mod into_job;
pub(crate) mod record;

#[cfg(feature = "_crew")]
pub(crate) use self::into_job::Closure;
pub(crate) use self::into_job::IntoJob;
#[cfg(all(test, feature = "_stealing", not(executors_loom)))]
pub(crate) use self::into_job::MadeBy;

use self::record::RECORD_WORDS;
use std::{
    fmt,
    marker::PhantomData,
    mem::{ManuallyDrop, MaybeUninit},
};

/// Words that a closure may take inside a job.
const WORDS: usize = 5;

/// The largest closure, in bytes, that becomes a job without an allocation, if its alignment is at most that of
/// `usize`.
///
/// Five words have room for what most closures capture (a handle, a sender, three numbers). Each further word would
/// take room in the queue for every job, whether or not the job needs it.
///
/// A pool may need some of that room itself: an elastic pool that limits its queue has one word less, and
/// `ThreadPoolExecutor` allocates for each job.
pub const INLINE_BYTES: usize = WORDS * size_of::<usize>();

type Payload = MaybeUninit<[usize; WORDS]>;

/// A word of a queue; it may hold a part of anything, or nothing.
pub(crate) type Word = MaybeUninit<usize>;

/// A closure that runs at most once; dropped with all it owns if it never runs.
///
/// The payload comes first: processors copy a job in pieces of 16 bytes, and a closure that does not begin where such a
/// piece begins cannot be read back before all pieces have reached the cache.
///
/// Invariant of every job: `payload` holds a closure of the type that `vtable` is of, which was not consumed; and that
/// type is `Send` and `'static`.
#[repr(C)]
pub(crate) struct Job {
    payload: Payload,
    vtable: &'static VTable,
    /// What a job is to the compiler, which sees only words: `Send`, but not `Sync`.
    closure: PhantomData<Box<dyn FnOnce() + Send>>,
}

/// What jobs of one type of closure have in common.
///
/// `run` and `discard` consume the payload. Safety: it must hold a closure of this type, and not have been consumed
/// before.
struct VTable {
    run: unsafe fn(*mut Payload),
    discard: unsafe fn(*mut Payload),
    /// Words of the payload that are in use.
    words: usize,
}

/// Makes jobs of closures of one type.
struct VTableOf<F>(PhantomData<F>);

impl<F: FnOnce()> VTableOf<F> {
    /// Whether the payload is the closure itself, or a box with it.
    const IS_INLINE: bool = size_of::<F>() <= size_of::<Payload>() && align_of::<F>() <= align_of::<Payload>();

    const VTABLE: &'static VTable = &if Self::IS_INLINE {
        VTable { run: run_payload::<F>, discard: drop_payload::<F>, words: size_of::<F>().div_ceil(size_of::<usize>()) }
    } else {
        VTable { run: run_payload::<Box<F>>, discard: drop_payload::<Box<F>>, words: 1 }
    };

    /// Writes the payload.
    ///
    /// # Safety
    ///
    /// There is room at `place` for as many words as the vtable says.
    #[inline(always)]
    unsafe fn write(closure: F, place: *mut Word) {
        if Self::IS_INLINE {
            // SAFETY: `IS_INLINE` says that size and alignment suit; the caller vouches for the rest.
            unsafe { place.cast::<F>().write(closure) };
        } else {
            // SAFETY: a box of a sized type is one word.
            unsafe { place.cast::<Box<F>>().write(Box::new(closure)) };
        }
    }
}

const _: () = assert!(size_of::<Job>() == RECORD_WORDS * size_of::<Word>());

impl Job {
    #[inline(always)]
    pub(crate) fn new<F>(closure: F) -> Job
    where
        F: FnOnce() + Send + 'static,
    {
        let mut payload = Payload::uninit();
        // SAFETY: the payload has room for the words of any closure.
        unsafe { VTableOf::write(closure, payload.as_mut_ptr().cast()) };
        Job { payload, vtable: VTableOf::<F>::VTABLE, closure: PhantomData }
    }

    /// Runs the closure. A panic passes through; what the closure owns is dropped in any case.
    #[inline]
    pub(crate) fn run(self) {
        // SAFETY: nothing drops the job after this.
        unsafe { Job::run_at(&raw mut *ManuallyDrop::new(self)) };
    }

    /// Runs the job at `place`, moving the closure out before its code begins: moving a whole job to run it costs more
    /// than a small job does.
    ///
    /// # Safety
    ///
    /// There is a job at `place`, and it is not used any more.
    #[inline]
    pub(crate) unsafe fn run_at(place: *mut Job) {
        // SAFETY: the payload of a job is of its vtable's type, and not consumed; the caller vouches for the job.
        unsafe { ((*place).vtable.run)(&raw mut (*place).payload) }
    }

    /// Writes the end mark, which is no job.
    ///
    /// # Safety
    ///
    /// There is room for a word to be written at `place`.
    pub(crate) unsafe fn write_end_mark(place: *mut Word) {
        // SAFETY: the caller vouches for it.
        unsafe { place.cast::<Option<&VTable>>().write(None) };
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: the payload of a job is of its vtable's type, and not consumed: `run` drops no job.
        unsafe { (self.vtable.discard)(&mut self.payload) }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// # Safety
///
/// `payload` holds a `C`, which is moved out: it must not be used afterwards.
unsafe fn run_payload<C: FnOnce()>(payload: *mut Payload) {
    // SAFETY: as promised by the caller; the closure now lives on this stack, the payload is dead.
    (unsafe { payload.cast::<C>().read() })();
}

/// # Safety
///
/// As above; the `C` is dropped.
unsafe fn drop_payload<C>(payload: *mut Payload) {
    // SAFETY: as promised by the caller.
    unsafe { payload.cast::<C>().drop_in_place() };
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

    /// Counts how often it is dropped; with `WEIGHT` more words, its closure is inline or boxed.
    pub(super) struct Witness<const WEIGHT: usize>(pub(super) Arc<AtomicUsize>, pub(super) [usize; WEIGHT]);

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
                let whole = &witness; // or only the array would be captured
                assert_eq!(whole.1, [7; WEIGHT]);
                ran.fetch_add(1, Relaxed);
            })
        };
        drop(make());
        assert_eq!((ran.load(Relaxed), dropped.load(Relaxed)), (0, 1));
        make().run();
        assert_eq!((ran.load(Relaxed), dropped.load(Relaxed)), (1, 2));
        let moved = [make(), make()];
        moved.into_iter().for_each(Job::run);
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
        fn is_inline<F: FnOnce()>(_closure: &F) -> bool {
            VTableOf::<F>::IS_INLINE
        }
        let (mut fitting, mut too_large) = ([0_u8; INLINE_BYTES], [0_u8; INLINE_BYTES + 1]);
        assert!(is_inline(&move || fitting.fill(0)));
        assert!(!is_inline(&move || too_large.fill(0)));
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
        let job = Job::new(move || {
            let _captured = &witness;
            panic!("expected by the test");
        });
        assert!(catch_unwind(AssertUnwindSafe(|| job.run())).is_err());
        assert_eq!(dropped.load(Relaxed), 1);
    }
}
