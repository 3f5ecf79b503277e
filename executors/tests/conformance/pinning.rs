//! Workers that are pinned to a core stay there, whatever their jobs do.

use super::{
    subject::{Crew, with},
    tools::{ask_all, panic_on_all},
};
use crate::support::threads::{allowed_cores, can_be_pinned, on_pinned_thread};
use executors::{Placement, Pool};
use std::{collections::BTreeMap, thread};

/// The cores that each worker may run on, by its name.
pub(crate) fn cores_by_worker(pool: &impl Pool, threads: usize) -> BTreeMap<String, Option<String>> {
    let place = || (thread::current().name().unwrap_or_default().to_owned(), allowed_cores());
    ask_all(pool, threads, place).into_iter().collect()
}

/// The cores of this process, as the pinning crate sees them.
pub(crate) fn cores() -> Vec<usize> {
    core_affinity::get_core_ids().expect("tests run where cores are known").iter().map(|core| core.id).collect()
}

/// What [`cores_by_worker`] should return: the first workers on their cores, the others wherever this thread may run.
fn expected(name: &str, pinned: &[usize], threads: usize) -> BTreeMap<String, Option<String>> {
    let anywhere = allowed_cores();
    let place = |worker| match pinned.get(worker) {
        Some(core) => anywhere.is_some().then(|| usize::to_string(core)),
        None => anywhere.clone(),
    };
    (0..threads).map(|worker| (format!("{name}-{worker}"), place(worker))).collect()
}

/// The first workers are pinned to the listed cores, further ones float; after panics, too.
pub(crate) fn workers_sit_on_their_cores(subject: &impl Crew) {
    if !can_be_pinned() {
        return;
    }
    let pinned: Vec<_> = cores().into_iter().rev().take(2).collect();
    let threads = pinned.len() + 2;
    let builder = subject.builder().threads(threads).name("pin").placement(Placement::Cores(pinned.clone()));
    with(builder.build().expect("these cores exist"), |pool| {
        // A worker that starts while one that has left is not gone yet has a number beyond `threads`; one of the lower
        // numbers is then unused.
        let expected = expected("pin", &pinned, 2 * threads);
        for _ in 0..4 {
            let places = cores_by_worker(pool, threads);
            assert_eq!(places.len(), threads);
            places.iter().for_each(|(name, cores)| assert_eq!(Some(cores), expected.get(name), "{name}"));
            // A panic does not move a worker.
            panic_on_all(pool, threads);
        }
    });
}

/// One worker on each core, then floating ones.
pub(crate) fn automatic_placement_goes_round_the_cores_once(subject: &impl Crew) {
    let threads = cores().len() + 1;
    let builder = subject.builder().threads(threads).name("auto").placement(Placement::Auto);
    with(builder.build().expect("one thread more than cores"), |pool| {
        assert_eq!(cores_by_worker(pool, threads), expected("auto", &cores(), threads));
    });
}

pub(crate) fn automatic_placement_pins_no_worker(subject: &impl Crew) {
    workers_go_anywhere(subject, Placement::Auto);
}

pub(crate) fn floating_workers_go_anywhere(subject: &impl Crew) {
    workers_go_anywhere(subject, Placement::Floating);
}

fn workers_go_anywhere(subject: &impl Crew, placement: Placement) {
    let builder = subject.builder().threads(3).name("float").placement(placement);
    with(builder.build().expect("three threads"), |pool| {
        assert_eq!(cores_by_worker(pool, 3), expected("float", &[], 3));
    });
}

/// The submitter, which starts the threads for its jobs, is itself pinned.
pub(crate) fn a_pinned_submitter_pins_no_worker(subject: &impl Crew) {
    let builder = subject.builder().threads(3).name("free").placement(Placement::Floating);
    with(builder.build().expect("three threads"), |pool| {
        if let Some(places) = on_pinned_thread(|| cores_by_worker(pool, 3)) {
            assert_eq!(places, expected("free", &[], 3));
        }
    });
}

/// A core may be given to any number of workers.
pub(crate) fn workers_may_share_a_core(subject: &impl Crew) {
    if !can_be_pinned() {
        return;
    }
    let threads = subject.at_most(100);
    let pinned = vec![cores()[0]; threads];
    let builder = subject.builder().threads(threads).name("share").placement(Placement::Cores(pinned.clone()));
    with(builder.build().expect("the core exists"), |pool| {
        assert_eq!(cores_by_worker(pool, threads), expected("share", &pinned, threads));
    });
}
