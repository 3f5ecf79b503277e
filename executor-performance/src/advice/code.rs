//! The code that builds an executor.

use super::Need;

/// The expression for the builder of each executor, where `N` is the number of threads.
const BUILDERS: &[(&str, &str)] = &[
    ("threadpool", "threadpool_executor::ThreadPoolExecutor::builder().threads(N)"),
    ("channel", "crossbeam_channel_pool::ThreadPool::builder().threads(N)"),
    ("workstealing", "crossbeam_workstealing_pool::ThreadPool::builder().threads(N)"),
    (
        "workstealing-park-timed",
        "crossbeam_workstealing_pool::ThreadPool::builder().threads(N)\
         .idle(executors::Idle::PARK).fairness(executors::Fairness::TIMED)",
    ),
    (
        "workstealing-park-counted",
        "crossbeam_workstealing_pool::ThreadPool::builder().threads(N)\
         .idle(executors::Idle::PARK).fairness(executors::Fairness::COUNTED)",
    ),
    (
        "workstealing-spin-timed",
        "crossbeam_workstealing_pool::ThreadPool::builder().threads(N)\
         .idle(executors::Idle::Spin).fairness(executors::Fairness::TIMED)",
    ),
    (
        "workstealing-spin-counted",
        "crossbeam_workstealing_pool::ThreadPool::builder().threads(N)\
         .idle(executors::Idle::Spin).fairness(executors::Fairness::COUNTED)",
    ),
    (
        "workstealing-small",
        "crossbeam_workstealing_pool::ThreadPool::builder().threads(N).parker(executors::parker::small())",
    ),
    (
        "workstealing-large",
        "crossbeam_workstealing_pool::ThreadPool::builder().threads(N).parker(executors::parker::large())",
    ),
    (
        "workstealing-dyn",
        "crossbeam_workstealing_pool::ThreadPool::builder().threads(N).parker(executors::parker::dynamic())",
    ),
    ("burst", "burst_pool::ThreadPool::builder().threads(N)"),
    ("burst-dealt", "burst_pool::ThreadPool::builder().threads(N).stealing(false)"),
    ("elastic", "elastic_pool::ThreadPool::builder().threads(N)"),
    ("elastic-growing", "elastic_pool::ThreadPool::builder().core(0).max(N)"),
];

/// The executor that has priorities and subpools. Those whose names begin with this are built in the same way, and
/// measured in one of its subpools, except the next.
pub(super) const DISPATCHER: &str = "dispatcher";

const ORDERED_DISPATCHER: &str = "dispatcher-ordered";

/// Lines of code that build the executor called `name` with `threads` threads, and show how to use what is needed. None
/// if there is no code for it.
pub(super) fn lines(name: &str, threads: usize, needs: &[Need]) -> Option<Vec<String>> {
    if name.starts_with(DISPATCHER) {
        return Some(dispatcher(name == ORDERED_DISPATCHER, threads, needs));
    }
    let (_, builder) = BUILDERS.iter().find(|(known, _)| *known == name)?;
    Some(vec![format!("let pool = executors::{}.build()?;", builder.replace("(N)", &format!("({threads})")))])
}

fn dispatcher(is_ordered: bool, threads: usize, needs: &[Need]) -> Vec<String> {
    let (limited, bound) = (needs.contains(&Need::Subpools), needs.contains(&Need::Bound));
    // The bound subpool gets a thread of its own, so that as many are left for other jobs as were measured.
    let all = threads + usize::from(bound);
    let mut builder = format!("executors::dispatcher::Dispatcher::builder().threads({all}).cpu_limit({threads})");
    let mut lines = Vec::new();
    if is_ordered {
        builder += ".strict_order(true)";
    }
    if limited {
        builder += ".subpool(\"limited\", 1)";
        lines.push("let limited = pool.subpool(\"limited\")?;".to_owned());
    }
    if bound {
        builder += ".bound_subpool(\"bound\")";
        lines.push("let bound = pool.subpool(\"bound\")?;".to_owned());
    }
    if needs.contains(&Need::Priorities) {
        lines.push("let urgent = pool.cpu().with_priority(executors::dispatcher::Priority::HIGH);".to_owned());
    }
    lines.insert(0, format!("let pool = {builder}.build()?;"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Entry;

    /// All that can be recommended for two threads, as a block of Rust: `tests/advice.rs` compiles it, and builds every
    /// pool.
    fn everything() -> String {
        use Need::{Bound, Priorities, Subpools};
        const NEEDS: &[&[Need]] = &[&[], &[Priorities], &[Subpools], &[Bound], &[Priorities, Subpools, Bound]];
        let plain = BUILDERS.iter().map(|(name, _)| lines(name, 2, &[]));
        let ordered = lines(ORDERED_DISPATCHER, 2, &[]);
        let dispatchers = NEEDS.iter().map(|needs| lines(DISPATCHER, 2, needs)).chain([ordered]);
        let blocks = plain.chain(dispatchers).map(|lines| {
            let lines: String = lines.expect("it has lines").iter().map(|line| format!("        {line}\n")).collect();
            format!("    {{\n{lines}        pool.shutdown()?;\n    }}\n")
        });
        format!("{{\n{}    Ok(())\n}}\n", blocks.collect::<String>())
    }

    #[test]
    fn what_is_recommended_is_what_a_test_compiles() {
        let everything = everything();
        assert!(
            everything == include_str!("../../tests/advice/lines.rs"),
            "tests/advice/lines.rs should be:\n{everything}"
        );
    }

    #[test]
    fn every_name_is_that_of_an_executor() {
        for name in BUILDERS.iter().map(|(name, _)| *name).chain([DISPATCHER, ORDERED_DISPATCHER]) {
            let module = Entry::named(name).and_then(Entry::module).expect(name);
            let code = lines(name, 7, &[]).expect(name).concat();
            assert!(code.contains(&format!("executors::{module}::")), "{code}");
            assert!(code.contains("(7)") && !code.contains("(N)"), "{code}");
        }
        assert_eq!(lines("reference-unpark", 2, &[]), None);
    }

    #[test]
    fn a_line_is_as_one_would_write_it() {
        let line = lines("elastic-growing", 64, &[]).expect("there is one");
        assert_eq!(line, ["let pool = executors::elastic_pool::ThreadPool::builder().core(0).max(64).build()?;"]);
    }
}
