//! How long a job from outside waits while the workers are busy with jobs of their own.

mod probes;

use self::probes::Probes;
use super::{Experiment, JobTurn, Sample, Subject, Turn, bursts::ratio, micros, per_job::nanos, seed_of_round};
use crate::{
    failure::Failure,
    record::{Figure, Metric, Setting},
    sampler::Pace,
    stats::{Dice, Distribution, Pooled},
    subject::BuildPlan,
    view::number,
    workload::{Burst, Load, Relay, Work},
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Saturates the pool with chains of empty jobs, and gives it a job from outside now and then.
#[derive(Debug, Clone, Copy)]
pub struct Fairness {
    threads: usize,
    /// What was asked for.
    asked: FairnessTurn,
    /// How long chains run in a sample.
    sampled: Duration,
}

const HOPS: Metric = Metric::new("hops_per_s", ["hops", "M/s"]).with_decimals(0).scaled(1e-6).more_is_better();

const fn count(column: &'static str, name: &'static str) -> Metric {
    Metric::new(column, [name, ""]).with_decimals(0)
}

/// Chains and probes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct FairnessTurn {
    /// How many chains run.
    pub chains: u64,
    /// For how long they run.
    pub time: Duration,
    /// The time from probe to probe, on average. Each is between half as long and one and a half times as long.
    pub interval: Duration,
    /// The seed of the jitter, the same for all executors of a round.
    pub seed: u64,
    /// When to give up waiting for jobs.
    pub patience: Duration,
}

/// Executors are compared by this quantile of the delays, in microseconds: the probes that wait are the ones that
/// matter.
const JUDGED: f64 = 0.99;

/// More hops than a chain can run.
const ENDLESS: u64 = 1 << 40;

impl Fairness {
    /// The most intervals between probes that a sample may have: it keeps twice as many places.
    pub const MOST_INTERVALS: u128 = 1_000_000;

    /// For executors with `threads` workers. `None` if there are more chains than can be counted.
    pub fn new(threads: usize, asked: FairnessTurn) -> Option<Self> {
        Load::new(1, asked.chains, ENDLESS)?;
        Some(Fairness { threads, asked, sampled: asked.time })
    }

    /// Long enough for so many probes that the 99th percentile is not the longest delay of all, unless less time was
    /// asked for.
    pub fn shortest_sample(&self) -> Duration {
        const ENOUGH: u32 = 200;
        self.asked.interval.saturating_mul(ENOUGH).min(self.asked.time)
    }
}

/// The work of chains that run until they are told to stop.
#[derive(Debug, Default)]
struct Stop(AtomicBool);

impl Work for Stop {
    fn goes_on(&self) -> bool {
        // Relaxed: it publishes nothing else.
        !self.0.load(Ordering::Relaxed)
    }
}

impl FairnessTurn {
    fn chains(&self, hops: u64) -> Load {
        Load::new(1, self.chains, hops).expect("even endless chains can be counted")
    }

    /// Gives probes to `executor` until the time is almost up, at least one, and waits for the rest of it.
    fn probe<E: Executor>(&self, executor: &E) -> Arc<Probes> {
        let intervals = self.time.as_nanos() / self.interval.as_nanos().max(1);
        let probes = Arc::new(Probes::at_most(2 * intervals as usize + 2));
        let begin = Instant::now();
        let end = begin + self.time;
        // A probe that is given just before the end would count as starved, although it only came late.
        let last = end - self.time / 10;
        let mut dice = Dice::new(self.seed);
        let (mut none_given, mut given, mut returned) = (true, begin, begin);
        loop {
            let jitter = 0.5 + dice.below(1 << 20) as f64 / f64::from(1 << 20);
            let due = given + self.interval.mul_f64(jitter);
            if due >= last && !none_given {
                break;
            }
            thread::sleep(due.min(last).saturating_duration_since(Instant::now()));
            // A probe that was due while the executor held this thread up has waited since then. That this thread woke
            // late is no delay of a probe.
            given = if due < returned { due } else { Instant::now() };
            if returned < end {
                Probes::give_next(&probes, given, executor);
            } else {
                probes.miss_next(given);
            }
            (none_given, returned) = (false, Instant::now());
        }
        thread::sleep(end.saturating_duration_since(Instant::now()));
        probes.close();
        probes
    }
}

impl Turn for FairnessTurn {
    type Sample = FairnessSample;

    /// The producer of the chains, and the thread that gives probes.
    fn own_threads(&self) -> usize {
        2
    }

    fn of_round(&self, round: u64) -> Option<Self> {
        Some(FairnessTurn { seed: seed_of_round(self.seed, round), ..*self })
    }
}

impl JobTurn for FairnessTurn {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<FairnessSample, Failure> {
        const PRIMER: u64 = 100;
        let stop = Arc::new(Stop::default());
        let executor = plan.build_assembled(self.patience)?;
        let outside = executor.clone();
        let mut relay = Relay::new(executor, Arc::clone(&stop), self.patience);
        relay.run(&self.chains(PRIMER), Duration::ZERO)?;

