//! What a guest does.

use super::host::VARIABLE;
use crate::{
    experiment::{Subject, Turn},
    usage::Usage,
};
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
    thread::spawn(move || {
        let _ = io::stdin().lock().lines().map_while(Result::ok).try_for_each(|line| sender.send(line));
        process::exit(0);
    });
    for turn in turns {
        let mut output = io::stdout().lock();
        if writeln!(output, "{}", answer(subject, &turn)).and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    process::exit(0)
}

fn answer<T: Turn>(subject: &dyn Subject<T>, turn: &str) -> String {
    let taken: Result<(T::Sample, Usage), String> = serde_json::from_str(turn)
        .map_err(|why| format!("was given what is no turn: {why}"))
        .and_then(|turn| subject.take_metered(&turn).map_err(|failure| failure.to_string()));
    serde_json::to_string(&taken).expect("a sample is plain data")
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
