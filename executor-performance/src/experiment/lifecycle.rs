//! What it costs to build an executor, use it once, and shut it down.

use super::{Experiment, JobTurn, Sample, Subject, Turn, micros};
use crate::{
    clock::{cpu_time, cpu_time_of_this_thread, difference},
    failure::Failure,
    record::{Figure, Setting},
    sampler::Pace,
    stats::mean,
    subject::BuildPlan,
    view::number,
    workload::Meeting,
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{
    iter,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

/// Builds an executor, gives it one job, or as many as it has threads, and shuts it down.
#[derive(Debug, Clone, Copy)]
pub struct Lifecycle {
    threads: usize,
    turn: LifecycleTurn,
}

impl Lifecycle {
    /// For executors with `threads` workers. Each runs one job, or with a `meeting` as many jobs as it runs at a time,
    /// which wait for each other.
    pub fn new(threads: usize, meeting: bool, patience: Duration) -> Self {
        Lifecycle { threads, turn: LifecycleTurn { count: 1, meeting, patience } }
    }

    /// How many jobs executors run, except those that run fewer jobs at a time than they have threads.
    fn jobs(&self) -> usize {
        if self.turn.meeting { self.threads } else { 1 }
    }
}

/// The least time between two round trips. A thread that the process no longer counts holds its core for some
/// microseconds, and on which core a new thread begins depends on which cores are in use. So without a pause it would
/// depend on how soon after a round trip the next thread starts.
const PAUSE: Duration = Duration::from_micros(100);

/// How many times as long as others the first round trip of a sample may take: executors that took their turns before
/// have left much of it cold. It is not measured, because it would count for more, the fewer round trips fit into a
/// sample.
const FIRST: f64 = 3.0;

/// One round trip after the other, with a pause before each; the first is not measured.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct LifecycleTurn {
    count: u32,
    /// Whether there are as many jobs as threads, each of which waits until all have begun.
    meeting: bool,
    patience: Duration,
}

/// The life of one executor.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Trip {
    /// The time until it is built.
    build: Duration,
    /// The submission of all jobs, without their end: for executors that start their threads with their jobs, it shows
    /// what the threads cost the submitter.
    submit: Duration,
    /// From before it is built to the end of the job that ends first. All jobs have begun by then.
    first_job: Duration,
    /// The shutdown, with the end of the other jobs, until its threads have ended.
    shutdown: Duration,
    /// From before it is built until its threads have ended.
    whole: Duration,
    /// CPU time of all that, without what this program takes to check whether the threads have ended.
    cpu: Option<Duration>,
}

impl LifecycleTurn {
    fn trip<E: Executor>(&self, plan: &BuildPlan<E>) -> Result<Trip, Failure> {
        let threads = threads();
        let jobs = if self.meeting { plan.width() } else { 1 };
        let meeting = Arc::new(Meeting::of(jobs, self.patience));
        let (sender, receiver) = mpsc::sync_channel(jobs);
        let stalled = |ran: usize| Failure::Stalled { ran: ran as u64, expected: jobs as u64, patience: self.patience };

        let (cpu, start) = (cpu_time(), Instant::now());
        let executor = plan.build()?;
        let built = Instant::now();

        let give = || {
            for sender in iter::repeat_n(sender, jobs) {
                let meeting = Arc::clone(&meeting);
                executor.execute(move || {
                    if meeting.attend() {
                        // If this comes too late, the receiver is gone.
                        let _ = sender.send(Instant::now());
                    }
                });
            }
        };
        let given = catch_unwind(AssertUnwindSafe(give)).map_err(|_| Failure::Submission);
        let submitted = Instant::now();
        let first = given.and_then(|()| receiver.recv_timeout(self.patience).map_err(|_| stalled(meeting.came())));
        let ran = first.inspect_err(|_| {
            meeting.break_up();
            executor.shutdown_async();
        })?;

        let stopping = Instant::now();
        executor.shutdown().map_err(Failure::Shutdown)?;
        for ended in 1..jobs {
            receiver.recv_timeout(self.patience).map_err(|_| stalled(ended))?;
        }
        let looking = cpu_time_of_this_thread();
        self.await_end(threads)?;
        let gone = Instant::now();
        let looked = difference(cpu_time_of_this_thread(), looking);
        let cpu = difference(difference(cpu_time(), cpu), looked);
        Ok(Trip {
            build: built - start,
            submit: submitted - built,
            first_job: ran - start,
            shutdown: gone - stopping,
            whole: gone - start,
            cpu,
        })
    }

