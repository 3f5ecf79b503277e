//! Results as tables, before anybody knows how these are drawn.

mod results;
mod sweep;
mod table;

pub use self::{
    results::results,
    sweep::{Sweep, sweeps},
    table::{Column, Content, Table, decimals},
};

use crate::record::{Record, Run};

/// Facts about program, machine and clock: titles and lines.
pub fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let (program, machine, clock) = (&record.program, &record.machine, &record.clock);
    let (processor, system) = (&machine.processor, &machine.system);
    let mut about = vec![format!("executor-performance {}, {} build", program.version, program.build)];
    about.extend((!program.git.is_empty()).then(|| format!("git {}", program.git)));
    about.push(program.rustc.clone());
    about.extend((!program.features.is_empty()).then(|| format!("features {}", program.features.join(", "))));

    let mut hardware = vec![processor.name.clone(), format!("{} cores", processor.cores)];
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

/// In which lines the description of a run differs from that of the one before, if that was of the same experiment.
pub fn news<'a>(run: &'a Run, before: Option<&Run>) -> Vec<&'a (String, String)> {
    let before = before.filter(|before| before.experiment == run.experiment);
    let told = |line: &&(String, String)| before.is_some_and(|before| before.description.contains(line));
    run.description.iter().filter(|line| !told(line)).collect()
}

/// The settings of a run, in a line.
pub fn settings(run: &Run) -> String {
    run.settings.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}
