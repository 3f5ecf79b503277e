//! The options that describe a workload for which an executor is to be recommended.

use super::{sweep::Sweep, values::parts_of_microseconds};
use crate::{
    advice::{self, CANDIDATES, Need},
    once_each::once_each,
};
use clap::{Args, ValueEnum};
use std::{
    io::{self, BufRead, IsTerminal, Write},
    time::Duration,
};

const WHERE_FROM: &str = "\
Where do your jobs come from?
  outside   threads outside of the pool give it jobs all the time (servers)
  inside    most jobs are given by other jobs (message passing)
  bursts    the pool sleeps until some jobs come at once
  blocking  jobs wait for files, sockets, locks (only by itself)
Separate several with commas; press Enter for the first three: ";

const WHAT_ELSE: &str = "\
What else must the pool be able to do?
  priorities  urgent jobs overtake others
  subpools    at most a given number of some jobs run at a time
  bound       some jobs all run on one thread
Separate several with commas; press Enter for nothing: ";

const HOW_LONG: &str = "\
How long does a job take (such as 20us)?
Press Enter for 1us, or 1ms if jobs block: ";

/// What applies to recommend only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct RecommendOptions {
    /// Where jobs come from, and how: outside, inside, bursts, blocking. May be repeated
    /// [default: asked for on a terminal; otherwise all but blocking]
    ///
    /// `outside`: threads that are not part of the pool give it jobs all the time, as in a server. `inside`: most jobs
    /// are given by other jobs, as with message passing. `bursts`: the pool sleeps until some jobs come at once.
    /// `blocking`: jobs wait for the system; such jobs are better off in a pool of their own, so this cannot be
    /// combined with others. Example: --workload inside,bursts
    #[arg(long = "workload", value_name = "NAME", value_delimiter = ',', ignore_case = true)]
    pub workloads: Vec<Workload>,

    /// What the pool must be able to do: priorities, subpools, bound. May be repeated
    /// [default: asked for on a terminal; otherwise nothing]
    ///
    /// `priorities`: urgent jobs overtake others. `subpools`: at most a given number of some jobs run at a time,
    /// whatever else there is to do. `bound`: some jobs all run on one thread. Of the executors here only the
    /// dispatcher can do these; others are measured beside it, to show what that costs. Example: --needs
    /// priorities,bound
    #[arg(long, value_name = "NAME", value_delimiter = ',', ignore_case = true)]
    pub needs: Vec<Need>,

    /// How long a job takes [default: asked for on a terminal; otherwise 1us, or 1ms if jobs block]
    ///
    /// Example: --job-time 20us
    #[arg(long, value_name = "US", allow_negative_numbers = true, value_parser = job_time)]
    pub job_time: Option<f64>,

    /// Also recommend executors whose workers never sleep, for pools that have their cores to themselves
    ///
    /// Example: --spin
    #[arg(long)]
    pub spin: bool,
}

/// Where jobs come from, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Workload {
    /// Jobs are given all the time by threads that are not part of the pool.
    Outside,
    /// Most jobs are given by other jobs.
    Inside,
    /// The pool sleeps until some jobs come at once.
    Bursts,
    /// Jobs wait for the system.
    Blocking,
}

impl Workload {
    /// Its name, and what it is.
    pub fn explained(self) -> &'static str {
        match self {
            Workload::Outside => "outside: threads outside of the pool give it jobs all the time",
            Workload::Inside => "inside: most jobs are given by other jobs",
            Workload::Bursts => "bursts: the pool sleeps until some jobs come at once",
            Workload::Blocking => "blocking: jobs wait for the system",
        }
    }
}

impl RecommendOptions {
    /// What to measure.
    ///
    /// # Errors
    ///
    /// If workloads were named that need different pools.
    pub fn workloads(&self) -> Result<Vec<Workload>, String> {
        const USUAL: [Workload; 3] = [Workload::Outside, Workload::Inside, Workload::Bursts];
        let workloads = once_each(if self.workloads.is_empty() { USUAL.to_vec() } else { self.workloads.clone() });
        if workloads.len() > 1 && workloads.contains(&Workload::Blocking) {
            return Err(
                "--workload blocking cannot be combined, because jobs that block need a pool of their own: ask for it by itself"
                    .to_owned(),
            );
        }
        Ok(workloads)
    }