    /// Waits until the process has no more than `threads` threads, if the system can tell. Many executors return from
    /// `shutdown` before that, and what their threads still do would count as time of the next executor.
    fn await_end(&self, threads: Option<u64>) -> Result<(), Failure> {
        let begin = Instant::now();
        while threads.is_some_and(|before| self::threads().is_some_and(|now| now > before)) {
            if begin.elapsed() > self.patience {
                return Err(Failure::Shutdown("its threads did not end".to_owned()));
            }
            thread::yield_now();
        }
        Ok(())
    }
}

/// How many threads this process has.
#[cfg(target_os = "linux")]
fn threads() -> Option<u64> {
    use std::{fs, os::unix::fs::MetadataExt};

    // The folder has a link to itself, one from its parent, and one from each of the threads' folders. This one call
    // takes about a microsecond; listing the folder would take ten times as long.
    fs::metadata("/proc/self/task").ok()?.nlink().checked_sub(2)
}

/// Not known.
#[cfg(not(target_os = "linux"))]
fn threads() -> Option<u64> {
    None
}

impl Turn for LifecycleTurn {
    type Sample = LifecycleSample;
}

impl JobTurn for LifecycleTurn {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<LifecycleSample, Failure> {
        let trip = || {
            thread::sleep(PAUSE);
            self.trip(plan)
        };
        trip()?;
        (0..self.count).map(|_| trip()).collect::<Result<_, _>>().map(LifecycleSample)
    }
}

/// The round trips of one turn.
#[derive(Debug, Serialize, Deserialize)]
pub struct LifecycleSample(Vec<Trip>);

impl LifecycleSample {
    /// The mean of a time of each trip, in microseconds.
    fn mean_us(&self, time: impl Fn(&Trip) -> Duration) -> f64 {
        mean(&self.0.iter().map(|trip| time(trip).as_nanos() as f64 / 1e3).collect::<Vec<_>>())
    }
}

impl Sample for LifecycleSample {
    /// The mean time of a round trip, in microseconds.
    fn cost(&self) -> f64 {
        self.mean_us(|trip| trip.whole)
    }
}

impl Experiment for Lifecycle {
    type Turn = LifecycleTurn;

