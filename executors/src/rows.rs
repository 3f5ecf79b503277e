//! A segmented vector: an item for each of any number of places, which never moves.

use crate::apart::Apart;
use crossbeam_utils::CachePadded;
use std::sync::OnceLock;

/// A fixed number of items from the beginning, and more as they are first accessed.
///
/// Items that exist are accessed without a lock.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    first: Row<T>,
    /// The item after the first row: most pools need no other.
    next: Apart<T>,
    /// Made when there is to be one.
    further: OnceLock<Box<Further<T>>>,
}

/// The first of these rows has two items, and each has twice as many as the one before.
type Further<T> = [OnceLock<Row<T>>; 20];

type Row<T> = Box<[CachePadded<T>]>;

impl<T: Default> Rows<T> {
    /// Begins with `items`.
    pub(crate) fn new(items: impl IntoIterator<Item = T>) -> Self {
        let first = items.into_iter().map(CachePadded::new).collect();
        let rows = Rows { first, next: Apart::new(T::default()), further: OnceLock::new() };
        if cfg!(executors_loom) {
            // Loom does not see that a `OnceLock` orders the creation of a row before its use.
            [1, 3].iter().for_each(|&place| _ = rows.further(place));
        }
        rows
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> &T {
        match self.first.get(place) {
            Some(item) => item,
            None => self.further(place - self.first.len()),
        }
    }

    fn further(&self, place: usize) -> &T {
        // Counting from 1, row 0 is the single item, row 1 begins at 2, row 2 at 4, and so on.
        let number = place + 1;
        let row = number.ilog2() as usize;
        let begin = 1 << row;
        let Some(further) = row.checked_sub(1) else { return &self.next };
        let rows = self.further.get_or_init(Box::default);
        let items = rows[further].get_or_init(|| (0..begin).map(|_| CachePadded::default()).collect());
        &items[number - begin]
    }

    /// All items that exist.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let further = self.further.get().into_iter().flat_map(|rows| rows.iter()).filter_map(OnceLock::get);
        let padded = [&self.first].into_iter().chain(further).flatten().map(|item| &**item);
        padded.chain([&*self.next])
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_number_has_its_own_place() {
        let rows = Rows::new([7, 0, 0]);
        let places: HashSet<_> = (0..1000).map(|place| std::ptr::from_ref(rows.get(place))).collect();
        assert_eq!(places.len(), 1000);
        assert_eq!(rows.iter().count(), 3 + 1023);
        assert_eq!(*rows.get(0), 7);
        assert_eq!(*rows.get(500), 0);
    }

    #[test]
    fn rows_have_room_for_as_many_as_there_can_be_threads() {
        // And as many strangers.
        let most = 2 * crate::options::MAX_THREADS;
        assert!(most.ilog2() <= Further::<()>::default().len() as u32);
    }
}
