//! What models are written with.

use super::{Condvar, Mutex};
use std::{
    cell::Cell,
    panic,
    sync::{
        Arc, Once,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

/// Checks all executions of `model` with at most `preemptions` switches away from a thread that could go on, or the
/// number in LOOM_MAX_PREEMPTIONS if that is less.
///
/// Prints how many there were, so that a model that has become far too large is noticed, and fails if there was only
/// one, unless no switch is allowed: a model of one thread asks for 0.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    check_with(0, preemptions, [], move |[]| model());
}

/// The same for a model that takes a quarter of a minute or more: with one preemption less if LOOM_BRIEF is set.
pub(crate) fn check_at_length(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let is_brief = std::env::var_os("LOOM_BRIEF").is_some();
    check_with(usize::from(is_brief), preemptions, [], move |[]| model());
}

/// The same as [`check`] for a model that would pass, too, if the threads in it never got to do what it is about:
/// some execution has to reach each of these goals, unless fewer than two preemptions are allowed.
pub(crate) fn check_reaching<const N: usize>(
    preemptions: usize,
    goals: [&'static str; N],
    model: impl Fn([Goal; N]) + Sync + Send + 'static,
) {
    check_with(0, preemptions, goals, model);
}

/// Something that at least one execution of a model has to reach.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    name: &'static str,
    /// Not loom's: not part of what is modelled.
    is_reached: &'static AtomicBool,
}

impl Goal {
    fn new(name: &'static str) -> Self {
        Goal { name, is_reached: Box::leak(Box::default()) }
    }

    /// This execution has reached it, if that `is_so`.
    pub(crate) fn is_reached_if(self, is_so: bool) {
        self.is_reached.fetch_or(is_so, Relaxed);
    }
}

fn check_with<const N: usize>(
    less: usize,
    preemptions: usize,
    goals: [&'static str; N],
    model: impl Fn([Goal; N]) + Sync + Send + 'static,
) {
    let mut builder = loom::model::Builder::new();
    let most = builder.preemption_bound.map_or(preemptions, |most| most.min(preemptions));
    let bound = most.saturating_sub(less);
    builder.preemption_bound = Some(bound);
    builder.max_branches = 10_000;
    // All executions, whatever loom's other variables of the environment say.
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.checkpoint_file = None;
    note_panics();
    let (executions, begin) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let (count, goals) = (Arc::clone(&executions), goals.map(Goal::new));
    builder.check(move || {
        assert_none_has_panicked();
        count.fetch_add(1, Relaxed);
        model(goals);
    });
    assert_none_has_panicked();
    let executions = executions.load(Relaxed);
    println!("{executions} executions in {:.1?}", begin.elapsed());
    if bound > 0 {
        assert!(executions > 1, "no thread does anything that another could come before");
    }
    if bound > 1 {
        for goal in goals {
            assert!(goal.is_reached.load(Relaxed), "no execution reaches this goal: {}", goal.name);
        }
    }
}

std::thread_local! {
    /// Whether a thread of the model that this thread checks has panicked. (Loom runs all of them on this one.)
    static HAS_PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// Notes whether a thread of the model panics from now on. A worker contains panics, those of its parker, too: so an
/// execution may go on as if nothing were wrong, with one worker less.
fn note_panics() {
    static NOTED: Once = Once::new();
    // Before the first thread of loom: with that, the crate generator puts around this hook one that ignores the panics
    // by which its threads end.
    NOTED.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            HAS_PANICKED.set(true);
            usual(info);
        }));
    });
    HAS_PANICKED.set(false);
}

fn assert_none_has_panicked() {
    assert!(!HAS_PANICKED.get(), "a worker has contained a panic, maybe one of loom");
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
