//! What else went on while something was measured.

use super::{
    TICKS_IN_A_SECOND, family,
    handover::{Handover, Looks},
    told_by,
};
use serde::{Deserialize, Serialize};
use std::{
    thread,
    time::{Duration, Instant},
};

/// Cores kept busy by other processes above which figures are doubtful.
pub(super) const DISTURBED: f64 = 0.2;

/// Percent of the time taken by other virtual machines above which figures are doubtful.
const STOLEN: f64 = 2.0;

/// In a shorter time, the system's own figures are too coarse.
const LONG_ENOUGH: Duration = Duration::from_secs(1);

/// What else went on during a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// The load average before.
    pub load_average_before: Option<f64>,
    /// The load average afterwards, which includes what was measured.
    pub load_average_after: Option<f64>,
    /// Cores that other processes kept busy, on average.
    pub other_cores: Option<f64>,
    /// Percent of the time of all cores that the virtual machine was not given.
    pub stolen_percent: Option<f64>,
    /// How long a cache line took from core to core.
    #[serde(default)]
    pub handover: Option<Handover>,
}

impl Surroundings {
    /// What makes measurements doubtful that were taken meanwhile.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Some(cores) = self.other_cores.filter(|cores| *cores > DISTURBED) {
            doubts.push(format!("other processes kept {cores:.1} cores busy meanwhile: repeat it when they do not"));
        }
        if let Some(percent) = self.stolen_percent.filter(|percent| *percent > STOLEN) {
            doubts
                .push(format!("{percent:.0} % of the CPU time went to other virtual machines meanwhile: expect noise"));
        }
        doubts.extend(self.handover.and_then(|handover| handover.doubt()));
        doubts
    }
}

/// Looks at the system before and after, and at handovers of a cache line in between.
#[derive(Debug)]
pub struct Observer {
    began: Instant,
    load_average: Option<f64>,
    ticks: Option<Ticks>,
    /// CPU time of this process and of those that it started, in seconds.
    own: Option<f64>,
    handovers: Looks,
}

/// Hundredths of seconds of all processors since the system was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    stolen: u64,
    all: u64,
}

impl Observer {
    /// Begins now.
    pub fn start() -> Self {
        let (load_average, ticks) = (load_average(), told_by("/proc/stat").as_deref().and_then(Ticks::in_stat));
        Observer { began: Instant::now(), load_average, ticks, own: family::cpu_seconds(), handovers: Looks::new() }
    }

    /// To be called now and then while nothing is measured.
    pub fn look(&mut self) {
        self.handovers.look();
    }

    /// What went on since the start.
    pub fn seen(&self) -> Surroundings {
        let long_enough = self.began.elapsed() >= LONG_ENOUGH;
        let ticks = self.ticks_since().filter(|_| long_enough);
        Surroundings {
            load_average_before: self.load_average,
            load_average_after: load_average(),
            other_cores: self.other_cores().filter(|_| long_enough),
            stolen_percent: ticks.filter(|ticks| ticks.all > 0).map(|it| 100.0 * it.stolen as f64 / it.all as f64),
            handover: self.handovers.handover(),
        }
    }

    fn ticks_since(&self) -> Option<Ticks> {
        let now = told_by("/proc/stat").as_deref().and_then(Ticks::in_stat);
        now.zip(self.ticks).map(|(now, then)| now.since(then))
    }

    /// Cores that other processes have kept busy since the start.
    fn other_cores(&self) -> Option<f64> {
        let (seconds, ticks) = (self.began.elapsed().as_secs_f64(), self.ticks_since());
        let own = family::cpu_seconds().zip(self.own).map(|(now, then)| now - then);
        ticks.zip(own).map(|(ticks, own)| ticks.others(own, seconds))
    }
}

impl Ticks {
    /// From the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
    fn in_stat(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).map(|tick| tick.parse().ok()).collect::<Option<_>>()?;
        let [user, nice, system, _, _, irq, softirq, stolen] = ticks[..] else { return None };
        Some(Ticks { busy: user + nice + system + irq + softirq, stolen, all: ticks.iter().sum() })
    }

    fn since(self, then: Ticks) -> Ticks {
        Ticks {
            busy: self.busy.saturating_sub(then.busy),
            stolen: self.stolen.saturating_sub(then.stolen),
            all: self.all.saturating_sub(then.all),
        }
    }

    /// Cores that other processes kept busy in `seconds` seconds, where this process and its children used `own`
    /// seconds of CPU time.
    fn others(&self, own: f64, seconds: f64) -> f64 {
        ((self.busy as f64 / TICKS_IN_A_SECOND - own) / seconds).max(0.0)
    }
}

/// Cores that other processes keep busy now, in a moment that is long enough to tell a quiet machine from one that is
/// not: one tick is 0.03 cores.
pub(super) fn other_cores() -> Option<f64> {
    const MOMENT: Duration = Duration::from_millis(300);
    let observer = Observer::start();
    thread::sleep(MOMENT);
    observer.other_cores()
}

pub(super) fn load_average() -> Option<f64> {
    told_by("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_used_is_not_what_others_used() {
        let then = Ticks::in_stat("cpu  100 0 50 1000 5 0 10 20 0 0\ncpu0 1 1 1 1").expect("ticks");
        assert_eq!(then, Ticks { busy: 160, stolen: 20, all: 1185 });
        let now = Ticks { busy: 560, stolen: 30, all: 2000 };
        assert_eq!(now.since(then).others(3.0, 2.0), 0.5);
        assert_eq!(now.since(then).others(9.0, 2.0), 0.0);
        assert_eq!(Ticks::in_stat("cpu 1 2"), None);
    }

    #[test]
    fn a_disturbance_is_told() {
        let disturbed = Surroundings { other_cores: Some(0.7), stolen_percent: Some(12.3), ..Surroundings::default() };
        let doubts = disturbed.doubts().join("\n");
        assert!(doubts.contains("0.7 cores") && doubts.contains("12 %"), "{doubts}");
        assert!(Surroundings { other_cores: Some(0.01), ..Surroundings::default() }.doubts().is_empty());
    }
}
