//! The seats of a crew.

use crate::{
    meter::Meter,
    rows::Rows,
    sync::{Mutex, MutexGuard},
};
use std::{cmp::Reverse, collections::BinaryHeap, sync::PoisonError};

/// A worker's place: its core, its counters.
#[derive(Debug, Default)]
pub(super) struct Seat {
    pub(super) core: Option<usize>,
    pub(super) meter: Meter,
}

/// A fixed number from the beginning, and more when somebody sits down there for the first time. They stay for as long
/// as the crew exists, so that nobody needs a lock to read the counters.
pub(super) type Seats = Rows<Seat>;

/// A seat on each of `cores`.
pub(super) fn on(cores: impl IntoIterator<Item = Option<usize>>) -> Seats {
    Seats::new(cores.into_iter().map(|core| Seat { core, ..Seat::default() }))
}

/// The seats that nobody has, beyond those that are given for good.
#[derive(Debug)]
pub(super) struct Vacancies {
    first: usize,
    numbers: Mutex<Numbers>,
}

#[derive(Debug)]
struct Numbers {
    /// Seats from this one on have never been taken.
    unused: usize,
    vacated: BinaryHeap<Reverse<usize>>,
}

impl Vacancies {
    /// From seat `first` on.
    pub(super) fn from(first: usize) -> Self {
        Vacancies { first, numbers: Mutex::new(Numbers { unused: first, vacated: BinaryHeap::new() }) }
    }

    /// The lowest vacant seat, so that numbers and names stay low.
    pub(super) fn take(&self) -> usize {
        let mut numbers = self.numbers();
        match numbers.vacated.pop() {
            Some(Reverse(seat)) => seat,
            None => {
                numbers.unused += 1;
                numbers.unused - 1
            }
        }
    }

    /// Nothing, if the seat was given for good.
    ///
    /// The lock orders what the seat's last holder wrote to its meter before what the next one does.
    pub(super) fn give_back(&self, seat: usize) {
        if seat >= self.first {
            self.numbers().vacated.push(Reverse(seat));
        }
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