    /// What the pool must be able to do.
    pub fn needs(&self) -> Vec<Need> {
        once_each(self.needs.iter().copied())
    }

    /// How long a job takes.
    pub fn job_time(&self, workload: Workload) -> Duration {
        let (usual, least) = match workload {
            // A job that blocks for no time at all would have no ideal to be compared with.
            Workload::Blocking => (1000.0, Duration::from_nanos(1)),
            _ => (1.0, Duration::ZERO),
        };
        Duration::from_secs_f64(self.job_time.unwrap_or(usual) / 1e6).max(least)
    }

    /// Executors to measure if none is named.
    pub fn candidates(&self) -> Vec<&'static str> {
        let blocking = self.workloads.contains(&Workload::Blocking);
        if !self.needs.is_empty() {
            // The others show what the dispatcher costs.
            return vec!["dispatcher", if blocking { "elastic" } else { "channel" }, "workstealing"];
        }
        if blocking {
            return vec!["elastic-growing", "elastic", "channel", "workstealing"];
        }
        let mut names = CANDIDATES.to_vec();
        names.extend(self.spin.then_some("workstealing-spin-timed"));
        names
    }

    /// Makes sure that `--spin`, if given, adds to the [`candidates`](Self::candidates). They are not asked for if
    /// executors `are_named`.
    ///
    /// # Errors
    ///
    /// If it does not.
    pub(super) fn spin_matters(&self, are_named: bool) -> Result<(), String> {
        let instead = match self {
            RecommendOptions { spin: false, .. } => return Ok(()),
            _ if are_named => "--executor: leave out --spin, and name workstealing-spin-timed if it is to be measured",
            _ if !self.needs.is_empty() => "--needs, because only dispatchers can do that: leave out one of them",
            _ if self.workloads.contains(&Workload::Blocking) => {
                "--workload blocking, because jobs that block keep workers from spinning: leave out one of them"
            }
            _ => return Ok(()),
        };
        Err(format!("--spin has no effect with {instead}"))
    }

    /// Makes sure that there is one number of `threads`.
    ///
    /// # Errors
    ///
    /// If there are several.
    pub(super) fn one_width(threads: &Sweep<usize>) -> Result<(), String> {
        match threads.values().len() {
            1 => Ok(()),
            several => Err(format!(
                "--threads has {several} values: recommend needs one, so give the number of threads that you will have"
            )),
        }
    }

    /// Makes sure that one of the `executors` can do what is needed.
    ///
    /// # Errors
    ///
    /// If none can.
    pub fn suffice<'a>(&self, mut executors: impl Iterator<Item = &'a str>) -> Result<(), String> {
        if executors.any(|name| advice::can(name, &self.needs)) {
            Ok(())
        } else {
            Err("only a dispatcher can do what --needs says: add --executor dispatcher, or name no executor".to_owned())
        }
    }

    /// Asks for what was not given, if standard input and standard error are terminals. Returns the answers as
    /// arguments.
    pub fn ask(&self) -> Vec<String> {
        let (input, mut output) = (io::stdin(), io::stderr());
        if input.is_terminal() && output.is_terminal() {
            self.ask_on(&mut input.lock(), &mut output)
        } else {
            Vec::new()
        }
    }

    fn ask_on(&self, input: &mut impl BufRead, output: &mut impl Write) -> Vec<String> {
        let mut said: Vec<[String; 2]> = Vec::new();
        if self.workloads.is_empty() {
            let parse = |text: &str| {
                let answered = RecommendOptions { workloads: chosen(text)?, needs: Vec::new(), ..*self };
                answered.spin_matters(false).and_then(|()| answered.workloads())
            };
            said.extend(
                answer(input, output, WHERE_FROM, parse).map(|text| ["--workload".to_owned(), text.replace(' ', "")]),
            );
        }
        if self.needs.is_empty() {
            let parse = |text: &str| {
                RecommendOptions { workloads: Vec::new(), needs: chosen(text)?, ..*self }.spin_matters(false)
            };
            said.extend(
                answer(input, output, WHAT_ELSE, parse).map(|text| ["--needs".to_owned(), text.replace(' ', "")]),
            );
        }
        if self.job_time.is_none() {
            said.extend(answer(input, output, HOW_LONG, job_time).map(|text| ["--job-time".to_owned(), text]));
        }
        said.concat()
    }
}

