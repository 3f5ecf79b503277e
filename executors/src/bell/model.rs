//! Models of the bell.

use super::Bell;
use crate::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
    check, thread,
};

/// `listeners` wait until as many `ringers` have each made a change.
fn everybody_hears(listeners: usize, ringers: usize) {
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
    everybody_hears(1, 1);
}

#[test]
fn two_listeners_hear_a_change() {
    everybody_hears(2, 1);
}

#[test]
fn a_listener_hears_the_last_of_two_changes() {
    everybody_hears(1, 2);
}
