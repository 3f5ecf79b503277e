//! What models are written with.

use super::{Condvar, Mutex};

/// Checks all executions of `model` with at most `preemptions` switches away from a thread that could go on, or as many
/// as LOOM_MAX_PREEMPTIONS says if that is less.
///
/// Says how many there were, so that a model that has become trivial, or far too large, is noticed.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    check_with(|most| most.min(preemptions), preemptions, model);
}

/// The same for a model that takes a quarter of a minute or more: with one switch less where LOOM_MAX_PREEMPTIONS says
/// something, as that bounds the time.
pub(crate) fn check_at_length(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    check_with(|most| most.min(preemptions).saturating_sub(1), preemptions, model);
}

fn check_with(bound: impl Fn(usize) -> usize, preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    use std::{
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        time::Instant,
    };
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.map_or(preemptions, bound));
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
