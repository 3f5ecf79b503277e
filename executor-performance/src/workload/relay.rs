//! Running loads on an executor: chains of jobs that hand on a baton.
//!
//! A baton has the [`Track`] [on loan](super::lent). The relay takes the track back only when all producers have left
//! and [`Score`] has counted all jobs. A job is counted after it has touched the track for the last time.

use super::{
    lent::{Lent, Loan},
    load::Load,
    score::{self, Score},
    work::Work,
};
use crate::{
    clock::{cpu_time, difference},
    failure::Failure,
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Runs loads on one executor, whose jobs do work of one kind.
pub struct Relay<E, W> {
    track: Lent<Track<E, W>>,
    score: Arc<Score>,
    /// Whether batons or producers may exist that have the track on loan.
    in_use: bool,
    patience: Duration,
}

/// What all jobs of a relay have in common.
struct Track<E, W> {
    executor: E,
    work: W,
    score: Arc<Score>,
}

/// What a job of a chain hands on to the next.
struct Baton<E, W> {
    track: Loan<Track<E, W>>,
    hops_left: u64,
}

/// Where producers begin, and end.
struct Start {
    producers: usize,
    /// Relaxed: it guards nothing.
    arrived: AtomicUsize,
    /// Like a barrier, and unlike a `OnceLock`, this lets producers through one after the other. With the latter, short
    /// bursts of four producers take about a third less, and could not be compared with those of older records.
    gate: Mutex<Gate>,
    moved: Condvar,
    /// Set when the load is over, so that no producer ends before: a thread that ends keeps its core for some time.
    over: OnceLock<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    Closed,
    Open,
    /// There will be no start, because not all producers could be started.
    CalledOff,
}

impl Start {
    fn new(producers: usize) -> Self {
        Start {
            producers,
            arrived: AtomicUsize::new(0),
            gate: Mutex::new(Gate::Closed),
            moved: Condvar::new(),
            over: OnceLock::new(),
        }
    }

    /// Called by each producer once it has started: waits at the gate. Returns whether the load begins.
    fn arrive(&self) -> bool {
        self.arrived.fetch_add(1, Relaxed);
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = |gate: &mut Gate| *gate == Gate::Closed;
        *self.moved.wait_while(gate, closed).unwrap_or_else(PoisonError::into_inner) == Gate::Open
    }

    /// Returns when all producers have started: starting them must not count as what the idle executor takes.
    fn await_producers(&self) {
        while self.arrived.load(Relaxed) < self.producers {
            thread::yield_now();
        }
    }

    /// Lets all through.
    fn open(&self) {
        self.move_gate(Gate::Open);
    }

    /// Sends those home that have arrived, and those that will.
    fn call_off(&self) {
        self.move_gate(Gate::CalledOff);
    }

    fn move_gate(&self, to: Gate) {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        *gate = to;
        // Under the lock, as a barrier does.
        self.moved.notify_all();
    }
}

/// One load that was run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Burst {
    /// Jobs that ran.
    pub jobs: u64,
    /// Just before the first submission. Means nothing to another process.
    #[serde(skip, default = "Instant::now")]
    pub started: Instant,
    /// From the first submission to the return of the last producer.
    pub submitting: Duration,
    /// From the first submission to the end of the last job.
    pub wall: Duration,
    /// CPU time that the process used meanwhile.
    pub cpu: Option<Duration>,
    /// How long the executor had nothing to do before.
    pub idle: Duration,
    /// CPU time that the process used meanwhile.
    pub idle_cpu: Option<Duration>,
}

