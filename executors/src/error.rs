//! Typed errors for everything that can go wrong.

mod build;
mod panic;
mod refusal;
mod shutdown;
mod task;
mod wait;

pub use {
    build::BuildError,
    panic::Panic,
    refusal::Rejected,
    shutdown::{ShutdownError, ShutdownReport},
    task::{Failure, TaskError},
    wait::WaitError,
};
pub(crate) use {
    build::BuildErrorKind,
    panic::{error_of, message_of},
};
