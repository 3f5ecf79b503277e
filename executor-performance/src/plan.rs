//! From orders to runs that are ready to begin: what makes no sense is refused before anything runs.

mod experiments;
mod recommend;

use crate::{
    advice::Need,
    cli::{Command, Options, Order, Point},
    experiment::{Experiment, ForkTurn, FutureTurn, JobTurn, Subject, Turn},
    isolation::{self, Guest, Host},
    record::Run,
    registry::{Ability, Entry},
    sampler::Pace,
    session::Session,
    subject::Roster,
    view::number,
};
use std::{ffi::OsString, fmt, time::Duration};

/// The relative standard error, in percent, that is small enough for most experiments unless `--rse` is given. The help
/// of that option names this and the next two.
const USUAL_RSE: f64 = 2.0;

/// The same where samples scatter more, as they are of few events, of a tail, or of almost nothing: bursts after a
/// pause, jobs at a rate, delays, panics, and idling. To reach the usual error, six times as many would be needed.
const COARSE_RSE: f64 = 5.0;

/// The same for a recommendation, which is to choose between executors that may be close.
const FINE_RSE: f64 = 1.0;

/// A run that can begin.
pub trait Planned {
    /// The run as it will begin, before anything is fitted to the budget.
    fn outline(&self) -> Run;

    /// The names of its executors.
    fn executors(&self) -> Vec<&'static str>;

    /// For how long it may sample.
    fn budget(&self) -> Duration;

    /// What to say before it begins.
    fn remarks(&self) -> Vec<String>;

    /// How many worker threads its executors have.
    fn threads(&self) -> usize;

    /// What executors must be able to do to take part.
    fn ability(&self) -> Ability;

    /// Serves the executor called `executor` to another process. Does not return if there is such an executor.
    fn serve(&self, executor: &str);

    /// Runs it.
    fn perform(self: Box<Self>, session: &mut Session);
}

/// An experiment with all that it needs.
pub struct Prepared<X: Experiment> {
    /// The experiment.
    pub experiment: X,
    /// How much is sampled.
    pub pace: Pace,
    /// The executors.
    pub subjects: Vec<Box<dyn Subject<X::Turn>>>,
    /// How many worker threads they have.
    pub threads: usize,
    /// How long a sample takes at least.
    pub least: Duration,
    /// What to say of executors that are not among them.
    pub left_out: Vec<String>,
    /// What they must be able to do.
    pub ability: Ability,
    /// Which question it answers, if it is one of several.
    pub question: Option<Asked>,
}

/// A question of a recommendation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The workload, and what it is.
    pub workload: &'static str,
    /// How long each job takes.
    pub job_time: Duration,
    /// What the executor has to be able to do.
    pub needs: Vec<Need>,
}

impl<X: Experiment> Prepared<X> {
    /// The run as it begins.
    pub fn beginning(&self) -> Run {
        let run = Run::beginning(&self.experiment);
        match &self.question {
            Some(Asked { workload, job_time, needs }) => run.for_recommendation(workload, *job_time, needs),
            None => run,
        }
    }

    /// How long the fewest rounds take at least, if that is more than the budget.
    pub fn excess(&self) -> Option<Duration> {
        let samples = self.pace.least_rounds().saturating_mul(self.subjects.len());
        let whole = self.least.saturating_mul(u32::try_from(samples).unwrap_or(u32::MAX));
        (whole > self.pace.budget).then_some(whole)
    }
}

impl<X: Experiment> Planned for Prepared<X> {
    fn outline(&self) -> Run {
        self.beginning()
    }

    fn executors(&self) -> Vec<&'static str> {
        self.subjects.iter().map(|subject| subject.name()).collect()
    }

    fn budget(&self) -> Duration {
        self.pace.budget
    }

    fn remarks(&self) -> Vec<String> {
        let excess = self.excess().map(|whole| {
            let [least, whole, budget] = [self.least, whole, self.pace.budget].map(humantime::format_duration);
            format!(
                "at least {} of {} are taken, with {least} for each sample: this takes {whole}, and not {budget}; lower \
                 --min-samples, --processes or --warm-up, or make samples shorter",
                number(self.pace.least_rounds(), "round"),
                number(self.subjects.len(), "executor"),
            )
        });
        excess.into_iter().chain(self.left_out.iter().cloned()).collect()
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn ability(&self) -> Ability {
        self.ability
    }

    fn serve(&self, executor: &str) {
        if let Some(subject) = self.subjects.iter().find(|subject| subject.name() == executor) {
            isolation::serve(&**subject);
        }
    }

    fn perform(self: Box<Self>, session: &mut Session) {
        session.measure(*self);
    }
}

