//! What to keep in mind when two records are compared: what is doubtful of each, and how they are unlike.

use super::named;
use crate::{
    record::{Record, Run},
    view,
    workload::CHAINS_COUNTED_DOWN,
};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// What makes the figures of either record doubtful.
pub(super) fn doubts(old: &Record, new: &Record) -> Vec<String> {
    let of = |(name, record): (&str, &Record)| {
        let told = |doubt| format!("Warning ({name} record): {doubt}.");
        view::doubts(record).into_iter().map(told).collect::<Vec<_>>()
    };
    [("old", old), ("new", new)].into_iter().flat_map(of).collect()
}

/// How the records are unlike in what may be a reason for a change. `matched` has the old run and the new one of each
/// pair that is compared.
pub(super) fn unlikeness(old: &Record, new: &Record, matched: &[(&Run, &Run)]) -> Vec<String> {
    let mut warnings = builds(old, new);
    warnings.extend(distance(matched));
    warnings.extend(matched.iter().filter_map(|(before, run)| size(before, run)));
    warnings.extend(matched.iter().filter_map(|(before, run)| counting(before, run)));
    warnings
}

/// Warns if what is compared was compiled by different compilers, for different systems, or with other versions of the
/// crates that are measured: the change may be due to that.
fn builds(old: &Record, new: &Record) -> Vec<String> {
    let (old, new) = (&old.program, &new.program);
    let mut differences = Vec::new();
    if old.rustc != new.rustc {
        differences.push(("by", old.rustc.clone(), new.rustc.clone()));
    }
    if old.target != new.target {
        differences.push(("for", old.target.clone(), new.target.clone()));
    }
    let now = versions(&new.crates);
    for (name, old) in versions(&old.crates) {
        // Crates that only one program has do not change what both measure.
        if let Some(new) = now.get(name).filter(|new| **new != old) {
            let told = |versions: &BTreeSet<&str>| versions.iter().copied().collect::<Vec<_>>().join(" and ");
            differences.push(("with", told(&old), told(new)));
        }
    }
    let told = |(what, old, new)| {
        format!(
            "Warning: the old record is of a program built {what} {old}, the new one of a program built {what} {new}."
        )
    };
    differences.into_iter().map(told).collect()
}

/// The crates of each name. A program may have several versions of one.
fn versions(crates: &[String]) -> IndexMap<&str, BTreeSet<&str>> {
    let mut versions = IndexMap::<_, BTreeSet<_>>::new();
    for it in crates {
        let name = it.split_once(' ').map_or(&**it, |(name, _)| name);
        versions.entry(name).or_default().insert(&**it);
    }
    versions
}

/// Warns if cores were further apart in one of two runs than in the other.
fn distance(matched: &[(&Run, &Run)]) -> Option<String> {
    let of_both = |(before, run): &(&Run, &Run)| before.surroundings.handover.zip(run.surroundings.handover);
    let unlike = matched.iter().filter_map(of_both).filter(|(old, new)| old.is_unlike(new));
    let (old, new) = unlike.max_by(|one, other| one.0.times(&one.1).total_cmp(&other.0.times(&other.1)))?;
    Some(format!(
        "Warning: a cache line took {:.0} ns from core to core in the old record, and {:.0} ns in the new one.",
        old.p50_ns, new.p50_ns
    ))
}

/// Warns if samples of a run were larger in one record than in the other. If samples last for a given time, an executor
/// that does not keep up falls further behind in longer ones. If a load was cut, the costs of its beginning and end are
/// shared by fewer jobs.
fn size(before: &Run, run: &Run) -> Option<String> {
    const SIZES: [(&str, &str, f64); 6] = [
        ("sampled_ms", "ms", 1.25),
        ("jobs_per_sample", "jobs", 2.0),
        ("operations_per_sample", "operations", 2.0),
        ("bursts_per_sample", "bursts", 2.0),
        ("round_trips_per_sample", "round trips", 2.0),
        ("runs_per_sample", "runs", 2.0),
    ];
    SIZES.into_iter().find_map(|(setting, unit, much)| {
        let (old, new) = (before.fitted_number(setting)?, run.fitted_number(setting)?);
        let times = old.max(new) as f64 / old.min(new).max(1) as f64;
        let experiment = named(run);
        (times > much).then(|| {
            format!(
                "Warning: a sample of {experiment} was {old} {unit} in the old record, and {new} {unit} in the new one."
            )
        })
    })
}

