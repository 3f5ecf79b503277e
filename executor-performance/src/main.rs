//! The command-line tool `executor-performance`.

use executor_performance::{
    cli::{self, Command, CommandLine, Refusal},
    experiment::{Avalanche, Idle, Latency, Lifecycle, Repost, Submit, Throughput, Vigil, Wake},
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
    let (threads, load, patience) = (options.threads, &options.load, options.sampling.patience);
    match command {
        Command::List => Ok(session::list(&cli::experiments())),
        Command::Throughput(own) => {
            let labour = Labour { pre: own.pre, post: own.post };
            let experiment = Throughput::new(threads, load.chains(1_000_000)?, labour, own.size.full_size, patience);
            session::run(experiment, &options, 2.0)
        }
        Command::Latency(own) => {
            let pause = Duration::from_millis(own.sleep_time);
            let experiment = Latency::new(threads, load.chains(1_000)?, SMALL_LABOUR, pause, patience);
            session::run(experiment, &options, 5.0)
        }
        Command::Repost(own) => {
            load.unused("repost")?;
            session::run(Repost::new(threads, own.load()?, own.size.full_size, patience), &options, 2.0)
        }
        Command::Avalanche(size) => {
            let jobs = load.single_jobs(1_000_000, "avalanche")?;
            session::run(Avalanche::new(threads, jobs, size.full_size, patience), &options, 2.0)
        }
        Command::Submit(own) => {
            let (jobs, sleep) = (load.produced_jobs(1_000_000, "submit")?, own.sleep(patience)?);
            session::run(Submit::new(threads, jobs, sleep, own.size.full_size, patience), &options, 2.0)
        }
        Command::Fairness(own) => {
            load.unused("fairness")?;
            session::run(own.experiment(threads, patience)?, &options, 5.0)
        }
        Command::Lifecycle => {
            load.unused("lifecycle")?;
            session::run(Lifecycle::new(threads, patience), &options, 2.0)
        }
        Command::Idle(own) => {
            let queued = load.single_jobs(100_000, "idle")?.jobs();
            let (settle, window) = (Duration::from_millis(own.settle), Duration::from_millis(own.window));
            session::run(Idle::new(threads, Vigil { settle, window, queued, patience }), &options, 5.0)
        }
        Command::Futures(own) => {
            load.unused("futures")?;
            session::run_on_futures(own.experiments(threads, patience)?, &options, 2.0)
        }
        Command::Wake(own) => {
            let jobs = load.single_jobs(threads as u64, "wake")?;
            let pause = Duration::from_millis(own.sleep_time);
            session::run(Wake::new(threads, jobs, pause, patience), &options, 5.0)
        }
    }
}
