use super::{Column, Table, called, decimals, experiment, setting};
use crate::{
    once_each::once_each,
    record::{self, Record, Run},
    workload::CHAINS_COUNTED_DOWN,
};
use std::ptr;

/// The settings that are preferred as the axis of a sweep, if they are varied.
const AXES: &[&str] = &["threads", "producers"];

/// Settings that follow the number of threads by default.
const FOLLOWERS: &[&str] = &["jobs_per_burst", "chains", "jobs"];

/// A setting that follows from others, such as the second.
const PRODUCT: (&str, &str) = ("jobs_per_burst", "messages_per_producer");

/// Runs of one experiment that differ in one setting only.
#[derive(Debug)]
pub struct Sweep<'a> {
    /// The setting.
    pub axis: String,
    /// What tells it from other sweeps, if there are several: the other settings, and which it is of those that have
    /// the same.
    pub choice: String,
    /// The runs, by the values of the setting.
    pub runs: Vec<(u64, &'a Run)>,
}

/// All sweeps of a record.
pub fn sweeps(record: &Record) -> Vec<Sweep<'_>> {
    let experiments = once_each(record.runs.iter().map(|run| run.experiment.as_str()));
    experiments.iter().flat_map(|experiment| sweeps_of(record, experiment)).collect()
}

fn sweeps_of<'a>(record: &'a Record, experiment: &str) -> Vec<Sweep<'a>> {
    let runs: Vec<&Run> = record.runs.iter().filter(|run| run.experiment == experiment).collect();
    let differs = |name: &&String| runs.iter().any(|run| run.settings.get(*name) != runs[0].settings.get(*name));
    let differing: Vec<&String> = runs[0].settings.keys().filter(differs).collect();
    let is_number = |name: &&&String| runs.iter().all(|run| run.number(name).is_some());
    let usual = differing.iter().filter(is_number).find(|name| AXES.contains(&name.as_str()));
    let Some(&axis) = usual.or_else(|| differing.iter().find(is_number)) else {
        return Vec::new();
    };
    let follows = |name: &str| {
        let is_product = name == PRODUCT.0 && runs.iter().all(|run| run.settings.contains_key(PRODUCT.1));
        let is_axis = || runs.iter().all(|run| run.settings.get(name) == run.settings.get(axis));
        is_product || FOLLOWERS.contains(&name) && is_axis()
    };
    let others: Vec<&String> = differing.into_iter().filter(|name| *name != axis && !follows(name)).collect();

    let mut sweeps: Vec<Sweep<'a>> = Vec::new();
    for run in runs {
        let choice: Vec<String> =
            others.iter().filter_map(|name| Some(setting(name, run.settings.get(*name)?))).collect();
        let (choice, point) = (choice.join(", "), (run.number(axis).unwrap_or_default(), run));
        let has_it = |sweep: &Sweep<'_>| sweep.runs.iter().any(|(value, _)| *value == point.0);
        match sweeps.iter_mut().rfind(|sweep| sweep.choice == choice) {
            // A point that comes again begins another sweep: a file may ask for it twice, of other executors.
            Some(sweep) if !has_it(sweep) => sweep.runs.push(point),
            _ => sweeps.push(Sweep { axis: axis.clone(), choice, runs: vec![point] }),
        }
    }
    sweeps.retain(|sweep| sweep.runs.len() > 1);
    number_the_alike(&mut sweeps);
    sweeps.iter_mut().for_each(|sweep| sweep.runs.sort_by_key(|(value, _)| *value));
    sweeps
}

