//! The pools of other crates, under a load of jobs from outside and from inside.

#![cfg(feature = "peers")]

use executor_performance::{
    failure::Failure,
    registry::{Build, ENTRIES, Entry, Visitor},
    workload::{Load, Relay},
};
use executors::Executor;
use std::{process::Command, time::Duration};

const PEERS: &[&str] = &[
    "rayon",
    "rayon-fifo",
    "tokio",
    "threadpool-crate",
    "threadpool-crossbeam-channel",
    "rusty_pool",
    "workerpool",
    "async-executor",
    "futures-pool",
    #[cfg(peers_forte)]
    "forte",
    "published-threadpool",
    "published-channel",
    "published-workstealing",
];

/// Runs a load twice on one executor, so that the second finds workers asleep.
struct RunLoads;

impl Visitor for RunLoads {
    type Output = Result<(), Failure>;

    fn visit<E: Executor + Sync + 'static>(self, _: &'static Entry, build: Build<E>) -> Result<(), Failure> {
        let load = Load::new(2, 200, 5).expect("countable");
        let mut relay = Relay::new(build(2).map_err(Failure::Build)?, (), Duration::from_secs(20));
        for pause in [Duration::ZERO, Duration::from_millis(20)] {
            relay.run(&load, pause)?;
        }
        relay.finish()
    }
}

#[test]
fn every_peer_runs_every_job_and_shuts_down() {
    for name in PEERS {
        let entry = Entry::named(name).expect(name);
        match entry.accept(RunLoads) {
            // Forte loses a wake-up now and then: see its adapter.
            Err(Failure::Stalled { .. }) if *name == "forte" => {}
            Ok(()) => {}
            Err(failure) => panic!("{name}: {failure}"),
        }
    }
}

#[test]
fn every_peer_is_listed_with_a_line_of_its_own() {
    let output = Command::new(env!("CARGO_BIN_EXE_executor-performance")).arg("list").output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    for name in PEERS {
        assert_eq!(
            text.lines().filter(|line| line.split_whitespace().next() == Some(name)).count(),
            1,
            "{name}\n{text}"
        );
    }
}

#[test]
fn peers_are_measured_on_request_only() {
    for entry in ENTRIES.iter().filter(|entry| PEERS.contains(&entry.name)) {
        assert!(!entry.by_default, "{}", entry.name);
    }
}
