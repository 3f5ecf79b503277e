//! Panics of jobs.

use std::{any::Any, error::Error, fmt, io, sync::Mutex};

/// The panic of a job.
///
/// # Examples
///
/// ```
/// use executors::*;
///
/// let pool = crossbeam_workstealing_pool::small_pool(1);
/// let Err(TaskError::Panicked(panic)) = pool.submit(|| panic!("no luck")).wait() else { unreachable!() };
/// assert_eq!(panic.to_string(), "no luck");
/// assert_eq!(panic.into_payload().downcast_ref(), Some(&"no luck"));
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Panic {
    /// The mutex is never locked while shared: it only makes the payload, which is not `Sync`, shareable.
    payload: Mutex<Box<dyn Any + Send>>,
    message: String,
}

impl Panic {
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = message_of(&*payload).to_owned();
        Panic { payload: Mutex::new(payload), message }
    }

    /// The panic's message, or a remark that it had none.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The payload, to be examined or passed to [`std::panic::resume_unwind`].
    #[must_use]
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.payload.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Its message.
impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// So that `?` passes it on, once it is taken out of a [`TaskError`](crate::TaskError).
impl Error for Panic {}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.message).finish()
    }
}

/// The payload of a call that has panicked, as the error that it should have returned.
pub(crate) fn error_of(payload: Box<dyn Any + Send>) -> io::Error {
    io::Error::other(message_of(&*payload).to_owned())
}

/// The text of a panic payload, or a remark that it has none.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "(a payload that is not text)"
    }
}
