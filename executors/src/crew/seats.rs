//! The seats of a crew: a fixed number from the beginning, and more when somebody sits down there for the first time.

use crate::meter::Meter;
use crossbeam_utils::CachePadded;
use std::sync::OnceLock;

/// A worker's place: its core, its counters.
#[derive(Debug, Default)]
pub(super) struct Seat {
    pub(super) core: Option<usize>,
    pub(super) meter: Meter,
}

/// Seats stay where they are for as long as the crew exists, so that nobody needs a lock to read the counters.
#[derive(Debug)]
pub(super) struct Seats {
    first: Rows,
    /// Each has twice as many seats as the one before.
    further: [OnceLock<Rows>; 16],
}

type Rows = Box<[CachePadded<Seat>]>;

/// Seats in the first of the further rows.
const ROW: usize = 64;

impl Seats {
    /// A seat on each of `cores`.
    pub(super) fn new(cores: impl IntoIterator<Item = Option<usize>>) -> Self {
        let seat = |core| CachePadded::new(Seat { core, ..Seat::default() });
        Seats { first: cores.into_iter().map(seat).collect(), further: Default::default() }
    }

    /// How many there were from the beginning.
    #[inline]
    pub(super) fn reserved(&self) -> usize {
        self.first.len()
    }

    #[inline]
    pub(super) fn get(&self, seat: usize) -> &Seat {
        match self.first.get(seat) {
            Some(seat) => seat,
            None => self.further(seat - self.first.len()),
        }
    }

    fn further(&self, seat: usize) -> &Seat {
        // Row 0 begins at ROW, row 1 at 2 * ROW and so on, if one counts from ROW.
        let number = seat + ROW;
        let row = (number / ROW).ilog2() as usize;
        let begin = ROW << row;
        let seats = self.further[row].get_or_init(|| (0..begin).map(|_| CachePadded::default()).collect());
        &seats[number - begin]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Seat> {
        let further = self.further.iter().filter_map(OnceLock::get);
        [&self.first].into_iter().chain(further).flatten().map(|seat| &**seat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_number_is_a_seat_of_its_own() {
        let seats = Seats::new([Some(7), None, None]);
        let places: HashSet<_> = (0..1000).map(|seat| std::ptr::from_ref(seats.get(seat))).collect();
        assert_eq!(places.len(), 1000);
        assert_eq!(seats.iter().count(), 3 + 64 + 128 + 256 + 512 + 1024);
        assert_eq!(seats.get(0).core, Some(7));
        assert_eq!((seats.reserved(), seats.get(500).core), (3, None));
    }

    #[test]
    fn as_many_as_there_can_be_threads() {
        let largest = crate::options::MAX_THREADS;
        assert!(((largest + ROW) / ROW).ilog2() < Seats::new([]).further.len() as u32);
    }
}
