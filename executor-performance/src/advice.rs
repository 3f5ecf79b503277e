//! Which executor a record recommends: one sentence, and a line of code.

mod code;
mod need;

pub use self::need::Need;

use crate::{
    once_each::once_each,
    record::{Costs, Reason, Record, Row, Run, Status},
    registry::{Ability, Entry},
    stats::{Level, Ratio},
};
use std::fmt;

/// Executors to choose from if nothing more is known: those of this workspace that suit jobs of any kind, and whose
/// workers sleep when there is nothing to do.
pub const CANDIDATES: [&str; 5] = ["channel", "workstealing", "workstealing-park-counted", "burst", "elastic"];

/// Which executor is best over all runs, and how sure that is.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The best executor that meets all `needs`.
    pub best: String,
    /// What it has to be able to do.
    pub needs: Vec<Need>,
    /// How many worker threads it has, if all runs agree.
    pub threads: Option<usize>,
    /// The second best that meets them, and how many times as long it takes: the geometric mean over all runs. It is
    /// another pool, unless only the same one was measured with other options. None if there is no other, or the costs
    /// of the two have no ratio.
    pub runner_up: Option<(String, Ratio)>,
    /// The same pool as `best` with other options, beside a runner-up that is another pool.
    pub variant: Option<(String, Ratio)>,
    /// The best executor that does not meet them, and how many times as long as that one `best` takes.
    pub forgone: Option<(String, Ratio)>,
    /// How many runs count: those with rows.
    pub runs: usize,
    /// Whether all intervals come from several processes of each executor.
    pub compares_processes: bool,
    /// Executors that failed in one of these runs. They do not count.
    pub failed: Vec<String>,
    /// Other executors that were not measured in all of these runs. They do not count either.
    pub unmeasured: Vec<String>,
    /// What makes the figures doubtful, unless it has been printed already.
    pub warnings: Vec<String>,
}

impl Advice {
    /// What `record` recommends, of the executors that meet all `needs`.
    ///
    /// # Errors
    ///
    /// If no executor that meets them was measured in all runs without a failure.
    pub fn of(record: &Record, needs: &[Need]) -> Result<Self, String> {
        let runs: Vec<&Run> = record.runs.iter().filter(|run| !run.rows.is_empty()).collect();
        let names = once_each(runs.iter().flat_map(|run| &run.rows).map(|row| row.executor.as_str()));
        let costs = |name: &str| runs.iter().map(|run| costs(run, name)).collect::<Option<Vec<Costs<'_>>>>();
        let failed_once = |name: &str| {
            let mut rows = runs.iter().flat_map(|run| &run.rows);
            rows.any(|row| row.executor == name && row.status() == Status::Failed)
        };
        let mut candidates = Vec::new();
        let mut failed = Vec::new();
        let mut unmeasured = Vec::new();
        for name in names {
            match costs(name) {
                Some(costs) => candidates.push((name, costs)),
                None if failed_once(name) => failed.push(name.to_owned()),
                None => unmeasured.push(name.to_owned()),
            }
        }
        candidates.sort_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b)));
        let (able, unable): (Vec<Candidate<'_>>, Vec<Candidate<'_>>) =
            candidates.into_iter().partition(|(name, _)| can(name, needs));
        let seed = record.program.seed;
        let (best, best_costs) = able.first().ok_or_else(|| nothing(needs))?;
        let (variants, rivals): (Vec<_>, Vec<_>) = able[1..].iter().partition(|(name, _)| pool(name) == pool(best));
        let beside_best = |(name, costs): &Candidate<'_>| Some(((*name).to_owned(), ratio(costs, best_costs, seed)?));
        let runner_up = rivals.first().or(variants.first()).and_then(|it| beside_best(it));
        let variant = rivals.first().and(variants.first()).and_then(|it| beside_best(it));
        let forgone =
            unable.first().and_then(|(name, costs)| Some(((*name).to_owned(), ratio(best_costs, costs, seed)?)));
        let threads: Vec<Option<u64>> = runs.iter().map(|run| run.number("threads")).collect();
        let agreed = threads.first().copied().flatten().filter(|first| threads.iter().all(|it| *it == Some(*first)));
        Ok(Advice {
            best: (*best).to_owned(),
            needs: needs.to_vec(),
            threads: agreed.and_then(|threads| usize::try_from(threads).ok()),
            runner_up,
            variant,
            forgone,
            runs: runs.len(),
            compares_processes: runs.iter().flat_map(|run| &run.rows).filter(|row| row.is_ok()).all(has_processes),
            failed,
            unmeasured,
            warnings: Vec::new(),
        })
    }

    /// What a record of `recommend` says. None if it is of something else, or not everything was measured, or there is
    /// nothing to recommend.
    pub fn recorded(record: &Record) -> Option<Self> {
        let is_whole = |run: &Run| {
            let has_ended = run.stop.as_ref().is_some_and(|stop| stop.reason != Reason::Interrupted);
            has_ended && run.is_for_recommendation()
        };
        let needs = record.runs.first()?.needs();
        record.runs.iter().all(is_whole).then(|| Self::of(record, &needs).ok())?
    }

    /// Whether the runner-up may be as good.
    pub fn is_within_noise(&self) -> bool {
        self.runner_up.as_ref().is_some_and(|(_, ratio)| may_be_one(ratio))
    }

    /// What to take and why, in sentences; some lines.
    pub fn sentences(&self) -> String {
        let mut text = String::new();
        self.tell(&mut text).expect("a string can be written");
        text
    }

    /// The code that builds the best executor. None if it is not from this workspace, or the runs have different
    /// numbers of threads.
    pub fn code(&self) -> Option<Vec<String>> {
        code::lines(&self.best, self.threads?, &self.needs)
    }
}

