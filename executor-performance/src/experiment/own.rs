//! What a user's own job costs.

use super::Question;
use crate::{
    record::Setting,
    workload::{Load, Work},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::{fmt, sync::Arc};

/// A user's own job, which is run over and over.
#[derive(Clone)]
pub struct OwnJob(Arc<dyn Fn() + Send + Sync>);

impl OwnJob {
    /// A job that calls `job`.
    pub fn new(job: impl Fn() + Send + Sync + 'static) -> Self {
        OwnJob(Arc::new(job))
    }
}

impl Work for OwnJob {
    fn before(&self) {
        (self.0)();
    }
}

const STAYS: &str = "code cannot go to another process";

impl Serialize for OwnJob {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom(STAYS))
    }
}

impl<'de> Deserialize<'de> for OwnJob {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom(STAYS))
    }
}

impl fmt::Debug for OwnJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnJob").finish_non_exhaustive()
    }
}

impl Question for OwnJob {
    type Work = OwnJob;

    const NAME: &'static str = "own";

    fn scales(&self, _asked: &Load, _threads: usize) -> bool {
        false
    }

    fn work(&self) -> OwnJob {
        self.clone()
    }

    fn settings(&self, asked: &Load, _sampled: &Load) -> Vec<Setting> {
        vec![Setting::new("amplification", asked.amplification())]
    }

    fn description(&self, asked: &Load) -> Vec<(&'static str, String)> {
        vec![("load", super::describe(asked))]
    }
}
