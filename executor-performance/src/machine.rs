//! What the machine is, and whether it is quiet enough to measure on.

mod family;
mod handover;
mod processor;
mod rally;
mod surroundings;
mod system;

pub(crate) use self::system::{field, kib};
pub use self::{
    handover::Handover,
    processor::{Cache, Processor},
    surroundings::{Observer, Surroundings},
    system::System,
};

use crate::view::number;
use serde::{Deserialize, Serialize};
use std::fs;

/// The unit of CPU time in `/proc`.
const TICKS_IN_A_SECOND: f64 = 100.0;

/// Facts about this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor.
    pub processor: Processor,
    /// The operating system.
    pub system: System,
    /// Processes that wanted to run, on average over the last minute before the measurements.
    pub load_average: Option<f64>,
    /// Cores that other processes kept busy just before the measurements.
    #[serde(default)]
    pub other_cores: Option<f64>,
}

impl Machine {
    /// The facts now. Watches for a moment what other processes do.
    pub fn now() -> Self {
        Machine {
            processor: Processor::here(),
            system: System::here(),
            load_average: surroundings::load_average(),
            other_cores: surroundings::other_cores(),
        }
    }

    /// The cores on which this process may run. [`Processor::cores`] are fewer if a quota allows no more.
    fn allowed_cores(&self) -> usize {
        let (online, affinity) = (self.processor.logical, self.system.affinity.as_ref());
        // The system may name processors that are not there.
        let allowed = affinity.map(|list| processor::members(list).len().min(online.unwrap_or(usize::MAX)));
        allowed.unwrap_or(0).max(self.processor.cores)
    }

    /// What makes measurements with `threads` doubtful here.
    pub fn doubts(&self, threads: usize) -> Vec<String> {
        let mut doubts = Vec::new();
        let cores = self.processor.cores;
        if threads > cores {
            let cores = number(cores, "core");
            doubts
                .push(format!("{threads} threads on {cores}: this measures the operating system's scheduler as well"));
        }
        // Not by the load average, which includes what has ended in the last minute, such as the run before this one.
        if let Some(others) = self.other_cores.filter(|others| *others > surroundings::DISTURBED) {
            doubts.push(format!(
                "the machine is busy (other processes keep {others:.1} cores busy): wait until it is quiet, or expect noise"
            ));
        }
        let allowed = self.allowed_cores();
        if let Some(quota) = self.system.cgroup_quota.filter(|quota| *quota < allowed as f64) {
            doubts.push(format!(
                "this process may use {quota} of {} (cgroup quota): it is stopped when it uses more, which shows as rare long \
                 delays",
                number(allowed, "core")
            ));
        }
        if let Some(governor) = self.processor.governor.as_ref().filter(|governor| *governor != "performance") {
            doubts.push(format!("the frequency governor is `{governor}`: clock rates vary; set it to `performance`"));
        }
        doubts
    }

    /// How `other` differs from this machine, as far as that matters to figures. Empty if it does not.
    pub fn differences(&self, other: &Machine) -> Vec<String> {
        let pairs = [
            ("processor", self.processor.name.clone(), other.processor.name.clone()),
            ("instruction set", self.processor.architecture.clone(), other.processor.architecture.clone()),
            ("cores", self.processor.cores.to_string(), other.processor.cores.to_string()),
            ("threads for each core", text(self.processor.threads_per_core), text(other.processor.threads_per_core)),
            ("NUMA nodes", text(self.processor.numa_nodes), text(other.processor.numa_nodes)),
            ("operating system", self.system.name.clone(), other.system.name.clone()),
            ("kernel", self.system.kernel.clone(), other.system.kernel.clone()),
            (
                "virtual machine",
                text(self.system.virtual_machine.as_ref()),
                text(other.system.virtual_machine.as_ref()),
            ),
            ("affinity", text(self.system.affinity.as_ref()), text(other.system.affinity.as_ref())),
            ("cgroup quota", text(self.system.cgroup_quota), text(other.system.cgroup_quota)),
            ("governor", text(self.processor.governor.as_ref()), text(other.processor.governor.as_ref())),
        ];
        let differing = pairs.into_iter().filter(|(_, here, there)| here != there);
        differing.map(|(what, here, there)| format!("{what}: {here} and {there}")).collect()
    }
}

fn text(fact: Option<impl ToString>) -> String {
    fact.map_or("unknown".to_owned(), |fact| fact.to_string())
}

/// The contents of a small file of the system, without the space around it.
fn told_by(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
pub(crate) mod mock {
    use super::*;

    /// A quiet machine that does not exist.
    pub(crate) fn machine() -> Machine {
        Machine {
            processor: Processor {
                name: "Imaginary 9000".to_owned(),
                architecture: "x86_64".to_owned(),
                cores: 4,
                logical: Some(8),
                physical: Some(4),
                sockets: Some(1),
                threads_per_core: Some(2),
                caches: vec![
                    Cache { level: 1, kind: "Data".to_owned(), kib: 32, shared_by: 2 },
                    Cache { level: 3, kind: "Unified".to_owned(), kib: 32_768, shared_by: 8 },
                ],
                numa_nodes: Some(1),
                governor: None,
            },
            system: System {
                name: "linux".to_owned(),
                kernel: "6.1.0".to_owned(),
                memory_mib: Some(16_000),
                virtual_machine: Some("KVM".to_owned()),
                cgroup_quota: None,
                affinity: Some("0-3".to_owned()),
            },
            load_average: Some(0.1),
            other_cores: Some(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{mock::machine, *};

    #[test]
    fn a_quiet_machine_raises_no_doubts() {
        assert_eq!(machine().doubts(4), Vec::<String>::new());
        assert_eq!(Machine { other_cores: None, ..machine() }.doubts(1), Vec::<String>::new());
    }

    #[test]
    fn what_has_ended_raises_no_doubts() {
        assert_eq!(Machine { load_average: Some(9.0), ..machine() }.doubts(4), Vec::<String>::new());
    }

    #[test]
    fn doubts_are_raised_about_each_cause_of_noise() {
        let mut machine = Machine { other_cores: Some(1.5), ..machine() };
        machine.system.cgroup_quota = Some(1.5);
        machine.processor.governor = Some("powersave".to_owned());
        let doubted = machine.doubts(5).join("\n");
        for cause in ["5 threads on 4 cores", "keep 1.5 cores busy", "1.5 of 4 cores", "`powersave`"] {
            assert!(doubted.contains(cause), "{doubted}");
        }
    }

    /// The system says that so few threads can run at a time, because of the quota.
    #[test]
    fn a_quota_of_whole_cores_is_a_cause_of_noise() {
        let mut machine = machine();
        (machine.processor.cores, machine.system.cgroup_quota) = (2, Some(2.0));
        let doubted = machine.doubts(2).join("\n");
        assert!(doubted.contains("may use 2 of 4 cores"), "{doubted}");
        machine.system.affinity = Some("0-1".to_owned());
        assert_eq!(machine.doubts(2), Vec::<String>::new());
    }

    #[test]
    fn another_machine_is_told_by_what_differs() {
        assert_eq!(machine().differences(&Machine { load_average: Some(3.0), ..machine() }), Vec::<String>::new());
        let mut other = machine();
        other.processor.cores = 2;
        assert_eq!(machine().differences(&other), ["cores: 4 and 2"]);
        let mut other = machine();
        other.system.affinity = Some("1".to_owned());
        other.system.kernel.push('0');
        assert_eq!(machine().differences(&other).len(), 2);
    }

    #[test]
    fn this_machine_has_cores() {
        assert!(Machine::now().processor.cores > 0);
    }
}
