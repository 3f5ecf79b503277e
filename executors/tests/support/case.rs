//! The name of the running test.
//!
//! The harness names threads after tests, but not when it runs all of them on the main thread.

use std::{cell::Cell, thread};

thread_local! {
    static NAME: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Declares that this thread now runs the test at `path`, which is a full path: crate, modules, function.
pub(crate) fn begin(path: &'static str) {
    NAME.set(path.split_once("::").map(|(_crate, name)| name));
}

/// The name of the test, as the harness knows it.
pub(crate) fn name() -> String {
    match NAME.get() {
        Some(name) => name.to_owned(),
        None => thread::current().name().unwrap_or("an unnamed thread").to_owned(),
    }
}
