//! Models of gates, board and queues together: the real source, used by workers that do nothing but look, run and fall
//! asleep.

use super::{Address, DispatchLocal, DispatchSource, NORMAL};
use crate::{
    job::{Closure, Job},
    meter::Meter,
    options::Placement,
    placement::Neighbourhood,
    source::{Source, Whom},
    sync::{
        atomic::{AtomicUsize, Ordering::SeqCst, fence},
        check, thread,
    },
};
use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicUsize as Uncounted, Ordering::Relaxed},
    },
};

/// Two subpools beside that of the CPU, whose stream is left out.
const A: Address = Address::new(1, NORMAL);
const B: Address = Address::new(2, NORMAL);

struct Model {
    source: DispatchSource,
    asleep: AtomicUsize,
    called: AtomicUsize,
    moments: AtomicUsize,
    /// Not loom's: not part of what is modelled.
    ran: Uncounted,
    inside: Uncounted,
}

impl Model {
    fn new(seats: &[usize]) -> Arc<Self> {
        let neighbourhood = Neighbourhood::of_machine(2, &Placement::Floating);
        let source = DispatchSource::new(2, neighbourhood, &[1, 1, 1], seats, 61);
        source.pause(super::CPU);
        let [asleep, called, moments] = [(); 3].map(|()| AtomicUsize::new(0));
        Arc::new(Model { source, asleep, called, moments, ran: Uncounted::new(0), inside: Uncounted::new(0) })
    }

    /// A job of a subpool whose limit is one. It fails if another one is running.
    fn job(self: &Arc<Self>) -> Closure<impl FnOnce() + Send + use<>> {
        let model = Arc::clone(self);
        Closure(move || {
            assert_eq!(model.inside.fetch_add(1, Relaxed), 0, "two jobs at a time");
            // So that other threads may go on meanwhile. (After a yield one of them would have to.)
            model.moments.load(Relaxed);
            model.inside.fetch_sub(1, Relaxed);
            model.ran.fetch_add(1, Relaxed);
        })
    }

    /// S1 to S4.
    fn submit(self: &Arc<Self>, to: Address) {
        let whom = self.source.inject(to, self.job());
        assert_eq!(whom, Whom::Anyone);
        fence(SeqCst);
        if self.source.expose(to) {
            self.call();
        }
    }

    /// The same for a job that only the worker on `seat` can run, without the call. Returns whether that is due if it
    /// sleeps.
    fn submit_to_owner(self: &Arc<Self>, to: Address, seat: usize) -> bool {
        let whom = self.source.inject(to, self.job());
        assert_eq!(whom, Whom::Owner(seat));
        fence(SeqCst);
        self.source.expose(to)
    }

    /// Relies on a fence before it.
    fn call(&self) {
        if self.asleep.load(SeqCst) > 0 {
            self.called.fetch_add(1, SeqCst);
        }
    }

    fn change(&self, change: impl FnOnce(&DispatchSource) -> (Whom, usize)) {
        let (_whom, jobs) = change(&self.source);
        fence(SeqCst);
        if jobs > 0 {
            self.call();
        }
    }

    /// Runs what there is, and falls asleep.
    fn work(&self, seat: usize) {
        let local = self.source.attach(Some(seat));
        loop {
            self.run_all(&local);
            self.asleep.fetch_add(1, SeqCst);
            fence(SeqCst);
            if !self.source.has_jobs_for(&local) {
                return;
            }
            self.asleep.fetch_sub(1, SeqCst);
        }
    }

    fn run_all(&self, local: &DispatchLocal) {
        loop {
            if self.source.run_next(local) {
                continue;
            } else if let Some(job) = self.find(local) {
                job.run();
            } else {
                return;
            }
        }
    }

    fn find(&self, local: &DispatchLocal) -> Option<Job> {
        let job = self.source.search(local, &Meter::default())?;
        if self.source.take_owed_call(local) {
            fence(SeqCst);
            if self.source.has_jobs() {
                self.call();
            }
        }
        Some(job)
    }

