//! Models of the ring. Jobs are boxes, so that a job that is read twice, or before it was written, is an error by
//! itself.

use super::{MAX_SIZE, Owner, Stealer, ring};
use crate::{
    recall,
    source::queue::Busy,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
        check_reaching, thread,
    },
};

type Job = Box<usize>;

fn push(owner: &Owner<Job>, job: usize) {
    owner.push(Box::new(job)).expect("there is room");
}

fn drain(owner: &Owner<Job>) -> Vec<usize> {
    std::iter::from_fn(|| owner.pop().map(|job| *job)).collect()
}

/// Returns whether the ring was not open.
fn recall(stealer: &Stealer<Job>) -> bool {
    let recalled = stealer.recall();
    recalled.iter().for_each(recall::end);
    recalled.is_some()
}

/// What a thief gets, in one attempt.
fn steal_half(stealer: &Stealer<Job>) -> Vec<usize> {
    let (loot, _) = ring();
    match stealer.steal_half(&loot, || loot.make_room()) {
        Ok(first) => first.map(|job| *job).into_iter().chain(drain(&loot)).collect(),
        Err(Busy) => Vec::new(),
    }
}

fn assert_once_each(parts: impl IntoIterator<Item = Vec<usize>>, jobs: usize) {
    let mut all: Vec<_> = parts.into_iter().flatten().collect();
    all.sort_unstable();
    assert_eq!(all, (0..jobs).collect::<Vec<_>>());
}

/// The owner goes round the ring, which may be reserved at first, while thieves steal from it.
fn owner_against_thieves(thieves: usize, is_reserved: bool, preemptions: usize) {
    check_reaching(preemptions, ["a thief gets some"], move |[is_stolen]| {
        let (owner, stealer) = ring();
        let stealer = Arc::new(stealer);
        push(&owner, 0);
        push(&owner, 1);
        assert!(!is_reserved || owner.reserve() && owner.is_reserved());
        let thieves: Vec<_> = (0..thieves)
            .map(|_| {
                let stealer = Arc::clone(&stealer);
                thread::spawn(move || steal_half(&stealer))
            })
            .collect();
        let mut own = Vec::new();
        let jobs = MAX_SIZE + 2;
        for job in 2..jobs {
            let mut job = Box::new(job);
            while let Err(back) = owner.push(job) {
                job = back;
                own.extend(owner.pop().map(|job| *job));
                thread::yield_now();
            }
        }
        own.extend(drain(&owner));
        let loot: Vec<_> = thieves.into_iter().map(|thief| thief.join().unwrap()).collect();
        is_stolen.is_reached_if(loot.iter().any(|some| !some.is_empty()));
        assert_once_each(loot.into_iter().chain([own]), jobs);
    });
}

#[test]
fn an_owner_and_a_thief_share_the_jobs() {
    owner_against_thieves(1, false, 3);
}

#[test]
fn a_reserved_ring_is_recalled_by_a_thief() {
    owner_against_thieves(1, true, 3);
}

#[test]
fn a_reserved_ring_is_recalled_by_two_thieves() {
    check_reaching(2, ["a thief gets some"], |[is_stolen]| {
        let (owner, stealer) = ring();
        (0..3).for_each(|job| push(&owner, job));
        assert!(owner.reserve() && owner.is_reserved());
        let stealer = Arc::new(stealer);
        let thieves = [(); 2].map(|()| {
            let stealer = Arc::clone(&stealer);
            thread::spawn(move || steal_half(&stealer))
        });
        let own = drain(&owner);
        let loot = thieves.map(|thief| thief.join().unwrap());
        is_stolen.is_reached_if(loot.iter().any(|some| !some.is_empty()));
        assert_once_each(loot.into_iter().chain([own]), 3);
    });
}

#[test]
fn an_owner_and_two_thieves_share_the_jobs() {
    owner_against_thieves(2, false, 2);
}

/// The owner reserves its ring again and again while a thief recalls it, or also `gives_back`.
fn owner_reserves_again_and_again(gives_back: bool) {
    check_reaching(3, ["the thief gets some", "it is reserved again"], move |[is_stolen, is_reserved_again]| {
        let (owner, stealer) = ring();
        push(&owner, 0);
        push(&owner, 1);
        push(&owner, 2);
        let thief = thread::spawn(move || [steal_half(&stealer), steal_half(&stealer)].concat());
        let mut own = Vec::new();
        let mut times = 0;
        for job in 3..5 {
            times += usize::from(owner.reserve());
            own.extend(owner.pop().map(|job| *job));
            push(&owner, job);
            if gives_back {
                owner.give_back();
            }
        }
        times += usize::from(owner.reserve());
        is_reserved_again.is_reached_if(times > 1);
        own.extend(drain(&owner));
        let loot = thief.join().unwrap();
        is_stolen.is_reached_if(!loot.is_empty());
        own.extend(drain(&owner));
        assert_once_each([loot, own], 5);
    });
}

#[test]
fn a_ring_is_reserved_and_recalled_again_and_again() {
    owner_reserves_again_and_again(false);
}

#[test]
fn a_ring_is_reserved_and_given_back_again_and_again() {
    owner_reserves_again_and_again(true);
}