/// An executor that did not fail, and what its samples cost in each run.
type Candidate<'a> = (&'a str, Vec<Costs<'a>>);

/// Whether the executor called `name` meets all `needs`.
pub fn can(name: &str, needs: &[Need]) -> bool {
    needs.is_empty() || Entry::named(name).is_some_and(|entry| entry.can(Ability::Subpools))
}

/// The pool that the executor called `name` is, with some options or others.
fn pool(name: &str) -> &str {
    Entry::named(name).and_then(Entry::module).unwrap_or(name)
}

/// Whether the samples of `row` come from several processes.
fn has_processes(row: &Row) -> bool {
    let processes = &row.samples.process;
    processes.iter().any(|process| *process != processes[0])
}

fn nothing(needs: &[Need]) -> String {
    let able = if needs.is_empty() { "no executor" } else { "no executor that can do what is needed" };
    format!("{able} was measured in all runs: there is nothing to recommend")
}

/// Whether the ratio is about 1, for sure: then the difference hardly matters.
fn is_about_one(ratio: &Ratio) -> bool {
    const ABOUT: f64 = 1.1;
    1.0 / ABOUT <= ratio.low && ratio.high <= ABOUT
}

/// Whether the ratio may be 1: then there may be no difference.
fn may_be_one(ratio: &Ratio) -> bool {
    ratio.low <= 1.0 && 1.0 <= ratio.high
}

/// What the samples of the executor called `name` cost. None if it failed, or has no samples.
fn costs<'a>(run: &'a Run, name: &str) -> Option<Costs<'a>> {
    run.rows.iter().find(|row| row.executor == name && row.is_ok())?.costs(run)
}

