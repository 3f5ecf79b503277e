//! Measuring a user's own job, from the user's own program.

use crate::{
    advice::{Advice, CANDIDATES},
    experiment::{OneLoad, OwnJob},
    interrupt::Interrupt,
    plan::{Planned, Prepared},
    record::Record,
    registry::{Entry, MOST_THREADS},
    sampler::Pace,
    session::{Outcome, Session},
    sink::Voice,
    subject::Roster,
    view,
    workload::Load,
};
use std::{thread, time::Duration};

/// Which executors to measure with a job, and how.
#[derive(Debug)]
#[must_use = "nothing is measured before `recommend` is called"]
pub struct Measurement {
    job: OwnJob,
    threads: usize,
    budget: Duration,
    patience: Duration,
    successors: u64,
    executors: Vec<String>,
}

/// Measures which executor of this workspace runs `job` best on this machine, to recommend one.
///
/// The job is run over and over: as often as fits into the budget, by several threads at a time. It should do what the
/// jobs of your program do, and must not panic: an executor on which it panics has failed. Everything happens in this
/// process, so an executor or a job that hangs or crashes takes the process with it, and differences between processes
/// do not show; the advice says so, and has all [`warnings`](Advice::warnings) that a run of the program would print.
///
/// The crate is not published. The program that measures, which may be an example or a benchmark of yours, needs the
/// first of these lines, or the second if you have the repository already. Build it with `--release`:
///
/// ```toml
/// [dev-dependencies]
/// executor-performance = { git = "https://github.com/Bathtor/rust-executors" }
/// executor-performance = { path = "../rust-executors/executor-performance" }
/// ```
///
/// `examples/own_job.rs` is a complete program: `cargo run --release -p executor-performance --example own_job`. In
/// short:
///
/// ```
/// use std::time::Duration;
///
/// let text = "the quick brown fox jumps over the lazy dog";
/// let advice = executor_performance::measure(move || {
///     let mut words: Vec<&str> = std::hint::black_box(text).split(' ').collect();
///     words.sort_unstable();
///     std::hint::black_box(words);
/// })
/// .threads(2)
/// .budget(Duration::from_millis(200))
/// .recommend()?;
/// println!("{advice}");
/// assert!(advice.code().is_some_and(|code| code[0].starts_with("let pool = executors::")));
/// # Ok::<(), String>(())
/// ```
pub fn measure<F>(job: F) -> Measurement
where
    F: Fn() + Send + Sync + 'static,
{
    Measurement {
        job: OwnJob::new(job),
        threads: thread::available_parallelism().map_or(1, usize::from),
        budget: Duration::from_secs(60),
        patience: Duration::from_secs(10),
        successors: 0,
        executors: CANDIDATES.map(str::to_owned).to_vec(),
    }
}

/// A closure cannot be sent to other processes.
const ONE_PROCESS: &str = "all samples are of one process, and the next may differ by more than they show: run the \
                           program again and see whether it says the same";

impl Measurement {
    /// Uses `threads` worker threads, instead of one for each core.
    pub fn threads(self, threads: usize) -> Self {
        Measurement { threads, ..self }
    }

    /// Takes about as long as `budget`, instead of a minute. At least five samples of each executor are taken, and each
    /// has at least 16 jobs from outside for each thread.
    pub fn budget(self, budget: Duration) -> Self {
        Measurement { budget, ..self }
    }

    /// Gives up on an executor when none of its jobs has ended for `patience`, instead of ten seconds.
    pub fn patience(self, patience: Duration) -> Self {
        Measurement { patience, ..self }
    }

    /// Gives each job that comes from outside this many `successors`, one after the other, each given to the executor
    /// by the one before it. The default is none.
    pub fn successors(self, successors: u64) -> Self {
        Measurement { successors, ..self }
    }

