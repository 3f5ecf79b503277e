//! Carries out the orders of the command line.

use crate::{
    advice::Advice,
    catalogue,
    cli::{self, Color, Command, CompareOptions, ComparisonOptions, Need, Options, Order, OutputOptions, Refusal},
    compare::{self, Baseline, Comparison, Terms},
    interrupt::Interrupt,
    isolation::{Host, Service, VARIABLE},
    plan::{Planned, plan},
    program,
    record::{Record, Run},
    session::{Outcome, Session},
    sink::{self, Destination, Sink, Target, Terminal, Voice, error, warning},
    view,
};
use std::{
    collections::HashSet,
    ffi::OsString,
    io::{self, ErrorKind},
    path::Path,
    rc::Rc,
    time::Duration,
};
use terminal_size::{Width, terminal_size_of};

/// Carries out the `orders`. Asks first for what `recommend` was not told. It listens for an `interrupt` only once it
/// measures: before, and where nothing is measured, there is nothing to keep, so a signal ends the program at once,
/// even if it waits for a pipe.
///
/// # Errors
///
/// If that cannot be done: a line that says why. Nothing has been measured then.
pub fn perform(orders: &[Order], interrupt: &Interrupt) -> Result<Outcome, String> {
    // A configuration file says everything, so there is nothing to ask for.
    let (words, answers) = match orders {
        [Order { command: Command::Recommend(own), options, words }] if options.config.is_none() => (words, own.ask()),
        _ => return perform_told(orders, interrupt),
    };
    match cli::parse(words.iter().cloned().chain(answers.iter().map(OsString::from))) {
        Ok(orders) => perform_told(&orders, interrupt),
        Err(Refusal::Wrong(complaint)) => Err(complaint),
        Err(Refusal::Shown(help)) => Err(help.to_string()),
    }
}

fn perform_told(orders: &[Order], interrupt: &Interrupt) -> Result<Outcome, String> {
    let Some(Order { options, command, words }) = orders.first() else { return Ok(Outcome::Done) };
    choose_colors(options.output.color);
    match command {
        Command::List => {
            let text = format!("{}\n{}", catalogue::executors(), catalogue::experiments()?);
            Ok(written(print(text.as_bytes())))
        }
        Command::Completions(own) => {
            let mut text = Vec::new();
            clap_complete::generate(own.shell, &mut cli::definition(), "executor-performance", &mut text);
            Ok(written(print(&text)))
        }
        Command::Man(own) => Ok(written(print(&cli::manual(own.command.as_deref())?))),
        Command::Compare(own) => compare(own, options),
        Command::Report(own) => report(&own.record, &options.output),
        Command::Recommend(own) => {
            let mut record = Record::new(options.sampling.seed);
            if options.config.is_none() {
                // With what the user has answered. (With `--config` the words are those that the file stands for, not
                // what was typed.)
                record.program.command = program::command(words.iter().cloned());
            }
            // An executor that has failed in one workload cannot be recommended, so there is no point in waiting for it
            // again.
            let host = host(orders)?.map(Host::unforgiving);
            measure(orders, options, record, host.as_ref(), None, interrupt, |record| {
                if interrupt.came() {
                    return Err("there is no advice, because not everything was measured".to_owned());
                }
                recommend(record, &own.needs(), options)
            })
        }
        _ => measure_and_compare(orders, options, interrupt),
    }
}