impl<E: Executor + Sync + 'static, W: Work> Relay<E, W> {
    /// A relay on `executor`, whose jobs do `work`. Jobs that do not end within `patience` of each other are stalled.
    pub fn new(executor: E, work: W, patience: Duration) -> Self {
        let score = Arc::new(Score::default());
        let track = Lent::new(Track { executor, work, score: Arc::clone(&score) });
        Relay { track, score, in_use: false, patience }
    }

    /// Leaves the executor idle for `pause`, then runs `load` on it.
    ///
    /// Producers are started before the pause and wait at a gate. The clock starts when the first of them is through.
    /// When they have given all jobs, they sleep until the clock has stopped: a thread that ends may keep its core for
    /// longer than a burst takes, and workers that are woken on that core would wait for it.
    ///
    /// # Errors
    ///
    /// If not every job of the load ran. Then the relay must not be used any more.
    pub fn run(&mut self, load: &Load, pause: Duration) -> Result<Burst, Failure> {
        assert!(!self.in_use, "a relay that failed cannot be run again");
        self.in_use = true;
        let burst = self.try_run(load, pause);
        if burst.is_ok() {
            self.in_use = false;
        } else {
            // Lets workers end that wait or spin, and would otherwise disturb what is measured next.
            self.track.get().executor.shutdown_async();
        }
        burst
    }

    fn try_run(&self, load: &Load, pause: Duration) -> Result<Burst, Failure> {
        self.score.announce(load.jobs(), load.chains());
        let start = Arc::new(Start::new(load.producers()));
        let producers = self.line_up(load, &start).inspect_err(|_| start.call_off())?;
        start.await_producers();

        let (idle_since, idle_cpu) = (Instant::now(), cpu_time());
        thread::sleep(pause);
        let (idle, cpu) = (idle_since.elapsed(), cpu_time());

        start.open();
        let end = self.score.wait(Instant::now(), self.patience);
        let cpu_ended = cpu_time();
        start.over.get_or_init(|| ());

        let end = end?;
        let shifts = producers.into_iter().map(|producer| producer.join().ok().flatten());
        let shifts: Vec<Shift> = shifts.collect::<Option<_>>().ok_or(Failure::Submission)?;
        let started = shifts.iter().map(|shift| shift.began).min().unwrap_or(end.at);
        let submitted = shifts.iter().map(|shift| shift.ended).max().unwrap_or(end.at);
        Ok(Burst {
            jobs: end.jobs,
            started,
            submitting: submitted.duration_since(started),
            wall: end.at.saturating_duration_since(started),
            cpu: difference(cpu_ended, cpu),
            idle,
            idle_cpu: difference(cpu, idle_cpu),
        })
    }

    /// Starts the producers.
    fn line_up(&self, load: &Load, start: &Arc<Start>) -> Result<Vec<JoinHandle<Option<Shift>>>, Failure> {
        let messages = load.messages();
        (0..load.producers())
            .map(|_| {
                let (start, score) = (Arc::clone(start), Arc::clone(&self.score));
                let baton = Baton { track: self.track.loan(), hops_left: load.amplification() };
                let produce = move || {
                    if !start.arrive() {
                        return None;
                    }
                    let began = Instant::now();
                    let given = catch_unwind(AssertUnwindSafe(|| baton.start(messages)));
                    let ended = given.unwrap_or_else(|_| {
                        score.give_up();
                        Instant::now()
                    });
                    start.over.wait();
                    Some(Shift { began, ended })
                };
                thread::Builder::new().name("producer".to_owned()).spawn(produce).map_err(Failure::Producer)
            })
            .collect()
    }

    /// Shuts the executor down and checks the count once more.
    ///
    /// # Errors
    ///
    /// If the executor does not shut down, or has run more jobs than it was given.
    pub fn finish(self) -> Result<(), Failure> {
        assert!(!self.in_use, "a relay that failed cannot be finished");
        // SAFETY: No baton is used any more: since `in_use` was set, all producers were joined, and every job was
        // counted, which is the last thing it does and does not touch the track. The counting of each happened before
        // `wait` returned (Release and Acquire on the tallies).
        let track = unsafe { self.track.take_back() };
        track.executor.shutdown().map_err(Failure::Shutdown)?;
        self.score.verify()
    }
}

