//! What models are written with.

use super::{Condvar, Mutex};

/// Checks all executions of `model` with at most `preemptions` switches away from a thread that could go on, or the
/// number in LOOM_MAX_PREEMPTIONS if that is less.
///
/// Prints how many there were, so that a model that has become trivial, or far too large, is noticed.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    check_with(0, preemptions, model);
}

/// The same for a model that takes a quarter of a minute or more: with one preemption less if LOOM_BRIEF is set.
pub(crate) fn check_at_length(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let is_brief = std::env::var_os("LOOM_BRIEF").is_some();
    check_with(usize::from(is_brief), preemptions, model);
}

fn check_with(less: usize, preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    use std::{
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        time::Instant,
    };
    let mut builder = loom::model::Builder::new();
    let most = builder.preemption_bound.map_or(preemptions, |most| most.min(preemptions));
    builder.preemption_bound = Some(most.saturating_sub(less));
    builder.max_branches = 10_000;
    let (executions, begin) = (std::sync::Arc::new(AtomicUsize::new(0)), Instant::now());
    let count = std::sync::Arc::clone(&executions);
    builder.check(move || {
        count.fetch_add(1, Relaxed);
        model();
    });
    println!("{} executions in {:.1?}", executions.load(Relaxed), begin.elapsed());
}

/// Something that threads of a model wait for.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    pub(crate) fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }
}
