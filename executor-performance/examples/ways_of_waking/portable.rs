//! What the standard library can do anywhere.

use super::Way;
use std::{
    sync::{Condvar, Mutex},
    thread::{self, Thread},
};

pub(crate) fn ways(size: usize) -> Vec<(&'static str, Box<dyn Way>)> {
    vec![
        ("`unpark` for each", Box::new(Unpark)),
        ("`unpark` as a tree: each wakes two more", Box::new(UnparkAsTree)),
        (
            "mutex and condition variable for each",
            Box::new(Conditions((0..size).map(|_| Condition::default()).collect())),
        ),
        ("common mutex and condition variable, `notify_all`", Box::new(Condition::default())),
    ]
}

struct Unpark;

impl Way for Unpark {
    fn sleep(&self, _number: usize, is_time: &dyn Fn() -> bool) {
        while !is_time() {
            thread::park();
        }
    }

    fn wake(&self, threads: &[Thread]) {
        threads.iter().for_each(Thread::unpark);
    }
}

struct UnparkAsTree;

impl Way for UnparkAsTree {
    fn sleep(&self, number: usize, is_time: &dyn Fn() -> bool) {
        Unpark.sleep(number, is_time);
    }

    fn wake(&self, threads: &[Thread]) {
        threads[0].unpark();
    }

    fn pass_on(&self, number: usize, threads: &[Thread]) {
        threads.iter().skip(2 * number + 1).take(2).for_each(Thread::unpark);
    }
}

#[derive(Default)]
struct Condition {
    lock: Mutex<()>,
    changed: Condvar,
}

impl Condition {
    /// When this returns, every thread that looked before it was time is waiting.
    fn pass_lock(&self) {
        drop(self.lock.lock().unwrap());
    }
}

impl Way for Condition {
    fn sleep(&self, _number: usize, is_time: &dyn Fn() -> bool) {
        let guard = self.lock.lock().unwrap();
        drop(self.changed.wait_while(guard, |()| !is_time()).unwrap());
    }

    fn wake(&self, _threads: &[Thread]) {
        self.pass_lock();
        self.changed.notify_all();
    }
}

/// One for each thread.
struct Conditions(Box<[Condition]>);

impl Way for Conditions {
    fn sleep(&self, number: usize, is_time: &dyn Fn() -> bool) {
        self.0[number].sleep(number, is_time);
    }

    fn wake(&self, threads: &[Thread]) {
        self.0.iter().for_each(|condition| condition.wake(threads));
    }
}
