//! A number for each thread of the process, by which it finds its own part of a queue or of a count: so threads rarely
//! meet there.

use crate::sync::thread_local;
use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place { number: 0, moves: 0 }) };
}

/// Where a thread stands among all threads of this process.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// A number that no other thread has, or has had, until four thousand million threads have got one. 0 until it is
    /// asked for.
    pub(crate) number: u32,
    /// How often it has [moved on](move_on).
    pub(crate) moves: u32,
}

/// The place of the calling thread.
#[inline]
pub(crate) fn current() -> Place {
    let place = known();
    if place.number == 0 { first_place() } else { place }
}

/// The same, which may have no number yet.
#[inline]
pub(crate) fn known() -> Place {
    PLACE.with(Cell::get)
}

#[cold]
fn first_place() -> Place {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let place = Place { number: NEXT.fetch_add(1, Relaxed).max(1), moves: 0 };
    PLACE.with(|own| own.set(place));
    place
}

/// The calling thread moves on to another part of something, for good, because it has met another thread at its own.
#[cold]
pub(crate) fn move_on() {
    let place = current();
    PLACE.with(|own| own.set(Place { moves: place.moves.wrapping_add(1), ..place }));
}
