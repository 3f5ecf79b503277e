//! Export a pool's figures through the crate `metrics`, to whatever recorder the program has installed.
//!
//! Run with `cargo run --example metrics --features produce-metrics`.

use executors::{Executor, Pool, crossbeam_workstealing_pool::small_pool};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit, atomics::AtomicU64};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

/// A recorder that keeps counters in a map. A program would install an exporter for its monitoring system instead.
#[derive(Clone, Default)]
struct Counters(Arc<Mutex<BTreeMap<String, Arc<AtomicU64>>>>);

impl Counters {
    fn sum(&self, name: &str) -> u64 {
        let counters = self.0.lock().expect("no panic under this lock");
        let named = counters.iter().filter(|(key, _)| key.contains(name));
        named.map(|(_, counter)| counter.load(Ordering::Relaxed)).sum()
    }
}

impl Recorder for Counters {
    fn describe_counter(&self, name: KeyName, _unit: Option<Unit>, description: SharedString) {
        println!("{}: {description}", name.as_str());
    }

    fn describe_gauge(&self, name: KeyName, _unit: Option<Unit>, description: SharedString) {
        println!("{}: {description}", name.as_str());
    }

    fn describe_histogram(&self, _name: KeyName, _unit: Option<Unit>, _description: SharedString) {}

    fn register_counter(&self, key: &Key, _metadata: &Metadata<'_>) -> Counter {
        let mut counters = self.0.lock().expect("no panic under this lock");
        Counter::from_arc(Arc::clone(counters.entry(key.to_string()).or_default()))
    }

    fn register_gauge(&self, _key: &Key, _metadata: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _key: &Key, _metadata: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn main() {
    let counters = Counters::default();
    metrics::set_global_recorder(counters.clone()).expect("no other recorder is installed");

    let pool = small_pool(2);
    pool.register_metrics();
    assert_eq!(pool.execute_batch((0..1000).map(|_| || ())), 1000);

    // Workers publish when they run out of jobs, and at the latest when they leave.
    pool.shutdown_timeout(Duration::from_secs(10)).expect("a thousand short jobs end in time");
    for (key, counter) in counters.0.lock().expect("no panic under this lock").iter() {
        println!("{key} = {}", counter.load(Ordering::Relaxed));
    }
    assert_eq!(counters.sum("executors.jobs_executed"), 1000);
}