fn choose_colors(color: Color) {
    let choice = match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

fn measure_and_compare(orders: &[Order], options: &Options, interrupt: &Interrupt) -> Result<Outcome, String> {
    if let Some(path) = &options.comparison.baseline {
        spare(path, "the baseline", &options.output)?;
    }
    let terms = terms(options);
    let plan = plan(orders, None)?;
    let record = Record::new(options.sampling.seed);
    let baseline = baseline(&options.comparison, &record, &plan, terms)?.map(Rc::new);
    let host = host(orders)?;
    measure(orders, options, record, host.as_ref(), baseline.as_ref(), interrupt, |record| match &baseline {
        Some(baseline) => {
            let comparison = Comparison::of(&baseline.record, record, &terms)?;
            let regressions = comparison.judged(&terms)?;
            Ok(show(&comparison, &options.output).max(reported(&regressions)))
        }
        None => Ok(Outcome::Done),
    })
}

/// Measures what is ordered, on guests of the `host` if there is one, and adds the runs to the `record`. The outcome
/// includes that of `conclude`. Pages, documents and pictures compare the record with the `baseline`, if there is one.
fn measure(
    orders: &[Order],
    options: &Options,
    record: Record,
    host: Option<&Host>,
    baseline: Option<&Rc<Baseline>>,
    interrupt: &Interrupt,
    conclude: impl FnOnce(&Record) -> Result<Outcome, String>,
) -> Result<Outcome, String> {
    let plan = plan(orders, host)?;
    let sinks = sinks(&options.output, &outlines(&plan), baseline)?;
    let budget = plan.iter().map(|run| run.budget()).fold(Duration::ZERO, Duration::saturating_add);
    interrupt.listen();
    let voice = if options.output.quiet { Voice::Errors } else { Voice::All };
    let session = Session::new(record, sinks, budget, interrupt.clone(), voice);
    let session = session.judged(options.comparison.fail_on_regression);
    Ok(session.run(plan, conclude))
}

fn outlines(plan: &[Box<dyn Planned>]) -> Vec<Run> {
    plan.iter().map(|run| run.outline()).collect()
}

/// Says which executor to take.
fn recommend(record: &Record, needs: &[Need], options: &Options) -> Result<Outcome, String> {
    Ok(advise(&Advice::of(record, needs)?, &options.output))
}

fn advise(advice: &Advice, options: &OutputOptions) -> Outcome {
    written(terminal(options).prose(&format!("\n{advice}")))
}

/// The host that starts the guests. None if everything happens in this process.
fn host(orders: &[Order]) -> Result<Option<Host>, String> {
    if orders.iter().all(|order| order.options.sampling.in_process) {
        return Ok(None);
    }
    Host::of_this_program()
        .map(Some)
        .map_err(|why| format!("the path of this program is not known ({why}): use --in-process"))
}

/// Serves an executor to the process that measures.
///
/// # Errors
///
/// If there is no such executor in these `orders`. Does not return otherwise.
pub fn serve(orders: &[Order], service: &Service) -> Result<Outcome, String> {
    let Service { run, executor } = service;
    if let Some(run) = plan(orders, None)?.get(*run) {
        run.serve(executor);
    }
    Err(format!("run {run} has no executor {executor}: {VARIABLE} is for processes that this program starts"))
}

/// The baseline to compare with, if there is one. Checks that it can be compared before anything is measured.
fn baseline(
    options: &ComparisonOptions,
    record: &Record,
    plan: &[Box<dyn Planned>],
    terms: Terms,
) -> Result<Option<Baseline>, String> {
    let Some(path) = &options.baseline else {
        let useless = [
            ("--fail-on-regression", options.fail_on_regression),
            ("--force", options.force),
            ("--noise-threshold", options.noise_threshold.is_some()),
        ];
        return match useless.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(format!("{option} has no effect without --baseline: name a file to compare with")),
            None => Ok(None),
        };
    };
    let baseline = Record::read(path)?;
    if !terms.force {
        compare::alike(&baseline, record, &outlines(plan))?;
    }
    let planned: Vec<_> = plan.iter().map(|run| (run.outline(), run.executors())).collect();
    compare::overlap(&baseline, &planned, terms.force)?;
    Ok(Some(Baseline { record: baseline, terms }))
}

fn terms(options: &Options) -> Terms {
    let ComparisonOptions { fail_on_regression, force, .. } = options.comparison;
    Terms { threshold: options.comparison.threshold(), fail_on_regression, force }
}

/// The terminal, and all outputs that were asked for.
fn sinks(
    options: &OutputOptions,
    outlines: &[Run],
    baseline: Option<&Rc<Baseline>>,
) -> Result<Vec<Box<dyn Sink>>, String> {
    differ(&options.output)?;
    let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(terminal(options))];
    for destination in &options.output {
        sinks.push(sink::open(destination, outlines, baseline)?);
    }
    sinks.iter_mut().try_for_each(|sink| sink.start()).map_err(|why| format!("cannot write {why}"))?;
    Ok(sinks)
}