/// A thief that has recalled the ring is suspended before it opens it, and goes on when another has opened it, and the
/// ring has been reserved again, and recalled by a third.
#[test]
fn a_late_thief_leaves_opening_the_ring_to_others() {
    check_reaching(3, ["a thief gets it", "it is reserved again"], |[is_stolen, is_reserved_again]| {
        let (owner, stealer) = ring();
        let stealer = Arc::new(stealer);
        assert!(owner.reserve() && owner.is_reserved());
        let thieves = [(); 2].map(|()| {
            let stealer = Arc::clone(&stealer);
            thread::spawn(move || steal_half(&stealer))
        });
        recall(&stealer);
        push(&owner, 0);
        is_reserved_again.is_reached_if(owner.reserve());
        let own = drain(&owner);
        let loot = thieves.map(|thief| thief.join().unwrap());
        is_stolen.is_reached_if(loot.iter().any(|some| !some.is_empty()));
        assert_once_each(loot.into_iter().chain([own, drain(&owner)]), 1);
    });
}

/// A thread that falls asleep sees the push, or the owner sees that it sleeps: whether the former finds the ring
/// reserved, recalled by another thread, or not reserved yet, and whoever opens it. What the owner puts `elsewhere` is
/// seen, too, though the thread looks only there afterwards.
fn a_push_is_seen_or_sees_the_sleeper(elsewhere: bool) {
    let goals = ["the sleeper finds it reserved", "only the sleeper sees the other", "only the owner does"];
    check_reaching(3, goals, move |[is_recalled, sees_only, is_only_seen]| {
        let (owner, stealer) = ring();
        push(&owner, 0);
        let (stealer, asleep) = (Arc::new(stealer), Arc::new([(); 2].map(|()| AtomicBool::new(false))));
        let is_elsewhere = Arc::new(AtomicBool::new(false));
        let sleepers: Vec<_> = (0..2)
            .map(|sleeper| {
                let (stealer, asleep) = (Arc::clone(&stealer), Arc::clone(&asleep));
                let is_elsewhere = Arc::clone(&is_elsewhere);
                thread::spawn(move || {
                    asleep[sleeper].store(true, Relaxed);
                    fence(SeqCst);
                    is_recalled.is_reached_if(recall(&stealer));
                    if elsewhere { is_elsewhere.load(Relaxed) } else { stealer.len() == 2 }
                })
            })
            .collect();
        assert!(owner.reserve());
        if elsewhere {
            is_elsewhere.store(true, Relaxed);
        } else {
            push(&owner, 1);
        }
        owner.fence_pushes();
        let are_seen = [0, 1].map(|sleeper| asleep[sleeper].load(Relaxed));
        owner.give_back();
        for (sleeper, is_seen) in sleepers.into_iter().zip(are_seen) {
            let sees_job = sleeper.join().unwrap();
            sees_only.is_reached_if(sees_job && !is_seen);
            is_only_seen.is_reached_if(is_seen && !sees_job);
            assert!(is_seen || sees_job, "the job is overlooked");
        }
    });
}

#[test]
fn a_push_is_seen_or_its_owner_sees_the_sleeper() {
    a_push_is_seen_or_sees_the_sleeper(false);
}

#[test]
fn a_push_elsewhere_is_seen_or_its_owner_sees_the_sleeper() {
    a_push_is_seen_or_sees_the_sleeper(true);
}

/// Two workers steal from each other.
#[test]
fn thieves_may_steal_from_each_other() {
    check_reaching(2, ["both get some", "only one does"], |[both_steal, one_steals]| {
        let ((left, from_left), (right, from_right)) = (ring(), ring());
        push(&left, 0);
        push(&left, 1);
        push(&right, 2);
        push(&right, 3);
        let rob = |owner: Owner<Job>, victim: Stealer<Job>| {
            let first = victim.steal_half(&owner, || owner.make_room()).unwrap_or(None);
            let mut got: Vec<_> = first.map(|job| *job).into_iter().collect();
            let steals = !got.is_empty();
            got.extend(owner.pop().map(|job| *job));
            (got, owner, steals)
        };
        let other = thread::spawn(move || rob(right, from_left));
        let (mine, left, steals) = rob(left, from_right);
        let (theirs, right, other_steals) = other.join().unwrap();
        both_steal.is_reached_if(steals && other_steals);
        one_steals.is_reached_if(steals != other_steals);
        assert_once_each([mine, theirs, drain(&left), drain(&right)], 4);
    });
}

/// No thread sees a `tail` smaller than `next`: the ring would look full.
fn never_looks_full(is_reserved: bool) {
    check_reaching(3, ["a job is seen"], move |[is_seen]| {
        let (owner, stealer) = ring();
        assert!(!is_reserved || owner.reserve() && owner.is_reserved());
        let watch = thread::spawn(move || {
            let jobs = stealer.len();
            is_seen.is_reached_if(jobs > 0);
            assert!(jobs <= 2);
        });
        for job in 0..2 {
            push(&owner, job);
            assert_eq!(drain(&owner), [job]);
        }
        watch.join().unwrap();
    });
}

#[test]
fn an_empty_ring_never_looks_full() {
    never_looks_full(false);
}

#[test]
fn an_empty_reserved_ring_never_looks_full() {
    never_looks_full(true);
}