    /// Measures these executors, by the names that `executor-performance list` has.
    pub fn executors<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        Measurement { executors: names.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// Measures, and returns which executor to take. Blocks until that is known.
    ///
    /// # Errors
    ///
    /// If there is no executor with one of the names, or one cannot have that many threads, or none ran all jobs: a
    /// line that says why.
    pub fn recommend(self) -> Result<Advice, String> {
        const JOBS: u64 = 10_000_000;
        let Measurement { job, threads, budget, patience, successors, executors } = self;
        if threads == 0 {
            return Err("0 threads can run nothing: ask for at least 1".to_owned());
        }
        if threads > MOST_THREADS {
            return Err(format!("{threads} threads are too many: more than {MOST_THREADS} are not supported"));
        }
        let entry = |name: &String| {
            let entry = Entry::named(name)
                .ok_or_else(|| format!("there is no executor {name}: see `executor-performance list`"))?;
            if entry.takes(threads) {
                Ok(entry)
            } else {
                Err(format!("{name} cannot have {threads} threads: use fewer"))
            }
        };
        let entries = executors.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        let messages = (JOBS / successors.saturating_add(1)).max(16 * threads as u64);
        let load = Load::new(1, messages, successors)
            .ok_or_else(|| format!("{successors} successors are more jobs than can be counted: ask for fewer"))?;
        let pace = Pace { warm_up: 1, min_samples: 5, max_samples: 1000, processes: 1, target: 0.01, budget };
        let roster = Roster::of_executors();
        let (subjects, ability) = (roster.enlist(&entries, threads), roster.ability());
        let experiment = OneLoad::new(job, threads, load, false, patience);
        let (least, left_out, question) = (Duration::ZERO, Vec::new(), None);
        let run: Box<dyn Planned> =
            Box::new(Prepared { experiment, pace, subjects, threads, least, left_out, ability, question });
        let session = Session::new(Record::new(0), Vec::new(), budget, Interrupt::default(), Voice::Silent);
        let mut advice = Err("nothing was measured".to_owned());
        // Nothing is printed on the way, so the advice has to say what makes the figures doubtful.
        session.run(vec![run], |record| {
            let warnings = [view::doubts(record), vec![ONE_PROCESS.to_owned()]].concat();
            advice = Advice::of(record, &[]).map(|advice| Advice { warnings, ..advice });
            Ok(Outcome::Done)
        });
        advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    #[test]
    fn the_job_is_run_and_an_executor_recommended() {
        let ran = Arc::new(AtomicU64::new(0));
        let job = Arc::clone(&ran);
        let advice = measure(move || {
            job.fetch_add(1, Ordering::Relaxed);
        })
        .threads(2)
        .successors(3)
        .budget(Duration::from_millis(10))
        .executors(["channel", "workstealing"])
        .recommend()
        .expect("one of two");
        assert!(["channel", "workstealing"].contains(&&*advice.best) && advice.threads == Some(2), "{advice:?}");
        assert!(advice.runner_up.is_some());
        let told = advice.to_string();
        assert!(told.contains("Warning: all samples are of one process"), "{told}");
        assert_eq!(told.contains("Warning: THIS IS A DEBUG BUILD"), cfg!(debug_assertions), "{told}");
        assert!(ran.load(Ordering::Relaxed) > 1000);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (measurement, part) in [
            (measure(|| ()).executors(["chanel"]), "no executor chanel"),
            (measure(|| ()).threads(0), "at least 1"),
            (measure(|| ()).threads(usize::MAX), "more than 10000"),
            (measure(|| ()).threads(100).executors(["workstealing-small"]), "100 threads"),
            (measure(|| ()).successors(u64::MAX), "fewer"),
        ] {
            let complaint = measurement.recommend().expect_err(part);
            assert!(complaint.contains(part), "{complaint}");
        }
    }

    #[test]
    fn jobs_that_panic_are_no_measurement() {
        let measurement = measure(|| std::panic::resume_unwind(Box::new("as the test wants it")));
        let measurement = measurement.threads(1).patience(Duration::from_millis(5)).executors(["channel"]);
        let complaint = measurement.budget(Duration::from_millis(1)).recommend().expect_err("no job ends");
        assert!(complaint.starts_with("no executor was measured"), "{complaint}");
    }
}
