//! What an executor costs that has nothing to do: CPU time and memory.

use super::{Experiment, JobTurn, Sample, Subject, Turn};
use crate::{
    clock::{cpu_time, difference},
    failure::Failure,
    heap,
    record::{Figure, Metric, Setting},
    sampler::Pace,
    subject::BuildPlan,
    workload::wait_for,
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Leaves an executor alone after it has run some jobs, and then lets jobs wait in its queue.
#[derive(Debug, Clone, Copy)]
pub struct Idle {
    threads: usize,
    /// What was asked for.
    asked: IdleTurn,
    /// For how long an executor is left alone in a sample.
    sampled: Duration,
}

const fn percent(column: &'static str, name: &'static str) -> Metric {
    Metric::new(column, [name, "% of core"]).with_decimals(4)
}

const fn bytes(column: &'static str, title: [&'static str; 2]) -> Metric {
    Metric::new(column, title).with_decimals(1)
}

/// Jobs that each worker runs on average before the executor is left alone.
const JOBS_PER_THREAD: u64 = 1000;

impl Idle {
    /// For executors with `threads` workers.
    pub fn new(threads: usize, asked: IdleTurn) -> Self {
        Idle { threads, asked, sampled: asked.window }
    }
}

/// How an idle executor is watched.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct IdleTurn {
    /// Time for what is about to end: workers that still search for jobs, and threads of the previous executor.
    pub settle: Duration,
    /// For how long the executor is left alone after that.
    pub window: Duration,
    /// Jobs that are queued then, to see how much of the heap one takes.
    pub queued: u64,
    /// When to give up waiting for jobs.
    pub patience: Duration,
}

/// Jobs that count themselves.
#[derive(Debug, Clone, Default)]
struct Count(Arc<AtomicU64>);

impl Count {
    /// Gives `jobs` jobs to `executor`. Each captures the eight bytes of a pointer.
    fn give<E: Executor>(&self, executor: &E, jobs: u64) {
        for _ in 0..jobs {
            let Count(ran) = self.clone();
            // Release pairs with the Acquire in `ran`.
            executor.execute(move || {
                ran.fetch_add(1, Ordering::Release);
            });
        }
    }

    fn ran(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl IdleTurn {
    /// Heap bytes for each of many jobs that are queued while `width` other jobs block all workers.
    fn heap_per_job<E: Executor>(&self, executor: &E, width: usize) -> Result<Option<f64>, Failure> {
        let (queued, stuck, door) = (Count::default(), Count::default(), Arc::new(Mutex::new(())));
        // It is unlocked even if this fails, so that workers are free to leave.
        let locked = door.lock().unwrap_or_else(PoisonError::into_inner);
        // One after the other, because some pools give two jobs that come at the same time to one worker.
        for worker in 1..=width {
            let (Count(one_more), door) = (stuck.clone(), Arc::clone(&door));
            executor.execute(move || {
                one_more.fetch_add(1, Ordering::Release);
                drop(door.lock());
            });
            wait_for(worker as u64, self.patience, || stuck.ran())?;
        }
        let before = heap::in_use();
        queued.give(executor, self.queued);
        let after = heap::in_use();
        drop(locked);
        wait_for(self.queued, self.patience, || queued.ran())?;
        Ok(growth(before, after).map(|bytes| bytes / self.queued as f64))
    }

    fn watch<E: Executor>(
        &self,
        executor: &E,
        plan: &BuildPlan<E>,
        heap_before: Option<u64>,
    ) -> Result<IdleSample, Failure> {
        let (count, jobs) = (Count::default(), JOBS_PER_THREAD * plan.threads() as u64);
        count.give(executor, jobs);
        wait_for(jobs, self.patience, || count.ran())?;
        thread::sleep(self.settle);

        let (start, cpu) = (Instant::now(), cpu_time());
        thread::sleep(self.window);
        let (window, cpu) = (start.elapsed(), difference(cpu_time(), cpu));
        let heap = growth(heap_before, heap::in_use());
        let heap_per_job = self.heap_per_job(executor, plan.width())?;
        Ok(IdleSample { window, cpu, heap, heap_per_job })
    }
}

impl Turn for IdleTurn {
    type Sample = IdleSample;
}

impl JobTurn for IdleTurn {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<IdleSample, Failure> {
        thread::sleep(self.settle);
        let heap_before = heap::in_use();
        let executor = plan.build_assembled(self.patience)?;
        let watched = catch_unwind(AssertUnwindSafe(|| self.watch(&executor, plan, heap_before)));
        let sample = watched.unwrap_or(Err(Failure::Submission)).inspect_err(|_| executor.shutdown_async())?;
        executor.shutdown().map_err(Failure::Shutdown)?;
        Ok(sample)
    }
}

fn growth(before: Option<u64>, after: Option<u64>) -> Option<f64> {
    Some(after? as f64 - before? as f64)
}

/// What an idle executor took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct IdleSample {
    window: Duration,
    cpu: Option<Duration>,
    heap: Option<f64>,
    heap_per_job: Option<f64>,
}

impl IdleSample {
    fn cpu_percent(&self) -> Option<f64> {
        self.cpu.map(|cpu| 100.0 * cpu.as_secs_f64() / self.window.as_secs_f64())
    }
}

impl Sample for IdleSample {
    /// CPU time in percent of one core.
    fn cost(&self) -> f64 {
        self.cpu_percent().unwrap_or_default()
    }
}

impl Experiment for Idle {
    type Turn = IdleTurn;

