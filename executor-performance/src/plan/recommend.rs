//! The experiments for a recommendation.

use super::{Asked, FINE_RSE, Runs, Site};
use crate::{
    cli::{RecommendOptions, Workload, countable, within},
    experiment::{Blocking, Latency, Throughput},
    registry::Ability,
    sampler::Pace,
    workload::{Labour, nanos_per_unit},
};
use std::{thread, time::Duration};

/// Beyond this, a job takes so long that what the executor costs hardly matters.
const LONG: Duration = Duration::from_millis(1);

impl Site<'_> {
    /// Runs of all the workloads that are asked for, in equal shares of the budget.
    pub(super) fn recommended(&self, own: &RecommendOptions) -> Runs {
        own.suffice(self.entries(Ability::Jobs)?.iter().map(|entry| entry.name))?;
        let workloads = own.workloads()?;
        let share = self.options.sampling.budget / u32::try_from(workloads.len()).unwrap_or(1);
        let mut runs = Vec::new();
        for workload in workloads {
            let time = own.job_time(workload);
            let question = Asked { workload: workload.explained(), job_time: time, needs: own.needs() };
            let site = Site { first: self.first + runs.len(), budget: share, question: Some(&question), ..*self };
            runs.extend(site.workload(workload, time)?);
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
        // If there are several threads for each core, jobs take as many times longer.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let busy = time.saturating_mul(u32::try_from(threads.div_ceil(cores)).unwrap_or(u32::MAX));
        let load = |messages, hops| countable(1, messages, hops, format_args!("the jobs of --threads {threads}"));
        let hint = match workload {
            Workload::Blocking => "",
            _ if time <= LONG => "",
            _ => "; with jobs longer than a millisecond, what the executor costs hardly matters",
        };
        let jobs_in_turn = |least, taking| self.jobs_in_turn(least, time, taking).map_err(|why| why + hint);
        // Before the measured load, each executor runs as much, or less, so that it is awake.
        let labour = Labour { pre: (time.as_nanos() as f64 / nanos_per_unit(10_000)) as u64, post: 0 };
        match workload {
            Workload::Outside => {
                let jobs = all.saturating_mul(jobs_in_turn(2 * EACH, busy)?) / 2;
                self.jobs(self.one_load(Throughput(labour), load(jobs.min(JOBS), 0)?, false), FINE_RSE)
            }
            Workload::Inside => {
                let hops = (jobs_in_turn(4 * EACH, busy)? / (2 * EACH)).min(JOBS / (EACH * all));
                self.jobs(self.one_load(Throughput(labour), load(EACH * all, hops)?, false), FINE_RSE)
            }
            Workload::Bursts => {
                jobs_in_turn(2 * EACH, busy)?;
                self.jobs(Latency::new(threads, load(EACH * all, 0)?, labour, PAUSE, patience), FINE_RSE)
            }
            Workload::Blocking => {
                within("--job-time", format_args!("{} us", micros(time)), time, patience)?;
                jobs_in_turn(ASLEEP + 1, time)?;
                self.jobs(Blocking::new(threads, load(ASLEEP * all, 0)?, time, patience), FINE_RSE)
            }
        }
    }

    /// How many jobs a thread can run, one after the other, in a sample that is short enough for the minimum number of
    /// samples to fit into the budget. Jobs of `time` end up `taking` this long each.
    ///
    /// # Errors
    ///
    /// If that is less than `least`, below which a sample makes no sense.
    fn jobs_in_turn(&self, least: u64, time: Duration, taking: Duration) -> Result<u64, String> {
        let pace = Pace { budget: self.budget, ..self.options.sampling.pace(FINE_RSE)? };
        let executors = self.entries(Ability::Jobs)?.len();
        // One more round, before the first, finds out how much a sample can be.
        let (rounds, budget) = (pace.least_rounds().saturating_add(1), pace.budget.mul_f64(0.9));
        let jobs = budget.as_secs_f64() / rounds as f64 / executors as f64 / taking.as_secs_f64();
        if jobs >= least as f64 {
            return Ok(jobs as u64);
        }
        let (micros, budget) = (micros(time), self.options.sampling.budget.as_secs_f64());
        let enough = (budget * least as f64 / jobs).ceil();
        let must_fit = format!("{rounds} rounds of {executors} executors must fit");
        Err(if time <= LONG {
            format!(
                "--budget {budget} s is too short: {must_fit} into it, each with {least} jobs of {micros} us for each \
                 thread: raise it to {enough:.0}"
            )
        } else {
            format!(
                "--job-time {micros} us is too long for --budget {budget} s, in which {must_fit}, each with {least} \
                 jobs for each thread: raise that to {enough:.0}, or give a shorter time"
            )
        })
    }
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        advice::Need,
        cli::{self, Refusal},
        plan::{Planned, plan},
    };
    use std::ffi::OsString;

    /// How long a user is ready to wait for an answer.
    const SOON: Duration = Duration::from_secs(120);

    fn planned(line: &str) -> Result<Vec<Box<dyn Planned>>, String> {
        let words = format!("executor-performance {line}");
        match cli::parse(words.split(' ').map(OsString::from)) {
            Ok(orders) => plan(&orders, None),
            Err(Refusal::Wrong(why)) => Err(why),
            Err(Refusal::Shown(help)) => Err(help.to_string()),
        }
    }

    /// The budget includes what is not sampling, such as trying out how long a sample takes.
    #[test]
    fn a_recommendation_comes_soon_for_every_kind_of_workload() {
        for workload in ["outside", "inside", "bursts", "outside,inside", "outside,inside,bursts", "blocking"] {
            for more in ["", " --spin", " --needs priorities,subpools,bound", " --job-time 20", " --job-time 1000"] {
                if (workload, more) == ("blocking", " --spin") {
                    continue;
                }
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

    /// Each executor is waited for only once, and that time comes on top of the budget of its run.
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

    /// How many units that takes is found out anew each time, so it cannot decide whether two records are comparable.
    #[test]
    fn how_long_jobs_take_is_a_setting_and_their_units_are_not() {
        for run in planned("recommend --job-time 20us").expect("three workloads") {
            let run = run.outline();
            assert_eq!(run.number("job_time_ns"), Some(20_000), "{run:?}");
            let units = ["pre_units", "post_units"].map(|units| run.settings.contains_key(units));
            assert!(units == [false; 2] && run.fitted_number("pre_units").is_some_and(|units| units > 0), "{run:?}");
        }
    }

    #[test]
    fn what_is_needed_is_a_setting_if_anything_is() {
        for (more, needs) in [("", Vec::new()), (" --needs bound,priorities", vec![Need::Bound, Need::Priorities])] {
            let run = planned(&format!("recommend{more}")).expect("three workloads")[0].outline();
            assert_eq!((run.settings.contains_key("needs"), run.needs()), (!needs.is_empty(), needs));
        }
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
            assert!(complaint.starts_with("--job-time 500000 us is too long for --budget 10 s"), "{complaint}");
            let (_, rest) = complaint.split_once("raise that to ").expect("a remedy");
            let (budget, _) = rest.split_once(',').expect("a number");
            assert!(planned(&line(budget)).is_ok(), "{budget}");
        }
        let complaint = planned("--budget 0.0001 recommend").map(|plan| plan.len()).expect_err("that is nothing");
        assert!(complaint.starts_with("--budget 0.0001 s is too short: "), "{complaint}");
        assert!(complaint.ends_with("raise it to 1"), "{complaint}");
    }
}
