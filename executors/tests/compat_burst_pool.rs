//! What programs written for the channel of the crate burst-pool rely on.
#![cfg(feature = "compat-burst-pool")]

mod support;

use executors::compat::burst_pool::{Receiver, RecvError, Sender};
use std::{
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Arc, mpsc::channel},
    thread,
};
use support::watchdog::watch;

/// Enqueues, retrying until a receiver waits.
fn insist<T: Send>(sender: &mut Sender<T>, value: T) {
    let mut value = Box::new(value);
    while let Some(back) = sender.enqueue(value) {
        value = back;
        thread::yield_now();
    }
}

#[test]
fn a_receiver_that_does_not_wait_is_not_chosen() {
    let mut sender = Sender::new();
    assert_eq!(sender.enqueue(Box::new(1)), Some(Box::new(1)), "there is no receiver");
    let mut receiver = sender.mk_receiver();
    assert_eq!(sender.enqueue(Box::new(2)), Some(Box::new(2)), "the receiver does not wait");
    sender.wake_all();
    drop(sender);
    assert_eq!(receiver.recv(), Err(RecvError::Orphaned));
    assert_eq!(receiver.recv(), Err(RecvError::Orphaned), "and it stays so");
}

/// There can be any number of receivers, one after the other.
#[test]
fn a_receiver_that_was_dropped_does_not_disturb_the_next() {
    let _watchdog = watch();
    let mut sender = Sender::new();
    let _does_not_wait = sender.mk_receiver();
    for value in 0..200 {
        drop(sender.mk_receiver());
        let mut receiver = sender.mk_receiver();
        let thread = thread::spawn(move || receiver.recv());
        insist(&mut sender, value);
        sender.wake_all();
        assert_eq!(thread.join().unwrap(), Ok(Box::new(value)));
        assert_eq!(sender.enqueue(Box::new(value)), Some(Box::new(value)), "none waits");
    }
}

#[test]
fn each_receiver_gets_one_value_in_every_round() {
    let _watchdog = watch();
    let mut sender = Sender::new();
    let (tell, told) = channel();
    let threads: Vec<_> = (0..4)
        .map(|worker| {
            let (mut receiver, tell): (Receiver<u32>, _) = (sender.mk_receiver(), tell.clone());
            thread::spawn(move || {
                while let Ok(value) = receiver.recv() {
                    tell.send((worker, *value)).unwrap();
                }
            })
        })
        .collect();
    for round in 0..200 {
        (0..4).for_each(|_| insist(&mut sender, round));
        assert_eq!(sender.enqueue(Box::new(round)), Some(Box::new(round)), "all have been chosen");
        sender.wake_all();
        let mut workers: Vec<_> = told.iter().take(4).inspect(|told| assert_eq!(told.1, round)).map(|t| t.0).collect();
        workers.sort_unstable();
        assert_eq!(workers, [0, 1, 2, 3]);
    }
    drop(sender);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn no_value_is_received_before_the_wake_up() {
    let _watchdog = watch();
    let mut sender = Sender::new();
    let mut receiver = sender.mk_receiver();
    let (tell, told) = channel();
    let thread = thread::spawn(move || {
        while let Ok(value) = receiver.recv() {
            tell.send(*value).unwrap();
        }
    });
    for value in 0..100 {
        insist(&mut sender, value);
        assert!(told.try_recv().is_err());
        sender.wake_all();
        assert_eq!(told.recv(), Ok(value));
    }
    drop(sender);
    thread.join().unwrap();
}

#[test]
fn values_that_no_receiver_was_woken_for_are_dropped() {
    let _watchdog = watch();
    let mut sender = Sender::new();
    let mut receiver: Receiver<Arc<()>> = sender.mk_receiver();
    let thread = thread::spawn(move || receiver.recv().map(drop));
    let value = Arc::new(());
    insist(&mut sender, Arc::clone(&value));
    drop(sender);
    assert_eq!(thread.join().unwrap(), Err(RecvError::Orphaned));
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn values_that_a_receiver_was_woken_for_are_received() {
    let _watchdog = watch();
    for value in 0..200 {
        let mut sender = Sender::new();
        let mut receiver = sender.mk_receiver();
        let thread = thread::spawn(move || (receiver.recv(), receiver.recv()));
        insist(&mut sender, value);
        sender.wake_all();
        drop(sender);
        assert_eq!(thread.join().unwrap(), (Ok(Box::new(value)), Err(RecvError::Orphaned)));
    }
}

/// Whatever the values are: a program that catches panics around its sender need not assert it.
#[test]
fn senders_are_unwind_safe() {
    fn check<T: UnwindSafe + RefUnwindSafe>(_: &T) {}

    check(&Sender::<Box<dyn FnOnce() + Send>>::new());
}
