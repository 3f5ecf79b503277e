//! The program as its users meet it: arguments in, text, files and an exit code out.
//!
//! Loads are tiny and nothing here depends on how long anything takes.

mod accidents;
mod comparisons;
mod configuration;
mod experiments;
mod explanations;
mod outputs;
mod recommendations;
mod support;