    fn name(&self) -> &'static str {
        "idle"
    }

    fn turn(&self) -> IdleTurn {
        IdleTurn { window: self.sampled, ..self.asked }
    }

    /// The window is shorter than was asked for if otherwise the minimum number of samples would not fit into the
    /// budget.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<IdleTurn>>]) {
        const SHORTEST: Duration = Duration::from_millis(10);
        let share = pace.longest_round() / subjects.len().max(1) as u32;
        let window = share.saturating_sub(2 * self.asked.settle).max(SHORTEST);
        self.sampled = window.min(self.asked.window);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.threads),
            Setting::new("settle_ms", self.asked.settle.as_millis()),
            Setting::new("window_ms", self.asked.window.as_millis()),
            Setting::new("queued_jobs", self.asked.queued),
            Setting::fitted("sampled_ms", self.sampled.as_millis()),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let (window, settling) = (self.sampled.as_millis(), self.asked.settle.as_millis());
        vec![
            super::assembled(self.threads),
            ("a sample", format!("CPU time in {window} ms, {settling} ms after the last job; heap in use then")),
            (
                "queued job",
                format!("of {} with 8 bytes each, while all workers are kept from their work", self.asked.queued),
            ),
        ]
    }

    fn figures(&self, samples: &[IdleSample]) -> Vec<Figure> {
        let all = |number: fn(&IdleSample) -> Option<f64>| {
            samples.iter().map(number).collect::<Option<Vec<f64>>>().unwrap_or_default()
        };
        let cpu = [
            percent("cpu_percent", "CPU"),
            percent("low95_cpu_percent", "95% low"),
            percent("high95_cpu_percent", "95% high"),
        ];
        let queued = bytes("heap_bytes_per_queued_job", ["queued job", "bytes"]);
        let mut figures = super::median_and_interval(cpu, &all(IdleSample::cpu_percent)).to_vec();
        figures.extend([
            bytes("heap_bytes", ["heap", "bytes"]).figure(super::median(&all(|sample| sample.heap))),
            queued.figure(super::median(&all(|sample| sample.heap_per_job))),
            super::relative_error_figure(samples),
        ]);
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::mock::values;
    use executors::{CanExecute, crossbeam_channel_pool::ThreadPool};

    const TURN: IdleTurn = IdleTurn {
        settle: Duration::from_millis(1),
        window: Duration::from_millis(1),
        queued: 1000,
        patience: Duration::from_secs(60),
    };

    fn sample(millis: u64, heap: Option<f64>) -> IdleSample {
        let (window, cpu) = (Duration::from_secs(1), Some(Duration::from_millis(millis)));
        IdleSample { window, cpu, heap, heap_per_job: heap.map(|heap| heap / 100.0) }
    }

    #[test]
    fn figures_are_medians_of_the_samples() {
        let idle = Idle::new(2, TURN);
        let figures = |samples: &[IdleSample]| values(&idle.figures(samples));
        let all = figures(&[sample(30, Some(300.0)), sample(10, Some(500.0)), sample(20, Some(100.0))]);
        assert_eq!(all[..5], [2.0, 1.0, 3.0, 300.0, 3.0].map(Some));
        assert_eq!(figures(&[sample(30, None)])[3..5], [None, None]);
        assert_eq!(figures(&[]), [None; 6]);
    }

    #[test]
    fn a_panicking_submission_is_a_failure() {
        /// How many more jobs are accepted.
        static LEFT: AtomicU64 = AtomicU64::new(0);
        #[derive(Clone)]
        struct Faulty(ThreadPool);

        impl CanExecute for Faulty {
            fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
                assert!(LEFT.fetch_sub(1, Ordering::Relaxed) > 0, "as the test wants it");
                self.0.execute_job(job);
            }
        }

        impl Executor for Faulty {
            fn shutdown_async(&self) {
                self.0.shutdown_async();
            }

            fn shutdown_borrowed(&self) -> Result<(), String> {
                self.0.shutdown_borrowed()
            }
        }

        // When it has been idle, it is given jobs that block its workers, and jobs that are queued.
        for jobs in [500, JOBS_PER_THREAD + 1, JOBS_PER_THREAD + 500] {
            LEFT.store(jobs, Ordering::Relaxed);
            let plan = BuildPlan::new(|threads| Ok(Faulty(ThreadPool::new(threads))), 1);
            let failure = TURN.run_on(&plan).expect_err("there are more jobs");
            assert!(matches!(failure, Failure::Submission), "{failure}");
        }
    }

    #[test]
    fn a_pool_rests_and_then_runs_what_was_queued() {
        let sample = TURN.run_on(&BuildPlan::new(|threads| Ok(ThreadPool::new(threads)), 2)).expect("every job ran");
        assert!(sample.window >= TURN.window);
        // Other tests allocate and free meanwhile, so no more is known here.
        assert_eq!(sample.heap_per_job.is_some(), heap::in_use().is_some());
    }
}
