//! How guests are called.

use super::Failures;
use std::{
    env,
    ffi::OsString,
    io,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

/// Tells a guest what it is to serve: the number of the run and the name of the executor, with a colon in between.
pub(super) const VARIABLE: &str = "EXECUTOR_PERFORMANCE_SERVES";

/// Calls guests.
#[derive(Debug, Clone)]
pub struct Host {
    program: PathBuf,
    args: Vec<OsString>,
    limit: Duration,
    /// What all guests share, if they do.
    failures: Option<Failures>,
}

impl Host {
    /// Calls this program, with the arguments that it has. Guests that take longer than `limit` for a turn are killed.
    ///
    /// # Errors
    ///
    /// If the system does not say which program this is.
    pub fn of_this_program(limit: Duration) -> io::Result<Self> {
        Ok(Host { program: env::current_exe()?, args: env::args_os().skip(1).collect(), limit, failures: None })
    }

    /// Adds `args` to the arguments.
    #[must_use]
    pub fn with_args(mut self, args: &[String]) -> Self {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    /// Leaves an executor alone in all runs once it has failed in one.
    #[must_use]
    pub fn unforgiving(self) -> Self {
        Host { failures: Some(Failures::default()), ..self }
    }

    /// To which a guest adds its own: those of all, or none.
    pub fn failures(&self) -> Failures {
        self.failures.clone().unwrap_or_default()
    }

    /// How long a turn may take.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// What calls a guest for `executor` in the run of that number.
    pub fn command(&self, run: usize, executor: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env(VARIABLE, format!("{run}:{executor}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // An interrupt from the terminal is for the host, which wants to keep what the guest is about to tell.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}
