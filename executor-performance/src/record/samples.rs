use crate::usage::Usage;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// All that was sampled of one executor, in order. Each list has a number for each sample, or is empty if the system
/// does not tell. All lists but the first are of the whole process while the sample was taken, including producers,
/// building and shutting down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The first figure of each sample.
    pub values: Vec<f64>,
    /// How long it took, in nanoseconds.
    pub wall_ns: Vec<u64>,
    /// CPU time, in nanoseconds.
    pub cpu_ns: Vec<u64>,
    /// How often threads went to sleep.
    pub voluntary_switches: Vec<u64>,
    /// How often the system took a core away from a thread.
    pub involuntary_switches: Vec<u64>,
    /// The most memory that was resident, in KiB.
    pub peak_kib: Vec<u64>,
    /// The number of the process that gave it. Empty if all are of one process.
    #[serde(default)]
    pub process: Vec<u64>,
}

impl Samples {
    /// Samples whose first figures are in `values`, and the rest in `usages`.
    pub fn new(values: Vec<f64>, usages: &[Usage]) -> Self {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let all = |number: &dyn Fn(&Usage) -> Option<u64>| {
            usages.iter().map(number).collect::<Option<Vec<u64>>>().unwrap_or_default()
        };
        Samples {
            values,
            wall_ns: all(&|usage| Some(nanos(usage.wall))),
            cpu_ns: all(&|usage| usage.cpu.map(nanos)),
            voluntary_switches: all(&|usage| usage.voluntary_switches),
            involuntary_switches: all(&|usage| usage.involuntary_switches),
            peak_kib: all(&|usage| usage.peak_kib),
            process: Vec::new(),
        }
    }

    /// The same, where `process` has the number of the process that gave each sample.
    #[must_use]
    pub fn of_processes(self, process: &[u64]) -> Self {
        let one = process.first() == process.last();
        Samples { process: if one { Vec::new() } else { process.to_vec() }, ..self }
    }

    /// How many samples there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Context switches for each sample, of both kinds.
    pub fn switches(&self) -> Option<f64> {
        let all = self.voluntary_switches.iter().chain(&self.involuntary_switches).sum::<u64>();
        (!self.voluntary_switches.is_empty()).then(|| all as f64 / self.voluntary_switches.len() as f64)
    }

    /// The most memory that was resident in any sample, in MiB.
    pub fn peak_mib(&self) -> Option<f64> {
        self.peak_kib.iter().max().map(|kib| *kib as f64 / 1024.0)
    }
}