/// The sink for tables. It writes to stderr if a file format goes to standard output.
fn terminal(options: &OutputOptions) -> Terminal<Box<dyn io::Write>> {
    let (out, size): (Box<dyn io::Write>, _) = if writes_to_output(options) {
        (Box::new(anstream::stderr()), terminal_size_of(io::stderr()))
    } else {
        (Box::new(anstream::stdout()), terminal_size_of(io::stdout()))
    };
    let terminal = Terminal::new(out, options.quiet);
    match size {
        Some((Width(columns), _)) => terminal.wide(columns),
        None => terminal,
    }
}

/// Whether standard output is for a file format, and tables go elsewhere.
fn writes_to_output(options: &OutputOptions) -> bool {
    let to_output = |destination: &Destination| destination.target == Target::Output;
    options.output.iter().any(to_output)
}

/// Refuses to write two things to one place.
fn differ(destinations: &[Destination]) -> Result<(), String> {
    let mut places = HashSet::new();
    match destinations.iter().find(|destination| !places.insert(destination.target.resolved())) {
        Some(twice) => Err(format!("--output names {} twice: leave one out", twice.target)),
        None => Ok(()),
    }
}

/// Refuses to replace the record at `path`, which is read; `what` says what it is.
fn spare(path: &Path, what: &str, options: &OutputOptions) -> Result<(), String> {
    let source = Target::File(path.to_owned()).resolved();
    match options.output.iter().find(|destination| destination.target.resolved() == source) {
        Some(same) => Err(format!("--output names {}, which is {what}: choose another file", same.target)),
        None => Ok(()),
    }
}

fn compare(own: &CompareOptions, options: &Options) -> Result<Outcome, String> {
    let (terms, output) = (terms(options), &options.output);
    differ(&output.output)?;
    let documents = output.output.iter().map(sink::open_comparison).collect::<Result<Vec<_>, _>>()?;
    let (old, new) = (Record::read(&own.old)?, Record::read(&own.new)?);
    let comparison = Comparison::of(&old, &new, &terms)?;
    let regressions = match comparison.judged(&terms) {
        Ok(regressions) => regressions,
        // As after a measurement: the command is right, but what it was to find out is not known.
        Err(why) => {
            error(&why);
            return Ok(Outcome::Failed);
        }
    };
    let told = documents.iter().map(|document| written(document.write(&comparison))).fold(Outcome::Done, Outcome::max);
    // The document on standard output says it already.
    let shown = if writes_to_output(output) { Outcome::Done } else { show(&comparison, output) };
    Ok(shown.max(told).max(reported(&regressions)))
}

fn show(comparison: &Comparison, options: &OutputOptions) -> Outcome {
    written(terminal(options).comparison(comparison))
}

/// The outcome of a comparison with these regressions, which are reported.
fn reported(regressions: &[String]) -> Outcome {
    regressions.iter().for_each(|line| error(line));
    if regressions.is_empty() { Outcome::Done } else { Outcome::Regressed }
}

/// Gives the record at `path` to all sinks, as if it had just been measured.
fn report(path: &Path, options: &OutputOptions) -> Result<Outcome, String> {
    spare(path, "the record itself", options)?;
    let whole = Record::read(path)?;
    let sinks = sinks(options, &whole.runs, None)?.into_iter();
    if !options.quiet {
        view::doubts(&whole).iter().for_each(|doubt| warning(doubt));
    }
    let shown = sinks.map(|mut sink| written(sink.retell(&whole))).fold(Outcome::Done, Outcome::max);
    Ok(match Advice::recorded(&whole) {
        Some(advice) => shown.max(advise(&advice, options)),
        None => shown,
    })
}

fn print(text: &[u8]) -> io::Result<()> {
    Terminal::new(io::stdout(), false).write(&String::from_utf8_lossy(text))
}

fn written(result: io::Result<()>) -> Outcome {
    match result {
        Ok(()) => Outcome::Done,
        // A reader that closes the pipe has read enough.
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Outcome::Done,
        Err(why) => {
            error(&format!("results could not be written: {why}"));
            Outcome::Failed
        }
    }
}
