//! In which order jobs of several threads start.

use super::tools::{FOR_EVER, end, occupy, sized};
use crate::support::{child::Child, gate::Gate};
use executors::{Executor, Fairness};
use std::{
    sync::{Arc, Mutex},
    thread,
};

/// While jobs of two threads wait, a worker takes a limited number of one thread's, then of the other's. In a process
/// of its own, where no other threads share lanes with these two.
#[test]
fn no_thread_waits_for_all_jobs_of_another() {
    const JOBS: usize = 200;
    Child::default().run(|| {
        for (fairness, bound) in [(Some(Fairness::Counted(3)), 3), (None, 64)] {
            let builder = sized(1, 1, FOR_EVER);
            let builder = if let Some(fairness) = fairness { builder.fairness(fairness) } else { builder };
            let (pool, gate) = (builder.build().expect("one thread"), Gate::default());
            occupy(&pool, &gate);
            let book = Arc::new(Mutex::new(Vec::new()));
            let submit = |who| {
                for number in 0..JOBS {
                    let book = Arc::clone(&book);
                    pool.execute(move || book.lock().expect("no panic under this lock").push((who, number)));
                }
            };
            submit("early");
            thread::scope(|scope| {
                scope.spawn(|| submit("late"));
            });
            gate.open();
            end(&pool);
            let book = book.lock().expect("no panic under this lock");
            let of = |who| book.iter().filter(move |(by, _)| *by == who).map(|(_, number)| *number);
            for who in ["early", "late"] {
                assert!(of(who).eq(0..JOBS), "the jobs of one thread are in order: {book:?}");
            }
            let (first, last) = (book[0].0, book[2 * JOBS - 1].0);
            let both_wait = book.iter().rposition(|(who, _)| *who != last).expect("there are jobs of both");
            let runs: Vec<_> = book[..both_wait].chunk_by(|one, next| one.0 == next.0).map(<[_]>::len).collect();
            assert!(runs.iter().all(|&run| run <= bound), "{first} first: {runs:?}");
        }
    });
}
