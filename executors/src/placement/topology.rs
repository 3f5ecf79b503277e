//! How far apart two cores are, as Linux reports in sysfs.

use super::kernel_list;
use std::{collections::HashMap, fs, path::Path};

/// Threads of one core share all its caches.
const SAME_CORE: i32 = 1;
/// Cores that share a last-level cache.
const SAME_CACHE: i32 = 2;
/// Cores of one memory node; the kernel's distance of a node to itself is 10, and more to any other.
const SAME_NODE: i32 = 10;

/// The distance from each core of this machine to each, if the system reports it.
pub(crate) fn distances() -> Option<Vec<Vec<i32>>> {
    read(Path::new("/sys/devices/system"))
}

fn read(system: &Path) -> Option<Vec<Vec<i32>>> {
    let cores = read_list(&system.join("cpu/present"))?.into_iter().max()? + 1;
    let of_cpu = |file: &str| -> Vec<Vec<usize>> {
        (0..cores).map(|core| read_list(&system.join(format!("cpu/cpu{core}/{file}"))).unwrap_or_default()).collect()
    };
    let siblings = of_cpu("topology/thread_siblings_list");
    let last_cache: Vec<_> =
        (0..cores).map(|core| last_level_cache(&system.join(format!("cpu/cpu{core}/cache")))).collect();
    let nodes = Nodes::read(&system.join("node"));
    let distance = |a: usize, b: usize| {
        if a == b {
            0
        } else if siblings[a].contains(&b) {
            SAME_CORE
        } else if last_cache[a].contains(&b) {
            SAME_CACHE
        } else {
            nodes.distance(a, b).unwrap_or(SAME_NODE)
        }
    };
    Some((0..cores).map(|a| (0..cores).map(|b| distance(a, b)).collect()).collect())
}

/// The cores that share the last cache in the folder `cache`.
fn last_level_cache(cache: &Path) -> Vec<usize> {
    let level_of =
        |index: usize| fs::read_to_string(cache.join(format!("index{index}/level"))).ok()?.trim().parse().ok();
    let last = (0..).map_while(|index| level_of(index).map(|level: u32| (level, index))).max();
    last.and_then(|(_, index)| read_list(&cache.join(format!("index{index}/shared_cpu_list")))).unwrap_or_default()
}

/// The memory nodes, with the kernel's distances between them.
struct Nodes {
    node_of_core: HashMap<usize, usize>,
    distances: HashMap<usize, Vec<i32>>,
    order: Vec<usize>,
}

impl Nodes {
    fn read(folder: &Path) -> Nodes {
        let order = read_list(&folder.join("online")).unwrap_or_default();
        let mut nodes = Nodes { node_of_core: HashMap::new(), distances: HashMap::new(), order };
        for &node in &nodes.order {
            let folder = folder.join(format!("node{node}"));
            for core in read_list(&folder.join("cpulist")).unwrap_or_default() {
                nodes.node_of_core.insert(core, node);
            }
            let row = fs::read_to_string(folder.join("distance")).unwrap_or_default();
            nodes.distances.insert(node, row.split_whitespace().filter_map(|cell| cell.parse().ok()).collect());
        }
        nodes
    }

    fn distance(&self, a: usize, b: usize) -> Option<i32> {
        let (from, to) = (self.node_of_core.get(&a)?, self.node_of_core.get(&b)?);
        let column = self.order.iter().position(|node| node == to)?;
        self.distances.get(from)?.get(column).copied()
    }
}

fn read_list(file: &Path) -> Option<Vec<usize>> {
    kernel_list::parse(&fs::read_to_string(file).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of two nodes, four cores, two of them threads of one core; written as sysfs would show it.
    #[test]
    fn a_machine_of_two_nodes() {
        let system = std::env::temp_dir().join(format!("executors-topology-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let file = system.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("cpu/present", "0-3\n");
        for (core, siblings, cache) in [(0, "0-1", "0-2"), (1, "0-1", "0-2"), (2, "2", "0-2"), (3, "3", "3")] {
            write(&format!("cpu/cpu{core}/topology/thread_siblings_list"), siblings);
            write(&format!("cpu/cpu{core}/cache/index0/level"), "1\n");
            write(&format!("cpu/cpu{core}/cache/index0/shared_cpu_list"), siblings);
            write(&format!("cpu/cpu{core}/cache/index1/level"), "3\n");
            write(&format!("cpu/cpu{core}/cache/index1/shared_cpu_list"), cache);
        }
        write("node/online", "0-1\n");
        write("node/node0/cpulist", "0-2\n");
        write("node/node0/distance", "10 21\n");
        write("node/node1/cpulist", "3\n");
        write("node/node1/distance", "21 10\n");

        let distances = read(&system).unwrap();
        fs::remove_dir_all(&system).unwrap();
        assert_eq!(distances[0], [0, SAME_CORE, SAME_CACHE, 21]);
        assert_eq!(distances[3][2], 21);
    }
}