/// A time in microseconds for which a job can last.
fn job_time(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1e9;
    match parts_of_microseconds(text)? {
        time if time > MOST => Err("must be at most 1000 s".to_owned()),
        time => Ok(time),
    }
}

/// All values that are named in `text`, with commas in between.
fn chosen<T: ValueEnum>(text: &str) -> Result<Vec<T>, String> {
    let one = |name: &str| {
        T::from_str(name.trim(), true).map_err(|_| {
            let known = T::value_variants().iter().filter_map(T::to_possible_value);
            let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
            format!("`{}` is none of {}", name.trim(), known.join(", "))
        })
    };
    text.split(',').map(one).collect()
}

/// The first answer to `question` that can be parsed. None if an answer is empty or cannot be read.
fn answer<T>(
    input: &mut impl BufRead,
    output: &mut impl Write,
    question: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Option<String> {
    loop {
        write!(output, "{question}").and_then(|()| output.flush()).ok()?;
        let mut line = String::new();
        input.read_line(&mut line).ok()?;
        let text = line.trim();
        if text.is_empty() {
            return None;
        }
        match parse(text) {
            Ok(_) => return Some(text.to_owned()),
            Err(why) => writeln!(output, "{text}: {why}").ok()?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Command;

    fn options() -> RecommendOptions {
        RecommendOptions { workloads: Vec::new(), needs: Vec::new(), job_time: None, spin: false }
    }

    #[test]
    fn answers_become_options() {
        let mut output = Vec::new();
        let said =
            options().ask_on(&mut &b"outsid\nblocking,inside\ninside, bursts\nspeed\nbound\n0\n20\n"[..], &mut output);
        assert_eq!(said, ["--workload", "inside,bursts", "--needs", "bound", "--job-time", "20"]);
        insta::assert_snapshot!("questions", String::from_utf8(output).expect("text"));
        for question in [WHERE_FROM, WHAT_ELSE, HOW_LONG] {
            assert!(question.lines().all(|line| line.len() <= 80), "{question}");
        }
    }

    #[test]
    fn who_says_nothing_gets_the_usual() {
        let own = options();
        assert_eq!(own.ask_on(&mut &b"\n\n\n"[..], &mut Vec::new()), Vec::<String>::new());
        assert_eq!(own.ask_on(&mut &b""[..], &mut Vec::new()), Vec::<String>::new());
        assert_eq!(own.workloads().map(|all| all.len()), Ok(3));
        assert_eq!(own.job_time(Workload::Outside), Duration::from_micros(1));
        assert_eq!(own.job_time(Workload::Blocking), Duration::from_millis(1));
    }

    #[test]
    fn answers_are_accepted_however_they_are_written() {
        let said = options().ask_on(&mut &b"Inside\nBOUND\n1us\n"[..], &mut Vec::new());
        let line = ["tool", "recommend"].map(str::to_owned).into_iter().chain(said);
        let orders = crate::cli::parse(line.map(Into::into)).expect("they were checked");
        let Command::Recommend(own) = &orders[0].command else { panic!("{orders:?}") };
        assert_eq!((own.workloads(), own.needs()), (Ok(vec![Workload::Inside]), vec![Need::Bound]));
    }

    #[test]
    fn answers_that_leave_nothing_to_spin_are_refused() {
        let own = RecommendOptions { spin: true, ..options() };
        let said = own.ask_on(&mut &b"blocking\ninside\nbound\n\n\n"[..], &mut Vec::new());
        assert_eq!(said, ["--workload", "inside"]);
    }

    #[test]
    fn what_is_asked_for_twice_counts_once() {
        let (workloads, needs) = ([Workload::Inside; 2].to_vec(), vec![Need::Bound, Need::Priorities, Need::Bound]);
        let own = RecommendOptions { workloads, needs, ..options() };
        assert_eq!((own.workloads(), own.needs()), (Ok(vec![Workload::Inside]), vec![Need::Bound, Need::Priorities]));
    }

    #[test]
    fn blocking_stands_alone() {
        let own = RecommendOptions { workloads: vec![Workload::Blocking, Workload::Inside], ..options() };
        assert!(own.workloads().is_err_and(|why| why.contains("by itself")));
    }
}