    fn name(&self) -> &'static str {
        "lifecycle"
    }

    fn turn(&self) -> LifecycleTurn {
        self.turn
    }

    /// A sample has as many round trips as there is time for.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<LifecycleTurn>>]) {
        const MOST: f64 = 100.0;
        let micros: f64 = subjects.iter().filter_map(|subject| subject.take(&self.turn).ok()).map(|it| it.cost()).sum();
        let pauses = subjects.len() as f64 * PAUSE.as_micros() as f64;
        let fitting = pace.good_round().as_nanos() as f64 / 1e3 / (micros + pauses) - FIRST;
        // The conversion would saturate if the number were out of range; it is in range.
        self.turn.count = fitting.clamp(1.0, MOST) as u32;
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.threads),
            Setting::new("jobs", self.jobs()),
            Setting::fitted("round_trips_per_sample", self.turn.count),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let jobs = if self.turn.meeting {
            format!("{}, each of which waits until all have begun", number(self.jobs(), "job"))
        } else {
            "one job, for which threads that come with jobs do not all come".to_owned()
        };
        let pause = PAUSE.as_micros();
        vec![
            ("threads", self.threads.to_string()),
            ("round trip", format!("an executor is built, runs {jobs}, and is shut down; {pause} us before the next")),
            ("a sample", format!("{}, after one that is not measured", number(self.turn.count as usize, "round trip"))),
        ]
    }

    fn figures(&self, samples: &[LifecycleSample]) -> Vec<Figure> {
        let means = |time: fn(&Trip) -> Duration| samples.iter().map(|it| it.mean_us(time)).collect::<Vec<f64>>();
        let median = |column, name, time| micros(column, name).figure(super::median(&means(time)));
        let whole = [
            micros("round_trip_us", "median"),
            micros("low95_round_trip_us", "95% low"),
            micros("high95_round_trip_us", "95% high"),
        ];
        let all_cpu_known = samples.iter().flat_map(|sample| &sample.0).all(|trip| trip.cpu.is_some());
        let cpu = super::median(&means(|trip| trip.cpu.unwrap_or_default())).filter(|_| all_cpu_known);
        let mut figures = super::median_and_interval(whole, &means(|trip| trip.whole)).to_vec();
        figures.extend([
            median("build_us", "build", |trip| trip.build),
            median("submit_us", "submit", |trip| trip.submit),
            median("first_job_us", "first job", |trip| trip.first_job),
            median("shutdown_us", "shutdown", |trip| trip.shutdown),
            micros("cpu_us_per_round_trip", "CPU").figure(cpu),
            super::relative_error_figure(samples),
        ]);
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::mock::values;
    use executors::{CanExecute, crossbeam_channel_pool::ThreadPool, elastic_pool, run_now::RunNowExecutor};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const LONG: Duration = Duration::from_secs(60);

    fn sample(micros: u64) -> LifecycleSample {
        let time = Duration::from_micros(micros);
        let [submit, first_job, shutdown, whole] = [time / 2, 2 * time, 3 * time, 5 * time];
        let trip = Trip { build: time, submit, first_job, shutdown, whole, cpu: Some(7 * time) };
        LifecycleSample(vec![trip; 3])
    }

    #[test]
    fn figures_are_medians_of_the_samples() {
        let lifecycle = Lifecycle::new(2, false, Duration::from_secs(1));
        let figures = values(&lifecycle.figures(&[sample(30), sample(10), sample(20)]));
        let expected = [100.0, 50.0, 150.0, 20.0, 10.0, 40.0, 60.0, 140.0];
        assert_eq!(figures[..8], expected.map(Some));
        assert_eq!(values(&lifecycle.figures(&[])), [None; 9]);
    }

    #[test]
    fn the_first_trip_is_not_measured() {
        static BUILT: AtomicUsize = AtomicUsize::new(0);
        const LATE: Duration = Duration::from_millis(200);
        let build = |_| {
            if BUILT.fetch_add(1, Ordering::Relaxed) == 0 {
                thread::sleep(LATE); // as if all were cold
            }
            Ok(RunNowExecutor::new())
        };
        let turn = LifecycleTurn { count: 2, meeting: false, patience: LONG };
        let LifecycleSample(trips) = turn.run_on(&BuildPlan::new(build, 1)).expect("it works");
        assert_eq!((trips.len(), BUILT.load(Ordering::Relaxed)), (2, 3));
        assert!(trips.iter().all(|trip| trip.build < LATE), "{trips:?}");
    }

    #[test]
    fn the_parts_of_a_trip_are_within_it() {
        for meeting in [false, true] {
            let turn = LifecycleTurn { count: 2, meeting, patience: LONG };
            let sample = turn.run_on(&BuildPlan::new(|threads| Ok(ThreadPool::new(threads)), 2));
            let LifecycleSample(trips) = sample.expect("it works");
            assert_eq!(trips.len(), 2);
            for trip in trips {
                assert!(trip.build < trip.first_job && trip.first_job + trip.shutdown <= trip.whole, "{trip:?}");
            }
        }
    }

    /// How many threads a growing executor had, in two trips with one job or with a meeting.
    #[test]
    fn all_threads_come_to_a_meeting_and_one_for_one_job() {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let build = |threads| {
            let growing = elastic_pool::ThreadPool::builder().core(0).max(threads);
            let count = |_: usize| _ = STARTED.fetch_add(1, Ordering::Relaxed);
            growing.on_start(count).build().map_err(|error| Failure::of_build(&error))
        };
        for (meeting, threads) in [(false, 1), (true, 5)] {
            let turn = LifecycleTurn { count: 1, meeting, patience: LONG };
            turn.run_on(&BuildPlan::new(build, 5)).expect("it works");
            assert_eq!(STARTED.swap(0, Ordering::Relaxed), 2 * threads);
        }
    }

    #[test]
    fn a_meeting_of_jobs_on_the_thread_of_the_caller_does_not_wait() {
        let turn = LifecycleTurn { count: 1, meeting: true, patience: LONG };
        turn.run_on(&BuildPlan::new(|_| Ok(RunNowExecutor::new()), 3)).expect("it works");
    }

    #[test]
    fn a_meeting_that_has_too_few_threads_is_a_failure() {
        let turn = LifecycleTurn { count: 1, meeting: true, patience: Duration::from_millis(20) };
        let failure = turn.run_on(&BuildPlan::new(|_| Ok(ThreadPool::new(2)), 3)).expect_err("one is missing");
        assert!(matches!(failure, Failure::Stalled { expected: 3, .. }), "{failure}");
    }

    #[test]
    fn a_pool_that_does_nothing_is_a_failure() {
        #[derive(Clone)]
        struct Lazy;

        impl CanExecute for Lazy {
            fn execute_job(&self, _: Box<dyn FnOnce() + Send + 'static>) {}
        }

        impl Executor for Lazy {
            fn shutdown_async(&self) {}

            fn shutdown_borrowed(&self) -> Result<(), String> {
                Ok(())
            }
        }

        let turn = LifecycleTurn { count: 2, meeting: false, patience: Duration::from_millis(1) };
        let failure = turn.run_on(&BuildPlan::new(|_| Ok(Lazy), 2)).expect_err("the job never runs");
        assert!(matches!(failure, Failure::Stalled { ran: 0, expected: 1, .. }));
    }
}
