//! Alone in its process because it counts threads.
#![cfg(target_os = "linux")]

use executor_performance::{
    experiment::{Experiment, JobTurn, Lifecycle, Sample},
    subject::BuildPlan,
};
use executors::{CanExecute, Executor};
use std::{thread, time::Duration};

/// How long a thread goes on after the shutdown.
const LINGER: Duration = Duration::from_millis(50);

/// Starts a thread for each job, which lives on for a while after it; does not wait for any.
#[derive(Clone)]
struct Careless;

impl CanExecute for Careless {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        thread::spawn(move || {
            job();
            thread::sleep(LINGER); // the time is what is measured
        });
    }
}

impl Executor for Careless {
    fn shutdown_async(&self) {}

    fn shutdown_borrowed(&self) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn threads_that_outlive_the_shutdown_belong_to_the_life_of_a_pool() {
    let lifecycle = Lifecycle::new(1, false, Duration::from_secs(60));
    let sample = lifecycle.turn().run_on(&BuildPlan::new(|_| Ok(Careless), 1)).expect("the threads end");
    let linger = LINGER.as_micros() as f64;
    assert!(sample.cost() >= linger, "{} us", sample.cost());
    let figures = lifecycle.figures(&[sample]);
    let cpu = figures.iter().find(|figure| figure.metric.column == "cpu_us_per_round_trip").expect("a figure");
    let cpu = cpu.value.expect("Linux tells it");
    assert!(cpu < linger / 4.0, "{cpu} us were spent on waiting for threads that sleep");
}
