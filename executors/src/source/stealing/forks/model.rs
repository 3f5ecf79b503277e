//! Models of a fork: the part on its forker's stack, the worker that takes it, and who waits for it meanwhile.

use super::Joiners;
use crate::{
    barrier::{self, Recalled},
    part::{Loan, Part, Stub},
    source::queue::stack::{Owner, Thief, stack},
    sync::{Arc, check, thread},
};

/// Takes a part, if there is one, in one attempt.
fn take(thief: &Thief<Stub>) -> Option<Loan> {
    // SAFETY: whoever forks in a model waits for the part, and all threads have the bell.
    thief.steal().unwrap_or(None).map(|stub| unsafe { Loan::new(stub) })
}

/// Whether there is a part, also if its forker has spared a fence.
fn sees_part(thief: &Thief<Stub>) -> bool {
    thief.len() > 0 || {
        barrier::end_recalls(thief.recall().iter().map(|stack| stack as &dyn Recalled));
        thief.len() > 0
    }
}

/// What comes of `closure`, which somebody else may run; and `meanwhile` in between.
fn fork<R: Send>(
    owner: &Owner<Stub>,
    joiners: &Joiners,
    closure: impl FnOnce() -> R + Send,
    meanwhile: impl FnOnce(),
) -> R {
    let mut part = Part::new(closure, joiners.bell());
    assert!(owner.push(part.stub()));
    owner.order_pushes();
    joiners.part_came();
    meanwhile();
    if owner.pop() {
        return part.take_closure()();
    }
    joiners.wait_until(|| part.is_settled(), || false);
    part.take_outcome().expect("no panic")
}

/// It may be gone as soon as it is settled.
#[test]
fn a_part_is_run_once_and_its_forker_has_what_comes_of_it() {
    for (is_reserved, is_run) in [(false, true), (true, true), (false, false)] {
        check(3, move || {
            let ((owner, thief), joiners) = (stack(), Arc::new(Joiners::default()));
            if is_reserved {
                owner.reserve();
            }
            let worker = thread::spawn({
                let joiners = Arc::clone(&joiners);
                move || {
                    match take(&thief) {
                        Some(loan) if is_run => loan.run(),
                        loan => drop(loan),
                    }
                    drop(joiners);
                }
            });
            let what = Box::new(7);
            assert_eq!(*fork(&owner, &joiners, move || what, || ()), 7);
            worker.join().unwrap();
        });
    }
}

/// The forker goes on only if the other takes its second part.
fn a_joiner_takes_a_part(is_reserved: bool) {
    check(3, move || {
        let ((owner, thief), joiners) = (stack(), Arc::new(Joiners::default()));
        if is_reserved {
            owner.reserve();
        }
        let joiner = thread::spawn({
            let joiners = Arc::clone(&joiners);
            move || {
                loop {
                    joiners.wait_until(|| false, || sees_part(&thief));
                    if let Some(loan) = take(&thief) {
                        break loan.run();
                    }
                    thread::yield_now();
                }
            }
        });
        // Whatever becomes of the first.
        let is_taken = !fork_and_tell(&owner, &joiners);
        if !is_taken {
            assert!(!fork_and_wait(&owner, &joiners));
        }
        joiner.join().unwrap();
    });
}

/// Returns whether the forker ran it itself.
fn fork_and_tell(owner: &Owner<Stub>, joiners: &Joiners) -> bool {
    let here = thread::current().id();
    fork(owner, joiners, move || thread::current().id() == here, || ())
}

/// Gives the part up to others.
fn fork_and_wait(owner: &Owner<Stub>, joiners: &Joiners) -> bool {
    let here = thread::current().id();
    let mut part = Part::new(move || thread::current().id() == here, joiners.bell());
    assert!(owner.push(part.stub()));
    owner.order_pushes();
    joiners.part_came();
    joiners.wait_until(|| part.is_settled(), || false);
    assert!(!owner.pop(), "it was taken");
    part.take_outcome().expect("no panic")
}

#[test]
fn who_waits_is_called_for_a_part() {
    a_joiner_takes_a_part(false);
}

#[test]
fn who_waits_is_called_for_a_part_of_a_reserved_stack() {
    a_joiner_takes_a_part(true);
}