        let (burst, probes) = thread::scope(|scope| {
            let probe = || {
                let stop_at_last = StopAtLast(&stop);
                let probes = self.probe(&outside);
                drop(stop_at_last);
                probes
            };
            let probing = thread::Builder::new().spawn_scoped(scope, probe).map_err(Failure::Producer);
            let probing = probing.inspect_err(|_| outside.shutdown_async())?;
            Ok((relay.run(&self.chains(ENDLESS), Duration::ZERO), probing.join()))
        })?;
        let burst = burst.map_err(endless)?;
        let probes = probes.map_err(|_| Failure::Submission);
        let probes = probes.and_then(|probes| probes.wait(self.patience).map(|()| probes));
        let probes = probes.inspect_err(|_| outside.shutdown_async())?;
        // Some pools end only with their last handle.
        drop(outside);
        relay.finish()?;
        Ok(FairnessSample { burst, delays: probes.delays(), starved: probes.starved() })
    }
}

/// Leaves out how many jobs were announced, which has no meaning for endless chains.
fn endless(failure: Failure) -> Failure {
    match failure {
        Failure::Stalled { ran, patience, .. } => Failure::Broken { ran, patience },
        other => other,
    }
}

/// Stops the chains when it is dropped, even by a panic.
struct StopAtLast<'a>(&'a Stop);

impl Drop for StopAtLast<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// How long the probes of one turn waited.
#[derive(Debug, Serialize, Deserialize)]
pub struct FairnessSample {
    /// The chains.
    burst: Burst,
    /// From the submission of each probe, or from when it was due if the executor held up the thread that gives them,
    /// to its beginning, or to the end of the chains if that is earlier.
    delays: Vec<Duration>,
    /// How many had not begun by then.
    starved: usize,
}

impl Sample for FairnessSample {
    fn cost(&self) -> f64 {
        Distribution::of(self.delays.iter().copied()).map_or(0.0, |delays| delays.quantile_us(JUDGED))
    }
}

impl Experiment for Fairness {
    type Turn = FairnessTurn;