/// Warns if the ends of chains were counted in the samples of one record only.
fn counting(before: &Run, run: &Run) -> Option<String> {
    let (old, new) = (before.chains()?, run.chains()?);
    (before.counts_chains() != run.counts_chains()).then(|| {
        format!(
            "Warning: a sample of {} had {old} chains of jobs or tasks in the old record, and {new} in the new one: from \
             {CHAINS_COUNTED_DOWN} on, the end of each is not counted, which takes less of short jobs.",
            named(run)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::{
            Comparison,
            mock::{TERMS, of_processes},
        },
        record::{Value, mock::record},
    };

    #[test]
    fn samples_that_last_longer_are_a_warning() {
        let lasting = |ms: u64| {
            let mut record = of_processes();
            record.runs[0].fitted.insert("sampled_ms".to_owned(), Value::Number(ms));
            record
        };
        let warnings = |ms| Comparison::of(&lasting(100), &lasting(ms), &TERMS).expect("alike").warnings;
        assert_eq!(warnings(110), Vec::<String>::new());
        let said = warnings(250);
        assert!(said.len() == 1 && said[0].contains("100 ms") && said[0].contains("250 ms"), "{said:?}");
    }

    #[test]
    fn another_build_is_a_warning() {
        let warnings = |new: &Record| {
            let comparison = Comparison::of(&record(), new, &TERMS).expect("alike");
            comparison.warnings.into_iter().filter(|warning| !warning.contains("record)")).collect::<Vec<_>>()
        };
        let mut other = record();
        assert_eq!(warnings(&other), Vec::<String>::new());
        other.program.rustc = "rustc 1.99.0".to_owned();
        other.program.target = "aarch64-unknown-linux-gnu".to_owned();
        other.program.crates = ["rayon-core 1.99.0", "threadpool 1.8.2"].map(str::to_owned).to_vec();
        let said = warnings(&other);
        for (warning, part) in said.iter().zip(["rustc 1.99.0", "aarch64", "with threadpool 1.8.1, "]) {
            assert!(warning.contains(part), "{part} in {said:?}");
        }
        assert_eq!(said.len(), 3, "{said:?}");
    }

    #[test]
    fn versions_of_a_crate_that_one_program_has_are_compared_together() {
        let with = |crates: &[&str]| {
            let mut record = of_processes();
            record.program.crates = crates.iter().map(|it| (*it).to_owned()).collect();
            record
        };
        let warnings =
            |old: &[&str], new: &[&str]| Comparison::of(&with(old), &with(new), &TERMS).expect("alike").warnings;
        let two = ["executors 0.10.1", "executors 0.10.0", "rayon-core 1.13.0"];
        assert_eq!(warnings(&two, &two), Vec::<String>::new());
        assert_eq!(warnings(&two, &["executors 0.10.0", "executors 0.10.1"]), Vec::<String>::new());
        let said = warnings(&two, &["executors 0.10.1"]);
        let parts = ["with executors 0.10.0 and executors 0.10.1, ", "with executors 0.10.1."];
        assert!(said.len() == 1 && parts.iter().all(|part| said[0].contains(part)), "{said:?}");
    }

    #[test]
    fn samples_of_a_load_that_was_cut_are_a_warning() {
        for unit in ["jobs", "operations", "bursts", "round trips", "runs"] {
            let of = |number: u64| {
                let mut record = of_processes();
                record.runs[0].fitted.insert(format!("{}_per_sample", unit.replace(' ', "_")), Value::Number(number));
                record
            };
            let warnings = |number| Comparison::of(&of(1000), &of(number), &TERMS).expect("alike").warnings;
            assert_eq!(warnings(600), Vec::<String>::new());
            let said = warnings(400);
            let sizes = [1000, 400].map(|number| format!("{number} {unit}"));
            assert!(said.len() == 1 && sizes.iter().all(|size| said[0].contains(size)), "{said:?}");
        }
    }

    #[test]
    fn samples_whose_chains_were_counted_in_one_record_only_are_a_warning() {
        let of = |fitted: &[(&str, u64)], workload: &str| {
            let mut record = of_processes();
            let run = &mut record.runs[0];
            run.settings.insert("workload".to_owned(), Value::Text(workload.to_owned()));
            run.fitted = fitted.iter().map(|(name, number)| ((*name).to_owned(), Value::Number(*number))).collect();
            record
        };
        let warnings = |old: &[(&str, u64)], new: &[(&str, u64)], workload| {
            Comparison::of(&of(old, workload), &of(new, workload), &TERMS).expect("alike").warnings
        };
        for (unit, chains) in [("jobs_per_sample", ["9000", "11000"]), ("operations_per_sample", ["9001", "11001"])] {
            assert_eq!(warnings(&[(unit, 7000)], &[(unit, 9000)], ""), Vec::<String>::new());
            let said = warnings(&[(unit, 9000)], &[(unit, 11_000)], "");
            assert!(said.len() == 1 && chains.iter().all(|chains| said[0].contains(chains)), "{said:?}");
        }
        for hops in ["sampled_amplification", "sampled_hops_per_chain"] {
            let fitted = |jobs| [(hops, 1), ("jobs_per_sample", jobs)];
            assert_eq!(warnings(&fitted(9000), &fitted(11_000), ""), Vec::<String>::new());
            assert_eq!(warnings(&fitted(19_000), &fitted(21_000), "").len(), 1);
        }
        let yields = |operations| [("operations_per_sample", operations)];
        assert_eq!(warnings(&yields(9000), &yields(11_000), "yield"), Vec::<String>::new());
    }

    #[test]
    fn what_was_doubtful_of_either_record_is_told_again() {
        let (mut old, mut new) = (of_processes(), of_processes());
        old.runs.iter_mut().for_each(|run| run.warnings.push("the machine is busy".to_owned()));
        new.runs[0].warnings.push("noisy results".to_owned());
        let remarks = Comparison::of(&old, &new, &TERMS).expect("alike").remarks();
        let warnings: Vec<&String> = remarks.iter().filter(|line| line.starts_with("Warning")).collect();
        assert_eq!(
            warnings,
            [
                "Warning (old record): the machine is busy.",
                "Warning (new record): noisy results (with threads 1, producers 2)."
            ]
        );
    }

    #[test]
    fn cores_that_were_further_apart_are_told() {
        let (old, mut new) = (of_processes(), of_processes());
        let warnings = |new: &Record| Comparison::of(&old, new, &TERMS).expect("alike").warnings;
        assert_eq!(warnings(&new), Vec::<String>::new());
        new.runs[0].surroundings.handover.as_mut().expect("looks").p50_ns = 180.0;
        let far = "Warning: a cache line took 50 ns from core to core in the old record, and 180 ns in the new one.";
        assert_eq!(warnings(&new), [far]);
    }
}
