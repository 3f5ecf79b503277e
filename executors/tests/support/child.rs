//! A test in a process of its own, for what other tests would disturb: limits, environment, threads, standard error.

use crate::support::{case, watchdog::within};
use std::{
    env,
    process::{self, Command, Stdio},
};

/// Tells the child which test is to run its body.
const MARK: &str = "EXECUTORS_TEST_CHILD";

/// The child process: this test binary again, told to run the calling test only.
#[derive(Default)]
pub(crate) struct Child {
    variable: Option<(&'static str, &'static str)>,
    address_space: Option<u64>,
}

impl Child {
    /// Sets one environment variable.
    pub(crate) fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variable = Some((name, value));
        self
    }

    /// Limits the address space, where that is possible (on Linux). No other limit keeps root, too, from creating
    /// threads: their stacks need addresses.
    pub(crate) fn address_space(mut self, bytes: u64) -> Self {
        self.address_space = Some(bytes);
        self
    }

    /// Runs `body` in the child, requires that it succeeds, and returns what the child wrote to standard error.
    ///
    /// The caller is re-entered in the child; what follows the call of `run` happens in the parent only.
    pub(crate) fn run(self, body: impl FnOnce()) -> String {
        let name = case::name();
        if env::var_os(MARK).is_some_and(|mark| mark == *name) {
            within(body);
            process::exit(0);
        }
        // No watchdog here: the child has one.
        let output = self.command(&name).output().expect("the test binary can be started again");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "the child process failed, {}:\n{text}\n{error}", output.status);
        assert!(text.contains("running 1 test"), "the child did not find the test {name}:\n{text}");
        error
    }

    fn command(&self, name: &str) -> Command {
        let binary = env::current_exe().expect("a running test has a file");
        let mut command = match self.address_space.filter(|_| cfg!(target_os = "linux")) {
            None => Command::new(binary),
            Some(bytes) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("ulimit -v {} && exec \"$0\" \"$@\"", bytes / 1024)).arg(binary);
                shell
            }
        };
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(MARK, name);
        if self.address_space.is_some() {
            // Printing one takes more memory than there may be, and a thread that fails at that may hold the lock for
            // printing.
            command.env("RUST_BACKTRACE", "0");
        }
        command.envs(self.variable).stdin(Stdio::null());
        command
    }
}

/// Uses up a limited address space, except for gaps of less than `gap` bytes.
pub(crate) fn ballast(gap: usize) -> Vec<Vec<u8>> {
    let mut ballast = Vec::new();
    loop {
        let mut addresses = Vec::new();
        if addresses.try_reserve_exact(gap).is_err() {
            return ballast;
        }
        ballast.push(addresses);
    }
}
