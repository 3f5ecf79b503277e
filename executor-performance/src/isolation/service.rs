//! What a guest does.

use super::host::VARIABLE;
use crate::{
    experiment::{Subject, Turn},
    failure::Failure,
    usage::Usage,
};
use serde::Serialize;
use std::{
    env,
    io::{self, BufRead, Write},
    process,
    sync::mpsc,
    thread,
};

/// What a guest is to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// The number of the run.
    pub run: usize,
    /// The name of the executor.
    pub executor: String,
}

impl Service {
    /// What this process is to serve, if it is a guest.
    pub fn asked_for() -> Option<Self> {
        Self::parse(&env::var(VARIABLE).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (run, executor) = text.split_once(':')?;
        Some(Service { run: run.parse().ok()?, executor: executor.to_owned() })
    }
}

/// Lets `subject` take the turns that are read from standard input, and writes what they measured to standard output.
/// Never returns: the process ends with its input, even in the middle of a turn, because no one is there to read the
/// answer.
pub fn serve<T: Turn>(subject: &dyn Subject<T>) -> ! {
    let (sender, turns) = mpsc::channel();
    let read = move || {
        let _ = io::stdin().lock().lines().map_while(Result::ok).try_for_each(|line| sender.send(line));
        process::exit(0);
    };
    let reader = thread::Builder::new().name("reader".to_owned()).spawn(read);
    // Without a reader there are no turns: this answers the first, and after a failure the host wants no other answer.
    let told = |why| format!("the system refuses the one that reads turns ({why}); raise its limit");
    let refused = reader.err().map(|why| Err(Failure::Thread(told(why)).to_string()));
    let mut answers = refused.into_iter().chain(turns.iter().map(|turn| taken(subject, &turn)));
    let _ = answers.try_for_each(|answer| tell(&answer));
    process::exit(0)
}

/// What a sample measured and used, or why there is none.
type Answer<S> = Result<(S, Usage), String>;

fn taken<T: Turn>(subject: &dyn Subject<T>, turn: &str) -> Answer<T::Sample> {
    let turn = serde_json::from_str(turn).map_err(|why| format!("was given what is no turn: {why}"))?;
    subject.take_metered(&turn).map_err(|failure| failure.to_string())
}

fn tell<S: Serialize>(answer: &Answer<S>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{}", serde_json::to_string(answer).expect("a sample is plain data"))?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_colons() {
        let service = Service { run: 3, executor: "a:b".to_owned() };
        assert_eq!(Service::parse("3:a:b"), Some(service));
        assert_eq!(Service::parse("3"), None);
        assert_eq!(Service::parse("x:y"), None);
    }
}
