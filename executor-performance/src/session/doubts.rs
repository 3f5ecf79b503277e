//! What makes the figures of a run doubtful, according to its samples.

use crate::{
    experiment::open_latency_columns::{ACHIEVED, ACHIEVED_PERCENT, GIVEN_LATE, JOBS, P50, P99},
    record::{Row, Run},
};

/// What the scatter of the samples makes doubtful in the `rows` of `run`, where `target` was asked for.
pub(super) fn noise(run: &Run, rows: &[Row], target: f64) -> Vec<String> {
    /// Beyond this, figures are not worth much, whatever was asked for.
    const NOISY: f64 = 0.05;
    let limit = NOISY.max(target);
    let scattered: Vec<String> = rows
        .iter()
        // What is not kept up with does not scatter, but grows.
        .filter(|row| !falls_behind(row))
        .filter_map(|row| Some((row, row.costs(run)?.relative_error(false))))
        .filter(|(_, error)| error.is_finite() && *error > limit)
        .map(|(row, error)| format!("{} {:.0} %", row.executor, error * 100.0))
        .collect();
    let mut doubts = Vec::new();
    if !scattered.is_empty() {
        doubts.push(format!(
            "noisy results (relative standard error of {}): raise --budget, or make the machine quiet",
            scattered.join(", ")
        ));
    }
    let spoilt: Vec<String> = rows
        .iter()
        .filter(|row| row.outliers.severe > 1 && 10 * row.outliers.severe > row.samples.count())
        .map(|row| format!("{} of {} samples of {}", row.outliers.severe, row.samples.count(), row.executor))
        .collect();
    if !spoilt.is_empty() {
        doubts.push(format!(
            "{} are far from the others: something else ran, or it behaves in several ways; -o FILE.json keeps all samples",
            spoilt.join(", ")
        ));
    }
    doubts
}

/// The executors whose samples are so alike within a process that only more processes help, where `target` was asked
/// for. `differing` are those of which that has been seen; `seed` is for the test of the others.
pub(super) fn kinship(run: &Run, rows: &[Row], differing: &[bool], target: f64, seed: u64) -> Option<String> {
    let apart: Vec<String> = rows
        .iter()
        .zip(differing)
        .filter(|(row, _)| !falls_behind(row))
        .filter_map(|(row, differs)| Some((row, row.costs(run)?, differs)))
        .filter(|(_, costs, differs)| costs.level().error() > target && (**differs || costs.differ(seed)))
        .filter_map(|(row, costs, _)| Some(format!("{} by {:.0} %", row.executor, costs.level().noise()? * 100.0)))
        .collect();
    (!apart.is_empty()).then(|| {
        format!(
            "processes of one executor differ more than their samples tell ({}), so only more of them would help: \
             raise --processes and --budget",
            apart.join(", ")
        )
    })
}

/// A figure that only some experiments have.
fn figure(row: &Row, column: &str) -> Option<f64> {
    row.figures.get(column).copied().flatten()
}

/// Whether jobs took longer and longer, because they came faster than they were run.
fn falls_behind(row: &Row) -> bool {
    let of = |column| figure(row, column);
    let fall = || {
        let part = of(ACHIEVED_PERCENT)? / 100.0;
        let seconds = of(JOBS)? / of(ACHIEVED)? / row.samples.count() as f64;
        // How much longer than it should a sample took.
        let excess_us = seconds * (1.0 - part) * 1e6;
        // If the time of a job grows steadily, up to all of that, half of the jobs take less than half of it. Where
        // only the last jobs end late, the median is larger, because all take long, or smaller, because few do; but
        // these do not take a tenth of the time.
        let (half, median) = (excess_us / 2.0, of(P50)?);
        Some(part < 0.99 && median < half * 1.4 && (part < 0.9 || median > half / 2.0))
    };
    fall().unwrap_or(false)
}

