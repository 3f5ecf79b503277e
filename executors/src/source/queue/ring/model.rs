//! Models of the ring. Jobs are boxes, so that a job that is read twice, or before it was written, is an error of its
//! own.

use super::{MAX_SIZE, Owner, Stealer, ring};
use crate::{
    source::queue::Busy,
    sync::{Arc, check, thread},
};

type Job = Box<usize>;

fn push(owner: &Owner<Job>, job: usize) {
    owner.push(Box::new(job)).expect("there is room");
}

fn drain(owner: &Owner<Job>) -> Vec<usize> {
    std::iter::from_fn(|| owner.pop().map(|job| *job)).collect()
}

/// What a thief gets, in one attempt.
fn steal_half(stealer: &Stealer<Job>) -> Vec<usize> {
    let (loot, _) = ring();
    match stealer.steal_half(&loot) {
        Ok(first) => first.map(|job| *job).into_iter().chain(drain(&loot)).collect(),
        Err(Busy) => Vec::new(),
    }
}

fn assert_once_each(parts: impl IntoIterator<Item = Vec<usize>>, jobs: usize) {
    let mut all: Vec<_> = parts.into_iter().flatten().collect();
    all.sort_unstable();
    assert_eq!(all, (0..jobs).collect::<Vec<_>>());
}

/// The owner goes round the ring while thieves are at it.
fn owner_against_thieves(thieves: usize, preemptions: usize) {
    check(preemptions, move || {
        let (owner, stealer) = ring();
        let stealer = Arc::new(stealer);
        push(&owner, 0);
        push(&owner, 1);
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
        let loot = thieves.into_iter().map(|thief| thief.join().unwrap());
        assert_once_each(loot.collect::<Vec<_>>().into_iter().chain([own]), jobs);
    });
}

#[test]
fn an_owner_and_a_thief_share_the_jobs() {
    owner_against_thieves(1, 3);
}

#[test]
fn an_owner_and_two_thieves_share_the_jobs() {
    owner_against_thieves(2, 2);
}

/// Two workers steal from each other.
#[test]
fn thieves_may_be_robbed() {
    check(2, || {
        let ((left, from_left), (right, from_right)) = (ring(), ring());
        push(&left, 0);
        push(&left, 1);
        push(&right, 2);
        push(&right, 3);
        let rob = |owner: Owner<Job>, victim: Stealer<Job>| {
            let first = victim.steal_half(&owner).unwrap_or(None);
            let mut got: Vec<_> = first.map(|job| *job).into_iter().collect();
            got.extend(owner.pop().map(|job| *job));
            (got, owner)
        };
        let other = thread::spawn(move || rob(right, from_left));
        let (mine, left) = rob(left, from_right);
        let (theirs, right) = other.join().unwrap();
        assert_once_each([mine, theirs, drain(&left), drain(&right)], 4);
    });
}

/// The tail is never seen behind the head: the ring would look full.
#[test]
fn an_empty_ring_never_looks_full() {
    check(3, || {
        let (owner, stealer) = ring();
        let watch = thread::spawn(move || assert!(stealer.len() <= 2));
        for job in 0..2 {
            push(&owner, job);
            assert_eq!(drain(&owner), [job]);
        }
        watch.join().unwrap();
    });
}
