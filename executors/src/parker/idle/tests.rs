use super::*;
use crate::courtesy::Courtesy;

/// One of two workers sleeps, and the other steps aside.
#[test]
fn the_second_job_that_meets_a_worker_aside_calls_another() {
    let idle = IdleSet { cores: 2, ..IdleSet::new(None) };
    idle.init(0);
    let sleeper = || {
        idle.init(1);
        idle.prepare_park(1);
    };
    std::thread::scope(|scope| scope.spawn(sleeper).join().unwrap());
    idle.start_looking();
    assert!(idle.step_aside() && !idle.step_aside(), "one at a time");
    for (origin, called, calls) in [(Origin::Inside, 0, 0), (Origin::Outside, 1, 0), (Origin::Outside, 2, 1)] {
        idle.job_arrived(origin);
        assert_eq!((idle.word.read().called(), idle.wake_ups()), (called, calls), "{origin:?}");
    }
    idle.come_back();
    let census = idle.word.read();
    assert_eq!((census.sleeping(), census.called(), census.looking()), (0, 1, 1));
}

#[test]
fn others_rely_on_a_submitter_that_gives_way_until_it_goes_on() {
    let idle = IdleSet { cores: 2, ..IdleSet::new(None) };
    for worker in 0..2 {
        idle.init(worker);
        idle.prepare_park(worker);
    }
    assert!(!idle.is_one_coming(), "all sleep");
    idle.unpark(0);
    assert!(idle.is_one_coming());
    idle.give_way();
    assert!(!idle.is_one_coming(), "another submitter calls, or relies on this one");
    idle.job_arrived(Origin::Outside);
    assert_eq!(idle.wake_ups(), 1);
    assert!(idle.go_on(), "the worker has not come, and a job calls another");
    idle.give_way();
    idle.abort_park(0);
    idle.start_looking();
    assert!(!idle.is_one_coming(), "it has come");
    assert!(!idle.go_on(), "it looks");
    idle.give_way();
    assert!(!idle.stop_looking(), "the submitter that gives way looks next");
    assert!(idle.go_on(), "no other thread does");
    idle.abort_park(1);
    idle.assert_all_awake();
}

#[test]
fn no_submitter_gives_way_on_one_core_or_in_a_pool_for_bursts() {
    let of_one = IdleSet { cores: 1, ..IdleSet::new(None) };
    let for_bursts = IdleSet { cores: 2, hastens: true, ..IdleSet::new(None) };
    for idle in [of_one, for_bursts] {
        for worker in 0..2 {
            idle.init(worker);
            idle.prepare_park(worker);
        }
        idle.unpark(0);
        assert!(!idle.is_one_coming());
    }
}

#[test]
fn a_worker_that_looks_or_naps_spares_a_call() {
    const ORIGINS: [Origin; 3] = [Origin::Outside, Origin::Inside, Origin::Alone];
    let idle = IdleSet::new(None);
    (0..2).for_each(|worker| idle.init(worker));
    assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [false, false, false], "no worker sleeps");
    idle.prepare_park(0);
    assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [true, true, true]);
    idle.start_looking();
    assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [true, false, false], "see `job_arrived`");
    idle.stop_looking();
    idle.job_arrived(Origin::Alone);
    assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [false, false, false], "no worker sleeps any more");
    idle.abort_park(0);
    assert!(idle.prepare_nap(0), "called for a lone job");
    assert_eq!(ORIGINS.map(|origin| idle.needs_call(origin)), [true, true, false]);
}

/// Of four workers on three cores, the first has come for the first job already.
#[test]
#[cfg(feature = "burst-exec")]
fn jobs_of_a_burst_call_workers_though_others_have_come() {
    for (set, called) in [(IdleSet::new(None), 1), (IdleSet::for_bursts(), 2)] {
        let idle = IdleSet { cores: 3, ..set };
        for worker in 0..4 {
            idle.init(worker);
            idle.prepare_park(worker);
        }
        idle.unpark(0);
        idle.abort_park(0);
        (0..4).for_each(|_job| idle.job_arrived(Origin::Outside));
        assert_eq!(idle.word.read().called(), called, "three cores, and one is at a job");
    }
}

/// A set of four workers: three have fallen asleep on core 1, and one, before two of these, on core 0.
fn with_sleepers() -> IdleSet {
    with_sleepers_of(IdleSet::new(None))
}

fn with_sleepers_of(idle: IdleSet) -> IdleSet {
    for (worker, core) in [(0, 1), (1, 0), (2, 1), (3, 1)] {
        idle.init(worker);
        idle.prepare_park(worker);
        let whereabouts = &mut idle.register().whereabouts;
        whereabouts.wakes(worker);
        whereabouts.falls_asleep(worker, Some(core));
    }
    idle
}

fn call(idle: &IdleSet, cores: usize, rather: Option<usize>) -> usize {
    let mut register = idle.register();
    let worker = register.take_next(cores, rather).expect("a worker sleeps");
    idle.call(&mut register, worker, None);
    worker
}

#[test]
fn sleepers_on_quiet_cores_are_called_first_if_cores_are_free() {
    for (cores, order) in [(1, [3, 2, 1, 0]), (2, [3, 1, 2, 0])] {
        let idle = with_sleepers();
        assert_eq!(order.map(|_| call(&idle, cores, None)), order);
        (0..4).for_each(|worker| idle.abort_park(worker));
        idle.assert_all_awake();
    }
}

#[test]
fn a_worker_that_has_left_keeps_no_other_from_being_called() {
    let idle = with_sleepers_of(IdleSet { cores: 2, ..IdleSet::new(None) });
    idle.abort_park(1);
    idle.leave(1);
    assert_eq!((idle.awake(idle.word.read()), idle.register().whereabouts.occupied()), (0, 0));
    (0..3).for_each(|_job| idle.job_arrived(Origin::Outside));
    assert_eq!(idle.wake_ups(), 2, "of three that are left, as many as there are cores");
    [0, 2, 3].into_iter().for_each(|worker| idle.abort_park(worker));
    idle.assert_all_awake();
}

