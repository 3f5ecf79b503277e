//! Witnesses and other small things that the topics share.

pub(crate) use crate::support::gate::occupy;

use crate::support::watchdog::until;
use executors::Pool;
use std::{
    iter,
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread::{self, ThreadId},
    time::Duration,
};

/// Counts events. Clones count together.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counter(Arc<AtomicUsize>);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(SeqCst)
    }
}

/// Panics when it is dropped.
#[derive(Debug)]
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic_quietly("dropped");
        }
    }
}

/// Counts its own destruction. Capture one to see when, and how often, a closure is dropped.
pub(crate) struct Witness(pub(crate) Counter);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// One counter for each of many jobs.
#[derive(Clone)]
pub(crate) struct Tally(Arc<[AtomicUsize]>);

impl Tally {
    pub(crate) fn new(jobs: usize) -> Self {
        Tally((0..jobs).map(|_| AtomicUsize::new(0)).collect())
    }

    pub(crate) fn add(&self, job: usize) {
        self.0[job].fetch_add(1, SeqCst);
    }

    pub(crate) fn get(&self, job: usize) -> usize {
        self.0[job].load(SeqCst)
    }

    #[track_caller]
    pub(crate) fn assert_once_each(&self) {
        let wrong: Vec<_> = self.0.iter().map(|n| n.load(SeqCst)).enumerate().filter(|(_, n)| *n != 1).collect();
        assert!(wrong.is_empty(), "of {} jobs these (job, runs) did not run exactly once: {wrong:?}", self.0.len());
    }
}

/// Panics without calling the panic hook: for tests whose many panics would only fill the log.
pub(crate) fn panic_quietly(payload: impl Send + 'static) -> ! {
    std::panic::resume_unwind(Box::new(payload))
}

/// Jobs each of which is returned only when the one before has run; their number is not known in advance.
pub(crate) fn one_after_the_other(jobs: usize) -> impl Iterator<Item = impl FnOnce() + Send + 'static> {
    let ((tell, told), mut given) = (mpsc::channel(), 0);
    iter::from_fn(move || {
        if given > 0 {
            told.recv().expect("this iterator has a sender itself");
            thread::sleep(Duration::from_millis(1)); // so that workers sleep, too
        }
        given += 1;
        let tell = tell.clone();
        (given <= jobs).then_some(move || tell.send(()).expect("the iterator waits"))
    })
}

/// Occupies `threads` workers at the same time and asks each of them `question`.
///
/// That many workers must be free: the jobs wait for each other, so no worker answers twice.
pub(crate) fn ask_all<P, A>(pool: &P, threads: usize, question: impl Fn() -> A + Send + Sync + 'static) -> Vec<A>
where
    P: Pool,
    A: Send + 'static,
{
    let (meeting, question) = (Arc::new(Barrier::new(threads)), Arc::new(question));
    let (answer, answers) = mpsc::channel();
    for _ in 0..threads {
        let (meeting, question, answer) = (Arc::clone(&meeting), Arc::clone(&question), answer.clone());
        pool.execute(move || {
            meeting.wait();
            answer.send(question()).expect("the asker waits");
        });
    }
    drop(answer);
    let answers: Vec<_> = answers.iter().collect();
    assert_eq!(answers.len(), threads, "each worker answers");
    answers
}

/// The threads of a pool.
pub(crate) fn threads_of(pool: &impl Pool, threads: usize) -> Vec<ThreadId> {
    ask_all(pool, threads, || thread::current().id())
}

/// The names of a pool's threads, in order.
pub(crate) fn names_of(pool: &impl Pool, threads: usize) -> Vec<String> {
    let mut names = ask_all(pool, threads, || thread::current().name().unwrap_or_default().to_owned());
    names.sort();
    names
}

/// Makes `threads` workers of a pool panic, each once, and waits for that.
pub(crate) fn panic_on_all(pool: &impl Pool, threads: usize) {
    let meeting = Arc::new(Barrier::new(threads));
    for _ in 0..threads {
        let meeting = Arc::clone(&meeting);
        pool.execute(move || {
            meeting.wait();
            panic_quietly("expected");
        });
    }
    pool.join().expect("this is no worker");
}

/// Waits until `pool` takes no more jobs.
pub(crate) fn until_closed(pool: &impl Pool) {
    until("the pool is closed", || pool.try_execute(|| ()).is_err());
}

/// Shows whether the workers of a pool are gone: capture [`mark`](Self::mark) in something that the pool owns.
pub(crate) struct Life(Arc<()>);

impl Life {
    pub(crate) fn new() -> Self {
        Life(Arc::new(()))
    }

    pub(crate) fn mark(&self) -> Arc<()> {
        Arc::clone(&self.0)
    }

    pub(crate) fn until_over(&self) {
        until("everything that belonged to the pool is dropped", || Arc::strong_count(&self.0) == 1);
    }
}
