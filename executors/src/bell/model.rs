//! Models of the bell.

use super::Bell;
use crate::sync::{
    Arc,
    atomic::{
        AtomicUsize,
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
