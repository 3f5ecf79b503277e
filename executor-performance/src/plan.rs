//! From orders to runs that nothing stands in the way of any more: what makes no sense is refused before anything runs.

use crate::{
    cli::{Command, Options, Order, Point, RecommendOptions, Workload},
    experiment::{
        Arrivals, Avalanche, Blocking, Experiment, ForkTurn, FutureTurn, Idle, JobTurn, Latency, Lifecycle, OneLoad,
        Panics, Repost, Subject, Submit, Throughput, Turn, Vigil, Wake,
    },
    isolation::{self, Guest, Host},
    record::Run,
    registry::{Ability, Entry},
    sampler::Pace,
    session::Session,
    subject::Roster,
    workload::{Labour, Load, nanos_per_unit},
};
use std::{ffi::OsString, fmt, thread, time::Duration};

/// What each job of the latency experiment does, beside passing on.
const SMALL_LABOUR: Labour = Labour { pre: 10, post: 10 };

/// A run that can begin.
pub trait Planned {
    /// The run as it will begin, but for what will be fitted to the budget.
    fn outline(&self) -> Run;

    /// The names of its executors.
    fn executors(&self) -> Vec<&'static str>;

    /// For how long it may sample.
    fn budget(&self) -> Duration;

    /// How many worker threads its executors have.
    fn threads(&self) -> usize;

    /// What executors must be able to do to take part.
    fn ability(&self) -> Ability;

    /// Serves the executor called `executor` to another process, and does not return if there is one.
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
    /// What they must be able to do.
    pub ability: Ability,
    /// Which question it answers, if it is one of several.
    pub question: Option<&'static str>,
}

