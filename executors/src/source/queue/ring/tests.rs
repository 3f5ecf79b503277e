//! What a ring does for one thread at a time.

use super::{FIRST_COUNT, FIRST_SIZE, MAX_SIZE, Owner, ring};
use crate::{job::Job, sync::Arc};

fn drain(owner: &Owner<Box<usize>>) -> Vec<usize> {
    std::iter::from_fn(|| owner.pop().map(|job| *job)).collect()
}

#[test]
fn jobs_leave_a_ring_in_order() {
    let (owner, stealer) = ring();
    for round in 0..3 * FIRST_SIZE {
        assert_eq!(owner.push(Box::new(round)), Ok(()));
        assert_eq!(owner.push(Box::new(round + 1)), Ok(()));
        assert_eq!(stealer.len(), 2);
        assert_eq!(drain(&owner), [round, round + 1]);
        assert_eq!(owner.len(), 0);
    }
}

/// A thief claims jobs on both sides of where the counts wrap around.
#[test]
fn no_job_is_lost_when_the_counts_wrap_around() {
    for before in [1, 50, 99, 100, 101, 150] {
        let ((owner, stealer), (thief, _)) = (ring(), ring());
        for job in 0..FIRST_COUNT.wrapping_neg() as usize - before {
            assert_eq!(owner.push(Box::new(job)), Ok(()));
            assert_eq!(owner.pop(), Some(Box::new(job)));
        }
        (0..200).for_each(|job| assert_eq!(owner.push(Box::new(job)), Ok(())));
        assert_eq!(stealer.steal(), Ok(Some(Box::new(0))));
        assert_eq!(stealer.steal_half(&thief, || thief.make_room()), Ok(Some(Box::new(1))), "{before}");
        let (stolen, left) = (drain(&thief), drain(&owner));
        assert!(stolen.len() > 50 && left.len() > 50, "{before}");
        assert!(stolen.into_iter().chain(left).eq(2..200), "{before}");
    }
}

#[test]
fn a_full_ring_gives_the_job_back() {
    let (owner, stealer) = ring();
    for job in 0..MAX_SIZE {
        assert_eq!(owner.push(Box::new(job)), Ok(()));
    }
    assert_eq!(owner.push(Box::new(7)), Err(Box::new(7)));
    assert_eq!(stealer.steal(), Ok(Some(Box::new(0))));
    assert_eq!(owner.push(Box::new(MAX_SIZE)), Ok(()));
    assert_eq!(owner.push(Box::new(9)), Err(Box::new(9)));
    assert_eq!(drain(&owner), (1..=MAX_SIZE).collect::<Vec<_>>());
}

#[test]
fn jobs_keep_their_order_while_the_ring_grows() {
    let (owner, stealer) = ring();
    let (mut jobs, mut taken) = (0.., 0..);
    while owner.len() < MAX_SIZE / 2 {
        for job in jobs.by_ref().take(3) {
            assert_eq!(owner.push(Box::new(job)), Ok(()));
        }
        assert_eq!(stealer.steal(), Ok(taken.next().map(Box::new)));
        assert_eq!(owner.pop().map(|job| *job), taken.next());
    }
    assert_eq!(drain(&owner), (taken.start..jobs.start).collect::<Vec<_>>());
}

/// A job that pushes as many as there is room for, and more, before it looks at what it has captured.
#[test]
fn a_job_runs_in_its_slot_while_it_pushes() {
    let (owner, _stealer) = ring::<Job>();
    let owner = Arc::new(Confined(owner));
    let ran = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    for weight in [0, 3] {
        let (inner, ran) = (Arc::clone(&owner), Arc::clone(&ran));
        let captured = [vec![7; 5]; 1];
        let large = [weight; 4];
        owner.push(Job::new(move || {
            for _ in 0..2 * FIRST_SIZE {
                let ran = Arc::clone(&ran);
                inner.push(Job::new(move || _ = ran.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
            }
            assert_eq!((&captured[0][..], large), (&[7; 5][..], [weight; 4]));
            assert!(weight == 0, "as the test wants it");
        }));
    }
    let run = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| owner.0.run_first()));
    assert!(run().is_ok_and(|ran| ran));
    assert!(run().is_err());
    while owner.0.run_first() {}
    assert_eq!(ran.load(std::sync::atomic::Ordering::Relaxed), 4 * FIRST_SIZE);
}

/// Lets jobs, which must be `Send`, have the owner's end: they stay on the thread of the test.
struct Confined(Owner<Job>);

// SAFETY: the test has one thread.
unsafe impl Sync for Confined {}

impl Confined {
    fn push(&self, job: Job) {
        assert!(self.0.push(job).is_ok(), "there is room");
    }
}

#[test]
fn an_owner_that_takes_one_and_pushes_one_has_room_ahead() {
    let (owner, _stealer) = ring();
    (0..FIRST_SIZE).for_each(|job| assert_eq!(owner.push(job), Ok(())));
    owner.make_room();
    for job in FIRST_SIZE..2 * FIRST_SIZE {
        assert_eq!(owner.pop(), Some(job - FIRST_SIZE));
        assert!(owner.place().is_some(), "without another look");
        assert_eq!(owner.push(job), Ok(()));
    }
}

#[test]
#[should_panic = "a place is filled before the next"]
fn the_last_place_is_filled_once() {
    let (owner, _stealer) = ring();
    for job in 1..FIRST_SIZE {
        assert_eq!(owner.push(job), Ok(()));
    }
    for place in [owner.place(), owner.place()].into_iter().flatten() {
        // SAFETY: this writes a job.
        unsafe { place.fill(|slot| slot.write(0)) };
    }
}

#[test]
fn a_thief_takes_half_rounded_up() {
    let (owner, stealer) = ring();
    let (thief, _) = ring();
    for (jobs, taken) in [(0, 0), (1, 1), (2, 1), (5, 3), (FIRST_SIZE, FIRST_SIZE / 2)] {
        for job in 0..jobs {
            assert_eq!(owner.push(Box::new(job)), Ok(()));
        }
        let first = stealer.steal_half(&thief, || thief.make_room()).expect("no other thread is there");
        assert_eq!(first.map(|job| *job), (jobs > 0).then_some(0));
        assert_eq!(drain(&thief), (1..taken).collect::<Vec<_>>());
        assert_eq!(drain(&owner), (taken..jobs).collect::<Vec<_>>());
    }
}

#[test]
fn a_thief_takes_no_more_than_it_has_room_for() {
    let ((owner, stealer), (thief, _)) = (ring(), ring());
    for job in 0..FIRST_SIZE {
        assert_eq!(owner.push(Box::new(job)), Ok(()));
    }
    for job in 1..MAX_SIZE {
        assert_eq!(thief.push(Box::new(job)), Ok(()));
    }
    assert_eq!(stealer.steal_half(&thief, || thief.make_room()), Ok(Some(Box::new(0))));
    assert_eq!((owner.len(), thief.len()), (FIRST_SIZE - 2, MAX_SIZE));
}

#[test]
fn jobs_that_are_not_taken_are_dropped() {
    let witness = Arc::new(());
    let (owner, stealer) = ring();
    for _ in 0..5 {
        assert_eq!(owner.push(Arc::clone(&witness)), Ok(()));
    }
    drop(owner.pop());
    assert_eq!(Arc::strong_count(&witness), 5);
    drop((owner, stealer));
    assert_eq!(Arc::strong_count(&witness), 1);
}
