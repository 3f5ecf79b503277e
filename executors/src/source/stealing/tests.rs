use super::*;
use crate::{job::MadeBy, options::Placement, part::Fork};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A source for a crew of two, with this many own jobs and this many from outside.
fn loaded(own: usize, outside: usize) -> (StealingSource, StealingLocal) {
    let source = StealingSource::new(2, Neighbourhood::of_machine(2, &Placement::Floating));
    let local = source.attach(Some(0));
    // In a lane with an odd number the thread could be moved on to another lane in the midst of the jobs.
    while !source.lanes.own_number().is_multiple_of(2) {
        crate::local::place::move_on();
    }
    (0..own).for_each(|_| give(&source, &local, Job::new(|| ())));
    (0..outside).for_each(|_| _ = source.inject((), Job::new(|| ())));
    (source, local)
}

fn give(source: &StealingSource, local: &StealingLocal, job: Job) {
    if let Err(job) = source.push(local, (), job) {
        source.push_slowly(local, (), job);
    }
}

/// How many jobs a worker takes when it looks outside.
fn taken((source, local): &(StealingSource, StealingLocal), period: usize) -> usize {
    let outside = || source.lanes.iter().map(Lane::len).sum::<usize>();
    let (before, all) = (outside(), source.len());
    let first = source.pop_outside(local, period, &Meter::default());
    assert_eq!(first.is_some(), before > 0);
    assert_eq!(source.len(), all - usize::from(first.is_some()), "the others are its own now");
    before - outside()
}

#[test]
fn a_worker_takes_its_share_from_outside_if_that_is_sooner() {
    let of = |own, outside, period| taken(&loaded(own, outside), period);
    assert_eq!([of(1, 0, 61), of(1, 1, 61), of(1, 10, 61), of(1, 100, 61)], [0, 1, 5, 30]);
    assert_eq!([of(1, 100, usize::MAX), of(1, 100, 8), of(1, 100, 2), of(1, 100, 1)], [BATCH, 4, 1, 1]);
    assert_eq!([of(140, 10, 61), of(160, 10, 61)], [5, 1]);
}

#[test]
fn a_worker_that_looks_outside_delays_no_spilled_jobs() {
    let (source, local) = loaded(ring::MAX_SIZE + 1, 100);
    while local.ring.len() > 1 {
        drop(local.ring.pop());
    }
    assert_eq!(taken(&(source, local), usize::MAX), 1);
}

#[test]
fn a_worker_whose_spill_is_being_robbed_looks_elsewhere() {
    let (source, local) = loaded(ring::MAX_SIZE + 2, 2);
    while local.ring.pop().is_some() {}
    let other = source.attach(Some(1));
    (0..4).for_each(|_| give(&source, &other, Job::new(|| ())));
    // What it takes besides the first would delay its spilled jobs.
    let finds = || source.search(&local, &Meter::default()).is_some() && local.ring.len() == 0;
    let spill = source.seats[local.seat].spill().expect("there was no room in the ring");
    let robbed = spill.take(
        |_| 1,
        |record| {
            assert_eq!([finds(), finds(), finds()], [true; 3], "two from outside, and one of the other worker");
            drop(record.into_job());
        },
    );
    assert_eq!(robbed, Ok(1));
    assert!(finds(), "the own one is still there");
    assert_eq!(other.ring.len(), 3);
}

#[test]
fn every_other_job_is_an_own_one_while_more_come_from_outside() {
    let (source, local) = loaded(0, 0);
    let own = Arc::new(AtomicUsize::new(0));
    let give_own = || {
        let own = Arc::clone(&own);
        give(&source, &local, Job::new(move || _ = own.fetch_add(1, Relaxed)));
    };
    give_own();
    let (period, rounds) = (16, 100);
    for _ in 0..rounds {
        (0..period).for_each(|_| _ = source.inject((), Job::new(|| ())));
        drop(source.pop_outside(&local, period, &Meter::default()));
        for _ in 1..period {
            let before = own.load(Relaxed);
            assert!(source.run_next(&local));
            if own.load(Relaxed) > before {
                give_own();
            }
        }
    }
    let [own, all] = [own.load(Relaxed), rounds * period];
    assert!((all * 2 / 5..=all * 3 / 5).contains(&own), "{own} of {all}");
}

#[test]
fn a_job_is_alone_if_its_worker_has_no_other() {
    let (source, local) = loaded(0, 0);
    let push = || {
        give(&source, &local, Job::new(|| ()));
        source.is_lone(&local, ())
    };
    assert_eq!([push(), push()], [true, false]);
    drop([local.ring.pop(), local.ring.pop()]);
    assert!(push());
    (0..ring::MAX_SIZE).for_each(|_| _ = push());
    while local.ring.pop().is_some() {}
    assert!(!push(), "there is a spilled one before it");
}

