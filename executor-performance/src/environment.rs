//! What the machine is, and whether it is quiet enough to measure on.

use std::{env, fs, num::NonZeroUsize, path::Path, thread};

/// The load average above which a machine counts as busy.
const BUSY: f64 = 0.5;

/// Facts about this program, this command and this machine.
#[derive(Debug, Clone)]
pub struct Environment {
    /// This program's version.
    pub version: &'static str,
    /// How it was built: `release` or `debug`.
    pub build: &'static str,
    /// The command, with its arguments.
    pub command: String,
    /// The processor's name.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// The operating system and its kernel's version.
    pub system: String,
    /// Processes that wanted to run, on average over the last minute.
    pub load_average: Option<f64>,
}

impl Environment {
    /// The facts now.
    pub fn now() -> Self {
        Environment {
            version: env!("CARGO_PKG_VERSION"),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            command: command(env::args()),
            cpu: fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(cpu_name).unwrap_or_else(unknown),
            cores: cores(),
            system: format!("{} {}", env::consts::OS, first_word("/proc/sys/kernel/osrelease").unwrap_or_default()),
            load_average: first_word("/proc/loadavg").and_then(|word| word.parse().ok()),
        }
    }

    /// What makes measurements with `threads` doubtful here.
    pub fn doubts(&self, threads: usize) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.build == "debug" {
            doubts
                .push("THIS IS A DEBUG BUILD: its numbers mean nothing; build with `cargo build --release`".to_owned());
        }
        if threads > self.cores {
            doubts.push(format!(
                "{threads} threads on {} cores: this measures the operating system's scheduler as well",
                self.cores
            ));
        }
        if let Some(load) = self.load_average.filter(|load| *load > BUSY) {
            doubts.push(format!("the machine is busy (load average {load}): wait until it is quiet, or expect noise"));
        }
        doubts
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

fn unknown() -> String {
    "unknown processor".to_owned()
}

/// The arguments as one would type them, the program without its path.
fn command(args: impl Iterator<Item = String>) -> String {
    let words = args.enumerate().map(|(index, word)| {
        let name = Path::new(&word).file_name().filter(|_| index == 0);
        let word = name.map_or(word.clone(), |name| name.to_string_lossy().into_owned());
        if word.is_empty() || word.contains(char::is_whitespace) { format!("{word:?}") } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn cpu_name(cpuinfo: &str) -> Option<String> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields
        .filter(|(key, _)| matches!(key.trim(), "model name" | "Model" | "Hardware" | "cpu model"))
        .map(|(_, name)| name.split_whitespace().collect::<Vec<_>>().join(" "))
        .next()
}

fn first_word(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()?.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Environment {
        Environment { build: "release", cores: 4, load_average: Some(0.1), ..Environment::now() }
    }

    #[test]
    fn a_quiet_machine_raises_no_doubts() {
        assert_eq!(quiet().doubts(4), Vec::<String>::new());
        assert_eq!(Environment { load_average: None, ..quiet() }.doubts(1), Vec::<String>::new());
    }

    #[test]
    fn doubts_are_raised_about_each_cause_of_noise() {
        let doubted = Environment { build: "debug", load_average: Some(1.5), ..quiet() }.doubts(5).join("\n");
        for cause in ["DEBUG BUILD", "5 threads on 4 cores", "load average 1.5"] {
            assert!(doubted.contains(cause), "{doubted}");
        }
    }

    #[test]
    fn the_command_can_be_typed_again() {
        let words = ["/usr/bin/executor-performance", "-o", "my file.csv", "throughput"];
        let typed = command(words.into_iter().map(str::to_owned));
        assert_eq!(typed, "executor-performance -o \"my file.csv\" throughput");
    }

    #[test]
    fn finds_the_processor_in_cpuinfo() {
        let name = cpu_name("processor\t: 0\nmodel name\t: Some  CPU @ 3.40GHz\nflags\t: fpu\n");
        assert_eq!(name.as_deref(), Some("Some CPU @ 3.40GHz"));
        assert_eq!(cpu_name("processor: 0\n"), None);
    }
}