impl<E: Executor + Sync + 'static, W: Work> Baton<E, W> {
    /// Starts `chains` chains from outside, and returns when that was done.
    fn start(self, chains: u64) -> Instant {
        // SAFETY: The relay keeps the track until this producer has been joined.
        let track = unsafe { self.track.get() };
        for _ in 0..chains {
            track.executor.execute(move || self.run());
        }
        let done = Instant::now();
        track.work.producer_is_done();
        done
    }

    /// One job.
    fn run(self) {
        // SAFETY: The relay keeps the track until this job is counted, which is the last thing it does. The track is
        // used after `count_jobs` only if that has not counted the job.
        let track = unsafe { self.track.get() };
        let ends_chain = self.hops_left == 0 || !track.work.goes_on();
        track.work.before();
        if !ends_chain {
            let next = Baton { track: self.track, hops_left: self.hops_left - 1 };
            track.executor.execute(move || next.run());
        } else if self.hops_left > 0 {
            track.score.forgo(self.hops_left);
        }
        track.work.after();
        let score = Arc::as_ptr(&track.score);
        if !score::count_jobs(score, 1, ends_chain) {
            score::count_first_jobs(Arc::clone(&track.score), 1, ends_chain);
        }
    }
}

impl<E, W> Clone for Baton<E, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, W> Copy for Baton<E, W> {}

/// When a producer began to give jobs to the executor, and when it had given all.
struct Shift {
    began: Instant,
    ended: Instant,
}

