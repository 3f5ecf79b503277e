//! The primitives that the model-checked parts are made of: the standard library's, or loom's when a model runs.

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{Arc, Mutex, MutexGuard, atomic},
    thread,
};

#[cfg(loom)]
pub(crate) use loom::{
    sync::{Arc, Mutex, MutexGuard, atomic},
    thread,
};
