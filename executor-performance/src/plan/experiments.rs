//! The runs of each experiment at a point of a sweep.

use super::{COARSE_RSE, Runs, Site, USUAL_RSE};
use crate::{
    cli::{
        AvalancheOptions, BlockingOptions, FairnessOptions, ForkJoinOptions, FuturesOptions, IdleOptions,
        LatencyOptions, LifecycleOptions, RepostOptions, SubmitOptions, Sweep, ThroughputOptions, WakeOptions,
        WorkOptions,
    },
    experiment::{
        Avalanche, Blocking, Fairness, FairnessTurn, ForkJoin, Futures, Idle, IdleTurn, Latency, Lifecycle, OneLoad,
        OpenLatency, OpenLatencyTurn, Panics, Question, Repost, Submit, Throughput, Wake,
    },
    workload::{Labour, Load, Pastime},
};
use std::{fmt, time::Duration};

/// What each job of the latency experiment does, besides passing on.
const SMALL_LABOUR: Labour = Labour { pre: 10, post: 10 };

impl Site<'_> {
    pub(super) fn throughput(&self, own: &ThroughputOptions) -> Runs {
        let question = Throughput(Labour { pre: own.pre, post: own.post });
        let load = self.point.chains(1_000_000)?;
        self.jobs(self.one_load(question, load, own.size.full_size), USUAL_RSE)
    }

    /// Without a rate: the closed loop.
    pub(super) fn latency(&self, own: &LatencyOptions) -> Runs {
        own.closed()?;
        let pause = Duration::from_millis(own.sleep_time);
        let site = self.bearing(format_args!("--sleep-time {} ms", own.sleep_time), pause)?;
        let load = self.point.chains(1_000)?;
        site.jobs(Latency::new(self.threads(), load, SMALL_LABOUR, pause, self.patience()), COARSE_RSE)
    }

    /// At each of the rates.
    pub(super) fn open_latency(&self, own: &LatencyOptions) -> Runs {
        const MOST: u64 = OpenLatencyTurn::MOST_JOBS;
        let (producers, time) = (self.point.sources("latency --rate")?, Duration::from_millis(own.run_time()));
        let (labour, seed, patience) = (SMALL_LABOUR, self.seed(), self.patience());
        let open = |&rate: &u64| {
            let turn = OpenLatencyTurn { rate, time, producers, labour, seed, patience };
            let (jobs, asked) = (turn.jobs(), format!("--rate {rate} for --run-time {} ms", own.run_time()));
            if jobs > MOST {
                Err(format!("{asked} is more than {MOST} jobs: lower one of them"))
            } else if jobs < producers as u64 {
                Err(format!("{asked} gives no job to some of {producers} --producers: raise --rate or --run-time"))
            } else {
                Ok(OpenLatency::new(self.threads(), turn))
            }
        };
        let open = own.rate.iter().flat_map(Sweep::values).map(open).collect::<Result<_, _>>()?;
        let bearing = |latency: &OpenLatency| {
            self.bearing(
                format_args!("--run-time {} ms at --rate {}", own.run_time(), latency.asked().rate),
                latency.shortest_sample(),
            )
        };
        self.points(open, bearing, COARSE_RSE)
    }

    pub(super) fn repost(&self, own: &RepostOptions) -> Runs {
        self.point.unused("repost")?;
        let question = Repost(own.work.pastime(self.patience())?);
        let loads = own.loads()?.into_iter();
        let reposts: Vec<_> = loads.map(|load| self.one_load(question, load, own.size.full_size)).collect();
        self.points(reposts, |repost| self.bearing_work(&own.work, own.size.full_size, repost), USUAL_RSE)
    }

    pub(super) fn avalanche(&self, own: &AvalancheOptions) -> Runs {
        let jobs = self.point.single_jobs(1_000_000, "avalanche")?;
        let question = Avalanche(own.work.pastime(self.patience())?);
        let avalanche = self.one_load(question, jobs, own.size.full_size);
        self.bearing_work(&own.work, own.size.full_size, &avalanche)?.jobs(avalanche, USUAL_RSE)
    }

    /// This site, where each sample takes at least as long as the smallest with that work.
    ///
    /// # Errors
    ///
    /// If that is too long.
    fn bearing_work<Q: Question<Work = Pastime>>(
        &self,
        own: &WorkOptions,
        full_size: bool,
        experiment: &OneLoad<Q>,
    ) -> Result<Self, String> {
        let and_full_size = if full_size { " and --full-size" } else { "" };
        self.bearing(format_args!("--work {} us{and_full_size}", own.work), experiment.shortest_sample())
    }

    /// This site, where each sample takes at least the time `least` because of the options that `told` names.
    ///
    /// # Errors
    ///
    /// If executors are given up before that.
    fn bearing(&self, told: fmt::Arguments<'_>, least: Duration) -> Result<Self, String> {
        self.options.sampling.bears(told, least)?;
        Ok(Site { least, ..*self })
    }

    pub(super) fn submit(&self, own: &SubmitOptions) -> Runs {
        let (patience, jobs) = (self.patience(), self.point.produced_jobs(1_000_000, "submit")?);
        let sleep = own.sleep(patience)?;
        self.jobs(Submit::new(self.threads(), jobs, sleep, own.size.full_size, patience), USUAL_RSE)
    }

    pub(super) fn fairness(&self, own: &FairnessOptions) -> Runs {
        self.point.unused("fairness")?;
        let (chains, (time, interval)) = (own.chains.unwrap_or(self.threads() as u64), own.times()?);
        let turn = FairnessTurn { chains, time, interval, seed: self.seed(), patience: self.patience() };
        let fairness = Fairness::new(self.threads(), turn)
            .ok_or_else(|| format!("--chains {chains} are more than can be counted: ask for fewer"))?;
        let site = self.bearing(
            format_args!("--probe-interval {} us and --run-time {} ms", own.probe_interval, own.run_time),
            fairness.shortest_sample(),
        )?;
        site.jobs(fairness, COARSE_RSE)
    }

    pub(super) fn blocking(&self, own: &BlockingOptions) -> Runs {
        let (threads, patience) = (self.threads(), self.patience());
        let (jobs, sleep) = (self.point.single_jobs(1000, "blocking")?, own.sleep(patience)?);
        let in_turn = u32::try_from(jobs.jobs().div_ceil(threads as u64)).unwrap_or(u32::MAX);
        let site = self.bearing(
            format_args!("{} jobs of --sleep-time {} ms", jobs.jobs(), own.sleep_time),
            sleep.saturating_mul(in_turn),
        )?;
        site.jobs(Blocking::new(threads, jobs, sleep, patience), USUAL_RSE)
    }

    pub(super) fn panics(&self) -> Runs {
        let jobs = self.point.single_jobs(1000, "panics")?.jobs();
        self.jobs(Panics::new(self.threads(), jobs, self.patience()), COARSE_RSE)
    }

    pub(super) fn lifecycle(&self, own: &LifecycleOptions) -> Runs {
        self.point.unused("lifecycle")?;
        self.jobs(Lifecycle::new(self.threads(), own.meeting, self.patience()), USUAL_RSE)
    }

    pub(super) fn idle(&self, own: &IdleOptions) -> Runs {
        let (queued, patience) = (self.point.single_jobs(100_000, "idle")?.jobs(), self.patience());
        let (settle, window) = (Duration::from_millis(own.settle), Duration::from_millis(own.window));
        // Once before the executor is built, and once before the window.
        let settling = settle.saturating_mul(2);
        let site = self.bearing(format_args!("--settle {} ms", own.settle), settling)?;
        site.jobs(Idle::new(self.threads(), IdleTurn { settle, window, queued, patience }), COARSE_RSE)
    }

    /// For each of the workloads.
    pub(super) fn futures(&self, own: &FuturesOptions) -> Runs {
        self.point.unused("futures")?;
        let (load, full_size) = (own.load()?, own.size.full_size);
        let experiment = |play| Futures::new(self.threads(), play, load, full_size, self.patience());
        self.spawns(own.plays().map(experiment).collect(), USUAL_RSE)
    }

    /// For each of the workloads.
    pub(super) fn fork_join(&self, own: &ForkJoinOptions) -> Runs {
        self.point.unused("fork-join")?;
        let errands = own.errands(self.seed())?.into_iter();
        self.forks(errands.map(|errand| ForkJoin::new(self.threads(), errand, self.patience())).collect(), USUAL_RSE)
    }

    pub(super) fn wake(&self, own: &WakeOptions) -> Runs {
        const MOST: u64 = Wake::MOST_JOBS;
        let load = self.point.single_jobs(self.threads() as u64, "wake")?;
        let jobs = load.jobs();
        if jobs > MOST {
            return Err(format!("--jobs {jobs} are more than {MOST} in a burst: ask for fewer"));
        }
        let pause = Duration::from_millis(own.sleep_time);
        let site = self.bearing(format_args!("--sleep-time {} ms", own.sleep_time), pause)?;
        site.jobs(Wake::new(self.threads(), load, pause, self.patience()), COARSE_RSE)
    }

    /// The `question` under `load`, which may be cut unless it must have its `full_size`.
    pub(super) fn one_load<Q>(&self, question: Q, load: Load, full_size: bool) -> OneLoad<Q> {
        OneLoad::new(question, self.threads(), load, full_size, self.patience())
    }

    fn threads(&self) -> usize {
        self.point.threads
    }

    fn patience(&self) -> Duration {
        self.options.sampling.patience
    }

    fn seed(&self) -> u64 {
        self.options.sampling.seed
    }
}
