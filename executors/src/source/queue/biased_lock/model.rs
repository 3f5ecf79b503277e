//! Models of the lock. Loom watches what is inside, and reports two threads that are inside at a time.

use super::{BiasedLock, Entry, Presence};
use crate::{
    recall,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
            fence,
        },
        cell::Watch,
        check, check_reaching, thread,
    },
};
use std::cell::Cell;

struct Room {
    lock: BiasedLock,
    inside: Watch,
    /// How often a thread was inside.
    visits: AtomicUsize,
}

impl Room {
    fn new() -> Arc<Self> {
        Arc::new(Room { lock: BiasedLock::new(), inside: Watch::default(), visits: AtomicUsize::new(0) })
    }

    fn reserved_for(thread: &'static Presence) -> Arc<Self> {
        let room = Room::new();
        assert!(room.reserve(thread) && !room.lock.is_open());
        room
    }

    /// Returns whether the lock was free.
    fn reserve(&self, thread: &'static Presence) -> bool {
        let entry = self.lock.enter();
        if entry.is_some() {
            self.lock.leave_reserved(thread);
        }
        entry.is_some()
    }

    fn visit(&self, thread: Option<&Presence>) -> usize {
        self.visit_and(thread, |lock, entry| lock.leave(&entry))
    }

    fn visit_and(&self, thread: Option<&Presence>, leave: impl FnOnce(&BiasedLock, Entry<'_>)) -> usize {
        let Some(entry) = self.lock.enter_as(thread) else { return 0 };
        self.inside.write();
        // Relaxed: one at a time.
        self.visits.store(self.visits.load(Relaxed) + 1, Release);
        leave(&self.lock, entry);
        1
    }

    fn recall(&self) {
        self.lock.recall().iter().for_each(recall::end);
    }

    fn recall_and_visit(&self) -> usize {
        self.recall();
        self.visit(None)
    }
}

fn presences<const N: usize>() -> [&'static Presence; N] {
    let mut number = 0;
    [(); N].map(|()| {
        number += 1;
        Presence::leak(number)
    })
}

fn recallers_against_owner(recallers: usize, preemptions: usize) {
    let goals = ["the owner goes in with its privilege", "another thread goes in"];
    check_reaching(preemptions, goals, move |[is_privileged, is_recalled]| {
        let [owner] = presences();
        let room = Room::reserved_for(owner);
        let others: Vec<_> = (0..recallers)
            .map(|_| {
                let room = Arc::clone(&room);
                thread::spawn(move || room.recall_and_visit())
            })
            .collect();
        let visit = || {
            room.visit_and(Some(owner), |lock, entry| {
                is_privileged.is_reached_if(matches!(entry, Entry::Privileged(_)));
                lock.leave(&entry);
            })
        };
        let own = visit() + visit();
        let all: usize = others.into_iter().map(|other| other.join().unwrap()).sum();
        is_recalled.is_reached_if(all > 0);
        assert_eq!(room.visits.load(Acquire), own + all);
        assert_eq!(room.visit(Some(owner)), 1, "no other thread is left");
    });
}

#[test]
fn a_reserved_lock_is_recalled() {
    recallers_against_owner(1, 3);
}

#[test]
fn a_reserved_lock_is_recalled_by_two() {
    recallers_against_owner(2, 2);
}

/// A thread that has found the lock reserved for it goes on when it is reserved for another, and recalled from that
/// one.
#[test]
fn a_late_visitor_disturbs_no_other() {
    check_reaching(3, ["it is reserved again", "a third thread goes in"], |[is_reserved_again, is_recalled]| {
        let [first, second] = presences();
        let room = Room::reserved_for(first);
        let late = thread::spawn({
            let room = Arc::clone(&room);
            move || room.visit(Some(first))
        });
        room.recall();
        is_reserved_again.is_reached_if(room.reserve(second));
        let third = thread::spawn({
            let room = Arc::clone(&room);
            move || room.recall_and_visit()
        });
        let own = room.visit(Some(second));
        let late = late.join().unwrap();
        let third = third.join().unwrap();
        is_recalled.is_reached_if(third > 0);
        let all = own + late + third;
        assert_eq!(room.visits.load(Acquire), all);
    });
}

/// A thread that has recalled the lock is suspended before it ends that, and goes on when the lock has been reserved
/// for the same thread again, and recalled by a third one.
#[test]
fn a_late_recaller_leaves_the_end_to_others() {
    check_reaching(3, ["it is reserved again", "another thread goes in"], |[is_reserved_again, is_recalled]| {
        let [owner] = presences();
        let room = Room::reserved_for(owner);
        let others = [(); 2].map(|()| {
            let room = Arc::clone(&room);
            thread::spawn(move || room.recall_and_visit())
        });
        room.recall();
        is_reserved_again.is_reached_if(room.reserve(owner));
        let own = room.visit(Some(owner));
        let all = others.into_iter().map(|other| other.join().unwrap()).sum::<usize>();
        is_recalled.is_reached_if(all > 0);
        assert_eq!(room.visits.load(Acquire), own + all);
    });
}

/// A thread that falls asleep sees what is done inside, or the visitor sees that it sleeps: whether the former finds
/// the lock reserved, recalled by another thread, locked, or not reserved yet, and whoever ends the recall. It looks as
/// `Worker::sees_any` does. The visitor leaves as `leave` says.
fn a_visit_is_seen_or_sees_the_sleeper(leave: impl Fn(&BiasedLock, Entry<'_>, &Presence) + Sync + Send + 'static) {
    let goals = ["the first look sees it", "the second look sees it", "only the visitor sees the other"];
    check_reaching(3, goals, move |[sees_at_once, sees_later, is_only_seen]| {
        let [owner] = presences();
        let (room, asleep) = (Room::new(), Arc::new([(); 2].map(|()| AtomicBool::new(false))));
        let sleepers: Vec<_> = (0..2)
            .map(|sleeper| {
                let (room, asleep) = (Arc::clone(&room), Arc::clone(&asleep));
                thread::spawn(move || {
                    asleep[sleeper].store(true, Relaxed);
                    fence(SeqCst);
                    let (look, recalls) = (|| room.visits.load(Acquire) > 0, Cell::new(false));
                    let recall = || {
                        recalls.set(true);
                        room.recall();
                    };
                    let sees = recall::sees(!room.lock.is_open(), look, recall);
                    sees_at_once.is_reached_if(sees && !recalls.get());
                    sees_later.is_reached_if(sees && recalls.get());
                    sees
                })
            })
            .collect();
        assert!(room.reserve(owner));
        let visits = room.visit_and(Some(owner), |lock, entry| leave(lock, entry, owner));
        assert_eq!(visits, 1, "no other thread goes in");
        let are_seen = [0, 1].map(|sleeper| asleep[sleeper].load(Relaxed));
        // If the lock was recalled, it takes it.
        assert_eq!(room.visit(Some(owner)), 1, "no other thread goes in");
        for (sleeper, is_seen) in sleepers.into_iter().zip(are_seen) {
            let sees_visit = sleeper.join().unwrap();
            is_only_seen.is_reached_if(is_seen && !sees_visit);
            assert!(sees_visit || is_seen, "the visit is overlooked");
        }
    });
}

#[test]
fn a_visit_is_seen_or_the_visitor_sees_the_sleeper() {
    a_visit_is_seen_or_sees_the_sleeper(|lock, entry, owner| {
        lock.leave(&entry);
        lock.fence_after(Some(owner));
    });
}

#[test]
fn a_visit_is_seen_or_the_leaver_sees_the_sleeper() {
    a_visit_is_seen_or_sees_the_sleeper(|lock, entry, _owner| lock.leave_fenced(&entry));
}

/// An allocator that is called inside may re-enter; also when the lock has been recalled meanwhile.
#[test]
fn a_visitor_that_is_inside_does_not_enter_again() {
    check(0, || {
        let [owner] = presences();
        let room = Room::reserved_for(owner);
        let entry = room.lock.enter_as(Some(owner)).expect("it is reserved");
        assert_eq!(room.visit(Some(owner)), 0);
        room.recall();
        assert_eq!(room.visit(Some(owner)), 0);
        room.lock.leave(&entry);
        assert_eq!(room.visit(Some(owner)), 1);
    });
}
