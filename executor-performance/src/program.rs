//! What this program is, and how it was called.

use serde::{Deserialize, Serialize};
use std::{env, ffi::OsString, iter, path::Path, sync::LazyLock};

/// Facts about this program and this command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// How it was built: `release` or `debug`.
    pub build: String,
    /// What it was built for, as the compiler calls it.
    pub target: String,
    /// The compiler, and its version.
    pub rustc: String,
    /// The commit of the sources, with `-dirty` if they were changed since. Empty if not known.
    pub git: String,
    /// Features of this program that were chosen.
    pub features: Vec<String>,
    /// Features that the crate `executors` was built with. Empty if that was not recorded.
    #[serde(default)]
    pub executors_features: Vec<String>,
    /// Crates whose versions matter to the figures, each with its version.
    pub crates: Vec<String>,
    /// The command, with its arguments.
    pub command: String,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Program {
    /// The facts about this program.
    pub fn this(seed: u64) -> Self {
        let list = |text: &str| text.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Program {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            target: env!("BUILD_TARGET").to_owned(),
            rustc: env!("RUSTC_VERSION").to_owned(),
            git: env!("GIT_STATE").to_owned(),
            features: list(env!("BUILD_FEATURES")),
            executors_features: executors::features().map(str::to_owned).collect(),
            crates: list(env!("CRATE_VERSIONS")),
            command: command(env::args_os()),
            seed,
        }
    }

    /// What makes its measurements doubtful.
    pub fn doubts(&self) -> Vec<String> {
        const DEBUG: &str = "THIS IS A DEBUG BUILD: its numbers mean nothing; build with `cargo build --release`";
        if self.build == "debug" { vec![DEBUG.to_owned()] } else { Vec::new() }
    }
}

/// The version of this program, with its commit and its features.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let Program { version, git, features, .. } = Program::this(0);
        let commit = (!git.is_empty()).then(|| format!("commit {git}"));
        let features = (!features.is_empty()).then(|| format!("features {}", features.join(", ")));
        iter::once(version).chain(commit).chain(features).collect::<Vec<_>>().join(", ")
    });
    &VERSION
}

/// The words as they would be typed, the program without its path.
pub(crate) fn command(words: impl IntoIterator<Item = OsString>) -> String {
    let words = words.into_iter().enumerate().map(|(index, word)| {
        let name = Path::new(&word).file_name().filter(|_| index == 0);
        quoted(&name.unwrap_or(&word).to_string_lossy())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// `word` in quotes, if a shell would not take it as it is.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./,:=+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_typed_again() {
        let words = ["/usr/bin/executor-performance", "-o", "my file.csv", "throughput"];
        let typed = command(words.map(OsString::from));
        assert_eq!(typed, "executor-performance -o 'my file.csv' throughput");
        let typed = ["-o", "it's.csv", "a$b;c", "", "--executor=channel,burst", "4..6"];
        let expected = r"-o 'it'\''s.csv' 'a$b;c' '' --executor=channel,burst 4..6";
        assert_eq!(command(typed.map(OsString::from)), expected);
    }

    #[test]
    fn the_build_is_known() {
        let program = Program::this(0);
        assert!(program.rustc.starts_with("rustc "), "{program:?}");
        assert!(program.crates.iter().any(|name| name.starts_with("threadpool ")), "{program:?}");
        assert!(program.executors_features.iter().any(|name| name == "workstealing-exec"), "{program:?}");
        assert_eq!(program.doubts().is_empty(), !cfg!(debug_assertions));
    }
}
