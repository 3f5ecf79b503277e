//! Groups of jobs.

use super::{
    subject::{Subject, with_pool},
    tools::{Bomb, Counter, Witness, occupy, panic_quietly},
};
use crate::support::watchdog::PATIENCE;
use ::futures::{channel::oneshot, executor::block_on};
use executors::{FuturesExecutor, Pool, TaskError, group::Group, sequence};
use std::{sync::mpsc, thread, time::Duration};

/// A result for each job, in order, whatever became of the others.
pub(crate) fn a_group_has_the_result_of_each(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let jobs = || -> Group<u32> {
            (0..100)
                .map(|number| pool.submit(move || if number % 10 == 3 { panic_quietly("expected") } else { number }))
                .collect()
        };
        assert_eq!(jobs().len(), 100);
        for results in [jobs().wait(), block_on(jobs()), jobs().wait_timeout(PATIENCE).expect("in time")] {
            assert_eq!(results.len(), 100);
            for (number, result) in (0..).zip(results) {
                match result {
                    Ok(value) => assert!(value == number && number % 10 != 3),
                    Err(TaskError::Panicked(_)) => assert_eq!(number % 10, 3),
                    other => panic!("job {number}: {other:?}"),
                }
            }
        }
        let nothing = Group::<u32>::new();
        assert!(nothing.is_empty() && nothing.is_finished());
        assert!(nothing.wait().is_empty());
    });
}

/// Those that have begun run on; the others never run, and what they own is dropped at once.
pub(crate) fn a_group_is_cancelled_as_a_whole(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let done = pool.submit(|| 7);
        pool.join().expect("this is no worker");
        let gate = occupy(pool, 2);
        let (ran, dropped) = (Counter::default(), Counter::default());
        let mut group = Group::new();
        group.push(done);
        group.extend((0..20).map(|number| {
            let (count, witness) = (ran.clone(), Witness(dropped.clone()));
            pool.submit(move || {
                let _captured = &witness;
                count.add();
                number
            })
        }));
        assert!(!group.is_finished());
        assert_eq!(group.cancel(), 20);
        assert_eq!(dropped.get(), 20);
        assert!(group.is_finished());
        assert_eq!(group.cancel(), 0);
        let results = group.wait();
        assert!(matches!(results[0], Ok(7)));
        assert_eq!(results.iter().filter(|result| matches!(result, Err(TaskError::Cancelled))).count(), 20);
        gate.open();
        pool.join().expect("this is no worker");
        assert_eq!(ran.get(), 0);
    });
}

/// Results that have come are kept for the next wait.
pub(crate) fn a_timeout_gives_the_group_back(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let first = pool.submit(|| 1);
        pool.join().expect("this is no worker");
        let gate = occupy(pool, 2);
        let group: Group<_> = [first, pool.submit(|| 2), pool.submit(|| 3)].into_iter().collect();
        let group = group.wait_timeout(Duration::from_millis(5)).expect_err("two cannot begin");
        let group = group.wait_timeout(Duration::ZERO).expect_err("two cannot begin");
        assert_eq!(group.len(), 3);
        let opener = thread::spawn(move || gate.open());
        let results: Result<Vec<_>, _> = group.wait_timeout(Duration::MAX).expect("in time").into_iter().collect();
        assert_eq!(results.expect("no failure"), [1, 2, 3]);
        opener.join().expect("opening does not panic");
    });
}

/// The first job of a group has begun, and waits for the second: the waiter of the group must not wait for the first
/// before it has run the second.
pub(crate) fn the_waiter_of_a_group_runs_jobs_that_have_not_begun(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let inner = pool.clone();
        let results = pool.submit(move || {
            let ((begin, begun), (feed, fed)) = (mpsc::channel(), mpsc::channel());
            let mut group = Group::new();
            group.push(inner.submit(move || {
                begin.send(()).expect("it is waited for");
                fed.recv().expect("the second sends")
            }));
            begun.recv().expect("the other worker begins it");
            group.push(inner.submit(move || {
                feed.send(1).expect("the first waits");
                2
            }));
            group.wait().into_iter().map(|result| result.expect("no panic")).collect::<Vec<_>>()
        });
        assert_eq!(results.wait().expect("no panic"), [1, 2]);
    });
}

/// It gets that for itself, and the results of the others.
pub(crate) fn a_job_of_a_group_cannot_wait_for_itself(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let ((give, given), (tell, told)) = (mpsc::channel::<Group<u8>>(), mpsc::channel());
        let waits = pool.submit(move || {
            let own = given.recv().expect("the test sends it");
            tell.send(own.wait()).expect("the test listens");
            0
        });
        give.send([waits, pool.submit(|| 7)].into_iter().collect()).expect("the job waits for it");
        let results = told.recv().expect("the job is told");
        assert!(matches!(results[..], [Err(TaskError::WouldDeadlock), Ok(7)]), "{results:?}");
    });
}

/// A future of a group waits for a closure of the group, and there is no other worker.
pub(crate) fn the_waiter_of_a_group_runs_closures_before_futures(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let inner = pool.clone();
        let results = pool.submit(move || {
            let (tell, told) = oneshot::channel();
            let mut group = Group::new();
            group.push(inner.submit_future(async move { told.await.expect("the second sends") }));
            group.push(inner.submit(move || {
                tell.send(1).expect("the first waits");
                2
            }));
            group.wait().into_iter().map(|result| result.expect("no panic")).collect::<Vec<_>>()
        });
        assert_eq!(results.wait().expect("no panic"), [1, 2]);
    });
}

/// The waiter of a group has run a job whose turn never comes, because the waiter itself waits for the end of the job's
/// result.
pub(crate) fn the_results_of_a_dropped_group_are_dropped(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let ((begin, begun), (wake, woken)) = (mpsc::channel(), oneshot::channel::<()>());
        let suspended = pool.submit_future(async move {
            begin.send(()).expect("it is waited for");
            woken.await.expect_err("nothing is sent");
            None
        });
        begun.recv().expect("the worker begins it");
        let inner = pool.clone();
        let outer = pool.submit(move || {
            let (tell, told) = mpsc::channel::<()>();
            let ran = Counter::default();
            let count = ran.clone();
            let given = inner.submit(move || {
                count.add();
                Some((tell, Bomb))
            });
            let mut group: Group<_> = [suspended, given].into_iter().collect();
            while ran.get() == 0 {
                group = group.wait_timeout(Duration::from_millis(5)).expect_err("the future is suspended");
            }
            drop(group);
            told.recv().is_err()
        });
        assert!(outer.wait().expect("no panic"));
        drop(wake);
    });
}

/// Also with fewer workers than jobs that wait.
pub(crate) fn jobs_may_wait_for_groups(subject: &impl Subject) {
    fn count<P: Pool + 'static>(pool: &P, depth: usize) -> usize {
        if depth == 0 {
            return 1;
        }
        let inner = pool.clone();
        let group = sequence::each(pool, 0..3, move |_| count(&inner, depth - 1));
        group.wait().into_iter().map(|result| result.expect("no panic")).sum()
    }

    with_pool(subject, 1, |pool| assert_eq!(count(pool, 3), 27));
}
