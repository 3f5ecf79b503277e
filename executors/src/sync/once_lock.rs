//! `OnceLock` for models: loom does not know that the standard library's orders the making of a value before its
//! use.

use super::{
    Mutex,
    atomic::{
        AtomicBool,
        Ordering::{Acquire, Release},
    },
};

/// A thread that finds the value sees what was done before it was made, and a thread that looks while another makes it
/// may not find it yet.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    /// `None` if there is a value from the beginning: then loom has nothing to explore.
    making: Option<Making>,
}

#[derive(Debug, Default)]
struct Making {
    is_done: AtomicBool,
    lock: Mutex<()>,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        OnceLock { value: std::sync::OnceLock::new(), making: Some(Making::default()) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        let is_done = self.making.as_ref().is_none_or(|making| making.is_done.load(Acquire));
        if is_done { self.value.get() } else { None }
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let Some(making) = &self.making else { return Err(value) };
        let _one_at_a_time = making.lock.lock().unwrap();
        self.value.set(value)?;
        making.is_done.store(true, Release);
        Ok(())
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if self.get().is_none() {
            // If another thread is faster, the lock orders what that has done.
            let _made_by_another = self.set(make());
        }
        self.value.get().expect("it has been made")
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        OnceLock { value: std::sync::OnceLock::from(value), making: None }
    }
}
