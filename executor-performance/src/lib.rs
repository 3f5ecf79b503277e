//! Measures task executors on your own machine.
//!
//! The command line ([`cli`]) becomes a [`plan`] of runs. An [`experiment`] says what an executor has to do for one
//! sample; the [`registry`] builds executors and knows of no experiment. The [`sampler`] lets them take turns, each in
//! a process of its own ([`isolation`]), until the numbers are good enough or the time is up. The result is a
//! [`record`]. Every [`sink`] shows records, by way of tables ([`view`]) and plots ([`chart`]), and [`compare`]
//! compares two of them.

#![warn(missing_docs)]

pub mod advice;
pub mod app;
pub mod catalogue;
pub mod chart;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod experiment;
pub mod failure;
pub mod forker;
pub mod heap;
pub mod interrupt;
pub mod isolation;
pub mod machine;
mod measure;
mod once_each;
pub mod plan;
pub mod program;
pub mod record;
pub mod registry;
mod rehearsal;
pub mod sampler;
pub mod session;
pub mod sink;
pub mod spawner;
pub mod stats;
pub mod subject;
pub mod usage;
pub mod view;
pub mod workload;

pub use self::measure::{Measurement, measure};

/// Tests the examples of the README: here, because the published library does not include it.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Tests the examples of the migration guide.
#[cfg(doctest)]
#[doc = include_str!("../../docs/migration.md")]
struct Migration;
