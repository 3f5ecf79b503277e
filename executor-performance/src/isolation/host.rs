//! How guests are called.

use super::Failures;
use std::{
    env,
    ffi::OsString,
    io,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Tells a guest what it is to serve: the number of the run and the name of the executor, with a colon in between.
pub const VARIABLE: &str = "EXECUTOR_PERFORMANCE_SERVES";

/// Calls guests.
#[derive(Debug, Clone)]
pub struct Host {
    program: PathBuf,
    /// What all guests share, if they do.
    failures: Option<Failures>,
}

impl Host {
    /// Calls this program.
    ///
    /// # Errors
    ///
    /// If the system does not say which program this is.
    pub fn of_this_program() -> io::Result<Self> {
        let here = env::current_exe()?;
        // Another may be there by now, for instance as the program was built again.
        let program = if cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { here };
        Ok(Host { program, failures: None })
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

    /// What calls a guest for `executor` in the run of that number, of those that the command line of these `words`
    /// orders.
    pub fn command(&self, words: &[OsString], run: usize, executor: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words.iter().skip(1)).env(VARIABLE, format!("{run}:{executor}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // An interrupt from the terminal is for the host, which wants to keep what the guest is about to tell.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // What lists processes shows the name by which this one was called.
        #[cfg(unix)]
        if let Some(program) = words.first() {
            std::os::unix::process::CommandExt::arg0(&mut command, program);
        }
        command
    }
}
