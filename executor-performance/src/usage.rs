//! What a sample takes of the machine, besides wall-clock time.

use crate::{
    clock::{cpu_time, difference},
    machine::{field, kib},
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    time::{Duration, Instant},
};

/// What this process used in some time: all of its threads, including producers, building and shutting down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The time.
    pub wall: Duration,
    /// CPU time, in user and kernel mode.
    pub cpu: Option<Duration>,
    /// How often threads went to sleep.
    pub voluntary_switches: Option<u64>,
    /// How often the system took a core away from a thread.
    pub involuntary_switches: Option<u64>,
    /// The most memory that was resident, in KiB.
    pub peak_kib: Option<u64>,
}

/// Measures usage from a moment on.
#[derive(Debug)]
pub struct UsageMeter {
    began: Instant,
    cpu: Option<Duration>,
    switches: Option<(u64, u64)>,
    /// Whether the peak counts from then, too.
    peak_reset: bool,
}

impl UsageMeter {
    /// Begins now.
    pub fn start() -> Self {
        // Linux resets the peak of the resident memory if this is written.
        let peak_reset = fs::write("/proc/self/clear_refs", "5").is_ok();
        UsageMeter { began: Instant::now(), cpu: cpu_time(), switches: switches(), peak_reset }
    }

    /// What was used from then to now.
    pub fn read(&self) -> Usage {
        let (wall, switches) = (self.began.elapsed(), self.switches.zip(switches()));
        Usage {
            wall,
            cpu: difference(cpu_time(), self.cpu),
            voluntary_switches: switches.map(|(then, now)| now.0.saturating_sub(then.0)),
            involuntary_switches: switches.map(|(then, now)| now.1.saturating_sub(then.1)),
            peak_kib: self.peak_reset.then(|| field("/proc/self/status", "VmHWM")).flatten().and_then(|it| kib(&it)),
        }
    }
}

/// Voluntary and involuntary context switches of this process.
fn switches() -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let count = |number| u64::try_from(number).ok();
        Some((count(usage.voluntary_context_switches())?, count(usage.involuntary_context_switches())?))
    }
    #[cfg(not(unix))]
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn sleeping_is_a_voluntary_switch() {
        let meter = UsageMeter::start();
        thread::spawn(|| thread::sleep(Duration::from_millis(1))).join().expect("it sleeps");
        let usage = meter.read();
        assert!(usage.voluntary_switches.is_some_and(|switches| switches > 0), "{usage:?}");
        assert!(usage.wall >= Duration::from_millis(1) && usage.cpu.is_some());
    }
}
