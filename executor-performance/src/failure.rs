//! Why there are no figures.

use std::{any::Any, error::Error, fmt, io, iter, time::Duration};

/// Why an executor could not be measured. Ends up in the results in place of numbers.
#[derive(Debug)]
pub enum Failure {
    /// The executor could not be built.
    Build(String),
    /// The operating system refuses threads that are needed to run the executor.
    Thread(String),
    /// A thread of the measurement itself could not be started.
    Producer(io::Error),
    /// A call to give a job to the executor panicked.
    Submission,
    /// Jobs were missing and none ended for a while.
    Stalled {
        /// Jobs that ran.
        ran: u64,
        /// Jobs that should have run.
        expected: u64,
        /// How long none ended.
        patience: Duration,
    },
    /// Chains that go on until they are told to stop have stopped before that.
    Broken {
        /// Jobs that ran.
        ran: u64,
        /// How long none ended.
        patience: Duration,
    },
    /// A problem was not solved in time.
    Unsolved {
        /// How long it was waited for.
        patience: Duration,
    },
    /// Even without an executor, the problem takes longer than an executor would be waited for.
    TooLarge {
        /// The option that says how large the problem is.
        option: &'static str,
        /// How long one run may take: two are waited for, twice as long.
        patience: Duration,
    },
    /// The result is wrong.
    Wrong(String),
    /// More jobs ran than were given to the executor.
    Miscounted {
        /// Jobs that ran.
        ran: u64,
        /// Jobs that should have run.
        expected: u64,
    },
    /// The executor did not shut down.
    Shutdown(String),
    /// A sample did not end, and the executor was killed.
    Hung {
        /// How long it was waited for.
        limit: Duration,
    },
    /// The process in which it ran ended.
    Crashed(String),
    /// The problem panics without an executor, too.
    Faulty,
    /// The process in which it was to run could not be started.
    Host(io::Error),
    /// One of the above, in the words of another process.
    Told(String),
    /// The run was interrupted before there was a sample.
    Interrupted,
}

/// How a failure begins that says nothing about the executor, in records, too.
const NOT_MEASURED: &str = "not measured: ";

/// Whether a failure, in words, says nothing about the executor.
pub(crate) fn says_nothing_about_executor(failure: &str) -> bool {
    failure.starts_with(NOT_MEASURED)
}

/// What helps if the executor is not the reason.
const RAISE_PATIENCE: &str = "; if that is too short, raise --patience";

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Build(why) => write!(f, "could not be built: {why}"),
            Failure::Thread(why) => write!(f, "{NOT_MEASURED}no thread for it: {why}"),
            Failure::Producer(why) => write!(f, "{NOT_MEASURED}no thread for a producer: {why}"),
            Failure::Submission => write!(f, "panicked while a job was given to it"),
            Failure::Stalled { ran, expected, patience } => {
                let seconds = patience.as_secs_f64();
                write!(f, "stalled: {ran} of {expected} jobs ran, then none for {seconds} s{RAISE_PATIENCE}")
            }
            Failure::Broken { ran, patience } => {
                let seconds = patience.as_secs_f64();
                write!(f, "stalled: {ran} jobs of endless chains ran, then none for {seconds} s{RAISE_PATIENCE}")
            }
            Failure::Unsolved { patience } => {
                let seconds = patience.as_secs_f64();
                write!(f, "stalled: no result after {seconds} s{RAISE_PATIENCE}")
            }
            Failure::TooLarge { option, patience } => {
                let seconds = patience.as_secs_f64();
                write!(
                    f,
                    "{NOT_MEASURED}without it, this takes more than {seconds} s, too; lower {option}, or raise --patience"
                )
            }
            Failure::Wrong(what) => write!(f, "gave a wrong result: {what}"),
            Failure::Miscounted { ran, expected } => write!(f, "ran {ran} jobs when given {expected}"),
            Failure::Hung { limit } => {
                let seconds = limit.as_secs_f64();
                write!(f, "hung: a sample took more than {seconds} s; if that is too short, raise --timeout")
            }
            Failure::Crashed(how) => write!(f, "crashed: the process that ran it ended ({how})"),
            Failure::Faulty => write!(f, "{NOT_MEASURED}it panicked without an executor, too"),
            Failure::Host(why) => write!(f, "{NOT_MEASURED}no process for it: {why}"),
            Failure::Told(what) => f.write_str(what),
            Failure::Interrupted => write!(f, "{NOT_MEASURED}the run was interrupted before"),
            Failure::Shutdown(why) => write!(f, "did not shut down: {why}"),
        }
    }
}

impl Error for Failure {}

impl Failure {
    /// Why an executor could not be built, from the error of its constructor. No constructor asks the system for
    /// anything but threads.
    pub(crate) fn of_build(error: &(dyn Error + 'static)) -> Self {
        let mut causes = iter::successors(Some(error), |&error| error.source());
        let why = error.to_string();
        if causes.any(|cause| cause.is::<io::Error>()) { Failure::Thread(why) } else { Failure::Build(why) }
    }

    /// The same, from what it panicked with, if not for want of a thread.
    pub(crate) fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        Failure::Build(text.unwrap_or("it panicked").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executors::burst_pool::ThreadPool;

    #[test]
    fn what_the_system_refuses_says_nothing_about_the_executor() {
        // No address space has room for such a stack.
        let refused = ThreadPool::builder().threads(1).stack_size(usize::MAX / 2).build().expect_err("no stack");
        let told = Failure::of_build(&refused).to_string();
        assert!(says_nothing_about_executor(&told) && told.contains("no thread for it: the operating"), "{told}");
        let of_peer = io::Error::from(io::ErrorKind::WouldBlock);
        assert!(matches!(Failure::of_build(&of_peer), Failure::Thread(_)));
        let too_many = ThreadPool::builder().threads(usize::MAX).build().expect_err("too many");
        assert!(matches!(Failure::of_build(&too_many), Failure::Build(_)));
    }
}
