//! Which seats may have jobs.
//!
//! Most workers of a large pool sleep, mostly with an empty ring and nothing spilled; and only their owner puts jobs
//! there. So a worker that has none hides its seat before it sleeps, and shows it again before its next push. A worker
//! that looks for jobs, each time that it wakes and before it sleeps, looks at one cache line instead of several for
//! each worker.
//!
//! - *No job is overlooked.* The owner shows the seat before its push, and issues a fence in between. So a thread that
//!   looks after a fence of its own sees the seat; or its fence comes first, and then the owner sees what that thread
//!   has written before it. That also holds for an owner that has the ring to itself, and spares the fence after its
//!   pushes: a thread that sees the seat also sees that the ring is reserved, and
//!   [recalls](crate::source::Source::recall) it.
//! - *A thread that finds a seat hidden synchronises with the thread that took the last job*, as with an empty
//!   [ring](crate::source::queue::ring): the owner has seen that the job was taken, and hides the seat (Release) after
//!   a fence (Acquire); the looking thread loads the set (Acquire). So the worker that has the job counts as active to
//!   a thread that asks whether all are idle.
//!
//! `shown/model.rs` fails without the fence of [`Shown::show`], without that of [`Shown::hide`], and if the set is
//! loaded Relaxed.

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    apart::Apart,
    sync::atomic::{
        AtomicU64,
        Ordering::{AcqRel, Acquire, Relaxed, SeqCst},
        fence,
    },
};

/// A set of seats.
pub(super) struct Shown(Box<[Apart<AtomicU64>]>);

/// Where a seat is in the set.
fn place_of(seat: usize) -> (usize, u64) {
    const BITS: usize = u64::BITS as usize;
    (seat / BITS, 1 << (seat % BITS))
}

impl Shown {
    /// An empty set, with room for `seats`.
    pub(super) fn of(seats: usize) -> Self {
        Shown((0..seats.div_ceil(u64::BITS as usize)).map(|_| Apart::new(AtomicU64::new(0))).collect())
    }

    /// Shows a seat. To be called before jobs are put there.
    #[cold]
    pub(super) fn show(&self, seat: usize) {
        let (word, bit) = place_of(seat);
        // Relaxed: the fence orders it for threads that look after one. A thread that sees that a job has gone from a
        // lane to the seat sees the seat through whatever told it that.
        self.0[word].fetch_or(bit, Relaxed);
        fence(SeqCst);
    }

    /// Hides a seat. The caller, which alone puts jobs there, has seen that there are none.
    pub(super) fn hide(&self, seat: usize) {
        let (word, bit) = place_of(seat);
        // Pairs with the threads that took the jobs, and with `iter`.
        fence(AcqRel);
        self.0[word].fetch_and(!bit, Relaxed);
    }

    pub(super) fn contains(&self, seat: usize) -> bool {
        let (word, bit) = place_of(seat);
        self.0[word].load(Acquire) & bit != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// All seats that are shown. Each word is read when the iterator gets there, not before.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(word, seats)| {
            let mut left = seats.load(Acquire);
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                bit.map(|bit| word * u64::BITS as usize + bit)
            })
        })
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_seats_that_were_shown_and_not_hidden_since() {
        let shown = Shown::of(130);
        [129, 0, 63, 64, 5, 64].iter().for_each(|&seat| shown.show(seat));
        shown.hide(5);
        shown.hide(6);
        assert_eq!(shown.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!([0, 5, 64, 128].map(|seat| shown.contains(seat)), [true, false, true, false]);
    }
}