impl<X: Experiment> Prepared<X> {
    /// The run as it begins.
    pub fn beginning(&self) -> Run {
        let mut run = Run::beginning(&self.experiment);
        let question = self.question.map(|question| ("workload".to_owned(), question.to_owned()));
        run.description.splice(..0, question);
        run
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
/// workloads. Their executors are guests of the `host`, if there is one and they are not to be in this process. Always
/// the same for the same orders.
///
/// # Errors
///
/// If the options cannot be followed: a line that says why.
pub fn plan(orders: &[Order], host: Option<&Host>) -> Result<Vec<Box<dyn Planned>>, String> {
    let mut plan: Vec<Box<dyn Planned>> = Vec::new();
    for Order { options, command, words } in orders {
        let (host, budget) = (host.filter(|_| !options.sampling.in_process), options.sampling.budget);
        let mut first = 0;
        for point in options.points() {
            let site = Site { options, point, host, words, first, budget, question: None };
            let runs = runs(command, &site).map_err(|why| match &options.config {
                Some(path) => format!("{}: {why}", path.display()),
                None => why,
            })?;
            first += runs.len();
            plan.extend(runs);
        }
    }
    Ok(plan)
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
    question: Option<&'static str>,
}

/// The experiments after which an executor is recommended.
impl Site<'_> {
    /// In equal shares of the budget.
    fn recommended(&self, own: &RecommendOptions) -> Runs {
        self.point.unused("recommend")?;
        if self.options.threads.values().len() > 1 {
            return Err(
                "--threads has several values: recommend wants one, so say how many threads you will have".to_owned()
            );
        }
        own.suffice(self.entries(Ability::Jobs)?.iter().map(|entry| entry.name))?;
        let workloads = own.workloads()?;
        let share = self.options.sampling.budget / u32::try_from(workloads.len()).unwrap_or(1);
        let mut runs = Vec::new();
        for workload in workloads {
            let question = Some(workload.explained());
            let site = Site { first: self.first + runs.len(), budget: share, question, ..*self };
            runs.extend(site.workload(workload, own.job_time(workload))?);
        }
        Ok(runs)
    }

    fn workload(&self, workload: Workload, time: Duration) -> Runs {
        const JOBS: u64 = 10_000_000;
        const PAUSE: Duration = Duration::from_millis(5);
        /// Chains, or jobs of a burst, for each thread.
        const EACH: u64 = 4;
        /// Jobs that sleep, for each thread.
        const ASLEEP: u64 = 16;
        let (threads, patience) = (self.point.threads, self.options.sampling.patience);
        let all = threads as u64;
        // Threads that have no core of their own take as many times longer.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let busy = time.saturating_mul(u32::try_from(threads.div_ceil(cores)).unwrap_or(u32::MAX));
        let load =
            |messages, hops| Load::new(1, messages, hops).ok_or("more jobs than can be counted: use fewer --threads");
        // Before what is measured, each executor runs as much, or less, so that it is awake.
        let labour = Labour { pre: (time.as_nanos() as f64 / nanos_per_unit(10_000)) as u64, post: 0 };
        match workload {
            Workload::Outside => {
                let jobs = all.saturating_mul(self.jobs_in_turn(2 * EACH, busy)?) / 2;
                self.jobs(OneLoad::new(Throughput(labour), threads, load(jobs.min(JOBS), 0)?, false, patience), 1.0)
            }
            Workload::Inside => {
                let hops = (self.jobs_in_turn(4 * EACH, busy)? / (2 * EACH)).min(JOBS / (EACH * all));
                self.jobs(OneLoad::new(Throughput(labour), threads, load(EACH * all, hops)?, false, patience), 1.0)
            }
            Workload::Bursts => {
                self.jobs_in_turn(2 * EACH, busy)?;
                self.jobs(Latency::new(threads, load(EACH * all, 0)?, labour, PAUSE, patience), 1.0)
            }
            Workload::Blocking if time >= patience => Err(format!(
                "--job-time {} us is not less than --patience: raise --patience, or lower --job-time",
                time.as_micros()
            )),
            Workload::Blocking => {
                self.jobs_in_turn(ASLEEP + 1, time)?;
                self.jobs(Blocking::new(threads, load(ASLEEP * all, 0)?, time, patience), 1.0)
            }
        }
    }

    /// How many jobs that take so much `time` a thread can run, one after the other, in a sample of such a length that
    /// all samples that are taken in any case fit into the budget.
    ///
    /// # Errors
    ///
    /// If that is less than the `least` that makes sense.
    fn jobs_in_turn(&self, least: u64, time: Duration) -> Result<u64, String> {
        let pace = Pace { budget: self.budget, ..self.options.sampling.pace(1.0)? };
        let executors = self.entries(Ability::Jobs)?.len();
        // One more round, before the first, finds out how much a sample can be.
        let (rounds, budget) = (pace.least_rounds().saturating_add(1), pace.budget.mul_f64(0.9));
        let jobs = budget.as_secs_f64() / rounds as f64 / executors as f64 / time.as_secs_f64();
        if jobs >= least as f64 {
            return Ok(jobs as u64);
        }
        let factor = least as f64 / jobs;
        let budget = self.options.sampling.budget.as_secs_f64();
        Err(format!(
            "--job-time is too long for --budget {budget} s, in which {rounds} rounds of {executors} executors must fit, each with {least} jobs \
             for each thread: raise that to {:.0}, or say a shorter time; with jobs longer than a millisecond, what the executor costs hardly \
             matters",
            (budget * factor).ceil(),
        ))
    }

    fn entries(&self, ability: Ability) -> Result<Vec<&'static Entry>, String> {
        self.options.entries(self.point.threads, ability)
    }
}

type Runs = Result<Vec<Box<dyn Planned>>, String>;

