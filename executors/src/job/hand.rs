//! A place for one job.

use super::{IntoJob, Job};
use std::mem::{self, MaybeUninit};

/// Room for a job that is to run next.
///
/// The job is written to this place in as many words as it takes, and run from here. Passing a `Job` from function to
/// function costs more than most of what a queue does, because it is copied in other pieces than those in which it was
/// written.
pub(crate) struct Hand {
    job: MaybeUninit<Job>,
    is_full: bool,
}

impl Hand {
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        Hand { job: MaybeUninit::uninit(), is_full: false }
    }

    /// # Panics
    ///
    /// If there is a job already.
    #[inline(always)]
    pub(crate) fn put(&mut self, job: impl IntoJob) {
        assert!(!self.is_full, "a hand has room for one");
        // SAFETY: there is room for a job.
        unsafe { job.write_job(self.job.as_mut_ptr()) };
        self.is_full = true;
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Runs the job, if there is one. Returns whether there was.
    #[inline(always)]
    pub(crate) fn run(&mut self) -> bool {
        let is_full = mem::take(&mut self.is_full);
        if is_full {
            // SAFETY: there is a job, which is not used any more, because the hand is empty now.
            unsafe { Job::run_at(self.job.as_mut_ptr()) };
        }
        is_full
    }

    pub(crate) fn into_job(mut self) -> Option<Job> {
        // SAFETY: there is a job, and the hand is empty now.
        mem::take(&mut self.is_full).then(|| unsafe { self.job.assume_init_read() })
    }
}

impl Drop for Hand {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_full {
            // SAFETY: there is a job, and the hand is not used any more.
            unsafe { self.job.assume_init_drop() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{into_job::Closure, tests::Witness},
        *,
    };
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    #[test]
    fn a_hand_runs_gives_or_drops_its_job_once() {
        let (ran, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let full = || {
            let (ran, witness) = (Arc::clone(&ran), Witness(Arc::clone(&dropped), [7; 2]));
            let mut hand = Hand::empty();
            hand.put(Closure(move || {
                let whole = &witness; // or only the array would be captured
                assert_eq!(whole.1, [7; 2]);
                ran.fetch_add(1, Relaxed);
            }));
            hand
        };
        let count = || (ran.load(Relaxed), dropped.load(Relaxed));
        drop((full(), Hand::empty()));
        assert_eq!(count(), (0, 1));
        let mut hand = full();
        assert_eq!([hand.run(), hand.run()], [true, false]);
        drop(hand);
        assert_eq!(count(), (1, 2));
        let job = full().into_job();
        assert_eq!(count(), (1, 2));
        drop(job);
        assert_eq!(count(), (1, 3));
        assert!(Hand::empty().into_job().is_none());
    }

    #[test]
    #[should_panic = "a hand has room for one"]
    fn a_hand_has_room_for_one_job() {
        let mut hand = Hand::empty();
        hand.put(Closure(|| ()));
        hand.put(Closure(|| ()));
    }
}
