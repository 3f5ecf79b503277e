//! Jobs that come from outside at scheduled times, whether others have ended or not.
//!
//! A [`Guest`] has the [`Hall`] [on loan](super::lent). The hall is taken back only when all jobs were counted, which
//! is the last thing that each does.

use super::{
    lent::{Lent, Loan},
    relay::Burst,
    score::{self, Score},
    work::Work,
};
use crate::{
    clock::{cpu_time, cpu_time_of_this_thread, difference},
    failure::Failure,
};
use executors::Executor;
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// How long before the beginning of a stream its producers are told of it, so that none is late.
const NOTICE: Duration = Duration::from_millis(2);

/// Gives streams of jobs to one executor. All jobs do work of one kind.
pub struct Stream<E, W> {
    executor: E,
    work: W,
    score: Arc<Score>,
    /// Whether a stream has failed, so that there may be guests that were not counted.
    failed: bool,
    patience: Duration,
}

/// What all jobs of a stream have in common.
struct Hall<W> {
    work: W,
    score: Arc<Score>,
    opened: Instant,
    /// When each job ended, in nanoseconds since `opened`.
    ended: Box<[AtomicU64]>,
}

/// A job.
struct Guest<W> {
    hall: Loan<Hall<W>>,
    index: usize,
}

/// How a producer gave its jobs.
#[derive(Debug, Default)]
struct Given {
    /// How late it gave each of them.
    lateness: Vec<Duration>,
    /// CPU time that waiting for the scheduled times took, if the system tells.
    waiting: Option<Duration>,
}

/// A stream that has ended.
#[derive(Debug)]
pub struct Streamed {
    /// All of it, from its beginning to the end of the last job. Its CPU time is without that of producers that wait
    /// for the scheduled time of a job.
    pub burst: Burst,
    /// From the scheduled time of each job to its end.
    pub latencies: Vec<Duration>,
    /// From the scheduled time of each job to when it was given to the executor.
    pub lateness: Vec<Duration>,
}

impl<E: Executor + Sync, W: Work + Clone> Stream<E, W> {
    /// Streams to `executor`, whose jobs do `work`. If no job ends for `patience` after all were given, they are
    /// stalled.
    pub fn new(executor: E, work: W, patience: Duration) -> Self {
        Stream { executor, work, score: Arc::default(), failed: false, patience }
    }

    /// Lets a thread for each of `schedules` give jobs to the executor, at these nanoseconds since the beginning. A
    /// thread that is late catches up as fast as it can.
    ///
    /// # Errors
    ///
    /// If not all jobs ran. Then the stream must not be used any more.
    pub fn run(&mut self, schedules: &[Vec<u64>]) -> Result<Streamed, Failure> {
        assert!(!self.failed, "a stream that failed cannot be run again");
        let streamed = self.try_run(schedules);
        if streamed.is_err() {
            self.failed = true;
            // Lets workers end that would disturb what is measured next.
            self.executor.shutdown_async();
        }
        streamed
    }

    fn try_run(&self, schedules: &[Vec<u64>]) -> Result<Streamed, Failure> {
        let jobs = schedules.iter().map(Vec::len).sum::<usize>();
        self.score.announce(jobs as u64, jobs as u64);
        let hall = Lent::new(Hall {
            work: self.work.clone(),
            score: Arc::clone(&self.score),
            opened: Instant::now(),
            ended: (0..jobs).map(|_| AtomicU64::new(0)).collect(),
        });
        let cpu = cpu_time();
        let (started, Given { lateness, waiting }) = self.produce(schedules, hall.loan())?;
        let submitting = started.elapsed();
        self.score.wait(Instant::now(), self.patience)?;
        let cpu = difference(difference(cpu_time(), cpu), waiting);

        // SAFETY: No guest is left: all producers have, and every job was counted, which is the last thing it does and
        // does not touch the hall. The counting of each happened before `wait` returned (Release and Acquire on the
        // tallies).
        let hall = unsafe { hall.take_back() };
        let began = started.duration_since(hall.opened).as_nanos() as u64;
        // Relaxed: as above.
        let ends = hall.ended.iter().map(|ended| ended.load(Ordering::Relaxed).saturating_sub(began));
        let latencies = ends.clone().zip(schedules.iter().flatten());
        let latencies = latencies.map(|(end, due)| Duration::from_nanos(end.saturating_sub(*due))).collect();
        let wall = Duration::from_nanos(ends.max().unwrap_or_default());
        let burst = Burst { jobs: jobs as u64, started, submitting, wall, cpu, idle: Duration::ZERO, idle_cpu: None };
        Ok(Streamed { burst, latencies, lateness })
    }