fn runs(command: &Command, site: &Site<'_>) -> Runs {
    let (point, threads, sampling) = (&site.point, site.point.threads, &site.options.sampling);
    let (patience, seed) = (sampling.patience, sampling.seed);
    match command {
        Command::Throughput(own) => {
            let labour = Labour { pre: own.pre, post: own.post };
            let load = point.chains(1_000_000)?;
            site.jobs(OneLoad::new(Throughput(labour), threads, load, own.size.full_size, patience), 2.0)
        }
        Command::Latency(own) if own.rate.is_some() => {
            let producers = point.sources("latency --rate")?;
            let open = own.open(threads, |rate, time| {
                let labour = SMALL_LABOUR;
                Arrivals { rate, time, producers, labour, seed, patience }
            })?;
            site.points(open.into_iter(), 5.0)
        }
        Command::Latency(own) => {
            let pause = Duration::from_millis(own.sleep_time);
            sampling.bears(format_args!("--sleep-time {} ms", own.sleep_time), pause)?;
            site.jobs(Latency::new(threads, point.chains(1_000)?, SMALL_LABOUR, pause, patience), 5.0)
        }
        Command::Repost(own) => {
            point.unused("repost")?;
            let question = Repost(own.work.pastime(patience)?);
            let repost = |load| OneLoad::new(question, threads, load, own.size.full_size, patience);
            site.points(own.loads()?.into_iter().map(repost), 2.0)
        }
        Command::Avalanche(own) => {
            let jobs = point.single_jobs(1_000_000, "avalanche")?;
            let question = Avalanche(own.work.pastime(patience)?);
            site.jobs(OneLoad::new(question, threads, jobs, own.size.full_size, patience), 2.0)
        }
        Command::Submit(own) => {
            let (jobs, sleep) = (point.produced_jobs(1_000_000, "submit")?, own.sleep(patience)?);
            site.jobs(Submit::new(threads, jobs, sleep, own.size.full_size, patience), 2.0)
        }
        Command::Fairness(own) => {
            point.unused("fairness")?;
            site.jobs(own.experiment(threads, seed, patience)?, 5.0)
        }
        Command::Blocking(own) => {
            let (jobs, sleep) = (point.single_jobs(1000, "blocking")?, own.sleep(patience)?);
            let in_turn = u32::try_from(jobs.jobs().div_ceil(threads as u64)).unwrap_or(u32::MAX);
            sampling.bears(
                format_args!("{} jobs of --sleep-time {} ms", jobs.jobs(), own.sleep_time),
                sleep.saturating_mul(in_turn),
            )?;
            site.jobs(Blocking::new(threads, jobs, sleep, patience), 2.0)
        }
        Command::Panics => {
            let jobs = point.single_jobs(1000, "panics")?.jobs();
            site.jobs(Panics::new(threads, jobs, patience), 5.0)
        }
        Command::Lifecycle(own) => {
            point.unused("lifecycle")?;
            site.jobs(Lifecycle::new(threads, own.meeting, patience), 2.0)
        }
        Command::Idle(own) => {
            let queued = point.single_jobs(100_000, "idle")?.jobs();
            let (settle, window) = (Duration::from_millis(own.settle), Duration::from_millis(own.window));
            // Before the window, and before the queue is looked at.
            sampling.bears(format_args!("--settle {} ms", own.settle), settle.saturating_mul(2))?;
            site.jobs(Idle::new(threads, Vigil { settle, window, queued, patience }), 5.0)
        }
        Command::Futures(own) => {
            point.unused("futures")?;
            site.futures(own.experiments(threads, patience)?, 2.0)
        }
        Command::ForkJoin(own) => {
            point.unused("fork-join")?;
            site.forks(own.experiments(threads, seed, patience)?, 2.0)
        }
        Command::Wake(own) => {
            let jobs = point.single_jobs(threads as u64, "wake")?;
            let pause = Duration::from_millis(own.sleep_time);
            sampling.bears(format_args!("--sleep-time {} ms", own.sleep_time), pause)?;
            site.jobs(Wake::new(threads, jobs, pause, patience), 5.0)
        }
        Command::Recommend(own) => site.recommended(own),
        Command::List | Command::Compare(_) | Command::Report(_) | Command::Completions(_) | Command::Man(_) => {
            Ok(Vec::new())
        }
    }
}

