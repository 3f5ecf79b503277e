//! Models of the stack. Items point to cells, so that an item that is read before it was written, or by two threads, is
//! an error by itself.

use super::{Owner, Thief, stack};
use crate::{
    recall,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
        cell::UnsafeCell,
        check_reaching, thread,
    },
};
use std::ptr::NonNull;

type Item = UnsafeCell<usize>;

/// Pushes an item. Returns at which count it is.
fn push(owner: &Owner<Item>, item: usize) -> u32 {
    let cell = UnsafeCell::new(0);
    // SAFETY: no other thread has it yet.
    cell.with_mut(|value| unsafe { *value = item });
    owner.push(NonNull::from(Box::leak(Box::new(cell)))).expect("there is room")
}

/// The value of an item that was taken.
fn open(item: NonNull<Item>) -> usize {
    // SAFETY: a box that `push` has leaked, and which no other thread takes; this is what the models are about.
    let item = unsafe { Box::from_raw(item.as_ptr()) };
    // SAFETY: it is ours now.
    item.with_mut(|value| unsafe { *value })
}

/// What a thief gets, in this many attempts.
fn steal(thief: &Thief<Item>, attempts: usize) -> Vec<usize> {
    (0..attempts).filter_map(|_| thief.steal(|| true).unwrap_or(None)).map(open).collect()
}

/// Returns whether the stack was not open.
fn recall(thief: &Thief<Item>) -> bool {
    let recalled = thief.recall();
    recalled.iter().for_each(recall::end);
    recalled.is_some()
}

/// An owner that knows, as a worker does, what it has put in.
struct Forker {
    owner: Owner<Item>,
    /// What it has not taken back, with the counts.
    pushed: Vec<(usize, u32)>,
    own: Vec<usize>,
}

impl Forker {
    fn new() -> (Self, Arc<Thief<Item>>) {
        let (owner, thief) = stack();
        (Forker { owner, pushed: Vec::new(), own: Vec::new() }, Arc::new(thief))
    }

    /// Reserves the stack, whatever has become of it since it was last reserved. Returns whether it was open.
    fn reserve(&self) -> bool {
        self.owner.fence_pushes();
        let was_open = self.owner.is_open();
        if was_open {
            self.owner.reserve();
        }
        was_open
    }

    fn push(&mut self, item: usize) {
        let place = push(&self.owner, item);
        self.pushed.push((item, place));
    }

    fn pop(&mut self) {
        let (last, place) = self.pushed.pop().expect("it pops what it has pushed");
        if self.owner.pop(place) {
            self.own.push(last);
        }
    }

    fn pop_all(&mut self) {
        while !self.pushed.is_empty() {
            self.pop();
        }
    }
}

fn assert_once_each(parts: impl IntoIterator<Item = Vec<usize>>, items: usize) {
    let mut all: Vec<_> = parts.into_iter().flatten().collect();
    all.sort_unstable();
    assert_eq!(all, (0..items).collect::<Vec<_>>());
}

/// The owner forks like a computation that halves its work, while thieves make `attempts` attempts each.
fn owner_against_thieves(thieves: usize, attempts: usize, is_reserved: bool, preemptions: usize) {
    check_reaching(preemptions, ["a thief gets one", "the owner gets all"], move |[is_stolen, is_kept]| {
        let (mut forker, thief) = Forker::new();
        forker.push(0);
        assert!(!is_reserved || forker.reserve() && forker.owner.is_reserved());
        let thieves: Vec<_> = (0..thieves)
            .map(|_| {
                let thief = Arc::clone(&thief);
                thread::spawn(move || steal(&thief, attempts))
            })
            .collect();
        forker.push(1);
        forker.pop();
        forker.push(2);
        forker.pop();
        forker.pop();
        forker.push(3);
        forker.pop();
        let loot: Vec<_> = thieves.into_iter().map(|thief| thief.join().unwrap()).collect();
        is_stolen.is_reached_if(forker.own.len() < 4);
        is_kept.is_reached_if(forker.own.len() == 4);
        assert_once_each(loot.into_iter().chain([forker.own]), 4);
    });
}

#[test]
fn an_owner_and_a_thief_share_the_items() {
    owner_against_thieves(1, 2, false, 3);
}

#[test]
fn an_owner_and_two_thieves_share_the_items() {
    owner_against_thieves(2, 1, false, 2);
}

#[test]
fn a_reserved_stack_is_recalled_by_a_thief() {
    owner_against_thieves(1, 2, true, 3);
}

#[test]
fn a_reserved_stack_is_recalled_by_two_thieves() {
    owner_against_thieves(2, 1, true, 2);
}