    /// Gives all jobs to the executor. Returns when the stream began, and how the jobs were given.
    fn produce(&self, schedules: &[Vec<u64>], hall: Loan<Hall<W>>) -> Result<(Instant, Given), Failure> {
        thread::scope(|scope| {
            let (mut producers, mut first) = (Vec::new(), 0);
            for schedule in schedules {
                let (sender, beginning) = mpsc::channel::<Instant>();
                let guest = Guest { hall, index: first };
                first += schedule.len();
                let produce = move || match beginning.recv() {
                    Ok(began) => catch_unwind(AssertUnwindSafe(|| guest.come(&self.executor, began, schedule))).ok(),
                    // Not all producers could be started.
                    Err(_) => None,
                };
                let producer = thread::Builder::new().name("producer".to_owned()).spawn_scoped(scope, produce);
                producers.push((sender, producer.map_err(Failure::Producer)?));
            }
            let began = Instant::now() + NOTICE;
            for (sender, _) in &producers {
                // A producer that has ended already is noticed below.
                let _ = sender.send(began);
            }
            let mut all = Given { lateness: Vec::new(), waiting: Some(Duration::ZERO) };
            for (_, producer) in producers {
                let given = producer.join().ok().flatten().ok_or(Failure::Submission)?;
                all.lateness.extend(given.lateness);
                all.waiting = all.waiting.zip(given.waiting).map(|(all, one)| all + one);
            }
            Ok((began, all))
        })
    }

    /// Shuts the executor down and checks the count once more.
    ///
    /// # Errors
    ///
    /// If the executor does not shut down, or has run more jobs than it was given.
    pub fn finish(self) -> Result<(), Failure> {
        assert!(!self.failed, "a stream that failed cannot be finished");
        self.executor.shutdown().map_err(Failure::Shutdown)?;
        self.score.verify()
    }
}

impl<W: Work> Guest<W> {
    /// Gives this job and those after it to `executor`, as `schedule` says.
    fn come<E: Executor>(self, executor: &E, began: Instant, schedule: &[u64]) -> Given {
        let mut waiting = cpu_time_of_this_thread().map(|_| Duration::ZERO);
        let come = |(job, due): (usize, &u64)| {
            let due = began + Duration::from_nanos(*due);
            let waited = wait_until(due);
            let late = due.elapsed();
            let guest = Guest { index: self.index + job, ..self };
            executor.execute(move || guest.run());
            waiting = waiting.zip(waited).map(|(all, one)| all + one);
            late
        };
        let lateness = schedule.iter().enumerate().map(come).collect();
        Given { lateness, waiting }
    }

    fn run(self) {
        // SAFETY: The hall is not taken back before this job is counted, which is the last thing it does. The hall is
        // used after `count_jobs` only if that has not counted the job.
        let hall = unsafe { self.hall.get() };
        hall.work.before();
        hall.work.after();
        // Relaxed: it is read after this job was counted.
        hall.ended[self.index].store(hall.opened.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let score = Arc::as_ptr(&hall.score);
        if !score::count_jobs(score, 1, true) {
            score::count_first_jobs(Arc::clone(&hall.score), 1, true);
        }
    }
}

/// Sleeps until shortly before `due`, because systems wake sleepers about 0.1 ms late; then watches the clock, but
/// yields to other threads that want this core. Returns the CPU time that this took, if the system tells. Asking for it
/// at the end takes less than a microsecond, which makes the job late by that.
fn wait_until(due: Instant) -> Option<Duration> {
    const WATCHED: Duration = Duration::from_micros(200);
    if due <= Instant::now() {
        return Some(Duration::ZERO);
    }
    let before = cpu_time_of_this_thread();
    loop {
        match due.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return difference(cpu_time_of_this_thread(), before),
            left if left > WATCHED => thread::sleep(left - WATCHED),
            _ => thread::yield_now(),
        }
    }
}

