//! What Linux can do in addition.

use super::Way;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    fd::OwnedFd,
    io::{read, write},
    pipe::pipe,
    thread::futex,
};
use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread::{self, Thread},
};

pub(crate) fn ways(size: usize) -> Vec<(&'static str, Box<dyn Way>)> {
    const FEW: &str = "so few files can be opened";
    let events = (0..size).map(|_| eventfd(0, EventfdFlags::CLOEXEC).expect(FEW)).collect();
    let pipes = (0..size).map(|_| pipe().expect(FEW)).collect();
    let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::SEMAPHORE).expect(FEW);
    vec![
        ("common futex, one call", Box::new(CommonFutex(AtomicU32::new(0)))),
        ("`eventfd` for each", Box::new(Events(events))),
        ("common `eventfd`, one call, and `poll`", Box::new(CommonEvent(event))),
        ("pipe for each", Box::new(Pipes(pipes))),
    ]
}

/// Counts the calls.
struct CommonFutex(AtomicU32);

impl Way for CommonFutex {
    fn sleep(&self, _number: usize, is_time: &dyn Fn() -> bool) {
        loop {
            let calls = self.0.load(SeqCst);
            if is_time() {
                return;
            }
            // Fails if there was a call meanwhile.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, calls, None);
        }
    }

    fn wake(&self, _threads: &[Thread]) {
        const ALL: u32 = i32::MAX as u32;
        self.0.fetch_add(1, SeqCst);
        futex::wake(&self.0, futex::Flags::PRIVATE, ALL).expect("the futex is there");
    }
}

/// One for each thread. Written and read once in each turn.
struct Events(Box<[OwnedFd]>);

impl Way for Events {
    fn sleep(&self, number: usize, _is_time: &dyn Fn() -> bool) {
        read_count(&self.0[number]);
    }

    fn wake(&self, _threads: &[Thread]) {
        self.0.iter().for_each(|event| write_count(event, 1));
    }
}

/// Counts the threads that are still to come. All wake as long as that is more than 0, and each takes 1 in each turn,
/// as in burst-pool 0.5.1.
struct CommonEvent(OwnedFd);

impl Way for CommonEvent {
    fn sleep(&self, _number: usize, is_time: &dyn Fn() -> bool) {
        loop {
            poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None).expect("the event is there");
            if is_time() {
                return read_count(&self.0);
            }
            thread::yield_now();
        }
    }

    fn wake(&self, threads: &[Thread]) {
        write_count(&self.0, threads.len() as u64);
    }
}

/// For each thread, where to read and where to write, once in each turn.
struct Pipes(Box<[(OwnedFd, OwnedFd)]>);

impl Way for Pipes {
    fn sleep(&self, number: usize, _is_time: &dyn Fn() -> bool) {
        assert_eq!(read(&self.0[number].0, &mut [0]), Ok(1));
    }

    fn wake(&self, _threads: &[Thread]) {
        self.0.iter().for_each(|(_, end)| assert_eq!(write(end, &[1]), Ok(1)));
    }
}

fn read_count(event: &OwnedFd) {
    assert_eq!(read(event, &mut [0; 8]), Ok(8));
}

fn write_count(event: &OwnedFd, count: u64) {
    assert_eq!(write(event, &count.to_ne_bytes()), Ok(8));
}
