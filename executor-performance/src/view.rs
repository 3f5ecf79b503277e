//! Results as tables, independent of how these are drawn.

mod results;
mod sweep;
mod table;

pub use self::{
    results::results,
    sweep::{Sweep, sweeps},
    table::{Column, Content, Table, decimals, decimals_for},
};

use crate::record::{Record, Run, Value};

/// How far to trust the figures of a document.
const CAVEAT: &str = "Valid for that machine, these loads and that moment. Compare only rows of one table, and treat \
                          differences within the scatter as noise. Intervals are 95 % intervals.";

/// Why two columns side by side may differ.
const RATIOS: &str = "\"Slower x best\" is the geometric mean over processes, each compared with one of the best \
                      executor, so it may differ from the ratio of the figures beside it.";

/// What stands under all tables.
pub fn footnote(record: &Record) -> String {
    let several = record.runs.iter().flat_map(|run| &run.rows).any(|row| !row.samples.process.is_empty());
    if several { format!("{CAVEAT} {RATIOS}") } else { CAVEAT.to_owned() }
}

/// Facts about program, machine and clock: titles and lines.
pub fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let (program, machine, clock) = (&record.program, &record.machine, &record.clock);
    let (processor, system) = (&machine.processor, &machine.system);
    let mut about = vec![format!("executor-performance {}, {} build", program.version, program.build)];
    about.extend((!program.git.is_empty()).then(|| format!("git {}", program.git)));
    about.push(program.rustc.clone());
    about.extend((!program.features.is_empty()).then(|| format!("features {}", program.features.join(", "))));

    let mut hardware = vec![processor.name.clone(), number(processor.cores, "core")];
    hardware.extend(processor.logical.filter(|logical| *logical != processor.cores).map(|it| format!("{it} in all")));
    hardware.extend(processor.threads_per_core.filter(|siblings| *siblings > 1).map(|it| format!("{it} threads each")));
    hardware.extend(processor.sockets.filter(|sockets| *sockets > 1).map(|sockets| format!("{sockets} sockets")));
    hardware.extend(processor.numa_nodes.filter(|nodes| *nodes > 1).map(|nodes| format!("{nodes} NUMA nodes")));
    let caches: Vec<String> = processor
        .caches
        .iter()
        .filter(|cache| cache.kind != "Instruction")
        .map(|cache| format!("L{} {}", cache.level, size(cache.kib)))
        .collect();
    hardware.extend((!caches.is_empty()).then(|| caches.join(", ")));

    let load = machine.load_average.map_or("unknown".to_owned(), |load| format!("{load:.2}"));
    let mut around = vec![format!("{} {}", system.name, system.kernel), format!("load average {load}")];
    around.extend(system.virtual_machine.as_ref().map(|machine| format!("virtual machine ({machine})")));
    around.extend(system.cgroup_quota.map(|quota| format!("quota of {quota} cores")));
    around.extend(processor.governor.as_ref().map(|governor| format!("governor {governor}")));
    vec![
        ("program", about.join(", ")),
        ("command", program.command.clone()),
        ("machine", hardware.join(", ")),
        ("system", around.join(", ")),
        ("clock", format!("{:.0} ns to read it, steps of {:.0} ns", clock.reading_ns, clock.step_ns)),
    ]
}

fn size(kib: u64) -> String {
    if kib >= 1024 { format!("{} MiB", kib / 1024) } else { format!("{kib} KiB") }
}

/// The lines of a run's description that differ from those of the run before, if that was of the same experiment.
pub fn news<'a>(run: &'a Run, before: Option<&Run>) -> Vec<&'a (String, String)> {
    let before = before.filter(|before| before.experiment == run.experiment);
    let told = |line: &&(String, String)| before.is_some_and(|before| before.description.contains(line));
    run.description.iter().filter(|line| !told(line)).collect()
}

/// How a run has ended, in sentences, if it has.
pub fn ending(run: &Run) -> Option<String> {
    let mut sentences = vec![run.stop.as_ref()?.remark.clone()];
    let handover = run.surroundings.handover;
    sentences.extend(handover.map(|way| format!("A cache line took {:.0} ns from core to core.", way.p50_ns)));
    Some(sentences.join(" "))
}

