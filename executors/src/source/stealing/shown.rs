//! On which seats there may be jobs.
//!
//! Most workers of a large pool sleep, mostly with an empty ring and nothing spilled; and nobody but their owner puts
//! jobs there. So a worker that has none hides its seat before it sleeps, and shows it again before its next push. Who
//! looks for jobs, each time that it wakes and before it sleeps, looks at one line in place of several for each worker.
//!
//! - *No job is overlooked.* The owner shows the seat before its push, and issues a fence in between: so who looks
//!   behind a fence of its own sees the seat, or comes first, and then the owner sees what that one has written before
//!   its fence. That holds also for an owner that has the ring to itself, and spares the fence behind its pushes: who
//!   sees the seat sees that the ring is reserved, too, and [recalls](crate::source::Source::recall) it.
//! - *Who finds a seat hidden knows who took the last job*, as with an empty [ring](crate::source::queue::ring): the
//!   owner has seen that it was taken, and hides the seat (Release) behind a fence (Acquire); who looks loads the set
//!   (Acquire). So whoever has the job counts as active for who asks whether all are idle.
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
    /// None of so many seats.
    pub(super) fn of(seats: usize) -> Self {
        Shown((0..seats.div_ceil(u64::BITS as usize)).map(|_| Apart::new(AtomicU64::new(0))).collect())
    }

    /// To be called before jobs are put there.
    #[cold]
    pub(super) fn show(&self, seat: usize) {
        let (word, bit) = place_of(seat);
        // Relaxed: the fence orders it for who looks behind one. Who sees that a job has gone from a lane to the seat
        // sees this by what has told of that.
        self.0[word].fetch_or(bit, Relaxed);
        fence(SeqCst);
    }

    /// The caller, who alone puts jobs there, has seen that there are none.
    pub(super) fn hide(&self, seat: usize) {
        let (word, bit) = place_of(seat);
        // Pairs with those who took the jobs, and with `iter`.
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

    /// All that are shown. Each word is read when the iterator comes there, and not before.
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
    fn it_has_the_seats_that_were_shown_and_not_hidden_since() {
        let shown = Shown::of(130);
        [129, 0, 63, 64, 5, 64].iter().for_each(|&seat| shown.show(seat));
        shown.hide(5);
        shown.hide(6);
        assert_eq!(shown.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!([0, 5, 64, 128].map(|seat| shown.contains(seat)), [true, false, true, false]);
    }
}
