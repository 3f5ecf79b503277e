//! The code that the program recommends is compiled here, to the letter, and builds pools.

use executors::Executor;
use std::error::Error;

/// The file is compared with what the program prints by a test of its module `advice::code`.
#[expect(unused_variables, reason = "whoever is recommended a subpool is shown how to get at it")]
fn all_that_can_be_recommended() -> Result<(), Box<dyn Error>> {
    include!("advice/lines.rs")
}

#[test]
fn every_line_compiles_and_builds_a_pool() {
    all_that_can_be_recommended().expect("every pool is built and shut down");
}
