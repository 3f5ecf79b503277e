//! Lists without repetitions.

/// The `items` in their order, without those that were there before.
pub(crate) fn once_each<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut each = Vec::new();
    for item in items {
        if !each.contains(&item) {
            each.push(item);
        }
    }
    each
}
