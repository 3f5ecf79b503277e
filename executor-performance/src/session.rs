//! One run of one experiment, from the command line to the results.

use crate::{
    cli::Options,
    clock::{Clock, WallClock},
    environment::Environment,
    experiment::{Experiment, FutureTurn, JobTurn, Sample, Subject},
    record::{Preamble, Record, records},
    registry::ENTRIES,
    sampler::{Pace, Series, Stopped, sample},
    sink::{CsvFile, Progress, Sink, Terminal, error, warning},
    subject::Roster,
};
use std::{io, time::SystemTime};

/// How a run ended that began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All was measured and written.
    Done,
    /// An executor failed, or results could not be written. It has been said which and why.
    Failed,
}

/// Runs `experiment` with `options`, where `rse` percent is precise enough unless they say otherwise.
///
/// # Errors
///
/// If the options cannot be followed: a line that says why. Nothing has been measured then.
pub fn run<X>(experiment: X, options: &Options, rse: f64) -> Result<Outcome, String>
where
    X: Experiment<Turn: JobTurn + 'static>,
{
    run_each(vec![experiment], &Roster::of_executors(), options, rse)
}

/// Runs `experiments` on futures, one after the other, each in an equal share of the budget.
///
/// # Errors
///
/// As [`run`].
pub fn run_on_futures<X>(experiments: Vec<X>, options: &Options, rse: f64) -> Result<Outcome, String>
where
    X: Experiment<Turn: FutureTurn + 'static>,
{
    run_each(experiments, &Roster::of_spawners(), options, rse)
}

/// Runs `experiments` that have the same columns.
fn run_each<X>(experiments: Vec<X>, roster: &Roster<X::Turn>, options: &Options, rse: f64) -> Result<Outcome, String>
where
    X: Experiment<Turn: 'static>,
{
    let environment = Environment::now();
    let (mut pace, entries) = (options.sampling.pace(rse)?, options.entries(roster.ability())?);
    let mut sinks = match experiments.first() {
        Some(experiment) => sinks(experiment, options)?,
        None => return Ok(Outcome::Done),
    };
    environment.doubts(options.threads).iter().for_each(|doubt| warning(doubt));
    let subjects = roster.enlist(&entries, options.threads);
    pace.budget /= experiments.len() as u32;

    let outcomes: Vec<Outcome> = experiments
        .into_iter()
        .map(|experiment| measure(experiment, &pace, &subjects, &mut sinks, environment.clone()))
        .collect();
    Ok(if outcomes.contains(&Outcome::Failed) { Outcome::Failed } else { Outcome::Done })
}

fn measure<X: Experiment>(
    mut experiment: X,
    pace: &Pace,
    subjects: &[Box<dyn Subject<X::Turn>>],
    sinks: &mut [Box<dyn Sink>],
    environment: Environment,
) -> Outcome {
    let clock = WallClock::start();
    let mut progress = Progress::new(pace.budget);
    progress.doing("trying out how long a sample takes");
    experiment.fit(pace, subjects);

    let preamble = preamble(&experiment, environment);
    let begun = progress.aside(|| each(sinks, |sink| sink.begin(&preamble)));
    let (series, stopped) = sample(pace, &clock, &experiment.turn(), subjects, &mut progress);
    progress.clear();

    let records = records(&experiment, &series);
    let remark = remark(pace, &series, stopped, clock.now().as_secs_f64());
    let ended = each(sinks, |sink| sink.end(&preamble, &records, &remark));
    let measured = !tell_failures(&records);
    if begun && ended && measured { Outcome::Done } else { Outcome::Failed }
}

/// Lists the executors, and the experiments with what they are `about`.
pub fn list(experiments: &[(String, String)]) -> Outcome {
    let mut text = "executors; those with * are measured if none is named\n".to_owned();
    for entry in ENTRIES {
        let mark = if entry.by_default { '*' } else { ' ' };
        text += &format!("{mark} {:26} {}\n", entry.name, entry.summary);
    }
    text += "\nexperiments\n";
    for (name, about) in experiments {
        text += &format!("  {name:10} {about}\n");
    }
    let written = each(&mut [Terminal::new(io::stdout())], |terminal| terminal.write(&text));
    if written { Outcome::Done } else { Outcome::Failed }
}

fn sinks<X: Experiment>(experiment: &X, options: &Options) -> Result<Vec<Box<dyn Sink>>, String> {
    let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(Terminal::new(io::stdout()))];
    if let Some(path) = &options.output_csv {
        sinks.push(Box::new(CsvFile::open(path, &experiment.settings(), experiment.metrics())?));
    }
    Ok(sinks)
}

fn preamble<X: Experiment>(experiment: &X, environment: Environment) -> Preamble {
    Preamble {
        time: SystemTime::now(),
        environment,
        experiment: experiment.name(),
        settings: experiment.settings(),
        description: experiment.description(),
        metrics: experiment.metrics(),
    }
}

/// Does `step` with every sink, also if one of them fails; tells why and returns whether all succeeded.
fn each<S>(sinks: &mut [S], mut step: impl FnMut(&mut S) -> io::Result<()>) -> bool {
    let mut succeeded = true;
    for sink in sinks {
        if let Err(why) = step(sink) {
            error(&format!("results could not be written: {why}"));
            succeeded = false;
        }
    }
    succeeded
}

/// Why sampling stopped, for people.
fn remark<S: Sample>(pace: &Pace, series: &[Series<S>], stopped: Stopped, seconds: f64) -> String {
    let samples = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
    let (target, budget) = (pace.target * 100.0, pace.budget.as_secs_f64());
    let why = match stopped {
        Stopped::Precise => format!("the RSE of each executor is at most {target} %"),
        Stopped::Budget => format!("another round would exceed the budget of {budget} s"),
        Stopped::Enough => "no more are allowed".to_owned(),
        Stopped::NothingLeft => "every executor failed".to_owned(),
    };
    format!("Stopped after {seconds:.1} s with {samples} samples of each executor, as {why}.")
}

/// Says on stderr whether executors failed, and returns it.
fn tell_failures(records: &[Record]) -> bool {
    let failed: Vec<&str> =
        records.iter().filter(|record| record.outcome.is_err()).map(|record| record.executor).collect();
    if !failed.is_empty() {
        error(&format!("{} of {} executors failed: {}", failed.len(), records.len(), failed.join(", ")));
    }
    !failed.is_empty()
}