#[test]
fn a_resting_worker_is_searched_again_when_it_has_jobs() {
    let (source, local) = loaded(1, 0);
    let are_shown = || source.seats_shown().map(|(seat, _)| seat).collect::<Vec<_>>();
    source.on_sleep(&local);
    assert_eq!(are_shown(), [0], "it has a job");
    drop(local.ring.pop());
    source.on_sleep(&local);
    source.on_sleep(&local);
    assert_eq!(are_shown(), [0; 0]);
    give(&source, &local, Job::new(|| ()));
    assert!(are_shown() == [0] && source.has_jobs());
    let thief = source.attach(Some(1));
    assert!(source.steal(&thief, usize::MAX, &Meter::default()).is_ok_and(|stolen| stolen.is_some()));
    source.on_sleep(&local);
    assert!(source.steal(&thief, usize::MAX, &Meter::default()).is_ok_and(|stolen| stolen.is_none()));
}

#[test]
fn a_thread_without_a_seat_finds_a_job_that_another_spilled() {
    let (source, _) = loaded(0, 0);
    let [one, other] = [(); 2].map(|()| source.attach(None));
    (0..=ring::MAX_SIZE).for_each(|_| give(&source, &one, Job::new(|| ())));
    let meter = Meter::default();
    assert!(source.search(&other, &meter).is_some(), "the one that was spilled");
    assert!(source.search(&other, &meter).is_none(), "no other thread takes the others");
}

#[test]
fn a_worker_that_has_slept_leaves_a_few_jobs_outside() {
    let left = |own, outside| {
        let (source, local) = loaded(own, outside);
        (0..=own).for_each(|_| assert!(source.search(&local, &Meter::default()).is_some()));
        source.lanes.iter().map(Lane::len).sum::<usize>()
    };
    assert_eq!([1, FEW_JOBS, FEW_JOBS + 1].map(|jobs| left(0, jobs)), [0, FEW_JOBS - 1, 0]);
    assert_eq!([1, FEW_JOBS].map(|jobs| left(1, jobs)), [0, 0], "it has had others");
}

#[test]
fn a_worker_that_leaves_jobs_outside_lets_no_others_gather() {
    let (source, local) = loaded(0, 3);
    let gathers = || {
        assert!(source.search(&local, &Meter::default()).is_some());
        source.gathers(&local)
    };
    assert_eq!([gathers(), gathers(), gathers()], [false, false, true]);
}

#[test]
fn a_closure_may_use_the_ring_while_it_becomes_a_job() {
    let (source, local) = loaded(1, 0);
    let ran = Arc::new(AtomicUsize::new(0));
    let job = Job::new({
        let ran = Arc::clone(&ran);
        move || _ = ran.fetch_add(1, Relaxed)
    });
    let large = MadeBy(|| {
        // As an allocator may when it is asked for memory.
        give(&source, &local, Job::new(|| ()));
        job
    });
    assert!(source.push(&local, (), large).is_ok());
    assert_eq!(source.len(), 3);
    while source.run_next(&local) {}
    assert_eq!(ran.load(Relaxed), 1);
}

#[test]
fn a_thread_without_a_seat_shows_only_the_jobs_it_spills() {
    let source = StealingSource::new(1, Neighbourhood::of_machine(1, &Placement::Floating));
    let stranger = source.attach(None);
    (0..ring::MAX_SIZE).for_each(|_| give(&source, &stranger, Job::new(|| ())));
    assert_eq!(source.len(), 0);
    give(&source, &stranger, Job::new(|| ()));
    source.on_sleep(&stranger);
    assert_eq!(source.len(), 1);
}

#[test]
fn a_worker_that_runs_out_of_jobs_gives_its_ring_back_and_gets_it_again() {
    if !asymmetric_fence::is_ready_for_test() {
        return;
    }
    let (source, local) = loaded(1, 0);
    let looks_outside = |jobs| {
        assert!(source.pop_outside(&local, jobs, &Meter::default()).is_none());
        local.ring.is_reserved()
    };
    let runs_out_of_jobs = || {
        assert!(source.run_next(&local) && source.search(&local, &Meter::default()).is_none());
        !local.ring.is_reserved()
    };
    assert!(looks_outside(64) && runs_out_of_jobs());
    give(&source, &local, Job::new(|| ()));
    assert!(looks_outside(1), "it need not earn it once more");
    local.spilled.set(true); // it may have spilled jobs, which were stolen
    assert!(runs_out_of_jobs());
}

#[test]
fn a_worker_that_runs_out_of_jobs_or_blocks_gives_all_back_that_it_had_to_itself() {
    if !asymmetric_fence::is_ready_for_test() {
        return;
    }
    let (source, local) = loaded(1, 0);
    let forker = source.forker(&local).expect("it has a seat");
    let fork = || forker.run(&mut Fork::new(|| (), || ()), || forker.fence_parts(), |_| unreachable!("nobody steals"));
    let earns_all = || {
        (0..64).for_each(|_| _ = fork());
        assert!(source.pop_outside(&local, 64, &Meter::default()).is_none());
    };
    let has = || (local.ring.is_reserved(), source.forks().any(|forks| !forks.is_open()));
    earns_all();
    assert_eq!(has(), (true, true));
    source.on_block(&local);
    assert_eq!(has(), (false, false));
    assert!(source.run_next(&local));
    earns_all();
    assert_eq!(has(), (true, true));
    assert!(source.search(&local, &Meter::default()).is_none());
    assert_eq!(has(), (false, false));
}
