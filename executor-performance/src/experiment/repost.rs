//! What it costs a job to give its successor to the executor from inside.

use super::{BurstsSample, Question, per_job};
use crate::{
    record::{Figure, Setting},
    workload::{Load, Pastime},
};

/// Runs a few long chains of jobs that do little or nothing but give the next job to the executor. Each message of the
/// load is a chain. The field is what each job does.
#[derive(Debug, Clone, Copy)]
pub struct Repost(pub Pastime);

impl Question for Repost {
    type Work = Pastime;

    const NAME: &'static str = "repost";

    /// A chain is at one place at a time.
    fn scales(&self, asked: &Load, threads: usize) -> bool {
        asked.messages() >= threads as u64
    }

    fn work(&self) -> Pastime {
        self.0
    }

    fn settings(&self, asked: &Load, sampled: &Load) -> Vec<Setting> {
        vec![
            Setting::new("chains", asked.messages()),
            Setting::new("hops_per_chain", asked.amplification()),
            Setting::new("work_us", self.0.time().as_micros()),
            Setting::fitted("sampled_hops_per_chain", sampled.amplification()),
        ]
    }

    fn description(&self, asked: &Load) -> Vec<(&'static str, String)> {
        let load = format!("{} x {} hops (chains x jobs)", asked.messages(), asked.amplification());
        vec![("load", load), ("each job", per_job::payload(self.0))]
    }

    fn figures(samples: &[BurstsSample]) -> Vec<Figure> {
        let columns = ["median_ns_per_hop", "low95_ns_per_hop", "high95_ns_per_hop", "cpu_ns_per_hop"];
        per_job::figures_of(per_job::metrics(columns, "ns/hop"), samples)
    }
}
