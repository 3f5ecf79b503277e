//! The example `own_job` arrives at a recommendation.

use std::time::Duration;

#[path = "../examples/own_job.rs"]
#[expect(dead_code, reason = "only its arguments are left out")]
mod own_job;

#[test]
fn the_example_comes_to_an_advice() {
    let advice = own_job::advice(Duration::from_millis(100)).expect("an advice");
    assert!(advice.runner_up.is_some() && advice.failed.is_empty(), "{advice:?}");
    let told = advice.to_string();
    assert!(told.contains("let pool = executors::") && told.contains("one process"), "{told}");
}
