//! Facts about the build that every record names: compiler, state of the sources, features, versions of what is
//! measured.

use std::{env, fs, path::Path, process::Command};

/// Crates whose versions matter to the figures, if they are in the lock file: what is in each build,
const ALWAYS: &[&str] = &["executors", "threadpool", "crossbeam-utils", "async-task", "futures"];

/// and what is there with the feature `peers` only.
const PEERS: &[&str] = &[
    "async-executor",
    "burst-pool",
    "crossbeam-channel",
    "forte",
    "rayon-core",
    "rusty_pool",
    "threadpool-crossbeam-channel",
    "tokio",
    "workerpool",
];

fn main() {
    // Not that of the time at which this script was compiled: target folders are moved, and shared.
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    for path in ["Cargo.lock", "executors/src", "executor-performance/src", "executor-performance/build.rs"] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    for path in ["HEAD", "index", "logs/HEAD"] {
        if let Some(path) = output(Command::new("git").current_dir(&root).args(["rev-parse", "--git-path", path])) {
            println!("cargo::rerun-if-changed={}", root.join(path).display());
        }
    }
    let rustc = env::var("RUSTC").ok().and_then(|rustc| output(Command::new(rustc).arg("--version")));
    tell("RUSTC_VERSION", rustc);
    tell(
        "GIT_STATE",
        output(Command::new("git").current_dir(&root).args(["describe", "--always", "--dirty", "--abbrev=12"])),
    );
    tell("BUILD_FEATURES", Some(features().join(",")));
    tell("CRATE_VERSIONS", fs::read_to_string(root.join("Cargo.lock")).ok().map(|lock| versions(&lock).join(",")));
    tell("BUILD_TARGET", env::var("TARGET").ok());
}

/// For `env!`. What is not known is empty.
fn tell(name: &str, value: Option<String>) {
    println!("cargo::rustc-env={name}={}", value.unwrap_or_default());
}

/// The first line that `command` prints, if it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_owned)
}

fn has(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some()
}

fn features() -> Vec<&'static str> {
    ["published", "peers"].into_iter().filter(|feature| has(feature)).collect()
}

/// `name version` of each crate that matters.
fn versions(lock: &str) -> Vec<String> {
    let matters = |name: &str| ALWAYS.contains(&name) || (has("peers") && PEERS.contains(&name));
    let quoted = |line: &str, key: &str| {
        line.strip_prefix(key).and_then(|rest| rest.strip_prefix(" = \"")?.strip_suffix('"')).map(str::to_owned)
    };
    let lines: Vec<&str> = lock.lines().collect();
    let packages = lines.windows(2).filter_map(|pair| Some((quoted(pair[0], "name")?, quoted(pair[1], "version")?)));
    let published = |name: &str, version: &str| name == "executors" && version == "0.10.0" && !has("published");
    packages
        .filter(|(name, version)| matters(name) && !published(name, version))
        .map(|(name, version)| format!("{name} {version}"))
        .collect()
}