impl<E, W> fmt::Debug for Relay<E, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("score", &self.score).field("in_use", &self.in_use).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::CHAINS_COUNTED_DOWN;
    use executors::{CanExecute, crossbeam_channel_pool::ThreadPool, run_now::RunNowExecutor};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(50);

    /// Does with every hundredth job what `fault` says, and runs the others on a pool.
    #[derive(Clone)]
    struct Faulty {
        pool: ThreadPool,
        jobs: Arc<AtomicUsize>,
        fault: fn(Box<dyn FnOnce() + Send>),
    }

    impl Faulty {
        fn new(fault: fn(Box<dyn FnOnce() + Send>)) -> Self {
            Faulty { pool: ThreadPool::new(2), jobs: Arc::default(), fault }
        }
    }

    impl CanExecute for Faulty {
        fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
            if self.jobs.fetch_add(1, Ordering::Relaxed) % 100 == 99 {
                (self.fault)(job);
            } else {
                self.pool.execute_job(job);
            }
        }
    }

    impl Executor for Faulty {
        fn shutdown_async(&self) {
            self.pool.shutdown_async();
        }

        fn shutdown_borrowed(&self) -> Result<(), String> {
            self.pool.shutdown_borrowed().and(Err("too lazy".to_owned()))
        }
    }

    fn load(producers: usize, messages: u64, amplification: u64) -> Load {
        Load::new(producers, messages, amplification).expect("countable")
    }

    #[test]
    fn runs_every_job_of_loads_of_all_shapes() {
        let mut relay = Relay::new(ThreadPool::new(3), (), LONG);
        for load in [load(1, 1, 0), load(3, 50, 0), load(1, 1, 500), load(2, 20, 20), load(2, CHAINS_COUNTED_DOWN, 1)] {
            let burst = relay.run(&load, Duration::ZERO).expect("every job ran");
            assert!(burst.wall > Duration::ZERO);
        }
        relay.finish().expect("no job ran twice");
    }

    #[test]
    fn runs_on_executors_that_use_the_thread_of_the_caller() {
        let mut relay = Relay::new(RunNowExecutor::new(), (), LONG);
        relay.run(&load(2, 100, 10), Duration::ZERO).expect("every job ran");
        relay.finish().expect("no job ran twice");
    }

    /// Each job marks the thread that gives it, and takes some time, to see whether that thread has ended.
    #[test]
    fn producers_stay_until_the_last_job_has_ended() {
        thread_local!(static MARK: Mark = const { Mark });
        static HAVE_ENDED: AtomicUsize = AtomicUsize::new(0);
        struct Mark;
        impl Drop for Mark {
            fn drop(&mut self) {
                HAVE_ENDED.fetch_add(1, Ordering::Relaxed);
            }
        }
        #[derive(Clone)]
        struct Marking(ThreadPool);
        impl CanExecute for Marking {
            fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
                MARK.with(|_| ());
                self.0.execute_job(Box::new(move || {
                    thread::sleep(SHORT);
                    assert_eq!(HAVE_ENDED.load(Ordering::Relaxed), 0, "a producer has left before");
                    job();
                }));
            }
        }
        impl Executor for Marking {
            fn shutdown_async(&self) {
                self.0.shutdown_async();
            }

            fn shutdown_borrowed(&self) -> Result<(), String> {
                self.0.shutdown_borrowed()
            }
        }
        let mut relay = Relay::new(Marking(ThreadPool::new(2)), (), LONG);
        relay.run(&load(2, 1, 0), Duration::ZERO).expect("no job has panicked");
        assert_eq!(HAVE_ENDED.load(Ordering::Relaxed), 2, "it was their mark");
        relay.finish().expect("no job ran twice");
    }

    /// As when not all of them could be started.
    #[test]
    fn producers_that_are_called_off_leave() {
        let start = Arc::new(Start::new(3));
        let arrive = || {
            let start = Arc::clone(&start);
            thread::spawn(move || start.arrive())
        };
        let arrived = [arrive(), arrive()];
        start.call_off();
        assert!(arrived.into_iter().all(|producer| !producer.join().expect("no panic")));
    }

    #[test]
    fn measures_the_pause_apart_from_the_burst() {
        let mut relay = Relay::new(ThreadPool::new(1), (), LONG);
        let bursts = [(); 5].map(|()| relay.run(&load(1, 1, 0), SHORT).expect("every job ran"));
        assert!(bursts.iter().all(|burst| burst.idle >= SHORT));
        assert!(bursts.iter().any(|burst| burst.wall < SHORT), "{bursts:?}");
        relay.finish().expect("no job ran twice");
    }

    #[test]
    fn what_a_producer_does_when_it_is_done_is_no_submitting() {
        struct Slow;
        impl Work for Slow {
            fn producer_is_done(&self) {
                thread::sleep(SHORT);
            }
        }
        let mut relay = Relay::new(ThreadPool::new(1), Slow, LONG);
        let bursts = [(); 5].map(|()| relay.run(&load(1, 1, 0), Duration::ZERO).expect("every job ran"));
        assert!(bursts.iter().any(|burst| burst.submitting < SHORT), "{bursts:?}");
        relay.finish().expect("no job ran twice");
    }

    #[test]
    fn a_lost_job_is_a_failure_and_not_a_number() {
        for load in [load(1, 300, 1), load(2, CHAINS_COUNTED_DOWN, 1)] {
            let mut relay = Relay::new(Faulty::new(drop), (), SHORT);
            let failure = relay.run(&load, Duration::ZERO).expect_err("jobs were dropped");
            assert!(
                matches!(failure, Failure::Stalled { ran, expected, .. } if ran < expected && expected == load.jobs())
            );
        }
    }

    #[test]
    fn a_panicking_executor_is_a_failure() {
        let mut relay = Relay::new(Faulty::new(|_| panic!("as the test wants it")), (), LONG);
        let failure = relay.run(&load(1, 300, 0), Duration::ZERO).expect_err("the producer panicked");
        assert!(matches!(failure, Failure::Submission));
    }

    #[test]
    fn a_failed_shutdown_is_a_failure() {
        let mut relay = Relay::new(Faulty::new(|job| job()), (), LONG);
        relay.run(&load(1, 300, 1), Duration::ZERO).expect("every job ran");
        assert!(matches!(relay.finish(), Err(Failure::Shutdown(why)) if why == "too lazy"));
    }
}
