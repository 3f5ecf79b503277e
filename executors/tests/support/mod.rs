//! What the test binaries share.
#![allow(dead_code, reason = "each test binary uses its part of this")]

pub(crate) mod case;
pub(crate) mod child;
pub(crate) mod gate;
pub(crate) mod log_book;
pub(crate) mod naive_parker;
pub(crate) mod on_drop;
pub(crate) mod programs;
pub(crate) mod random;
pub(crate) mod suspend;
pub(crate) mod threads;
pub(crate) mod watchdog;
