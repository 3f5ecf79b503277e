//! The accounts of a program.

use executors::{JoinHandle, TaskError, TaskHandle, group::Group, timer::Periodic};
use futures::executor::block_on;
use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

/// What becomes of the tickets of one program.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    issued: AtomicUsize,
    used: AtomicUsize,
    /// Those of jobs that were dropped before they ran.
    returned: AtomicUsize,
    /// Those of them that came back while the pool was sure to be open.
    returned_early: AtomicUsize,
    /// Tickets of jobs that somebody has cancelled, as a caller was told.
    cancelled: AtomicUsize,
    /// Tickets of jobs that a caller was told would not run: the pool has refused or discarded them.
    lost: AtomicUsize,
    /// The pool is closed, or soon will be.
    ends: AtomicBool,
    /// What was found wrong where a panic would not be noticed, because a pool catches it.
    failures: Mutex<Vec<String>>,
    /// Results that could not be waited for at the time, because that might have blocked the last worker.
    unread: Mutex<Unread>,
}

#[derive(Debug, Default)]
pub(crate) struct Unread {
    pub(crate) handles: Vec<TaskHandle<()>>,
    pub(crate) groups: Vec<Group<()>>,
    pub(crate) futures: Vec<JoinHandle<()>>,
    pub(crate) repetitions: Vec<Periodic>,
}

impl Ledger {
    pub(crate) fn issue(self: &Arc<Self>) -> Ticket {
        self.issued.fetch_add(1, SeqCst);
        Ticket { ledger: Arc::clone(self), used: false }
    }

    /// A ticket that keeps the program from being over, and is not for a job.
    pub(crate) fn hold(self: &Arc<Self>) -> Ticket {
        let mut ticket = self.issue();
        ticket.use_up();
        ticket
    }

    /// To be called before the pool is closed.
    pub(crate) fn end(&self) {
        self.ends.store(true, SeqCst);
    }

    pub(crate) fn ends(&self) -> bool {
        self.ends.load(SeqCst)
    }

    pub(crate) fn fail(&self, what: impl Into<String>) {
        self.failures.lock().expect("no panic under this lock").push(what.into());
    }

    /// Somebody has cancelled the jobs that have these tickets.
    pub(crate) fn cancel(&self, tickets: usize) {
        self.cancelled.fetch_add(tickets, SeqCst);
    }

    /// A pool has refused or dropped the jobs that have these tickets.
    pub(crate) fn lose(&self, tickets: usize) {
        self.lost.fetch_add(tickets, SeqCst);
    }

    /// Records what a result says about its ticket.
    pub(crate) fn learn(&self, result: Result<(), TaskError>) {
        match result {
            Ok(()) | Err(TaskError::Panicked(_)) => (),
            Err(TaskError::Cancelled) => self.cancel(1),
            Err(TaskError::Dropped) => self.lose(1),
            Err(error) => self.fail(format!("a job cannot end like this: {error}")),
        }
    }

    /// The same for a future, which passes the job's panic on.
    pub(crate) fn learn_from(&self, future: JoinHandle<()>) {
        if let Ok(None) = catch_unwind(AssertUnwindSafe(|| block_on(future.fallible()))) {
            self.lose(1);
        }
    }

    pub(crate) fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().expect("no panic under this lock")
    }

    /// Waits for the results that could not be waited for before. All tickets are settled.
    pub(crate) fn read(&self) {
        let Unread { handles, groups, futures, repetitions } = mem::take(&mut *self.unread());
        groups.into_iter().flat_map(Group::wait).for_each(|result| self.learn(result));
        handles.into_iter().for_each(|handle| self.learn(handle.wait()));
        futures.into_iter().for_each(|future| self.learn_from(future));
        if repetitions.iter().any(Periodic::is_scheduled) {
            self.fail("a repetition is gone, and its handle does not say so");
        }
    }

    /// Requires that all tickets are accounted for.
    pub(crate) fn check(&self, discards: bool, program: &str) {
        let [issued, used, returned, early, cancelled, lost] =
            [&self.issued, &self.used, &self.returned, &self.returned_early, &self.cancelled, &self.lost]
                .map(|count| count.load(SeqCst));
        let announced = cancelled + lost;
        assert_eq!(used + returned, issued, "{program}: {self:?}");
        assert!(early <= cancelled, "{program}: an open pool has dropped a job: {self:?}");
        if discards {
            // Of jobs without a handle that are discarded, callers learn only the number.
            assert!(announced <= returned, "{program}: a job ran that was announced as dropped: {self:?}");
        } else {
            assert_eq!(returned, announced, "{program}: a job was dropped silently: {self:?}");
        }
        let failures = self.failures.lock().expect("no panic under this lock");
        assert!(failures.is_empty(), "{program}: {failures:#?}");
    }

    pub(crate) fn is_settled(&self) -> bool {
        // In this order: a ticket that counts as settled was issued before.
        let settled = self.used.load(SeqCst) + self.returned.load(SeqCst);
        settled == self.issued.load(SeqCst)
    }
}

/// The right to run once. It is settled when it is dropped, so a program is not over while one of its jobs runs.
pub(crate) struct Ticket {
    ledger: Arc<Ledger>,
    used: bool,
}

impl Ticket {
    pub(crate) fn use_up(&mut self) {
        assert!(!self.used, "a job runs once");
        self.used = true;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.used && !self.ledger.ends() {
            self.ledger.returned_early.fetch_add(1, SeqCst);
        }
        if self.used { &self.ledger.used } else { &self.ledger.returned }.fetch_add(1, SeqCst);
    }
}
