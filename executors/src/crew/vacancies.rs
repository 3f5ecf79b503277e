//! The vacant seats.

use crate::sync::{Mutex, MutexGuard};
use std::{cmp::Reverse, collections::BinaryHeap, sync::PoisonError};

/// The vacant seats, beyond those that are assigned for good.
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

    /// Does nothing if the seat was assigned for good.
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
