//! What a pool runs.

/// What a [`ThreadPool`](super::ThreadPool) runs: closures, and anything else that implements this.
pub trait Task<R: Send>: Send {
    /// Runs the task.
    fn run(self) -> R;

    /// The task as a closure, if it is one.
    fn into_fn(self) -> Option<Box<dyn FnOnce() -> R + Send + 'static>>;

    /// Whether the task is a closure.
    fn is_fn(&self) -> bool;
}

impl<R, F> Task<R> for F
where
    R: Send,
    F: FnOnce() -> R + Send + 'static,
{
    fn run(self) -> R {
        self()
    }

    fn into_fn(self) -> Option<Box<dyn FnOnce() -> R + Send + 'static>> {
        Some(Box::new(self))
    }

    fn is_fn(&self) -> bool {
        true
    }
}