    /// When all are asleep: if a worker was called, it wakes up. Then no job may be left.
    fn end(&self, jobs: usize) {
        if self.called.load(SeqCst) > 0 {
            self.run_all(&self.source.attach(Some(0)));
        }
        assert_eq!((self.ran.load(Relaxed), self.source.len()), (jobs, 0), "{:?}", self.source);
        assert!(!self.source.has_unfinished());
    }
}

/// Lets a thread do `work` on the model.
fn start(model: &Arc<Model>, work: impl FnOnce(&Arc<Model>) + Send + 'static) -> thread::JoinHandle<()> {
    let model = Arc::clone(model);
    thread::spawn(move || work(&model))
}

#[test]
fn a_submitter_and_a_worker() {
    check(3, || {
        let model = Model::new(&[]);
        let worker = start(&model, |model| model.work(0));
        model.submit(A);
        model.submit(A);
        worker.join().unwrap();
        model.end(2);
    });
}

#[test]
fn two_submitters_and_a_worker() {
    check(2, || {
        let model = Model::new(&[]);
        let worker = start(&model, |model| model.work(0));
        let submitter = start(&model, |model| model.submit(A));
        model.submit(A);
        worker.join().unwrap();
        submitter.join().unwrap();
        model.end(2);
    });
}

/// The gate is shut to one of them, most of the time.
#[test]
fn two_workers_and_one_token() {
    check(2, || {
        let model = Model::new(&[]);
        let workers = [0, 1].map(|seat| start(&model, move |model| model.work(seat)));
        model.submit(A);
        model.submit(A);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        model.end(2);
    });
}

/// The worker goes from one subpool to the other, with a token of one at a time.
#[test]
fn a_worker_and_two_subpools() {
    check(3, || {
        let model = Model::new(&[]);
        let urgent = Address::new(B.subpool(), NORMAL + 1);
        let worker = start(&model, |model| model.work(0));
        model.submit(A);
        model.submit(urgent);
        model.submit(A);
        worker.join().unwrap();
        model.end(3);
    });
}

#[test]
fn a_pause_ends_while_a_job_comes() {
    check(3, || {
        let model = Model::new(&[]);
        model.source.pause(A.subpool());
        let worker = start(&model, |model| model.work(0));
        let submitter = start(&model, |model| model.submit(A));
        model.change(|source| source.resume(A.subpool()));
        worker.join().unwrap();
        submitter.join().unwrap();
        model.end(1);
    });
}

#[test]
fn a_pause_begins_and_ends_while_a_job_comes() {
    check(2, || {
        let model = Model::new(&[]);
        let worker = start(&model, |model| model.work(0));
        let pauser = start(&model, |model| {
            model.change(|source| source.pause(A.subpool()));
            model.change(|source| source.resume(A.subpool()));
        });
        model.submit(A);
        worker.join().unwrap();
        pauser.join().unwrap();
        model.end(1);
    });
}

/// The thread that begins the pause changes the board only after the pause has ended, and no worker is awake.
#[test]
fn a_pause_ends_before_it_is_on_the_board() {
    check(3, || {
        let model = Model::new(&[]);
        model.asleep.store(1, SeqCst);
        let submitter = start(&model, |model| model.submit(A));
        let resumer = start(&model, |model| model.change(|source| source.resume(A.subpool())));
        model.change(|source| source.pause(A.subpool()));
        submitter.join().unwrap();
        resumer.join().unwrap();
        if model.source.read(A.subpool()).is_paused {
            model.change(|source| source.resume(A.subpool()));
        }
        model.end(1);
    });
}

