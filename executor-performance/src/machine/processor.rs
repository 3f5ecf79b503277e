//! The processor.

use super::told_by;
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, env, fs, num::NonZeroUsize, thread};

/// The processor, as far as the system tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processor {
    /// Its name.
    pub name: String,
    /// Its instruction set.
    pub architecture: String,
    /// Cores that this process may use: the number of threads that can run at the same time.
    pub cores: usize,
    /// Logical processors of the machine, including siblings.
    pub logical: Option<usize>,
    /// Physical cores of the machine.
    pub physical: Option<usize>,
    /// Packages.
    pub sockets: Option<usize>,
    /// Logical processors that share a physical core.
    pub threads_per_core: Option<usize>,
    /// Caches of the first core.
    pub caches: Vec<Cache>,
    /// NUMA nodes: parts of the memory that are not equally far from all cores.
    pub numa_nodes: Option<usize>,
    /// The governor, which chooses the clock rate.
    pub governor: Option<String>,
}

/// A cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// How far it is from the core.
    pub level: u32,
    /// What is in it: `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Its size in KiB.
    pub kib: u64,
    /// Logical processors that share it.
    pub shared_by: usize,
}

const CPUS: &str = "/sys/devices/system/cpu";

impl Processor {
    /// The processor of this machine.
    pub(super) fn here() -> Self {
        let online = told_by(&format!("{CPUS}/online")).map(|list| members(&list));
        let topology = |cpu: usize, fact: &str| told_by(&format!("{CPUS}/cpu{cpu}/topology/{fact}"));
        let distinct = |facts: &[&str]| {
            let of = |cpu: &usize| facts.iter().map(|fact| topology(*cpu, fact)).collect::<Option<Vec<_>>>();
            online.as_ref()?.iter().map(of).collect::<Option<HashSet<_>>>().map(|distinct| distinct.len())
        };
        Processor {
            name: fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(name_in).unwrap_or_else(unknown),
            architecture: env::consts::ARCH.to_owned(),
            cores: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            logical: online.as_ref().map(Vec::len),
            physical: distinct(&["physical_package_id", "core_id"]),
            sockets: distinct(&["physical_package_id"]),
            threads_per_core: topology(0, "thread_siblings_list").map(|list| members(&list).len()),
            caches: (0..).map_while(Cache::number).collect(),
            numa_nodes: told_by("/sys/devices/system/node/online").map(|list| members(&list).len()),
            governor: told_by(&format!("{CPUS}/cpu0/cpufreq/scaling_governor")),
        }
    }
}

impl Cache {
    fn number(index: usize) -> Option<Self> {
        let fact = |name: &str| told_by(&format!("{CPUS}/cpu0/cache/index{index}/{name}"));
        Some(Cache {
            level: fact("level")?.parse().ok()?,
            kind: fact("type")?,
            kib: fact("size")?.strip_suffix('K')?.parse().ok()?,
            shared_by: members(&fact("shared_cpu_list")?).len(),
        })
    }
}

fn unknown() -> String {
    "unknown processor".to_owned()
}

fn name_in(cpuinfo: &str) -> Option<String> {
    let fields = || cpuinfo.lines().filter_map(|line| line.split_once(':')).map(|(key, value)| (key.trim(), value));
    let named = fields().find(|(key, _)| matches!(*key, "model name" | "Model" | "Hardware" | "cpu model"));
    let name = named.map(|(_, name)| name.split_whitespace().collect::<Vec<_>>().join(" "));
    // Servers with ARM processors have numbers only.
    let number = |name: &str| fields().find(|(key, _)| *key == name).map(|(_, value)| value.trim());
    name.or_else(|| {
        let (implementer, part, variant) = (number("CPU implementer")?, number("CPU part")?, number("CPU variant")?);
        Some(format!("ARM implementer {implementer}, part {part}, variant {variant}"))
    })
}

/// The numbers of a list such as `0-3,8`.
pub(super) fn members(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_processor_in_cpuinfo() {
        let name = name_in("processor\t: 0\nmodel name\t: Some  CPU @ 3.40GHz\nflags\t: fpu\n");
        assert_eq!(name.as_deref(), Some("Some CPU @ 3.40GHz"));
        assert_eq!(name_in("processor: 0\n"), None);
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: 0xd40\n";
        assert_eq!(name_in(arm).as_deref(), Some("ARM implementer 0x41, part 0xd40, variant 0x1"));
    }

    #[test]
    fn lists_of_the_system_have_ranges_and_single_numbers() {
        assert_eq!(members("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(members("5"), [5]);
        assert_eq!(members(""), Vec::<usize>::new());
    }
}