impl<X: Experiment> fmt::Debug for Prepared<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("experiment", &self.experiment.name()).finish_non_exhaustive()
    }
}

/// The runs that `orders` ask for: one for each point of their sweeps, or several if the experiment has several
/// workloads. Their executors are guests of the `host`, if there is one, unless the options ask for this process. The
/// plan is always the same for the same orders.
///
/// # Errors
///
/// If the options cannot be followed: a line that says why.
pub fn plan(orders: &[Order], host: Option<&Host>) -> Result<Vec<Box<dyn Planned>>, String> {
    let mut plan: Vec<Box<dyn Planned>> = Vec::new();
    for Order { options, command, words } in orders {
        let (host, budget) = (host.filter(|_| !options.sampling.in_process), options.sampling.budget);
        let within_file = |why| match &options.config {
            Some(path) => format!("{}: {why}", path.display()),
            None => why,
        };
        refuse_too_many_points(options, command).map_err(within_file)?;
        let mut first = 0;
        for point in options.points() {
            let site = Site { options, point, host, words, first, budget, least: Duration::ZERO, question: None };
            let runs = site.runs(command).map_err(within_file)?;
            first += runs.len();
            plan.extend(runs);
        }
    }
    Ok(plan)
}

/// Refuses a sweep of more points than anyone can wait for, before there is memory for each.
fn refuse_too_many_points(options: &Options, command: &Command) -> Result<(), String> {
    const MOST: usize = 10_000;
    let points = options.number_of_points().saturating_mul(command.number_of_values());
    if points <= MOST {
        return Ok(());
    }
    Err(format!("the sweep has {points} points, more than {MOST}: give fewer values to its options"))
}

/// One point of a sweep, with what applies to all points.
struct Site<'a> {
    options: &'a Options,
    point: Point,
    host: Option<&'a Host>,
    /// The command line that orders it.
    words: &'a [OsString],
    /// The number of its first run, of those that this command line orders.
    first: usize,
    budget: Duration,
    /// How long a sample takes at least.
    least: Duration,
    question: Option<&'a Asked>,
}

type Runs = Result<Vec<Box<dyn Planned>>, String>;

