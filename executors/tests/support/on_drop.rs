//! What a test makes a destructor do.

/// Calls a closure when it is dropped.
pub(crate) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    pub(crate) fn new(closure: F) -> Self {
        OnDrop(Some(closure))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|closure| closure());
    }
}
