//! The command-line tool `executor-performance`.

use executor_performance::{
    app,
    cli::{self, Refusal},
    interrupt::Interrupt,
    isolation::Service,
    session::Outcome,
    sink,
};
use std::{env, process::ExitCode};

const RUN_FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;
const REGRESSED: u8 = 3;

fn main() -> ExitCode {
    let (interrupt, service) = (Interrupt::default(), Service::asked_for());
    if service.is_some() {
        // A signal that asks the host to stop comes here as well, and the host wants its sample.
        interrupt.listen();
    }
    let outcome = match cli::parse(env::args_os()) {
        Ok(orders) => match service {
            Some(service) => app::serve(&orders, &service),
            None => app::perform(&orders, &interrupt),
        },
        Err(Refusal::Shown(help)) => {
            // A reader that closes the pipe has read enough.
            let _ = help.print();
            Ok(Outcome::Done)
        }
        Err(Refusal::Wrong(complaint)) => Err(format!("{complaint}; see --help")),
    };
    interrupt.obey();
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(RUN_FAILED),
        Ok(Outcome::Regressed) => ExitCode::from(REGRESSED),
        Err(complaint) => {
            sink::error(&complaint);
            ExitCode::from(WRONG_USAGE)
        }
    }
}