/// The mean cost over all runs, with equal weights.
fn cost(costs: &[Costs<'_>]) -> f64 {
    Level::mean_of(&costs.iter().map(Costs::level).collect::<Vec<_>>()).cost()
}

/// How many times as much `above` costs as `below`: the mean over all runs.
fn ratio(above: &[Costs<'_>], below: &[Costs<'_>], seed: u64) -> Option<Ratio> {
    Ratio::of_turns(&above.iter().zip(below).map(|(above, below)| above.beside(below)).collect::<Vec<_>>(), seed)
}

impl Advice {
    /// Writes the sentences.
    fn tell(&self, f: &mut impl fmt::Write) -> fmt::Result {
        let Advice {
            best,
            needs,
            threads,
            runner_up,
            variant,
            forgone,
            runs,
            compares_processes,
            failed,
            unmeasured,
            warnings,
        } = self;
        write!(f, "Take `{best}`")?;
        if let Some(entry) = Entry::named(best) {
            write!(f, " ({})", entry.summary)?;
        }
        if let Some(threads) = threads {
            write!(f, " with {threads} thread{}", if *threads == 1 { "" } else { "s" })?;
        }
        let mean = if *runs == 1 { String::new() } else { format!(" on average over {runs} workloads") };
        let times = |Ratio { value, low, high }: &Ratio| {
            format!("{value:.2} times as long{mean} (95 % interval {low:.2} to {high:.2})")
        };
        match runner_up {
            None if !needs.is_empty() => write!(f, ", the only one measured that has {}", listed(needs))?,
            None => write!(f, ": nothing better is known, because no other was measured")?,
            Some((other, ratio)) if self.is_within_noise() && !is_about_one(ratio) => {
                let remedy =
                    if *compares_processes { "raise --processes, and --budget with it," } else { "raise the budget" };
                let undecided = "these samples do not tell which is better";
                write!(f, ", or `{other}`: it takes {}, and {undecided}; {remedy} to know", times(ratio))?;
            }
            Some((other, ratio)) if self.is_within_noise() => {
                write!(f, ", or `{other}` just as well: it takes {}, which is within the noise", times(ratio))?;
            }
            Some((other, ratio)) => {
                write!(f, ": `{other}`, the runner-up, takes {}, which is more than the noise", times(ratio))?;
            }
        }
        writeln!(f, ".")?;
        let sure = |ratio: &Ratio| if may_be_one(ratio) { "within the noise" } else { "more than the noise" };
        if let Some((other, ratio)) = forgone {
            writeln!(
                f,
                "Compared with `{other}`, which cannot do that, it takes {}, which is {}.",
                times(ratio),
                sure(ratio)
            )?;
        }
        if let Some((other, ratio)) = variant {
            let took = times(ratio);
            writeln!(f, "`{other}`, the same pool with other options, takes {took}, which is {}.", sure(ratio))?;
        }
        for (left_out, why) in [(failed, "failed"), (unmeasured, "were not measured")] {
            if !left_out.is_empty() {
                writeln!(f, "Left out because they {why}: {}.", left_out.join(", "))?;
            }
        }
        warnings.iter().try_for_each(|warning| writeln!(f, "Warning: {warning}."))
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tell(f)?;
        match self.code() {
            Some(code) => code.iter().try_fold((), |(), line| write!(f, "\n    {line}")).and_then(|()| writeln!(f)),
            None => Ok(()),
        }
    }
}

fn listed(needs: &[Need]) -> String {
    needs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        failure::Failure,
        record::{Samples, Stop, mock::record},
    };
    use std::time::Duration;

    /// One run, in which less is better.
    fn one_run(rows: &[(&str, &[f64])]) -> Record {
        let mut record = record();
        record.runs.drain(..2);
        record.runs[0].rows = rows
            .iter()
            .map(|(name, values)| Row::new(name, Ok(Default::default()), Samples::new(values.to_vec(), &[]), None))
            .collect();
        record
    }

    const STEADY: &[f64] = &[10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0];
    const SLOWER: &[f64] = &[20.0, 20.2, 19.9, 20.0, 20.1, 19.9, 20.0];
    const NOISY: &[f64] = &[10.1, 30.0, 2.0, 10.2, 25.0, 3.0, 10.2];

    #[test]
    fn what_was_not_measured_is_left_out_and_has_not_failed() {
        let mut record = record();
        let runs = record.runs.iter_mut();
        for row in runs.flat_map(|run| &mut run.rows).filter(|row| row.status() == Status::Failed) {
            row.error = Some(Failure::Interrupted.to_string());
        }
        let advice = Advice::of(&record, &[]).expect("there is one");
        assert_eq!((&*advice.failed, &*advice.unmeasured), (&[][..], &["broken".to_owned()][..]));
        assert!(advice.to_string().contains("Left out because they were not measured: broken."), "{advice}");
    }

    #[test]
    fn the_best_over_all_runs_is_the_advice() {
        let advice = Advice::of(&record(), &[]).expect("there is one");
        assert_eq!((&*advice.best, advice.threads, advice.runs), ("workstealing", None, 3));
        assert_eq!(advice.failed, ["broken"]);
        let (other, ratio) = advice.runner_up.expect("there is another");
        assert_eq!(other, "channel");
        // 2.5 in two runs, and 40 to 25 in the third.
        let mean = (2.5_f64 * 2.5 * 1.6).powf(1.0 / 3.0);
        assert!((ratio.value / mean - 1.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn each_run_weighs_the_same() {
        let mut record = one_run(&[("channel", &[1.0; 5]), ("burst", &[3.0; 5])]);
        record.runs.extend(one_run(&[("channel", &[8.0; 5]), ("burst", &[3.0; 5])]).runs);
        let advice = Advice::of(&record, &[]).expect("there is one");
        // The products are 8 and 9; the sums would be 9 and 6.
        assert_eq!(advice.best, "channel");
    }

    #[test]
    fn is_a_sentence_and_a_line_of_code() {
        let advice = Advice::of(&one_run(&[("channel", SLOWER), ("workstealing", STEADY)]), &[]).expect("there is one");
        insta::assert_snapshot!(advice, @r"
        Take `workstealing` (a queue for each worker; default options) with 2 threads: `channel`, the runner-up, takes 2.00 times as long (95 % interval 1.99 to 2.01), which is more than the noise.

            let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).build()?;
        ");
    }

    #[test]
    fn says_if_the_difference_is_noise() {
        let advice = Advice::of(&one_run(&[("channel", STEADY), ("burst", NOISY)]), &[]).expect("there is one");
        assert!(advice.is_within_noise());
        assert!(advice.to_string().contains("do not tell which is better; raise the budget to know."), "{advice}");
        let advice = Advice::of(&one_run(&[("channel", STEADY), ("burst", STEADY)]), &[]).expect("there is one");
        assert!(advice.to_string().contains("`burst` just as well"), "{advice}");
    }

    #[test]
    fn what_is_needed_comes_before_what_is_fast() {
        let rows: &[(&str, &[f64])] = &[("channel", STEADY), ("dispatcher", SLOWER), ("workstealing", SLOWER)];
        let advice = Advice::of(&one_run(rows), &[Need::Priorities, Need::Bound]).expect("there is one");
        insta::assert_snapshot!(advice, @r#"
        Take `dispatcher` (subpools; jobs go to one as wide as the pool) with 2 threads, the only one measured that has priorities and bound subpools.
        Compared with `channel`, which cannot do that, it takes 2.00 times as long (95 % interval 1.99 to 2.01), which is more than the noise.

            let pool = executors::dispatcher::Dispatcher::builder().threads(3).cpu_limit(2).bound_subpool("bound").build()?;
            let bound = pool.subpool("bound")?;
            let urgent = pool.cpu().with_priority(executors::dispatcher::Priority::HIGH);
        "#);
        let complaint = Advice::of(&one_run(&[("channel", STEADY)]), &[Need::Subpools]).expect_err("none can");
        assert!(complaint.contains("what is needed"), "{complaint}");
    }

    #[test]
    fn processes_are_compared_if_there_are_several() {
        // In each process one of them is ahead, but not always the same one.
        let (one, other) = ([10.0, 10.0, 12.0, 12.0, 10.0, 10.0], [11.0, 11.0, 11.0, 11.0, 11.0, 11.0]);
        let mut record = one_run(&[("channel", &one), ("burst", &other)]);
        let advice = Advice::of(&record, &[]).expect("there is one");
        let of_rounds = advice.runner_up.expect("there is another").1;
        for row in &mut record.runs[0].rows {
            row.samples.process = vec![0, 0, 1, 1, 2, 2];
        }
        let advice = Advice::of(&record, &[]).expect("there is one");
        let of_processes = advice.runner_up.as_ref().expect("there is another").1;
        assert!(advice.is_within_noise() && of_processes.high > of_rounds.high, "{of_processes:?}, {of_rounds:?}");
        let told = advice.to_string();
        assert!(told.contains("which is better; raise --processes, and --budget with it, to know."), "{told}");
    }

    #[test]
    fn the_runner_up_is_another_pool_if_one_was_measured() {
        let twins: &[(&str, &[f64])] = &[("workstealing", STEADY), ("workstealing-park-counted", STEADY)];
        let whole = [twins, &[("channel", SLOWER)]].concat();
        let advice = Advice::of(&one_run(&whole), &[]).expect("there is one");
        let named = |it: &Option<(String, Ratio)>| it.as_ref().map(|(name, _)| name.clone());
        assert_eq!(named(&advice.runner_up).as_deref(), Some("channel"));
        assert_eq!(named(&advice.variant).as_deref(), Some("workstealing-park-counted"));
        let advice = Advice::of(&one_run(twins), &[]).expect("there is one");
        assert_eq!(named(&advice.runner_up).as_deref(), Some("workstealing-park-counted"));
        assert_eq!(advice.variant, None);
    }

    #[test]
    fn one_alone_is_the_best_of_one() {
        let advice = Advice::of(&one_run(&[("elastic", STEADY)]), &[]).expect("there is one");
        assert_eq!((&*advice.best, &advice.runner_up), ("elastic", &None));
        assert!(advice.to_string().contains("no other was measured"), "{advice}");
    }

    #[test]
    fn every_kind_of_sentence_can_be_read() {
        let advice = |record: &Record, needs: &[Need]| Advice::of(record, needs).expect("there is one");
        let mut small = advice(&one_run(&[("dispatcher", STEADY), ("channel", NOISY)]), &[Need::Subpools]);
        small.threads = Some(1);
        small.warnings = vec!["all samples are of one process".to_owned(), "the machine is busy".to_owned()];
        let variants = [("elastic", STEADY), ("elastic-growing", STEADY), ("channel", SLOWER)];
        let told = [
            ("undecided", advice(&one_run(&[("channel", STEADY), ("burst", NOISY)]), &[])),
            ("within the noise", advice(&one_run(&[("channel", STEADY), ("burst", STEADY)]), &[])),
            ("the only one", advice(&one_run(&[("elastic", STEADY)]), &[])),
            ("beside a variant", advice(&one_run(&variants), &[])),
            ("of several workloads, with one that failed", advice(&record(), &[])),
            ("the only one that can, with warnings", small),
        ];
        insta::assert_snapshot!(told.map(|(kind, advice)| format!("=== {kind}\n{advice}")).concat());
    }

    #[test]
    fn a_whole_record_of_a_recommendation_has_the_advice_in_it() {
        let mut record = one_run(&[("channel", STEADY), ("dispatcher", SLOWER)]);
        assert_eq!(Advice::recorded(&record), None, "it is of another command");
        let run = record.runs[0].clone();
        record.runs[0] = run.for_recommendation("inside: most jobs", Duration::from_micros(1), &[Need::Bound]);
        let advice = Advice::recorded(&record).expect("it is whole");
        assert_eq!((&*advice.best, advice.needs), ("dispatcher", vec![Need::Bound]));
        let stop = record.runs[0].stop.take().expect("it has ended");
        assert_eq!(Advice::recorded(&record), None, "it goes on");
        record.runs[0].stop = Some(Stop { reason: Reason::Interrupted, ..stop });
        assert_eq!(Advice::recorded(&record), None, "it was interrupted");
    }

    #[test]
    fn nothing_measured_is_no_advice() {
        assert!(Advice::of(&one_run(&[]), &[]).is_err());
        assert!(Advice::of(&one_run(&[("channel", &[])]), &[]).is_err());
    }
}