impl Site<'_> {
    /// A run of `experiment` on executors, where `rse` percent is precise enough unless the options say otherwise.
    fn jobs<X>(&self, experiment: X, rse: f64) -> Runs
    where
        X: Experiment<Turn: JobTurn + 'static> + 'static,
    {
        self.prepare(vec![experiment], &Roster::of_executors(), rse)
    }

    /// As [`jobs`](Self::jobs), of each of the `experiments`, which are points of a sweep.
    fn points<X>(&self, experiments: impl Iterator<Item = X>, rse: f64) -> Runs
    where
        X: Experiment<Turn: JobTurn + 'static> + 'static,
    {
        let mut runs = Vec::new();
        for experiment in experiments {
            let site = Site { first: self.first + runs.len(), ..*self };
            runs.extend(site.jobs(experiment, rse)?);
        }
        Ok(runs)
    }

    /// Runs of `experiments` on executors of futures, each in an equal share of the budget.
    fn futures<X>(&self, experiments: Vec<X>, rse: f64) -> Runs
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

    fn prepare<X>(&self, experiments: Vec<X>, roster: &Roster<X::Turn>, rse: f64) -> Runs
    where
        X: Experiment<Turn: 'static> + 'static,
    {
        let threads = self.point.threads;
        let (mut pace, entries) = (self.options.sampling.pace(rse)?, self.entries(roster.ability())?);
        pace.budget = self.budget;
        pace.budget /= u32::try_from(experiments.len()).unwrap_or(u32::MAX).max(1);
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
                ability: roster.ability(),
                question: self.question,
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
    use crate::cli::{self, Refusal};

    /// What somebody who wants an answer is ready to wait.
    const SOON: Duration = Duration::from_secs(120);

    fn planned(line: &str) -> Result<Vec<Box<dyn Planned>>, String> {
        let words = format!("executor-performance {line}");
        match cli::parse(words.split(' ').map(OsString::from)) {
            Ok(orders) => plan(&orders, None),
            Err(Refusal::Wrong(why)) => Err(why),
            Err(Refusal::Shown(help)) => Err(help.to_string()),
        }
    }

    /// What is not sampling, such as trying out how long that takes, is in the budget, too.
    #[test]
    fn a_recommendation_comes_soon_for_every_kind_of_workload() {
        for workload in ["outside", "inside", "bursts", "outside,inside", "outside,inside,bursts", "blocking"] {
            for more in ["", " --spin", " --needs priorities,subpools,bound", " --job-time 20", " --job-time 1000"] {
                let line = format!("recommend --workload {workload}{more}");
                let plan = planned(&line).unwrap_or_else(|why| panic!("{line}: {why}"));
                assert_eq!(plan.len(), workload.split(',').count(), "{line}");
                let budget: Duration = plan.iter().map(|run| run.budget()).sum();
                assert!(budget <= SOON / 2, "{line} takes {budget:?}");
            }
        }
        let plan = planned("recommend").expect("the usual");
        assert!(plan.iter().map(|run| run.budget()).sum::<Duration>() <= SOON / 2);
    }

    /// Each executor is waited for once, and what is waited is in the budget of its run.
    #[test]
    fn a_recommendation_comes_soon_although_executors_hang() {
        for more in ["", " --workload blocking", " --spin", " --needs priorities", " --needs bound --workload blocking"]
        {
            let line = &format!("recommend{more}");
            let orders = cli::parse(format!("tool {line}").split(' ').map(OsString::from)).expect(line);
            let sampling = &orders[0].options.sampling;
            let executors = plan(&orders, None).expect(line)[0].executors().len() as u32;
            let all_but_one = sampling.longest_turn() * (executors - 1);
            assert!(sampling.budget + all_but_one <= SOON, "{line}: {all_but_one:?}");
        }
    }

    #[test]
    fn all_executors_are_as_many_as_they_are() {
        let line = "tool -e all recommend --patience 0.001 --budget 600";
        let orders = cli::parse(line.split(' ').map(OsString::from)).expect(line);
        let executors = plan(&orders, None).expect(line)[0].executors().len() as u32;
        let sampling = &orders[0].options.sampling;
        assert!(sampling.longest_turn() * (executors - 1) <= sampling.budget, "{executors}");
    }

    #[test]
    fn each_table_of_a_recommendation_says_which_workload_it_is_of() {
        let plan = planned("recommend --workload inside,bursts").expect("two workloads");
        let told: Vec<String> = plan.iter().map(|run| run.outline().description.remove(0).1).collect();
        assert!(told[0].starts_with("inside: ") && told[1].starts_with("bursts: "), "{told:?}");
    }

    #[test]
    fn jobs_of_no_time_can_be_counted() {
        for workload in ["outside", "inside", "bursts"] {
            let line = format!("-t 2 recommend --workload {workload} --job-time 0.0001");
            assert!(planned(&line).is_ok(), "{line}");
        }
    }

    #[test]
    fn more_threads_than_cores_take_longer() {
        assert!(planned("-t 2 recommend --workload inside --job-time 1000").is_ok());
        assert!(planned("-t 5000 recommend --workload inside --job-time 10000").is_err());
    }

    #[test]
    fn jobs_that_are_too_long_for_the_budget_are_refused_with_one_that_suffices() {
        for workload in ["outside", "inside", "bursts", "blocking"] {
            let line = |budget: &str| {
                format!("-t 2 --budget {budget} --patience 100 recommend --workload {workload} --job-time 500000")
            };
            let complaint = planned(&line("10")).map(|plan| plan.len()).expect_err("half a second is long");
            let (_, rest) = complaint.split_once("raise that to ").expect("a remedy");
            let (budget, _) = rest.split_once(',').expect("a number");
            assert!(planned(&line(budget)).is_ok(), "{budget}");
        }
    }
}
