//! What this process and those that it started have used of the machine.

use super::{TICKS_IN_A_SECOND, told_by};
use std::{fs, process};

/// CPU time of this process and of its children, in seconds, in steps of a hundredth. `None` where the system does not
/// tell.
pub(super) fn cpu_seconds() -> Option<f64> {
    // Some kernels do not tell which children a thread has.
    fs::metadata(format!("/proc/self/task/{}/children", process::id())).ok()?;
    let children = fs::read_dir("/proc/self/task").ok()?.filter_map(|thread| {
        let list = fs::read_to_string(thread.ok()?.path().join("children")).ok()?;
        Some(list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    });
    // A child that ends meanwhile is not in the list any more, or cannot be read, and its time counts as this process's
    // the next time.
    let of_children: u64 =
        children.flatten().filter_map(|child| ticks(&told_by(&format!("/proc/{child}/stat"))?)).sum();
    Some((ticks(&told_by("/proc/self/stat")?)? + of_children) as f64 / TICKS_IN_A_SECOND)
}

/// From a `/proc/.../stat`: the time of a process, in user and kernel mode, and that of its children that have ended.
fn ticks(stat: &str) -> Option<u64> {
    // The name of the program is in parentheses, and may have spaces and parentheses in it.
    let (_, behind_name) = stat.rsplit_once(')')?;
    let times = behind_name.split_whitespace().skip(11).take(4).map(str::parse::<u64>);
    let times: Vec<u64> = times.collect::<Result<_, _>>().ok()?;
    (times.len() == 4).then(|| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_and_that_of_former_children_count() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 95 0 0 0 11 22 33 44 20 0 1 0 100 1000 10";
        assert_eq!(ticks(stat), Some(110));
        assert_eq!(ticks("7 (a) S 1 7"), None);
        assert_eq!(ticks(""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_that_works_is_seen() {
        use std::{
            process::{Command, Stdio},
            time::{Duration, Instant},
        };

        // Without the time of this process, which asks all the time, and in which other tests run.
        let of_children = || {
            let own = crate::clock::cpu_time().expect("Linux tells");
            cpu_seconds().expect("Linux tells") - own.as_secs_f64()
        };
        let (before, deadline) = (of_children(), Instant::now() + Duration::from_secs(60));
        let mut child =
            Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().expect("sh");
        while of_children() - before < 0.2 && Instant::now() < deadline {}
        let seen = of_children() - before;
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(seen >= 0.15, "{seen} s");
    }
}