/// The owner reserves its stack again and again while a thief recalls it.
#[test]
fn a_stack_is_reserved_and_recalled_again_and_again() {
    check_reaching(3, ["the thief gets one", "it is reserved again"], |[is_stolen, is_reserved_again]| {
        let (mut forker, thief) = Forker::new();
        forker.push(0);
        let thieving = Arc::clone(&thief);
        let thieving = thread::spawn(move || steal(&thieving, 3));
        for item in 1..4 {
            let was_open = forker.reserve();
            is_reserved_again.is_reached_if(was_open && item > 1);
            forker.push(item);
            forker.pop();
        }
        forker.pop_all();
        is_stolen.is_reached_if(forker.own.len() < 4);
        assert_once_each([thieving.join().unwrap(), forker.own], 4);
    });
}

/// A thief that has recalled the stack is suspended before it opens it, and goes on when another has opened it, and the
/// stack has been reserved again, and recalled by a third.
#[test]
fn a_late_thief_leaves_opening_the_stack_to_others() {
    check_reaching(3, ["a thief gets it", "it is reserved again"], |[is_stolen, is_reserved_again]| {
        let (mut forker, thief) = Forker::new();
        assert!(forker.reserve() && forker.owner.is_reserved());
        let thieves = [(); 2].map(|()| {
            let thief = Arc::clone(&thief);
            thread::spawn(move || steal(&thief, 1))
        });
        recall(&thief);
        is_reserved_again.is_reached_if(forker.reserve());
        forker.push(0);
        forker.pop();
        is_stolen.is_reached_if(forker.own.is_empty());
        let loot = thieves.map(|thief| thief.join().unwrap());
        assert_once_each(loot.into_iter().chain([forker.own]), 1);
    });
}

/// A thread that falls asleep sees the push, or the owner sees that it sleeps: whether the former finds the stack
/// reserved, recalled by another thread, or not reserved yet, and whoever opens it.
#[test]
fn a_push_is_seen_or_its_owner_sees_the_sleeper() {
    let goals = ["the sleeper finds it reserved", "only the sleeper sees the other", "only the owner does"];
    check_reaching(3, goals, |[is_recalled, sees_only, is_only_seen]| {
        let (mut forker, thief) = Forker::new();
        forker.push(0);
        let asleep = Arc::new([(); 2].map(|()| AtomicBool::new(false)));
        let sleepers: Vec<_> = (0..2)
            .map(|sleeper| {
                let (thief, asleep) = (Arc::clone(&thief), Arc::clone(&asleep));
                thread::spawn(move || {
                    asleep[sleeper].store(true, Relaxed);
                    fence(SeqCst);
                    is_recalled.is_reached_if(recall(&thief));
                    thief.items().len()
                })
            })
            .collect();
        assert!(forker.reserve());
        forker.push(1);
        forker.owner.fence_pushes();
        let are_seen = [0, 1].map(|sleeper| asleep[sleeper].load(Relaxed));
        forker.owner.give_back();
        for (sleeper, is_seen) in sleepers.into_iter().zip(are_seen) {
            let sees_item = sleeper.join().unwrap() == 2;
            sees_only.is_reached_if(sees_item && !is_seen);
            is_only_seen.is_reached_if(is_seen && !sees_item);
            assert!(is_seen || sees_item, "the item is overlooked");
        }
        forker.pop_all();
        assert_eq!(steal(&thief, 1), []);
    });
}

/// A full stack takes no more, until something was stolen.
#[test]
fn a_full_stack_has_room_when_something_was_stolen() {
    check_reaching(3, ["there is room", "it is full"], |[has_room, is_full]| {
        let (mut forker, thief) = Forker::new();
        forker.push(0);
        forker.push(1);
        // Because the thief loads the head before it changes it, loom does not see by the head alone that the theft may
        // come before the owner's look for room.
        let is_over = Arc::new(AtomicBool::new(false));
        let thief = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                let loot = steal(&thief, 1);
                is_over.store(true, Relaxed);
                loot
            }
        });
        is_over.load(Relaxed);
        let one_more = UnsafeCell::new(2);
        let item = NonNull::from(Box::leak(Box::new(one_more)));
        if let Some(place) = forker.owner.push(item) {
            has_room.is_reached_if(true);
            forker.pushed.push((2, place));
            forker.pop_all();
        } else {
            is_full.is_reached_if(true);
            forker.pop_all();
            forker.own.push(open(item));
        }
        let loot = thief.join().unwrap();
        assert_once_each([loot, forker.own], 3);
    });
}
