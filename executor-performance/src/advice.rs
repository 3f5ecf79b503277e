//! Which executor to take, as far as a record can tell: one sentence, and a line of code.

mod code;

use crate::{
    record::{Record, Row, Run},
    stats::Ratio,
};
use std::fmt;

/// Which executor is best over all runs, and how sure that is.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The best executor.
    pub best: String,
    /// Its worker threads, if the runs agree on that.
    pub threads: Option<usize>,
    /// The second best, and how many times as long it takes; the geometric mean, if there are several runs. None if there is no
    /// other, or there are too few samples.
    pub runner_up: Option<(String, Ratio)>,
    /// Runs that count.
    pub runs: usize,
    /// Executors that failed in one of them, which do not.
    pub failed: Vec<String>,
}

impl Advice {
    /// What `record` says.
    ///
    /// # Errors
    ///
    /// If no executor was measured without a failure in all runs.
    pub fn of(record: &Record) -> Result<Self, String> {
        let runs: Vec<&Run> = record.runs.iter().filter(|run| !run.rows.is_empty()).collect();
        let mut names: Vec<&str> = Vec::new();
        for row in runs.iter().flat_map(|run| &run.rows) {
            if !names.contains(&row.executor.as_str()) {
                names.push(&row.executor);
            }
        }
        let costs = |name: &str| runs.iter().map(|run| costs(run, name)).collect::<Option<Vec<Vec<f64>>>>();
        let (mut candidates, mut failed) = (Vec::new(), Vec::new());
        for name in names {
            match costs(name) {
                Some(costs) => candidates.push((name, costs)),
                None => failed.push(name.to_owned()),
            }
        }
        let (first, _) =
            candidates.first().ok_or("no executor was measured in all runs: there is nothing to recommend")?;
        let seed = record.program.seed;
        // By what they cost in relation to any one of them, the best is the same.
        let yardstick = candidates[0].1.clone();
        let score = |costs: &[Vec<f64>]| ratio(costs, &yardstick, seed).map_or(f64::INFINITY, |ratio| ratio.value);
        let mut ranking: Vec<(&str, f64)> = candidates.iter().map(|(name, costs)| (*name, score(costs))).collect();
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        let best = ranking.first().map_or(*first, |(name, _)| name);
        let of = |name: &str| candidates.iter().find(|candidate| candidate.0 == name).map(|(_, costs)| costs);
        let runner_up = ranking.get(1).and_then(|(name, _)| {
            let ratio = ratio(of(name)?, of(best)?, seed)?;
            Some(((*name).to_owned(), ratio))
        });
        let threads: Vec<Option<u64>> = runs.iter().map(|run| run.number("threads")).collect();
        let agreed = threads.first().copied().flatten().filter(|first| threads.iter().all(|it| *it == Some(*first)));
        Ok(Advice {
            best: best.to_owned(),
            threads: agreed.and_then(|threads| usize::try_from(threads).ok()),
            runner_up,
            runs: runs.len(),
            failed,
        })
    }

    /// Whether the runner-up may be as good.
    pub fn is_within_noise(&self) -> bool {
        self.runner_up.as_ref().is_some_and(|(_, ratio)| ratio.low <= 1.0)
    }

    /// What to write to have the best executor. None for those that are not of this workspace.
    pub fn code(&self) -> Option<String> {
        code::line(&self.best, self.threads?)
    }
}

/// What the samples of the executor called `name` cost. None if it failed, or has none.
fn costs(run: &Run, name: &str) -> Option<Vec<f64>> {
    let row: &Row = run.rows.iter().find(|row| row.executor == name && row.is_ok())?;
    let more_is_better = run.first_column()?.more_is_better;
    let cost = |value: &f64| if more_is_better { 1.0 / value } else { *value };
    let costs: Vec<f64> = row.samples.values.iter().map(cost).collect();
    (!costs.is_empty()).then_some(costs)
}

fn ratio(above: &[Vec<f64>], below: &[Vec<f64>], seed: u64) -> Option<Ratio> {
    let pairs: Vec<(&[f64], &[f64])> = above.iter().zip(below).map(|(a, b)| (&a[..], &b[..])).collect();
    Ratio::of_pairs(&pairs, seed)
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Advice { best, threads, runner_up, runs, failed } = self;
        write!(f, "Take `{best}`")?;
        if let Some(threads) = threads {
            write!(f, " with {threads} thread{}", if *threads == 1 { "" } else { "s" })?;
        }
        match runner_up {
            None => write!(f, ", of which nothing better is known as no other was measured")?,
            Some((other, Ratio { value, low, high })) => {
                let mean = if *runs == 1 { String::new() } else { format!(" in the mean of {runs} workloads") };
                let interval = format!("{value:.2} times as long{mean} (95 % interval {low:.2} to {high:.2})");
                if self.is_within_noise() {
                    write!(f, ", or `{other}` just as well: it takes {interval}, which is within the noise")?;
                } else {
                    write!(f, ": `{other}`, the runner-up, takes {interval}, which is more than the noise")?;
                }
            }
        }
        writeln!(f, ".")?;
        if !failed.is_empty() {
            writeln!(f, "Left out, as they failed: {}.", failed.join(", "))?;
        }
        match self.code() {
            Some(code) => write!(f, "\n    {code}\n"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Samples, mock::record};

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
    fn the_best_over_all_runs_is_the_advice() {
        let advice = Advice::of(&record()).expect("there is one");
        assert_eq!((&*advice.best, advice.threads, advice.runs), ("workstealing", None, 3));
        assert_eq!(advice.failed, ["broken"]);
        let (other, ratio) = advice.runner_up.expect("there is another");
        assert_eq!(other, "channel");
        // 2.5 twice, and 40 to 25.
        let mean = (2.5_f64 * 2.5 * 1.6).powf(1.0 / 3.0);
        assert!((ratio.value / mean - 1.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn is_a_sentence_and_a_line_of_code() {
        let advice = Advice::of(&one_run(&[("channel", SLOWER), ("workstealing", STEADY)])).expect("there is one");
        insta::assert_snapshot!(advice, @r"
        Take `workstealing` with 2 threads: `channel`, the runner-up, takes 2.00 times as long (95 % interval 1.99 to 2.01), which is more than the noise.

            let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).build()?;
        ");
    }

    #[test]
    fn says_if_the_difference_is_noise() {
        let advice = Advice::of(&one_run(&[("channel", STEADY), ("burst", NOISY)])).expect("there is one");
        assert!(advice.is_within_noise());
        assert!(advice.to_string().contains("`burst` just as well"), "{advice}");
    }

    #[test]
    fn one_alone_is_the_best_of_one() {
        let advice = Advice::of(&one_run(&[("elastic", STEADY)])).expect("there is one");
        assert_eq!((&*advice.best, &advice.runner_up), ("elastic", &None));
        assert!(advice.to_string().contains("no other was measured"), "{advice}");
    }

    #[test]
    fn nothing_measured_is_no_advice() {
        assert!(Advice::of(&one_run(&[])).is_err());
        assert!(Advice::of(&one_run(&[("channel", &[])])).is_err());
    }
}
