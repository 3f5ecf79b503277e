//! Where a thread counts the jobs that it has run, without a write to memory that other threads write to.
//!
//! # Why there is a raw pointer here
//!
//! Every job of every executor that is measured comes here, so what it takes matters most for the fastest of them. A
//! thread-local value with a destructor, and with a guard against being borrowed twice, made a job take 3 ns more, of
//! 14 ns in a fast pool: it needs a call, and so registers are saved and restored. So the seat is found by a plain
//! load, and another value keeps it alive.

use super::{Score, Tally};
use std::{
    cell::{Cell, RefCell},
    ptr,
    rc::Rc,
    sync::{Arc, atomic::Ordering},
};

/// A thread's place at a score.
#[derive(Debug)]
struct Seat {
    score: Arc<Score>,
    tally: Arc<Tally>,
}

/// Keeps the seat of its thread alive: in an `Rc`, which may be moved while a pointer leads into it.
struct Sitter(Rc<Seat>);

impl Drop for Sitter {
    fn drop(&mut self) {
        SEAT.set(ptr::null());
    }
}

thread_local! {
    /// The seat of this thread, or null. It is the seat of the [`SITTER`], but without a destructor and without a
    /// guard, so that each job finds it by a plain load.
    static SEAT: Cell<*const Seat> = const { Cell::new(ptr::null()) };

    static SITTER: RefCell<Option<Sitter>> = const { RefCell::new(None) };
}

/// Gives this thread a place at `score`, in place of the one that it has.
fn sit_down(score: Arc<Score>) {
    let sitter = Sitter(Rc::new(Seat::at(score)));
    let seat = Rc::as_ptr(&sitter.0);
    drop(SITTER.replace(Some(sitter)));
    // After that, because the sitter that is dropped sets it to null.
    SEAT.set(seat);
}

/// Counts `jobs` that have ended on this thread, if the thread has a place at `score`; returns whether it has.
///
/// The last of these jobs calls this as the last thing that it does: once the last job of a relay is counted, what its
/// jobs have in common may be gone. That is why `score` is a pointer, which is only compared. The seat keeps the score
/// alive.
#[inline(always)]
pub(in crate::workload) fn count_jobs(score: *const Score, jobs: u64, ends_chain: bool) -> bool {
    // SAFETY: The pointer is null, or `sit_down` has set it to the seat that this thread's sitter keeps alive. A sitter
    // that is dropped sets it to null first. None is dropped before this call returns: only `sit_down` and the end of
    // the thread drop one.
    match unsafe { SEAT.get().as_ref() } {
        Some(seat) if Arc::as_ptr(&seat.score) == score => {
            seat.count_jobs(jobs, ends_chain);
            true
        }
        _ => false,
    }
}

/// The same for a thread that has no place at `score` yet, and gets one. The score is passed by value, because the
/// place that it came from may be gone before this returns.
#[cold]
#[inline(never)]
pub(in crate::workload) fn count_first_jobs(score: Arc<Score>, jobs: u64, ends_chain: bool) {
    let place = Arc::as_ptr(&score);
    sit_down(score);
    let is_counted = count_jobs(place, jobs, ends_chain);
    debug_assert!(is_counted, "it has just sat down there");
}

impl Seat {
    fn at(score: Arc<Score>) -> Self {
        let tally = Arc::<Tally>::default();
        score.lock().tallies.push(Arc::clone(&tally));
        Seat { score, tally }
    }

    /// Nothing is written to the score after the tally: the next burst may be announced as soon as the tallies add up.
    #[inline]
    fn count_jobs(&self, jobs: u64, ends_chain: bool) {
        let Score { rules, chains_left, .. } = &*self.score;
        // AcqRel: closing begins after the end of every chain.
        if ends_chain && rules.count_down.load(Ordering::Relaxed) && chains_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            rules.closing.store(true, Ordering::SeqCst);
        }
        // Release pairs with the Acquire in `Books::total`.
        self.tally.store(self.tally.load(Ordering::Relaxed) + jobs, Ordering::Release);
        // SeqCst cannot close the gap that `Score::close` describes without a fence here, but it keeps the gap short.
        if rules.closing.load(Ordering::SeqCst) {
            self.score.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn ran(score: &Score) -> u64 {
        score.lock().total()
    }

    /// Counts when its thread ends.
    struct Late(Arc<Score>);

    impl Drop for Late {
        fn drop(&mut self) {
            assert!(!count_jobs(Arc::as_ptr(&self.0), 1, false), "the sitter has gone");
        }
    }

    /// Where thread-local values are dropped in the reverse order of their first use, the sitter goes first.
    #[test]
    fn nobody_counts_on_a_seat_that_is_gone() {
        thread_local!(static LATE: RefCell<Option<Late>> = const { RefCell::new(None) });
        let score = Arc::<Score>::default();
        let work = {
            let score = Arc::clone(&score);
            move || {
                LATE.set(Some(Late(Arc::clone(&score))));
                count_first_jobs(score, 1, false);
            }
        };
        thread::spawn(work).join().expect("it counts once");
        assert_eq!(ran(&score), 1);
    }

    #[test]
    fn a_thread_that_goes_from_score_to_score_counts_at_each() {
        let scores = [(); 2].map(|()| Arc::<Score>::default());
        let go_round = || {
            for score in scores.iter().cycle().take(6) {
                assert!(!count_jobs(Arc::as_ptr(score), 1, false), "it sits at the other one, or nowhere");
                count_first_jobs(Arc::clone(score), 1, false);
                assert!(count_jobs(Arc::as_ptr(score), 10, false));
            }
        };
        thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(go_round));
            threads.into_iter().for_each(|thread| thread.join().expect("it sits where it counts"));
        });
        for score in scores {
            assert_eq!(ran(&score), 2 * 3 * 11);
            assert_eq!(Arc::strong_count(&score), 1, "who has left keeps none");
        }
    }
}