    fn name(&self) -> &'static str {
        "fairness"
    }

    fn turn(&self) -> FairnessTurn {
        FairnessTurn { time: self.sampled, ..self.asked }
    }

    /// A sample takes as long as was asked for, or less, but has enough probes.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<FairnessTurn>>]) {
        let share = pace.good_round() / subjects.len().max(1) as u32;
        self.sampled = share.max(self.shortest_sample()).min(self.asked.time);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.threads),
            Setting::new("chains", self.asked.chains),
            Setting::new("probe_interval_us", self.asked.interval.as_micros()),
            Setting::new("run_time_ms", self.asked.time.as_millis()),
            Setting::new("seed", self.asked.seed),
            Setting::fitted("sampled_ms", self.sampled.as_millis()),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            super::assembled(self.threads),
            ("load", format!("{} of empty jobs", number(self.asked.chains as usize, "chain"))),
            ("probes", format!("a job from outside after pauses of {} us or so", self.asked.interval.as_micros())),
            ("a sample", format!("{} ms of that", self.sampled.as_millis())),
        ]
    }

    fn figures(&self, samples: &[FairnessSample]) -> Vec<Figure> {
        let delays = self.times(samples);
        let percentile = |column, name, part| super::percentile(micros(column, name), delays.as_ref(), part);
        let sum = |column, name, of: fn(&FairnessSample) -> usize| {
            let sum: usize = samples.iter().map(of).sum();
            count(column, name).figure(Some(sum as f64).filter(|_| !samples.is_empty()))
        };
        let bursts = || samples.iter().map(|sample| &sample.burst);
        let seconds_per_hop = ratio(bursts(), |burst| Some(burst.wall), |burst| burst.jobs as f64 * 1e9);
        let cpu = ratio(bursts(), |burst| burst.cpu, |burst| burst.jobs as f64);
        let [low, high] = super::ends_of_interval(micros, ["low95_p99_us", "high95_p99_us"]);
        vec![
            // Always shown, because executors are compared by it.
            micros("p99_us", "p99").figure(delays.as_ref().map(|delays| delays.quantile_us(JUDGED))),
            low,
            high,
            percentile("p50_us", "p50", 0.5),
            micros("max_us", "max").figure(delays.as_ref().map(Distribution::max_us)),
            sum("probes", "probes", |sample| sample.delays.len()),
            sum("starved_probes", "starved", |sample| sample.starved),
            HOPS.figure(seconds_per_hop.map(f64::recip)),
            nanos("cpu_ns_per_hop", ["CPU", "ns/hop"]).figure(cpu),
            super::relative_error_figure(samples),
            percentile("p90_us", "p90", 0.9),
            percentile("p999_us", "p99.9", 0.999),
        ]
    }

    fn pooled(&self) -> Option<Pooled> {
        Some(Pooled::Quantile(JUDGED))
    }

    fn times(&self, samples: &[FairnessSample]) -> Option<Distribution> {
        Distribution::of(samples.iter().flat_map(|sample| &sample.delays).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::{bursts::mock::burst, mock::values},
        registry::Build,
        stats::Interval,
    };
    use executors::{CanExecute, Fairness as Rule, crossbeam_channel_pool, crossbeam_workstealing_pool::ThreadPool};
    use std::sync::OnceLock;

    const TURN: FairnessTurn = FairnessTurn {
        chains: 2,
        time: Duration::from_millis(20),
        interval: Duration::from_millis(1),
        seed: 0,
        patience: Duration::from_secs(60),
    };

    fn sample(micros: impl IntoIterator<Item = u64>, starved: usize) -> FairnessSample {
        let delays = micros.into_iter().map(Duration::from_micros).collect();
        FairnessSample { burst: burst(1000, 10_000), delays, starved }
    }

    #[test]
    fn figures_are_those_of_all_probes() {
        let fairness = Fairness::new(2, TURN).expect("countable");
        let figures = values(&fairness.figures(&[sample(1..=50, 3), sample(51..=100, 4)]));
        for (figure, expected) in [(figures[0], 99.0), (figures[3], 50.0), (figures[4], 100.0)] {
            assert!((figure.expect("a figure") / expected - 1.0).abs() < 0.002, "{figure:?}");
        }
        assert_eq!(figures[5..9], [Some(100.0), Some(7.0), Some(1e8), Some(20.0)]);
        assert_eq!(values(&fairness.figures(&[])), [None; 12]);
    }

    #[test]
    fn what_is_shown_first_is_what_executors_are_compared_by() {
        let (fairness, sample) = (Fairness::new(2, TURN).expect("countable"), sample(1..=100, 0));
        let cost = sample.cost();
        let samples = [sample];
        assert_eq!(fairness.figures(&samples)[0].value, Some(cost));
        let (Some(pooled), Some(times)) = (fairness.pooled(), fairness.times(&samples)) else { panic!("single times") };
        assert_eq!(pooled.interval(&[times.clone(), times], 0), Some(Interval { low: cost, high: cost }));
    }

    #[test]
    fn there_is_a_probe_however_short_the_time_is() {
        let turn = FairnessTurn { time: Duration::from_millis(1), interval: Duration::from_millis(1), ..TURN };
        let plan = BuildPlan::new(|threads| Ok(crossbeam_channel_pool::ThreadPool::new(threads)), 2);
        let sample = turn.run_on(&plan).expect("every job ran");
        assert_eq!(sample.delays.len(), 1, "{sample:?}");
        assert!(sample.cost() > 0.0, "{sample:?}");
    }

    #[test]
    fn probes_that_are_due_while_the_executor_holds_their_thread_up_wait() {
        /// Runs jobs at once, and holds up whoever gave the first for that long.
        #[derive(Clone)]
        struct Holding(Duration, Arc<OnceLock<Instant>>);

        impl CanExecute for Holding {
            fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
                job();
                let first = self.1.get_or_init(Instant::now);
                thread::sleep(self.0.saturating_sub(first.elapsed()));
            }
        }

        impl Executor for Holding {
            fn shutdown_async(&self) {}

            fn shutdown_borrowed(&self) -> Result<(), String> {
                Ok(())
            }
        }

        let turn = FairnessTurn { time: Duration::from_millis(200), ..TURN };
        let probes = |held| turn.probe(&Holding(held, Arc::default()));
        let half = probes(turn.time / 2);
        half.wait(Duration::ZERO).expect("all began");
        let waited = half.delays().into_iter().filter(|delay| *delay >= turn.time / 10).count();
        // They are due every millisecond or so.
        assert!(waited >= 50, "{waited}");
        let all = probes(turn.time);
        all.wait(Duration::ZERO).expect("none is waited for");
        assert!(all.starved() >= 100 && all.starved() < all.delays().len(), "{} starve", all.starved());
    }

    #[test]
    fn chains_that_cannot_be_counted_are_refused() {
        assert!(Fairness::new(2, FairnessTurn { chains: u64::MAX, ..TURN }).is_none());
    }

    #[test]
    fn pools_with_a_rule_let_probes_begin_among_thousands_of_hops() {
        /// In a turn of a few milliseconds, a busy system may keep the workers from running at all. Without a rule,
        /// no probe ever begins while chains go on, in however many turns.
        const TURNS: usize = 20;

        fn lets_probes_begin<E: Executor + Sync + 'static>(build: Build<E>) {
            let plan = BuildPlan::new(build, 2);
            let samples = (0..TURNS).map(|_| TURN.run_on(&plan).expect("every job ran"));
            let fair = samples.inspect(|it| assert!(it.burst.jobs < ENDLESS, "{it:?}"));
            let mut fair = fair.filter(|it| it.burst.jobs > 1000 && it.starved < it.delays.len());
            assert!(fair.next().is_some());
        }

        lets_probes_begin(|threads| {
            Ok(ThreadPool::builder().threads(threads).fairness(Rule::COUNTED).build().expect("built"))
        });
        lets_probes_begin(|threads| Ok(crossbeam_channel_pool::ThreadPool::new(threads)));
    }
}
