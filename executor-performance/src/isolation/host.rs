//! How guests are started.

use super::Failures;
use std::{
    env,
    ffi::OsString,
    io,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The environment variable that tells a guest what to serve: the number of the run and the name of the executor, with
/// a colon in between.
pub const VARIABLE: &str = "EXECUTOR_PERFORMANCE_SERVES";

/// Starts guests.
#[derive(Debug, Clone)]
pub struct Host {
    program: PathBuf,
    /// The failures that all guests share, if they share them.
    failures: Option<Failures>,
}

impl Host {
    /// A host that starts this program.
    ///
    /// # Errors
    ///
    /// If the system does not say which program this is.
    pub fn of_this_program() -> io::Result<Self> {
        let here = env::current_exe()?;
        // Another program may be at that path by now, for instance because it was built again.
        let program = if cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { here };
        Ok(Host { program, failures: None })
    }

    /// An executor that has failed in one run is not tried again in the others.
    #[must_use]
    pub fn unforgiving(self) -> Self {
        Host { failures: Some(Failures::default()), ..self }
    }

    /// The failures that a guest adds to: those of all guests, or a set of its own.
    pub fn failures(&self) -> Failures {
        self.failures.clone().unwrap_or_default()
    }

    /// The command that starts a guest for `executor` in the run with the number `run`, of those that the command line
    /// `words` orders.
    pub fn command(&self, words: &[OsString], run: usize, executor: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words.iter().skip(1)).env(VARIABLE, format!("{run}:{executor}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // An interrupt from the terminal is for the host, which wants to keep what the guest is about to answer.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Lists of processes then show the name by which this program was called.
        #[cfg(unix)]
        if let Some(program) = words.first() {
            std::os::unix::process::CommandExt::arg0(&mut command, program);
        }
        command
    }
}