/// What makes the figures doubtful, and of which runs, unless it is all.
pub fn doubts(record: &Record) -> Vec<String> {
    let mut doubts: Vec<(&str, Vec<String>)> = Vec::new();
    for run in &record.runs {
        for doubt in &run.warnings {
            match doubts.iter_mut().find(|(other, _)| other == doubt) {
                Some((_, runs)) => runs.push(distinction(run)),
                None => doubts.push((doubt, vec![distinction(run)])),
            }
        }
    }
    let told = |(doubt, runs): (&str, Vec<String>)| {
        if runs.len() == record.runs.len() { doubt.to_owned() } else { of_runs(doubt, &runs) }
    };
    doubts.into_iter().map(told).collect()
}

/// What tells a run from the others of its record: its workload if it is one of a recommendation's, or its settings.
pub fn distinction(run: &Run) -> String {
    run.recommended_for().map_or_else(|| settings(run), |workload| format!("workload {workload}"))
}

/// A doubt about only the runs with these distinctions.
pub fn of_runs(doubt: &str, runs: &[String]) -> String {
    format!("{doubt} (with {})", runs.join("; with "))
}

/// The settings of a run, in a line.
pub fn settings(run: &Run) -> String {
    run.settings.iter().map(|(name, value)| setting(name, value)).collect::<Vec<_>>().join(", ")
}

/// The setting that is called `name` in records, for people.
pub fn setting(name: &str, value: &Value) -> String {
    match called(name) {
        (name, "") => format!("{name} {value}"),
        (name, "/s") => format!("{name} {value}/s"),
        (name, unit) => format!("{name} {value} {unit}"),
    }
}

/// The name for people of what is called `name` in records, and its unit.
pub fn called(name: &str) -> (String, &'static str) {
    const UNITS: [(&str, &str); 5] =
        [("_per_s", "/s"), ("_ms", "ms"), ("_us", "us"), ("_ns", "ns"), ("_units", "units")];
    let known = UNITS.iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, *unit)));
    let (name, unit) = known.unwrap_or((name, ""));
    (name.replace('_', " "), unit)
}

/// The name for people of the experiment of `run`: what they write on the command line.
pub fn experiment(run: &Run) -> &str {
    match run.experiment.as_str() {
        "open-latency" => "latency --rate",
        name => name,
    }
}

/// A count with its noun, in the singular or the plural.
pub fn number(count: usize, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}

/// A fraction in percent, without the last digits, which are rounding errors.
pub fn percent(fraction: f64) -> f64 {
    (fraction * 1e12).round() / 1e10
}

/// The words of `text` in lines of up to `width` letters, at least one line. A list that is longer than a line is
/// broken after its commas; any other word that is longer has a line of its own.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let parts: Vec<&str> = if length(word) > width { word.split_inclusive(',').collect() } else { vec![word] };
        for (index, part) in parts.into_iter().enumerate() {
            let gap = if index == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if length(line) + gap.len() + length(part) <= width => {
                    line.push_str(gap);
                    line.push_str(part);
                }
                _ => lines.push(part.to_owned()),
            }
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::mock::record;
    use std::time::Duration;

    #[test]
    fn percents_are_what_was_said() {
        for said in [0.001, 1.1, 7.0, 29.0, 57.0] {
            assert_eq!(percent(said / 100.0), said);
        }
    }

    #[test]
    fn long_lists_are_broken_after_commas() {
        assert_eq!(lines("-e one,two,three,four -t 2", 10), ["-e one,", "two,three,", "four -t 2"]);
        assert_eq!(lines("a long path/without/commas b", 8), ["a long", "path/without/commas", "b"]);
        assert_eq!(lines("", 8), [""]);
    }

    #[test]
    fn settings_are_told_in_words() {
        for (name, told) in [
            ("threads", "threads 7"),
            ("messages_per_producer", "messages per producer 7"),
            ("pre_units", "pre 7 units"),
            ("run_time_ms", "run time 7 ms"),
            ("probe_interval_us", "probe interval 7 us"),
            ("job_time_ns", "job time 7 ns"),
            ("rate_per_s", "rate 7/s"),
        ] {
            assert_eq!(setting(name, &Value::Number(7)), told);
        }
    }

    #[test]
    fn what_is_doubtful_is_told_once_and_says_of_which_runs() {
        let mut record = record();
        record.runs.iter_mut().for_each(|run| run.warnings.push("busy".to_owned()));
        record.runs[1].warnings.push("noisy".to_owned());
        assert_eq!(doubts(&record), ["busy", "noisy (with threads 2, producers 2)"]);
        let noisy = record.runs[1].clone();
        record.runs[1] = noisy.for_recommendation("inside: most jobs", Duration::from_micros(1), &[]);
        assert_eq!(doubts(&record), ["busy", "noisy (with workload inside)"]);
    }
}