/// As a lost worker does, whatever it has announced before.
#[test]
fn a_worker_that_is_awake_again_may_leave() {
    let announce = |idle: &IdleSet, is_nap: bool| if is_nap { _ = idle.prepare_nap(0) } else { idle.prepare_park(0) };
    for (is_nap, is_called) in [(false, false), (false, true), (true, false), (true, true)] {
        let idle = IdleSet::new(None);
        (0..2).for_each(|worker| idle.init(worker));
        idle.prepare_park(0);
        idle.job_arrived(Origin::Alone);
        idle.abort_park(0);
        announce(&idle, is_nap);
        assert_eq!(idle.word.read().napping(), is_nap);
        if is_called {
            idle.unpark_one();
        }
        idle.init(0);
        idle.leave(0);
        idle.assert_all_awake();
        assert_eq!((idle.members(), idle.register().whereabouts.occupied()), (1, 0));
    }
}

#[test]
fn each_number_counts_once_while_it_has_a_worker() {
    let idle = IdleSet::new(None);
    (0..4).for_each(|worker| idle.init(worker));
    idle.init(2);
    assert_eq!(idle.members(), 4);
    idle.leave(2);
    idle.leave(2);
    idle.init(3);
    assert_eq!(idle.members(), 3);
    [3, 2].into_iter().for_each(|worker| idle.prepare_park(worker)); // no beds, and one does not count
    assert_eq!(idle.members(), 4);
    idle.leave(7);
    assert_eq!(idle.members(), 4, "it never came");
}

#[test]
fn a_sleeper_on_the_named_core_is_called_first() {
    let idle = with_sleepers();
    let rather = [0, 0, 1, 5].map(Some);
    assert_eq!(rather.map(|core| call(&idle, 2, core)), [1, 3, 2, 0]);
}

#[test]
fn a_thread_that_slept_for_a_result_names_its_own_core_once() {
    let idle = IdleSet::new(None);
    let names_core = |origin| idle.core_to_call(Some(origin)).is_some();
    assert!(!names_core(Origin::Outside));
    Courtesy::new().sleeps();
    let is_told = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    assert_eq!([Origin::Inside, Origin::Outside, Origin::Outside].map(names_core), [false, is_told, false]);
}

#[test]
#[cfg(feature = "elastic-exec")]
fn the_last_first_order_ignores_cores() {
    for (set, order) in [(IdleSet::new(None), [3, 1, 2, 0]), (IdleSet::last_first(), [3, 2, 1, 0])] {
        let idle = with_sleepers_of(IdleSet { cores: 2, ..set });
        let mut register = idle.register();
        let mut call_next = || {
            let worker = idle.take_next(&mut register, None).expect("a worker sleeps");
            idle.call(&mut register, worker, None);
            worker
        };
        assert_eq!(order.map(|_| call_next()), order);
    }
}

/// Whether a worker that was called for a job of `origin`, by a thread on its own core, wakes up on another one. A
/// second worker is awake on its core, too.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn makes_way(idle: &IdleSet, origin: Option<Origin>, is_nap: bool, call_ends: bool) -> bool {
    idle.prepare_park(0);
    let core = {
        let mut register = idle.register();
        let core = current_core();
        register.whereabouts.moves_in(1, core);
        assert!(register.asleep.remove(0));
        let bed = idle.call(&mut register, 0, origin);
        if call_ends {
            bed.unpark();
        }
        core
    };
    if is_nap {
        idle.nap(0, Duration::from_secs(1000));
    } else {
        assert_eq!(idle.park(0), ParkResult::Woken);
    }
    let has_moved = current_core() != core;
    idle.assert_all_awake();
    has_moved
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_worker_that_interrupts_its_caller_moves_to_another_core() {
    use crate::{placement::Mask, seccomp::is_filtered};

    if Mask::of_this_thread().first_of_several().is_none() || is_filtered() {
        println!("skipped: threads cannot be moved");
        return;
    }
    let cases = [
        (2, Some(Origin::Inside), false, true),
        (2, Some(Origin::Alone), false, true),
        (2, Some(Origin::Inside), true, false),
        (2, Some(Origin::Waiting), false, false),
        (2, Some(Origin::Outside), false, false),
        (2, None, false, false),
        (1, Some(Origin::Inside), false, false),
    ];
    for is_nap in [false, true] {
        let idle = [IdleSet { cores: 1, ..IdleSet::new(None) }, IdleSet { cores: 2, ..IdleSet::new(None) }];
        // The system may move it, too, but not every time at this very moment.
        let makes_way_mostly = |(cores, origin, call_ends, _): (usize, Option<Origin>, bool, bool)| {
            (0..20).filter(|_| makes_way(&idle[cores - 1], origin, is_nap, call_ends)).count() > 10
        };
        assert_eq!(cases.map(makes_way_mostly), cases.map(|(.., moves)| moves), "{is_nap}");
    }
}

/// The former thread of the number has ended asleep, called or not.
#[test]
fn a_worker_that_takes_over_a_number_is_awake() {
    for is_called in [false, true] {
        let idle = IdleSet::new(None);
        std::thread::scope(|scope| scope.spawn(|| idle.prepare_park(0)).join().unwrap());
        if is_called {
            idle.unpark_one();
        }
        let census = idle.word.read();
        assert_eq!((census.sleeping(), census.called()), if is_called { (0, 1) } else { (1, 0) });
        idle.init(0);
        idle.assert_all_awake();
    }
}
