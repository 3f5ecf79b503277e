//! Models of the bell.

use super::Bell;
use crate::sync::{
    Arc,
    atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
    check, thread,
};

/// `listeners` threads wait until `ringers` threads have each made a change.
fn all_listeners_hear(listeners: usize, ringers: usize) {
    check(3, move || {
        // Relaxed: the bell's fences alone must show the changes.
        let shared = Arc::new((Bell::default(), AtomicUsize::new(0)));
        let start = |act: fn(&Bell, &AtomicUsize, usize)| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || act(&shared.0, &shared.1, ringers))
        };
        let listen = |bell: &Bell, changes: &AtomicUsize, ringers| {
            assert!(bell.wait_until(None, || changes.load(Relaxed) == ringers));
        };
        let ring = |bell: &Bell, changes: &AtomicUsize, _ringers| {
            changes.fetch_add(1, Relaxed);
            bell.ring();
        };
        let mut threads: Vec<_> = (0..listeners).map(|_| start(listen)).collect();
        threads.extend((1..ringers).map(|_| start(ring)));
        ring(&shared.0, &shared.1, ringers);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.0.listeners.load(Relaxed), 0);
    });
}

#[test]
fn a_listener_hears_a_change() {
    all_listeners_hear(1, 1);
}

#[test]
fn two_listeners_hear_a_change() {
    all_listeners_hear(2, 1);
}

#[test]
fn a_listener_hears_the_last_of_two_changes() {
    all_listeners_hear(1, 2);
}

/// A bell, and the number of things of which each listener takes one.
type Things = Arc<(Bell, AtomicUsize)>;

fn bring_one((bell, things): &(Bell, AtomicUsize)) {
    things.fetch_add(1, Relaxed);
    bell.ring_for_one();
}

fn take_one(things: &AtomicUsize) -> Option<()> {
    things.fetch_update(Relaxed, Relaxed, |things| things.checked_sub(1)).ok().map(|_| ())
}

/// A thread that waits for a thing, and then does something.
fn listener(shared: &Things, then: fn(&(Bell, AtomicUsize))) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        assert!(shared.0.wait_for(None, || false, || take_one(&shared.1)).is_some());
        then(&shared);
    })
}

#[test]
fn each_of_two_things_wakes_one_listener() {
    check(3, || {
        let shared = Things::default();
        let listeners = [(); 2].map(|()| listener(&shared, |_| ()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || bring_one(&shared)
        });
        bring_one(&shared);
        other.join().unwrap();
        listeners.into_iter().for_each(|listener| listener.join().unwrap());
        assert_eq!(shared.0.listeners.load(Relaxed), 0);
    });
}

/// There is one thing, which each gives back; a thread that does not wait may take it before the listeners.
#[test]
fn a_listener_that_is_overtaken_hears_of_it_again() {
    check(3, || {
        let shared = Things::default();
        let listeners = [(); 2].map(|()| listener(&shared, bring_one));
        bring_one(&shared);
        if take_one(&shared.1).is_some() {
            bring_one(&shared);
        }
        listeners.into_iter().for_each(|listener| listener.join().unwrap());
        assert_eq!(shared.1.load(Relaxed), 1);
    });
}

/// A listener that is woken for a thing, but waits in vain by now, does not keep it from the other one.
#[test]
fn a_listener_that_gives_up_wakes_another() {
    check(3, || {
        let (shared, is_vain) = (Things::default(), Arc::new(AtomicBool::new(false)));
        let gives_up = {
            let (shared, is_vain) = (Arc::clone(&shared), Arc::clone(&is_vain));
            thread::spawn(move || {
                assert!(shared.0.wait_for(None, || is_vain.load(Relaxed), || None::<()>).is_none());
            })
        };
        let waits = listener(&shared, |_| ());
        is_vain.store(true, Relaxed);
        bring_one(&shared);
        waits.join().unwrap();
        shared.0.ring();
        gives_up.join().unwrap();
    });
}

/// A thread that is at work stops, and begins anew at once if all `listeners` threads have come to wait until none is
/// at work. `met` is what it knows of the rest of their condition.
fn all_listeners_are_released(listeners: usize, met: bool) {
    check(3, move || {
        let shared = Arc::new((Bell::default(), AtomicUsize::new(1)));
        let threads: Vec<_> = (0..listeners)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (bell, at_work) = &*shared;
                    assert!(bell.wait_together(None, || at_work.load(Relaxed) == 0));
                })
            })
            .collect();
        let (bell, at_work) = &*shared;
        let all_wait = met && bell.listeners.load(SeqCst) == listeners;
        bell.ring_by(|| met, || at_work.fetch_sub(1, Relaxed) == 1);
        if all_wait {
            at_work.fetch_add(1, Relaxed);
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(bell.listeners.load(Relaxed), 0);
    });
}

#[test]
fn a_listener_is_released_though_the_moment_has_passed() {
    all_listeners_are_released(1, true);
}

#[test]
fn two_listeners_are_released_though_the_moment_has_passed() {
    all_listeners_are_released(2, true);
}

#[test]
fn listeners_check_for_themselves_if_the_ringer_is_not_sure() {
    all_listeners_are_released(2, false);
}