impl Site<'_> {
    /// The runs that `command` asks for.
    fn runs(&self, command: &Command) -> Runs {
        match command {
            Command::Throughput(own) => self.throughput(own),
            Command::Latency(own) if own.rate.is_some() => self.open_latency(own),
            Command::Latency(own) => self.latency(own),
            Command::Repost(own) => self.repost(own),
            Command::Avalanche(own) => self.avalanche(own),
            Command::Submit(own) => self.submit(own),
            Command::Fairness(own) => self.fairness(own),
            Command::Blocking(own) => self.blocking(own),
            Command::Panics => self.panics(),
            Command::Lifecycle(own) => self.lifecycle(own),
            Command::Idle(own) => self.idle(own),
            Command::Futures(own) => self.futures(own),
            Command::ForkJoin(own) => self.fork_join(own),
            Command::Wake(own) => self.wake(own),
            Command::Recommend(own) => self.recommended(own),
            Command::List | Command::Compare(_) | Command::Report(_) | Command::Completions(_) | Command::Man(_) => {
                Ok(Vec::new())
            }
        }
    }

    /// A run of `experiment` on executors, where `rse` percent is precise enough unless the options say otherwise.
    fn jobs<X>(&self, experiment: X, rse: f64) -> Runs
    where
        X: Experiment<Turn: JobTurn + 'static> + 'static,
    {
        self.prepare(vec![experiment], &Roster::of_executors(), rse)
    }

    /// As [`jobs`](Self::jobs), for each of the `experiments`, which are points of a sweep, at the site that `bearing`
    /// makes of this one.
    fn points<X>(&self, experiments: Vec<X>, bearing: impl Fn(&X) -> Result<Self, String>, rse: f64) -> Runs
    where
        X: Experiment<Turn: JobTurn + 'static> + 'static,
    {
        let mut runs = Vec::new();
        for experiment in experiments {
            let site = Site { first: self.first + runs.len(), ..bearing(&experiment)? };
            runs.extend(site.jobs(experiment, rse)?);
        }
        Ok(runs)
    }

    /// Runs of `experiments` on executors of futures, each in an equal share of the budget.
    fn spawns<X>(&self, experiments: Vec<X>, rse: f64) -> Runs
    where
        X: Experiment<Turn: FutureTurn + 'static> + 'static,
    {
        self.prepare(experiments, &Roster::of_spawners(), rse)
    }

    /// Runs of `experiments` on executors whose jobs can wait for jobs, each in an equal share of the budget.
    fn forks<X>(&self, experiments: Vec<X>, rse: f64) -> Runs
    where
        X: Experiment<Turn: ForkTurn + 'static> + 'static,
    {
        self.prepare(experiments, &Roster::of_forkers(), rse)
    }

    fn entries(&self, ability: Ability) -> Result<Vec<&'static Entry>, String> {
        self.options.entries(self.point.threads, ability)
    }

    fn prepare<X>(&self, experiments: Vec<X>, roster: &Roster<X::Turn>, rse: f64) -> Runs
    where
        X: Experiment<Turn: 'static> + 'static,
    {
        let threads = self.point.threads;
        let (mut pace, entries) = (self.options.sampling.pace(rse)?, self.entries(roster.ability())?);
        pace.budget = self.budget;
        pace.budget /= u32::try_from(experiments.len()).unwrap_or(u32::MAX).max(1);
        let left_out = self.options.left_out(threads, roster.ability());
        let prepared = experiments.into_iter().zip(self.first..).map(|(experiment, run)| {
            let subjects = match self.host {
                Some(host) => roster.names(&entries).into_iter().map(|name| self.guest(host, run, name)).collect(),
                None => roster.enlist(&entries, threads),
            };
            Box::new(Prepared {
                experiment,
                pace,
                subjects,
                threads,
                least: self.least,
                left_out: left_out.clone(),
                ability: roster.ability(),
                question: self.question.cloned(),
            }) as Box<dyn Planned>
        });
        Ok(prepared.collect())
    }

    fn guest<T: Turn + 'static>(&self, host: &Host, run: usize, executor: &'static str) -> Box<dyn Subject<T>> {
        let (command, limit) = (host.command(self.words, run, executor), self.options.sampling.longest_turn());
        Box::new(Guest::new(executor, command, limit, host.failures()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn remarks(line: &str) -> Vec<String> {
        let words = format!("executor-performance {line}");
        let orders = cli::parse(words.split(' ').map(OsString::from)).expect(line);
        plan(&orders, None).expect(line)[0].remarks()
    }

    #[test]
    fn what_cannot_fit_into_the_budget_is_told_before_it_is_measured() {
        assert_eq!(
            remarks("latency -s 30s").join("\n"),
            "at least 10 rounds of 5 executors are taken, with 30s for each sample: this takes 25m, and not 1m; lower \
             --min-samples, --processes or --warm-up, or make samples shorter"
        );
        assert_eq!(remarks("-e channel --min-samples 1 --warm-up 0 latency -s 30s"), Vec::<String>::new());
        for line in ["throughput", "latency", "latency --rate 1000,10", "repost --work 1ms", "idle", "fairness", "wake"]
        {
            assert_eq!(remarks(line), Vec::<String>::new(), "{line}");
        }
        let long =
            ["-m 1 blocking -s 5s", "idle --settle 5s", "wake -s 5s", "repost --work 50ms", "avalanche --work 50ms"];
        for line in long {
            assert_eq!(remarks(line).len(), 1, "{line}");
        }
    }

    #[test]
    fn executors_that_all_leaves_out_are_told() {
        assert_eq!(remarks("-e all throughput"), Vec::<String>::new());
        assert_eq!(remarks("-t 33 throughput"), Vec::<String>::new());
        let wide = remarks("-t 33 -e all throughput").concat();
        assert!(wide.starts_with("--executor all leaves out workstealing-small"), "{wide}");
        assert!(wide.ends_with("which cannot have 33 threads"), "{wide}");
        let forks = remarks("-e all fork-join").concat();
        assert!(forks.contains("leaves out burst-typed, reference-unpark, "), "{forks}");
        assert!(forks.ends_with("which cannot let jobs wait for jobs, as in fork and join"), "{forks}");
    }
}