/// A worker that takes the last token closes the gate's bit for a moment although another token has come back;
/// meanwhile another worker falls asleep, and a job comes.
#[test]
fn a_token_comes_back_while_the_last_one_is_taken() {
    check(3, || {
        let model = Model::new(&[]);
        model.source.set_limit(A.subpool(), 2);
        model.submit(A);
        // As if a job were running.
        assert!(model.source.entrance(A.subpool()).enter(&Cell::default()));
        let other = start(&model, |model| {
            model.source.entrance(A.subpool()).leave(|| false, &Cell::default());
            model.asleep.fetch_add(1, SeqCst);
            fence(SeqCst);
            if model.source.has_jobs() {
                model.called.fetch_add(1, SeqCst); // by itself
            }
            model.submit(A);
        });
        // A job that does not end until all is over.
        let local = model.source.attach(Some(0));
        let job = model.find(&local);
        other.join().unwrap();
        if model.called.load(SeqCst) > 0 {
            model.run_all(&model.source.attach(Some(1)));
        }
        assert_eq!(model.source.len(), 0, "{:?}", model.source);
        job.into_iter().for_each(Job::run);
        assert_eq!(model.ran.load(Relaxed), 2);
    });
}

#[test]
fn a_limit_rises_while_a_job_comes() {
    check(3, || {
        let model = Model::new(&[]);
        // As if a job were running.
        let entrance = model.source.entrance(A.subpool());
        assert!(entrance.enter(&Cell::default()));
        let worker = start(&model, |model| model.work(0));
        let submitter = start(&model, |model| model.submit(A));
        model.change(|source| source.set_limit(A.subpool(), 2));
        worker.join().unwrap();
        submitter.join().unwrap();
        // Too late to help any worker.
        entrance.gate.give_back();
        model.end(1);
    });
}

/// A job of one subpool gives one to another, and ends. A thread that then finds nothing unfinished finds that both
/// have run.
#[test]
fn unfinished_jobs_are_seen() {
    check(3, || {
        let model = Model::new(&[]);
        let parent = {
            let model = Arc::clone(&model);
            Closure(move || {
                model.submit(A);
                model.ran.fetch_add(1, Relaxed);
            })
        };
        // After the queue of its child, in the order in which queues are looked at.
        model.source.inject(B, parent);
        model.source.expose(B);
        let worker = start(&model, |model| model.work(0));
        if !model.source.has_unfinished() {
            assert_eq!(model.ran.load(Relaxed), 2);
        }
        worker.join().unwrap();
        model.end(2);
    });
}

/// Only the thread on the seat takes the job, and it is called.
#[test]
fn a_bound_job_comes() {
    check(3, || {
        let model = Model::new(&[1]);
        let bound = Address::new(3, 0);
        let worker = start(&model, |model| model.work(1));
        if model.submit_to_owner(bound, 1) {
            model.call();
        }
        worker.join().unwrap();
        if model.called.load(SeqCst) > 0 {
            model.run_all(&model.source.attach(Some(1)));
        }
        model.end(1);
    });
}

/// A worker that has run dry gives back the only token, while a job comes for that subpool, and one that only this
/// worker can run. Another worker sleeps, and has to come for the first job if this one takes the second.
#[test]
fn a_job_that_came_before_the_token_is_not_overlooked() {
    check(3, || {
        let model = Model::new(&[1]);
        let bound = Address::new(3, NORMAL + 1);
        model.submit(A);
        let local = model.source.attach(Some(1));
        model.find(&local).expect("it was put in").run();
        model.asleep.store(1, SeqCst);
        let submitter = start(&model, move |model| {
            model.submit(A);
            model.submit_to_owner(bound, 1);
        });
        let job = model.find(&local);
        submitter.join().unwrap();
        let waits = model.source.read(A.subpool()).queued > 0;
        let is_bound = local.token_of.get() == bound.subpool();
        assert!(!(is_bound && waits) || model.called.load(SeqCst) > 0, "{:?}", model.source);
        job.into_iter().for_each(Job::run);
        model.run_all(&local);
        assert_eq!(model.ran.load(Relaxed), 3);
    });
}
