//! Models of the lock. Loom watches what is inside, and reports two threads that are inside at a time.

use super::{BiasedLock, Entry, Presence};
use crate::{
    asymmetric_fence::{self, Recalled},
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
            fence,
        },
        cell::Watch,
        check, thread,
    },
};

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
        assert!(room.reserve(thread));
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
        asymmetric_fence::end_recalls(self.lock.recall().iter().map(|lock| lock as &dyn Recalled));
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
    check(preemptions, move || {
        let [owner] = presences();
        let room = Room::reserved_for(owner);
        let others: Vec<_> = (0..recallers)
            .map(|_| {
                let room = Arc::clone(&room);
                thread::spawn(move || room.recall_and_visit())
            })
            .collect();
        let own = room.visit(Some(owner)) + room.visit(Some(owner));
        let all: usize = others.into_iter().map(|other| other.join().unwrap()).sum();
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
    check(3, || {
        let [first, second] = presences();
        let room = Room::reserved_for(first);
        let late = thread::spawn({
            let room = Arc::clone(&room);
            move || room.visit(Some(first))
        });
        room.recall();
        room.reserve(second);
        let third = thread::spawn({
            let room = Arc::clone(&room);
            move || room.recall_and_visit()
        });
        let own = room.visit(Some(second));
        let all = own + late.join().unwrap() + third.join().unwrap();
        assert_eq!(room.visits.load(Acquire), all);
    });
}

/// A thread that has recalled the lock is suspended before it ends that, and goes on when the lock has been reserved
/// for the same thread again, and recalled by a third one.
#[test]
fn a_late_recaller_leaves_the_end_to_others() {
    check(3, || {
        let [owner] = presences();
        let room = Room::reserved_for(owner);
        let others = [(); 2].map(|()| {
            let room = Arc::clone(&room);
            thread::spawn(move || room.recall_and_visit())
        });
        room.recall();
        room.reserve(owner);
        let own = room.visit(Some(owner));
        let all = others.into_iter().map(|other| other.join().unwrap()).sum::<usize>();
        assert_eq!(room.visits.load(Acquire), own + all);
    });
}

/// A thread that falls asleep sees what is done inside, or the visitor sees that it sleeps: whether the former finds
/// the lock reserved, recalled by another thread, locked, or not reserved yet. The visitor leaves as `leave` says.
fn a_visit_is_seen_or_sees_the_sleeper(leave: impl Fn(&BiasedLock, Entry<'_>, &Presence) + Sync + Send + 'static) {
    check(3, move || {
        let [owner] = presences();
        let (room, asleep) = (Room::new(), Arc::new([(); 2].map(|()| AtomicBool::new(false))));
        let sleepers: Vec<_> = (0..2)
            .map(|sleeper| {
                let (room, asleep) = (Arc::clone(&room), Arc::clone(&asleep));
                thread::spawn(move || {
                    asleep[sleeper].store(true, Relaxed);
                    fence(SeqCst);
                    room.recall();
                    room.visits.load(Acquire)
                })
            })
            .collect();
        assert!(room.reserve(owner));
        let visits = room.visit_and(Some(owner), |lock, entry| leave(lock, entry, owner));
        assert_eq!(visits, 1, "no other thread goes in");
        let are_seen = [0, 1].map(|sleeper| asleep[sleeper].load(Relaxed));
        for (sleeper, is_seen) in sleepers.into_iter().zip(are_seen) {
            assert!(sleeper.join().unwrap() == 1 || is_seen, "the visit is overlooked");
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
