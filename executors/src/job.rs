//! A job: a closure in six words.
//!
//! Small closures travel inside the job, from `execute` to the queue's slot and on to the worker, without a heap
//! allocation; larger ones are boxed once. What is known of the closure's type is one static away: how to run it, how to drop
//! it (so that a queue of jobs can be dropped at any time without losing what the closures own), and how many words it takes.

use std::{
    fmt,
    marker::PhantomData,
    mem::{self, ManuallyDrop, MaybeUninit},
};

/// Words that a closure may take inside a job.
const WORDS: usize = 5;

/// Bytes that a closure may take to travel without an allocation, if its alignment is at most that of `usize`.
///
/// A job is copied into its queue and out of it, so each word costs something in every job; five have room for what most
/// closures capture (a handle, a sender, three numbers).
pub const INLINE_BYTES: usize = WORDS * size_of::<usize>();

type Payload = MaybeUninit<[usize; WORDS]>;

/// A word of a queue; it may hold a part of anything, or nothing.
pub(crate) type Word = MaybeUninit<usize>;

/// The words that a job takes at most where it is packed: its kind, and as much of the payload as is used.
pub(crate) const RECORD_WORDS: usize = 1 + WORDS;

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
    kind: &'static Kind,
}

/// What jobs of one type of closure have in common.
struct Kind {
    /// Consumes the payload. Safety: it must be of this kind, and not consumed before.
    consume: unsafe fn(*mut Payload, Fate),
    /// Words of the payload that are in use.
    words: usize,
}

/// The kinds of a closure's type.
struct Kinds<F>(PhantomData<F>);

impl<F: FnOnce()> Kinds<F> {
    const INLINE: &'static Kind =
        &Kind { consume: consume_inline::<F>, words: size_of::<F>().div_ceil(size_of::<usize>()) };
    const BOXED: &'static Kind = &Kind { consume: consume_boxed::<F>, words: 1 };
}

/// What is left of a job that has run: nothing to run, nothing to drop.
const CONSUMED: &Kind = &Kind { consume: |_payload, _fate| (), words: 0 };

const _: () = assert!(size_of::<Job>() == RECORD_WORDS * size_of::<Word>());

// SAFETY: a job is made from a closure that is `Send` (`Job::new`), and owns nothing else.
unsafe impl Send for Job {}

impl Job {
    #[inline(always)]
    pub(crate) fn new<F>(closure: F) -> Job
    where
        F: FnOnce() + Send + 'static,
    {
        let mut payload = Payload::uninit();
        if const { fits_inline::<F>() } {
            // SAFETY: `fits_inline` checked size and alignment, and nothing else lives in the payload.
            unsafe { payload.as_mut_ptr().cast::<F>().write(closure) };
            Job { kind: Kinds::<F>::INLINE, payload }
        } else {
            // SAFETY: a box of a sized type is one word.
            unsafe { payload.as_mut_ptr().cast::<Box<F>>().write(Box::new(closure)) };
            Job { kind: Kinds::<F>::BOXED, payload }
        }
    }

    /// Runs the job at `place`, moving it out before its code begins.
    ///
    /// # Safety
    ///
    /// There is a job at `place`, and nobody uses it any more.
    #[inline]
    pub(crate) unsafe fn run_at(place: *mut Job) {
        // SAFETY: payload and kind were made together in `new`; the caller vouches for the rest.
        unsafe { ((*place).kind.consume)(&raw mut (*place).payload, Fate::Run) }
    }

    /// The words that this job takes where it is packed.
    #[inline]
    pub(crate) fn record_words(&self) -> usize {
        1 + self.kind.words
    }

    /// Packs the job at `place`.
    ///
    /// # Safety
    ///
    /// There are [`record_words`](Self::record_words) to be written at `place`.
    #[inline(always)]
    pub(crate) unsafe fn write_record(self, place: *mut Word) {
        let job = ManuallyDrop::new(self);
        // SAFETY: the caller vouches for the place; the payload is larger than what is copied. From now on the job is there.
        unsafe {
            place.cast::<Option<&Kind>>().write(Some(job.kind));
            place.add(1).copy_from_nonoverlapping(job.payload.as_ptr().cast(), job.kind.words);
        }
    }

    /// Writes what is no job.
    ///
    /// # Safety
    ///
    /// There is a word to be written at `place`.
    pub(crate) unsafe fn write_end_mark(place: *mut Word) {
        // SAFETY: the caller vouches for it.
        unsafe { place.cast::<Option<&Kind>>().write(None) };
    }

    /// Unpacks the job at `place`, unless that is the end mark.
    ///
    /// # Safety
    ///
    /// One of the two was written there; the job is used once.
    #[inline]
    pub(crate) unsafe fn read_record(place: *const Word) -> Option<Job> {
        let mut payload = Payload::uninit();
        // SAFETY: the caller vouches for it; so many words were written.
        unsafe {
            let kind = place.cast::<Option<&'static Kind>>().read()?;
            payload.as_mut_ptr().cast::<Word>().copy_from_nonoverlapping(place.add(1), kind.words);
            Some(Job { payload, kind })
        }
    }
}

/// A job, or the claim to one that lies somewhere else.
pub(crate) trait Run {
    /// Runs the closure; there is nothing left to run after that. Whatever it throws passes through; the closure's own values
    /// are dropped in any case.
    ///
    /// The closure is moved out of the job where that lies: moving a whole job to run it costs more than a small job does.
    fn run(&mut self);
}

impl Run for Job {
    #[inline]
    fn run(&mut self) {
        let consume = mem::replace(&mut self.kind, CONSUMED).consume;
        // SAFETY: payload and kind were made together in `new`; from now on the job is consumed.
        unsafe { consume(&mut self.payload, Fate::Run) }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: payload and kind were made together in `new`; `run` leaves a kind behind that does nothing.
        unsafe { (self.kind.consume)(&mut self.payload, Fate::Discard) }
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