impl<W> Clone for Guest<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Guest<W> {}

impl<E, W> fmt::Debug for Stream<E, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("score", &self.score).field("failed", &self.failed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{CHAINS_COUNTED_DOWN, Pastime};
    use executors::{CanExecute, crossbeam_channel_pool::ThreadPool};

    const LONG: Duration = Duration::from_secs(60);
    const MILLI: u64 = 1_000_000;

    #[test]
    fn every_job_has_a_latency_from_when_it_was_to_come() {
        let mut stream = Stream::new(ThreadPool::new(2), (), LONG);
        for schedules in [vec![vec![0, 0, MILLI]], vec![vec![5 * MILLI], vec![], vec![0, MILLI]]] {
            let streamed = stream.run(&schedules).expect("every job ran");
            assert_eq!((streamed.latencies.len(), streamed.lateness.len(), streamed.burst.jobs), (3, 3, 3));
            let last = schedules.iter().flatten().max().expect("a job");
            assert!(streamed.burst.wall >= Duration::from_nanos(*last), "{streamed:?}");
            let late = streamed.latencies.iter().zip(&streamed.lateness);
            assert!(late.clone().all(|(latency, late)| latency >= late), "{streamed:?}");
        }
        let many = vec![vec![0; CHAINS_COUNTED_DOWN as usize]; 2];
        assert_eq!(stream.run(&many).expect("every job ran").burst.jobs, 2 * CHAINS_COUNTED_DOWN);
        stream.finish().expect("no job ran twice");
    }

    /// A producer watches the clock for much longer than the jobs take: that is not work of the executor.
    #[cfg(unix)]
    #[test]
    fn waiting_for_the_moment_says_what_it_takes() {
        const WATCHED: Duration = Duration::from_micros(150); // all of it is watched
        assert_eq!(wait_until(Instant::now()), Some(Duration::ZERO));
        // A busy system may give the core to others meanwhile.
        let mut shares = (0..1000).map(|_| {
            let began = Instant::now();
            let cpu = wait_until(began + WATCHED).expect("the system tells");
            assert!(cpu <= began.elapsed(), "{cpu:?}");
            cpu.div_duration_f64(WATCHED)
        });
        assert!(shares.any(|share| share > 0.5));
    }

    /// Time in the queue is in the latencies: no producer waits for the executor before it gives the next job.
    #[test]
    fn jobs_that_wait_for_others_are_counted_from_when_they_were_to_come() {
        let time = Duration::from_millis(2);
        let mut stream = Stream::new(ThreadPool::new(1), Pastime::Busy(time), LONG);
        let streamed = stream.run(&[vec![0; 10]]).expect("every job ran");
        for (before, latency) in (0..).zip(&streamed.latencies) {
            assert!(*latency >= time * (before + 1), "{streamed:?}");
        }
        stream.finish().expect("no job ran twice");
    }

    /// Runs every other job.
    #[derive(Clone, Default)]
    struct Careless(Arc<AtomicU64>);

    impl CanExecute for Careless {
        fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
            if self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                job();
            }
        }
    }

    impl Executor for Careless {
        fn shutdown_async(&self) {}

        fn shutdown_borrowed(&self) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn a_lost_job_is_a_failure_and_not_a_number() {
        let mut stream = Stream::new(Careless::default(), (), Duration::from_millis(20));
        let failure = stream.run(&[vec![0; 10]]).expect_err("half of them are missing");
        assert!(matches!(failure, Failure::Stalled { ran: 5, expected: 10, .. }), "{failure}");
    }
}
