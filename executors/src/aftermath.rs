//! What ends as a consequence of an end, and has consequences itself, is dealt with in a loop: the stack must not grow
//! with the length of such a chain.

use crate::sync::thread::LocalKey;
use std::cell::RefCell;

/// What is still to be dealt with, while somebody further out on this thread's stack does that.
pub(crate) type Aftermath<T> = RefCell<Option<Vec<T>>>;

/// Has `deal_with`, which does not panic, deal with `item`: at once, unless it is called by `deal_with` itself, for
/// another item of the same list. Then the outermost call does so, when it is done with that.
pub(crate) fn one_after_the_other<T>(list: &'static LocalKey<Aftermath<T>>, item: T, deal_with: impl Fn(T)) {
    let mut next = Some(item);
    let is_outermost = list.try_with(|list| match &mut *list.borrow_mut() {
        Some(others) => {
            others.extend(next.take());
            false
        }
        none => {
            *none = Some(Vec::new());
            true
        }
    });
    match is_outermost {
        Ok(true) => {
            while let Some(item) = next {
                deal_with(item);
                next = list.with(|list| list.borrow_mut().as_mut().and_then(Vec::pop));
            }
            list.with(|list| *list.borrow_mut() = None);
        }
        Ok(false) => (),
        // This thread is about to end, and has no list any more.
        Err(_) => next.into_iter().for_each(deal_with),
    }
}
