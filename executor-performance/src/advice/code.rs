//! What to write to have an executor.

#[cfg(test)]
use executors::BuildError;

/// Writes the list once, as text and as code: so what is recommended is what compiles.
macro_rules! lines {
    ($threads:ident; $($name:literal => $code:expr;)+) => {
        /// A line of code that builds the executor called `name` with so many threads. None if there is no such line.
        pub(super) fn line(name: &str, threads: usize) -> Option<String> {
            let code = match name {
                $($name => stringify!($code),)+
                _ => return None,
            };
            let code: String = code.split_whitespace().collect();
            Some(format!("let pool = {};", code.replace(stringify!(($threads)), &format!("({threads})"))))
        }

        /// Builds the executor that this line builds.
        #[cfg(test)]
        fn build(name: &str, $threads: usize) -> Result<(), BuildError> {
            match name {
                $($name => drop($code),)+
                _ => unreachable!("{name} has no line"),
            }
            Ok(())
        }

        /// Those that have a line.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),+];
    };
}

lines! { threads;
    "threadpool" => executors::threadpool_executor::ThreadPoolExecutor::builder().threads(threads).build()?;
    "channel" => executors::crossbeam_channel_pool::ThreadPool::builder().threads(threads).build()?;
    "workstealing" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads).build()?;
    "workstealing-park-timed" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads)
        .idle(executors::Idle::PARK).fairness(executors::Fairness::TIMED).build()?;
    "workstealing-park-counted" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads)
        .idle(executors::Idle::PARK).fairness(executors::Fairness::COUNTED).build()?;
    "workstealing-spin-timed" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads)
        .idle(executors::Idle::Spin).fairness(executors::Fairness::TIMED).build()?;
    "workstealing-spin-counted" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads)
        .idle(executors::Idle::Spin).fairness(executors::Fairness::COUNTED).build()?;
    "workstealing-small" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads)
        .parker(executors::parker::small()).build()?;
    "workstealing-large" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads)
        .parker(executors::parker::large()).build()?;
    "workstealing-dyn" => executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(threads)
        .parker(executors::parker::dynamic()).build()?;
    "burst" => executors::burst_pool::ThreadPool::builder().threads(threads).build()?;
    "burst-dealt" => executors::burst_pool::ThreadPool::builder().threads(threads).stealing(false).build()?;
    "elastic" => executors::elastic_pool::ThreadPool::builder().threads(threads).build()?;
    "elastic-growing" => executors::elastic_pool::ThreadPool::builder().core(0).max(threads).build()?;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Entry;

    #[test]
    fn every_line_builds() {
        for name in NAMES {
            build(name, 2).expect(name);
            assert!(Entry::named(name).is_some(), "{name}");
            let line = line(name, 2).expect(name);
            assert!(line.contains("(2)") && !line.contains("threads(threads)"), "{line}");
        }
        assert_eq!(line("reference-unpark", 2), None);
    }

    #[test]
    fn a_line_is_as_one_would_write_it() {
        let line = line("elastic-growing", 64).expect("there is one");
        assert_eq!(line, "let pool = executors::elastic_pool::ThreadPool::builder().core(0).max(64).build()?;");
    }
}
