//! Models of a fork: the part on its forker's stack, the worker that takes it, and the thread that waits for it.

use super::{Fork, Forker, Forks, Loan, Stub, forks, lend};
use crate::{
    recall,
    sync::{Arc, Gate, check, check_reaching, thread},
};

/// A worker, and what others see of it.
fn worker() -> (Forker, Arc<Forks>) {
    let (forker, forks) = forks();
    (forker, Arc::new(forks))
}

fn reserve(forker: &Forker) {
    forker.stack.reserve();
    assert!(forker.stack.is_reserved());
}

/// Takes a part, if there is one, in one attempt.
fn take(seat: usize, thief: &Forker, from: &Forks) -> Option<Loan> {
    thief.take(seat, from, || true).unwrap_or(None)
}

/// The same for a part of `part`, for which the thief waits.
fn take_part_of(part: &Stub, thief: &Forker, from: &Forks) -> Option<Loan> {
    thief.take(0, from, || !part.is_settled()).unwrap_or(None)
}

/// Forks as a worker does, and returns whether it has run the part itself.
fn fork(forker: &Forker, part: impl FnOnce() + Send, one: impl FnOnce(), wait: impl Fn(&Stub)) -> bool {
    let here = thread::current().id();
    let tell = || {
        forker.fence_parts();
        forker.call_joiners();
    };
    let other = move || {
        part();
        thread::current().id() == here
    };
    forker.run(&mut Fork::new(one, other), tell, wait).1
}

/// Waits for a part, and takes no others.
fn await_on(forks: &Forks) -> impl Fn(&Stub) {
    |part| {
        while !part.is_settled() {
            match part.taker() {
                Ok(_) => forks.joiners.wait_until(|| part.is_settled(), || false),
                Err(_) => thread::yield_now(),
            }
        }
    }
}

/// The part may be gone as soon as it is settled.
#[test]
fn a_part_runs_once_and_its_forker_gets_the_result() {
    for (is_reserved, is_run) in [(false, true), (true, true), (false, false)] {
        check_reaching(3, ["another thread takes it", "none does"], move |[is_taken, is_kept]| {
            let ((forker, forks), (thief, of_thief)) = (worker(), worker());
            if is_reserved {
                reserve(&forker);
            }
            let thief = thread::spawn(move || {
                let loan = take(1, &thief, &forks);
                is_taken.is_reached_if(loan.is_some());
                is_kept.is_reached_if(loan.is_none());
                match loan {
                    Some(loan) if is_run => loan.run(),
                    loan => drop(loan),
                }
            });
            let what = Box::new(7);
            let wait = await_on(&of_thief);
            let outcome = forker.run(&mut Fork::new(|| (), move || what), || (), &wait);
            assert_eq!(*outcome.1, 7);
            thief.join().unwrap();
        });
    }
}

/// The same for a thread that only looks whether the part is settled.
#[test]
fn a_thread_that_sees_a_part_settled_sees_its_result() {
    check_reaching(3, ["another thread takes it"], |[is_taken]| {
        let ((forker, forks), (thief, _of_thief)) = (worker(), worker());
        let thief = thread::spawn(move || {
            let loan = take(1, &thief, &forks);
            is_taken.is_reached_if(loan.is_some());
            loan.into_iter().for_each(Loan::run);
        });
        let wait = |_: &Stub| thread::yield_now();
        let outcome = forker.run(&mut Fork::new(|| (), || Box::new(7)), || (), wait);
        assert_eq!(*outcome.1, 7);
        thief.join().unwrap();
    });
}

/// The thread that waits for its part takes what the worker that has the part has forked; otherwise that worker would
/// wait for ever. This holds however that worker shares its stack, and if another thread recalls privileges meanwhile,
/// as one that falls asleep does.
fn a_waiter_takes_part(forks_in_a_row: usize, is_reserved: bool, is_recalled: bool) {
    check_reaching(3, ["the waiter sleeps", "it takes a part of its part"], move |[waits, takes_part]| {
        let ((forker, forks), (taker, of_taker)) = (worker(), worker());
        if is_reserved {
            reserve(&taker);
        }
        let sleeper = is_recalled.then(|| {
            let of_taker = Arc::clone(&of_taker);
            thread::spawn(move || {
                of_taker.recall().iter().for_each(recall::end);
            })
        });
        let taking = thread::spawn(move || {
            let Some(loan) = take(1, &taker, &forks) else { return };
            for _ in 0..forks_in_a_row {
                let gate = Gate::default();
                fork(&taker, || gate.open(), || gate.pass(), await_on(&forks));
            }
            loan.run();
        });
        let wait = |part: &Stub| match part.taker() {
            Err(_) => thread::yield_now(),
            Ok(_) if of_taker.has_parts() => {
                let loan = take_part_of(part, &forker, &of_taker);
                takes_part.is_reached_if(loan.is_some());
                loan.into_iter().for_each(Loan::run);
            }
            Ok(_) => {
                waits.is_reached_if(true);
                of_taker.wait(part);
            }
        };
        fork(&forker, || (), || (), wait);
        taking.join().unwrap();
        sleeper.into_iter().for_each(|sleeper| sleeper.join().unwrap());
    });
}

#[test]
fn a_waiter_takes_part_in_what_it_waits_for() {
    a_waiter_takes_part(2, false, false);
}

#[test]
fn a_waiter_takes_part_though_the_stack_is_reserved() {
    a_waiter_takes_part(2, true, false);
}

#[test]
fn a_waiter_takes_part_while_a_reserved_stack_is_recalled() {
    a_waiter_takes_part(1, true, true);
}

/// What the other worker forks after it has settled the part may belong to any job.
#[test]
fn a_waiter_takes_nothing_else() {
    check_reaching(3, ["it looks for a part of its part"], |[looks]| {
        let ((forker, forks), (taker, of_taker)) = (worker(), worker());
        let taking = thread::spawn(move || {
            let Some(loan) = take(1, &taker, &forks) else { return };
            loan.run();
            assert!(fork(&taker, || (), || (), await_on(&forks)), "no other thread has run it");
        });
        let wait = |part: &Stub| {
            if part.taker().is_ok() {
                looks.is_reached_if(true);
                take_part_of(part, &forker, &of_taker).into_iter().for_each(Loan::run);
            }
            thread::yield_now();
        };
        fork(&forker, || (), || (), wait);
        taking.join().unwrap();
    });
}

/// Whether the closure is run or not.
#[test]
fn the_lender_of_a_closure_waits_for_it() {
    for is_run in [true, false] {
        check(3, move || {
            let (mut borrowed, mut thread) = (Box::new(1), None);
            let double = || *borrowed *= 2;
            lend(double, |loan| {
                thread = Some(thread::spawn(move || if is_run { loan.run() } else { drop(loan) }));
            });
            assert_eq!(*borrowed, 2);
            thread.expect("it was started").join().unwrap();
        });
    }
}
