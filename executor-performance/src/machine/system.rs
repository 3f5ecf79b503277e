//! The operating system, and what it grants to this process.

use super::told_by;
use serde::{Deserialize, Serialize};
use std::{env, fs};

/// The operating system, as far as it tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// Its name.
    pub name: String,
    /// Its kernel's version.
    pub kernel: String,
    /// Memory in MiB.
    pub memory_mib: Option<u64>,
    /// Which virtual machine this is, if it is one.
    pub virtual_machine: Option<String>,
    /// How many cores this process may keep busy on average, if that is limited.
    pub cgroup_quota: Option<f64>,
    /// Processors on which this process may run.
    pub affinity: Option<String>,
}

impl System {
    /// The system of this machine.
    pub(super) fn here() -> Self {
        System {
            name: env::consts::OS.to_owned(),
            kernel: told_by("/proc/sys/kernel/osrelease").unwrap_or_default(),
            memory_mib: field("/proc/meminfo", "MemTotal").and_then(|size| kib(&size)).map(|kib| kib >> 10),
            virtual_machine: virtual_machine(),
            cgroup_quota: cgroup_quota(),
            affinity: field("/proc/self/status", "Cpus_allowed_list"),
        }
    }
}

/// What follows `name:` in the file at `path`.
pub(crate) fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
    value.map(|value| value.trim().to_owned())
}

/// The number of a size such as `2008 kB`.
pub(crate) fn kib(size: &str) -> Option<u64> {
    size.strip_suffix("kB")?.trim().parse().ok()
}

fn virtual_machine() -> Option<String> {
    let flags = field("/proc/cpuinfo", "flags")?;
    flags.split(' ').find(|flag| *flag == "hypervisor")?;
    let makers = ["/sys/class/dmi/id/sys_vendor", "/sys/hypervisor/type"];
    Some(makers.into_iter().find_map(told_by).unwrap_or_else(|| "unknown hypervisor".to_owned()))
}

/// The smallest quota of this process's group and the groups around it, in both versions of cgroups.
fn cgroup_quota() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let quotas = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?);
        let around = around(group);
        if controllers.is_empty() {
            around.filter_map(|group| quota(&told_by(&format!("/sys/fs/cgroup{group}/cpu.max"))?)).reduce(f64::min)
        } else if controllers.split(',').any(|controller| controller == "cpu") {
            around.filter_map(|group| quota_of_version_1(group, controllers)).reduce(f64::min)
        } else {
            None
        }
    });
    quotas.reduce(f64::min)
}

/// `group`, and all groups around it.
fn around(group: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(group.trim_end_matches('/')), |group| group.rfind('/').map(|end| &group[..end]))
}

fn quota_of_version_1(group: &str, controllers: &str) -> Option<f64> {
    let number = |name: &str| told_by(&format!("/sys/fs/cgroup/{controllers}{group}/cpu.cfs_{name}_us"));
    quota(&format!("{} {}", number("quota")?, number("period")?))
}

/// The cores in `200000 100000`, microseconds of CPU time in each period. `max` and negative numbers are no limit.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_cores_or_none() {
        assert_eq!(quota("150000 100000"), Some(1.5));
        assert_eq!(quota("max 100000"), None);
        assert_eq!(quota("-1 100000"), None);
    }

    #[test]
    fn a_group_is_in_all_those_around_it() {
        assert_eq!(around("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", ""]);
        assert_eq!(around("/").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn sizes_are_in_kib() {
        assert_eq!(kib("2008 kB"), Some(2008));
        assert_eq!(kib("2008"), None);
    }
}
