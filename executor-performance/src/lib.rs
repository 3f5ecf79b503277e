//! Measures task executors on your own machine.
//!
//! The command line ([`cli`]) chooses an experiment and executors. An [`experiment`] says what an executor has to do for
//! one sample; the [`registry`] builds executors and knows of no experiment. The [`sampler`] lets them take turns until
//! the numbers are good enough or the time is up, and what comes out are [`record`]s, which every [`sink`] reads.

#![warn(missing_docs)]

pub mod cli;
pub mod clock;
pub mod environment;
pub mod experiment;
pub mod failure;
pub mod heap;
pub mod record;
pub mod registry;
pub mod sampler;
pub mod session;
pub mod sink;
pub mod spawner;
pub mod stats;
pub mod subject;
pub mod workload;
