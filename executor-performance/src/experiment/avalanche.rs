//! What a job costs besides its own work, from its submission to its end, when many are given at once.

use super::{Question, per_job};
use crate::{
    record::Setting,
    workload::{Load, Pastime},
};

/// Lets one thread give many jobs, and waits until all have run. Each message of the load is a job. The field is what
/// each job does.
#[derive(Debug, Clone, Copy)]
pub struct Avalanche(pub Pastime);

impl Question for Avalanche {
    type Work = Pastime;

    const NAME: &'static str = "avalanche";

    fn work(&self) -> Pastime {
        self.0
    }

    fn settings(&self, asked: &Load, _sampled: &Load) -> Vec<Setting> {
        vec![Setting::new("jobs", asked.jobs()), Setting::new("work_us", self.0.time().as_micros())]
    }

    fn description(&self, asked: &Load) -> Vec<(&'static str, String)> {
        vec![("load", format!("{} jobs from one thread", asked.jobs())), ("each job", per_job::payload(self.0))]
    }
}
