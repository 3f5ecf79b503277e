//! Why a wait for a pool to become idle ended early.

use std::{error::Error, fmt};

/// Why waiting for a pool to become idle ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The caller is a worker of the pool it would wait for, so the pool could never become idle.
    FromWorker,
    /// Jobs were still queued or running when the time was up.
    TimedOut,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitError::FromWorker => {
                "a worker cannot wait for its own pool to become idle: wait from another thread, \
                 or for single jobs by the handles that `submit` returns"
            }
            WaitError::TimedOut => "jobs were still queued or running when the time was up",
        })
    }
}

impl Error for WaitError {}