/// The executors that do not keep up with the rate at which jobs come.
pub(super) fn backlog(rows: &[Row]) -> Option<String> {
    let behind: Vec<String> = rows
        .iter()
        .filter(|row| falls_behind(row))
        .filter_map(|row| Some(format!("{} {:.0} %", row.executor, figure(row, ACHIEVED_PERCENT)?)))
        .collect();
    (!behind.is_empty()).then(|| {
        format!(
            "jobs do not keep up with --rate ({} of it achieved), so their times are the longer, the longer a sample is: \
             lower it, or raise -t if the executor is too slow, or -p if the threads that give the jobs are",
            behind.join(", ")
        )
    })
}

/// The executors whose times are those of the threads that gave the jobs, if these gave them at given times.
pub(super) fn lateness(rows: &[Row]) -> Option<String> {
    /// The part of the times, for one job in a hundred, that is too large.
    const PART: f64 = 0.5;
    let late = |row: &&Row| {
        !falls_behind(row)
            && figure(row, GIVEN_LATE).zip(figure(row, P99)).is_some_and(|(lateness, time)| lateness >= PART * time)
    };
    let late: Vec<&str> = rows.iter().filter(late).map(|row| row.executor.as_str()).collect();
    (!late.is_empty()).then(|| {
        format!(
            "the longest times of {} are mostly how late jobs were given (late p99), because the threads that give them had \
             no core, or the executor held them up: lower --rate, raise -p to 2 or more, or use fewer threads (-t)",
            late.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        machine::{Handover, Machine, Surroundings, mock::machine},
        program::Program,
        record::{Samples, mock::record},
    };

    /// A run in which less is better.
    fn latency() -> Run {
        record().runs.remove(2)
    }

    fn row(values: Vec<f64>) -> Row {
        Row::new("channel", Ok(Default::default()), Samples::new(values, &[]), None)
    }

    #[test]
    fn noise_is_told_with_the_remedy() {
        let doubts = noise(&latency(), &[row(vec![1.0, 2.0, 3.0])], 0.02);
        assert!(
            doubts.len() == 1 && doubts[0].contains("channel 29 %") && doubts[0].contains("--budget"),
            "{doubts:?}"
        );
        assert_eq!(noise(&latency(), &[row(vec![1.0, 1.01, 1.0])], 0.02), Vec::<String>::new());
    }

    /// Their scatter decides when sampling stops, and is what the column shows. The reciprocals scatter differently.
    #[test]
    fn noise_is_that_of_the_costs() {
        let (throughput, rows) = (record().runs.remove(0), [row(vec![1.0, 2.0, 3.0])]);
        let told = rows[0].costs(&throughput).expect("samples").relative_error(false);
        assert!((told - crate::stats::relative_error(&[1.0, 1.0 / 2.0, 1.0 / 3.0])).abs() < 1e-12, "{told}");
        let doubts = noise(&throughput, &rows, 0.02);
        assert!(doubts.len() == 1 && doubts[0].contains("channel 33 %"), "{doubts:?}");
    }

    #[test]
    fn processes_that_differ_are_told_if_it_matters() {
        let values: Vec<f64> = (0..24).map(|sample| f64::from(100 + 20 * (sample / 8) + sample % 8)).collect();
        let processes: Vec<u64> = (0..24).map(|sample| sample / 8).collect();
        let of = |processes: &[u64]| {
            let samples = Samples::new(values.clone(), &[]).of_processes(processes);
            Row { samples, ..row(values.clone()) }
        };
        let doubt = kinship(&latency(), &[of(&processes)], &[false], 0.02, 0).expect("they differ");
        assert!(doubt.contains("channel by 16 %") && doubt.contains("--processes"), "{doubt}");
        assert_eq!(kinship(&latency(), &[of(&processes)], &[true], 0.2, 0), None);
        assert_eq!(kinship(&latency(), &[of(&[])], &[false], 0.02, 0), None);
    }

    /// Doubts about the program, the machine, what went on meanwhile, and the samples.
    #[test]
    fn every_doubt_can_be_read() {
        let program = Program { build: "debug".to_owned(), ..record().program };
        let mut machine = Machine { other_cores: Some(1.5), ..machine() };
        machine.system.cgroup_quota = Some(1.5);
        machine.processor.governor = Some("powersave".to_owned());
        let handover = Some(Handover { looks: 20, p10_ns: 28.3, p50_ns: 31.0, p90_ns: 186.8 });
        let surroundings =
            Surroundings { other_cores: Some(0.7), stolen_percent: Some(12.3), handover, ..Default::default() };
        let processes: Vec<u64> = (0..24).map(|sample| sample / 12).collect();
        let row = |executor: &str, cost: fn(u32) -> f64| {
            let samples = Samples::new((0..24).map(cost).collect(), &[]).of_processes(&processes);
            Row::new(executor, Ok(Default::default()), samples, None)
        };
        let rows = [
            row("burst", |sample| if sample % 8 == 0 { 9.0 } else { 1.0 + 0.01 * f64::from(sample % 8) }),
            row("elastic", |sample| if sample < 12 { 1.0 } else { 1.2 }),
        ];
        let doubts = [program.doubts(), machine.doubts(5), surroundings.doubts(), noise(&latency(), &rows, 0.02)];
        let told = doubts.concat().into_iter().chain(kinship(&latency(), &rows, &[false; 2], 0.02, 0));
        insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn times_that_are_the_givers_are_told() {
        let row = |executor: &str, late, p99| {
            let figures = [(P99, p99), (GIVEN_LATE, late)].map(|(name, figure)| (name.to_owned(), figure));
            Row::new(executor, Ok(figures.into_iter().collect()), Samples::new(vec![1.0], &[]), None)
        };
        let rows = [
            row("channel", Some(49.0), Some(100.0)),
            row("elastic", Some(50.0), Some(100.0)),
            row("burst", None, Some(100.0)),
        ];
        let doubt = lateness(&rows).expect("elastic is late");
        assert!(doubt.contains("times of elastic are") && doubt.contains("lower --rate"), "{doubt}");
        assert_eq!(lateness(&rows[..1]), None);
    }

    #[test]
    fn who_does_not_keep_up_is_told_that_and_no_more() {
        // Samples of 10 ms, each of 1000 jobs.
        let row = |executor: &str, achieved: f64, p50| {
            let rate = 1000.0 * achieved;
            let figures = [(P99, 9000.0), (GIVEN_LATE, 9000.0), (ACHIEVED_PERCENT, achieved), (P50, p50)];
            let figures = figures.into_iter().chain([(ACHIEVED, rate), (JOBS, 3000.0)]);
            let figures = figures.map(|(name, figure)| (name.to_owned(), Some(figure)));
            let samples = Samples::new(vec![1.0, 2.0, 3.0], &[]);
            Row::new(executor, Ok(figures.collect()), samples, None)
        };
        let rows = [
            row("channel", 50.0, 5000.0),
            row("elastic", 99.5, 20.0),
            row("burst", 98.0, 20.0),
            row("dispatcher", 98.0, 210.0),
            row("elastic-growing", 80.0, 20.0),
        ];
        let doubt = backlog(&rows).expect("one does not keep up");
        assert!(doubt.contains("(channel 50 %, elastic-growing 80 % of") && doubt.contains("--rate"), "{doubt}");
        assert_eq!(backlog(&rows[1..4]), None, "a few jobs that end late are no backlog, nor are long ones");
        assert!(lateness(&rows).is_some_and(|doubt| doubt.contains("times of elastic, burst, dispatcher are")));
        assert!(noise(&latency(), &rows, 0.05)[0].contains("error of elastic 29 %, burst 29 %, dispatcher 29 %)"));
    }

    #[test]
    fn many_outliers_are_told() {
        let mut values = vec![1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07];
        values.extend([1.5, 1.6]);
        let doubts = noise(&latency(), &[row(values)], 0.5);
        assert!(doubts.len() == 1 && doubts[0].starts_with("2 of 10 samples of channel"), "{doubts:?}");
    }
}
