//! The command-line tool `executor-performance`.

use executor_performance::{
    cli::{self, Command, CommandLine, Refusal},
    experiment::{Latency, Throughput},
    session::{self, Outcome},
    sink,
    workload::Labour,
};
use std::{env, process::ExitCode, time::Duration};

/// What each job of the latency experiment does, beside passing on.
const SMALL_LABOUR: Labour = Labour { pre: 10, post: 10 };

const RUN_FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let outcome = match cli::parse(env::args_os()) {
        Ok(command_line) => perform(command_line),
        Err(Refusal::Shown(help)) => {
            // Whoever closes the pipe has read enough.
            let _ = help.print();
            Ok(Outcome::Done)
        }
        Err(Refusal::Wrong(complaint)) => Err(format!("{complaint}; see --help")),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(RUN_FAILED),
        Err(complaint) => {
            sink::error(&complaint);
            ExitCode::from(WRONG_USAGE)
        }
    }
}

fn perform(CommandLine { options, command }: CommandLine) -> Result<Outcome, String> {
    match command {
        Command::List => Ok(session::list()),
        Command::Throughput(own) => {
            let load = options.load(1_000_000, Labour { pre: own.pre, post: own.post })?;
            let experiment = Throughput::new(options.threads, load, own.full_size, options.sampling.patience);
            session::run(experiment, &options, 2.0)
        }
        Command::Latency(own) => {
            let load = options.load(1_000, SMALL_LABOUR)?;
            let pause = Duration::from_millis(own.sleep_time);
            session::run(Latency::new(options.threads, load, pause, options.sampling.patience), &options, 5.0)
        }
    }
}
