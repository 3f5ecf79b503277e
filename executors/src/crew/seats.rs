//! The seats of a crew.

use crate::{meter::Meter, rows::Rows};

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