/// Tells sweeps with the same settings apart.
fn number_the_alike(sweeps: &mut [Sweep<'_>]) {
    let choices: Vec<String> = sweeps.iter().map(|sweep| sweep.choice.clone()).collect();
    for (index, sweep) in sweeps.iter_mut().enumerate() {
        let alike = |choices: &[String]| choices.iter().filter(|choice| **choice == sweep.choice).count();
        let (number, all) = (alike(&choices[..=index]), alike(&choices));
        if all > 1 {
            let settings = if sweep.choice.is_empty() { String::new() } else { format!("{}; ", sweep.choice) };
            sweep.choice = format!("{settings}{number} of {all}");
        }
    }
}

impl Sweep<'_> {
    /// Whether this very `run` is a point of it.
    pub fn has(&self, run: &Run) -> bool {
        self.runs.iter().any(|(_, point)| ptr::eq(*point, run))
    }

    /// Names of all executors.
    pub fn executors(&self) -> Vec<&str> {
        once_each(self.runs.iter().flat_map(|(_, run)| &run.rows).map(|row| row.executor.as_str()))
    }

    /// The first figure of `executor` in each run.
    pub fn figures(&self, executor: &str) -> Vec<Option<f64>> {
        let figure = |run: &Run| run.rows.iter().find(|row| row.executor == executor)?.first(run);
        self.runs.iter().map(|(_, run)| figure(run)).collect()
    }

    /// The name for people of the setting that is varied.
    pub fn axis_title(&self) -> String {
        match called(&self.axis) {
            (name, "") => name,
            (name, "/s") => format!("{name} per s"),
            (name, unit) => format!("{name}, {unit}"),
        }
    }

    /// Whether more threads should give better figures.
    pub fn scales(&self) -> bool {
        self.axis == "threads" && self.runs.iter().all(|(_, run)| run.scales)
    }

    /// The column that is compared.
    pub fn column(&self) -> Option<&record::Column> {
        self.runs.first().and_then(|(_, run)| run.first_column())
    }

    /// How many times better each of the `figures` is than the first one that is known, divided by how many times more
    /// threads there are: 1 is perfect. None if that is not known.
    fn efficiencies(&self, figures: &[Option<f64>]) -> Vec<Option<f64>> {
        let more_is_better = self.column().is_some_and(|column| column.more_is_better);
        let points: Vec<(f64, Option<f64>)> =
            self.runs.iter().map(|(value, _)| *value as f64).zip(figures.iter().copied()).collect();
        let first = points.iter().find_map(|(threads, figure)| Some((*threads, (*figure)?)));
        let efficiency = |(threads, figure): &(f64, Option<f64>)| {
            let (first, figure) = (first?, (*figure)?);
            let gain = if more_is_better { figure / first.1 } else { first.1 / figure };
            Some(gain * first.0 / threads).filter(|efficiency| efficiency.is_finite())
        };
        points.iter().map(efficiency).collect()
    }

    /// What it shows, in a few words.
    pub fn title(&self) -> String {
        let Some((column, (_, run))) = self.column().zip(self.runs.first()) else { return String::new() };
        let choice = if self.choice.is_empty() { String::new() } else { format!(" ({})", self.choice) };
        format!("{}{choice}: {}, {}, by {}", experiment(run), column.title, column.unit, self.axis_title())
    }

    /// What its table shows.
    pub fn caption(&self) -> String {
        const EFFICIENCY: &str = "; in brackets the efficiency: how many times better than with the fewest threads, divided \
                                  by how many times more threads there are";
        let efficiency = if self.scales() { EFFICIENCY } else { "" };
        self.title() + efficiency + &self.counting().unwrap_or_default()
    }

    /// What to know if the ends of chains were counted at some of its points only.
    fn counting(&self) -> Option<String> {
        let counts = |counted| self.runs.iter().any(|(_, run)| run.counts_chains() == Some(counted));
        (counts(true) && counts(false)).then(|| {
            format!(
                "; with {CHAINS_COUNTED_DOWN} chains or more the end of each is not counted, which takes less of short \
                 jobs than with fewer"
            )
        })
    }

    /// A row for each executor, a column for each run.
    pub fn table(&self) -> Table {
        let executors = self.executors();
        let mut columns = vec![Column::names(["executor", ""], executors.iter().map(|name| (*name).to_owned()))];
        let figures: Vec<Vec<Option<f64>>> = executors.iter().map(|executor| self.figures(executor)).collect();
        let decimals = decimals(&figures.concat());
        let efficiencies: Vec<Vec<Option<f64>>> = figures.iter().map(|figures| self.efficiencies(figures)).collect();
        for (index, (value, _)) in self.runs.iter().enumerate() {
            let cell = |executor: usize| match (figures[executor][index], efficiencies[executor][index]) {
                (None, _) => "-".to_owned(),
                // With the fewest threads it is 100 %, which need not be shown.
                (Some(figure), Some(efficiency)) if self.scales() && index > 0 => {
                    format!("{figure:.decimals$} {:>5}", format!("({:.0}%)", efficiency * 100.0))
                }
                (Some(figure), _) => format!("{figure:.decimals$}"),
            };
            columns.push(Column::text([&self.axis_title(), &value.to_string()], (0..executors.len()).map(cell)));
        }
        Table { columns, best: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::{Value, mock::record},
        view::Content,
    };

    fn cells(column: &Column) -> &[String] {
        match &column.content {
            Content::Names(cells) | Content::Figures(cells) => cells,
            Content::Bars(_) => panic!("a sweep has no bars"),
        }
    }

    #[test]
    fn runs_that_differ_in_threads_are_a_table_with_efficiency() {
        let record = record();
        let sweeps = sweeps(&record);
        assert_eq!(sweeps.len(), 1);
        let table = sweeps[0].table();
        assert_eq!(cells(&table.columns[0]), ["channel", "workstealing", "broken"]);
        assert_eq!(cells(&table.columns[1]), ["12.0", "30.0", "-"]);
        assert_eq!(cells(&table.columns[2]), ["21.0 (88%)", "52.5 (88%)", "-"]);
    }

    #[test]
    fn what_costs_less_is_better() {
        let mut record = record();
        record.runs.truncate(2);
        record.runs.iter_mut().for_each(|run| run.columns[0].more_is_better = false);
        let table = sweeps(&record)[0].table();
        assert!(cells(&table.columns[2])[0].contains("(29%)"), "{table:?}");
    }

    #[test]
    fn other_settings_give_sweeps_of_their_own_but_not_those_that_follow_the_threads() {
        let mut record = record();
        record.runs.truncate(2);
        for run in &mut record.runs {
            let threads = run.settings["threads"].clone();
            run.settings.insert("chains".to_owned(), threads);
        }
        let mut more = record.runs.clone();
        for run in &mut more {
            run.settings.insert("producers".to_owned(), Value::Number(9));
        }
        record.runs.extend(more);
        let sweeps = sweeps(&record);
        let choices: Vec<&str> = sweeps.iter().map(|sweep| sweep.choice.as_str()).collect();
        assert_eq!(choices, ["producers 2", "producers 9"]);
        assert!(sweeps.iter().all(|sweep| sweep.runs.len() == 2 && sweep.axis == "threads"));
    }

    #[test]
    fn points_that_come_again_give_sweeps_of_their_own() {
        let mut record = record();
        record.runs.truncate(2);
        let of_another_load = |run: &Run| {
            let settings =
                run.settings.clone().into_iter().chain([("producers".to_owned(), Value::Number(9))]).collect();
            Run { settings, ..run.clone() }
        };
        let [one, two] = [record.runs[0].clone(), record.runs[1].clone()];
        record.runs.extend([one.clone(), two.clone()]);
        let told =
            |record: &Record| sweeps(record).iter().map(|it| (it.choice.clone(), it.runs.len())).collect::<Vec<_>>();
        assert_eq!(told(&record), [("1 of 2".to_owned(), 2), ("2 of 2".to_owned(), 2)]);
        assert!(sweeps(&record)[1].has(&record.runs[3]) && !sweeps(&record)[1].has(&record.runs[1]));
        assert!(sweeps(&record)[1].title().starts_with("throughput (2 of 2): "));
        record.runs.extend([of_another_load(&one), of_another_load(&two)]);
        let choices: Vec<String> = told(&record).into_iter().map(|(choice, _)| choice).collect();
        assert_eq!(choices, ["producers 2; 1 of 2", "producers 2; 2 of 2", "producers 9"]);
        record.runs.remove(3);
        assert_eq!(told(&record), [("producers 2".to_owned(), 2), ("producers 9".to_owned(), 2)]);
    }

    #[test]
    fn points_whose_chains_are_counted_and_others_are_told_apart() {
        let mut record = record();
        assert!(!sweeps(&record)[0].caption().contains("chains"));
        record.runs[1].fitted.insert("jobs_per_sample".to_owned(), Value::Number(10_000));
        assert!(sweeps(&record)[0].caption().ends_with("than with fewer"));
    }

    #[test]
    fn a_single_run_is_no_sweep() {
        let mut record = record();
        record.runs.remove(0);
        assert!(sweeps(&record).is_empty());
    }
}
