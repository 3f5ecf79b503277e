//! The list of executors that can be measured.
//!
//! `Executor` is not object safe, and boxing executors would change what is measured. So code that does something with
//! an executor chosen at run time passes a [`Visitor`], which is called with the executor's own type.

mod adapter;
mod burst_typed;
#[cfg(feature = "peers")]
mod peers;
#[cfg(feature = "published")]
mod published;
mod reference;

use self::adapter::Adapted;
use crate::{failure::Failure, forker::Forker, spawner::Spawner};
use executors::{
    Builder, Executor, Fairness, Idle, burst_pool, crossbeam_channel_pool,
    crossbeam_workstealing_pool::ThreadPool,
    dispatcher::{Dispatcher, Priority},
    elastic_pool,
    parker::{self, LargeThreadData, SmallThreadData},
    threadpool_executor,
};

/// Builds an executor with that many threads, or says why not.
pub type Build<E> = fn(usize) -> Result<E, Failure>;

/// What to do with an executor of any type.
pub trait Visitor {
    /// The result.
    type Output;

    /// Does something with the executor of `entry`, which `build` builds.
    fn visit<E: Executor + Sync + 'static>(self, entry: &'static Entry, build: Build<E>) -> Self::Output;
}

/// What to do with an executor of any type that runs futures.
pub trait FuturesVisitor {
    /// The result.
    type Output;

    /// Does something with the executor of `entry`, which `build` builds.
    fn visit<S: Spawner>(self, entry: &'static Entry, build: Build<S>) -> Self::Output;
}

/// What to do with an executor of any type whose jobs can wait for jobs.
pub trait ForksVisitor {
    /// The result.
    type Output;

    /// Does something with the executor of `entry`, which `build` builds.
    fn visit<F: Forker>(self, entry: &'static Entry, build: Build<F>) -> Self::Output;
}

/// What an executor can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// It runs jobs, as all do.
    Jobs,
    /// It runs futures, too.
    Futures,
    /// Its jobs can wait for jobs that they have given to it.
    Forks,
    /// It has few threads at first, and more when these are busy or blocked.
    Growth,
    /// It has subpools with limits, priorities, and jobs that are bound to a thread.
    Subpools,
}

impl Ability {
    /// The abilities that not all executors have.
    pub const MARKED: [Ability; 4] = [Ability::Futures, Ability::Forks, Ability::Growth, Ability::Subpools];

    /// The mark of this ability in the list; a space for what all can do.
    pub fn mark(self) -> char {
        match self {
            Ability::Jobs => ' ',
            Ability::Futures => 'f',
            Ability::Forks => 'j',
            Ability::Growth => 'g',
            Ability::Subpools => 's',
        }
    }

    /// What an executor with this ability can do, to be put after "can" or "cannot".
    pub fn phrase(self) -> &'static str {
        match self {
            Ability::Jobs => "run jobs",
            Ability::Futures => "run futures",
            Ability::Forks => "let jobs wait for jobs, as in fork and join",
            Ability::Growth => "begin with few threads, and start more when jobs block",
            Ability::Subpools => "limit, rank and bind jobs, in subpools",
        }
    }
}

/// The most threads. Beyond this, systems run out of what threads need; on Linux this is memory mappings, of which a
/// process may have 65,530 and a thread takes four. The standard library then aborts the process.
pub const MOST_THREADS: usize = 10_000;

/// An executor of the list.
#[derive(Debug)]
pub struct Entry {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Whether it is measured if none is named.
    pub by_default: bool,
    /// What it can do besides running jobs.
    pub abilities: &'static [Ability],
    /// The most threads that it can have.
    pub max_threads: Option<usize>,
}

/// Writes the list once, as data and as code: [`ENTRIES`], and the methods of [`Entry`] that accept visitors.
macro_rules! executors {
    ($($(#[$on:meta])? $name:literal, $summary:literal, $by_default:expr, [$($ability:ident)*], $max_threads:expr, $build:expr;)+) => {
        /// All executors, in the order in which they are listed and measured.
        pub const ENTRIES: &[Entry] = &[$($(#[$on])? Entry {
            name: $name,
            summary: $summary,
            by_default: $by_default,
            abilities: &[$(Ability::$ability),*],
            max_threads: $max_threads,
        }),+];

        /// Names of executors that are only in some builds, with the condition as it is written in the list.
        const CONDITIONS: &[(&str, &str)] = &[$($(($name, stringify!($on)),)?)+];

        impl Entry {
            /// Calls `visitor` with this executor.
            pub fn accept<V: Visitor>(&'static self, visitor: V) -> V::Output {
                match self.name {
                    $($(#[$on])? $name => visitor.visit(self, $build),)+
                    name => unreachable!("{name} is an entry, and all entries are in the list"),
                }
            }

            /// Calls `visitor` with this executor, if it runs futures.
            pub fn accept_futures<V: FuturesVisitor>(&'static self, visitor: V) -> Option<V::Output> {
                match self.name {
                    $($(#[$on])? $name => if_futures!([$($ability)*] visitor.visit(self, $build)),)+
                    name => unreachable!("{name} is an entry, and all entries are in the list"),
                }
            }

            /// Calls `visitor` with this executor, if its jobs can wait for jobs.
            pub fn accept_forks<V: ForksVisitor>(&'static self, visitor: V) -> Option<V::Output> {
                match self.name {
                    $($(#[$on])? $name => if_forks!([$($ability)*] visitor.visit(self, $build)),)+
                    name => unreachable!("{name} is an entry, and all entries are in the list"),
                }
            }
        }
    };
}

/// Only executors that run futures can be given to a visitor that spawns futures.
macro_rules! if_futures {
    ([Futures $($others:ident)*] $done:expr) => {
        Some($done)
    };
    ([$another:ident $($others:ident)*] $done:expr) => {
        if_futures!([$($others)*] $done)
    };
    ([] $done:expr) => {
        None
    };
}

/// Only executors that can fork and join can be given to a visitor that does so.
macro_rules! if_forks {
    ([Forks $($others:ident)*] $done:expr) => {
        Some($done)
    };
    ([$another:ident $($others:ident)*] $done:expr) => {
        if_forks!([$($others)*] $done)
    };
    ([] $done:expr) => {
        None
    };
}

const BY_DEFAULT: bool = true;
const ON_REQUEST: bool = false;

executors! {
    "threadpool", "the crate `threadpool`: one queue behind a lock", BY_DEFAULT, [Futures Forks], None,
        |threads| built(threadpool_executor::ThreadPoolExecutor::builder().threads(threads));
    "channel", "one queue for all workers", BY_DEFAULT, [Futures Forks], None,
        |threads| built(crossbeam_channel_pool::ThreadPool::builder().threads(threads));
    "workstealing", "a queue for each worker; default options", BY_DEFAULT, [Futures Forks], None,
        |threads| built(ThreadPool::builder().threads(threads));
    "workstealing-park-timed", "idle workers sleep; fairness by time", ON_REQUEST, [Futures Forks], None,
        |threads| built(ThreadPool::builder().threads(threads).idle(Idle::PARK).fairness(Fairness::TIMED));
    "workstealing-park-counted", "idle workers sleep; fairness by count of jobs", BY_DEFAULT, [Futures Forks], None,
        |threads| built(ThreadPool::builder().threads(threads).idle(Idle::PARK).fairness(Fairness::COUNTED));
    "workstealing-spin-timed", "workers never sleep; fairness by time", BY_DEFAULT, [Futures Forks], None,
        |threads| built(ThreadPool::builder().threads(threads).idle(Idle::Spin).fairness(Fairness::TIMED));
    "workstealing-spin-counted", "workers never sleep; fairness by count of jobs", ON_REQUEST, [Futures Forks], None,
        |threads| built(ThreadPool::builder().threads(threads).idle(Idle::Spin).fairness(Fairness::COUNTED));
    "workstealing-small", "default options, parker for up to 32 threads", ON_REQUEST, [Futures Forks], Some(SmallThreadData::MAX_THREADS),
        |threads| built(ThreadPool::builder().threads(threads).parker(parker::small()));
    "workstealing-large", "default options, parker for up to 64 threads", ON_REQUEST, [Futures Forks], Some(LargeThreadData::MAX_THREADS),
        |threads| built(ThreadPool::builder().threads(threads).parker(parker::large()));
    "workstealing-dyn", "default options, parker without a limit", ON_REQUEST, [Futures Forks], None,
        |threads| built(ThreadPool::builder().threads(threads).parker(parker::dynamic()));
    "burst", "a mailbox for each worker, and stealing", ON_REQUEST, [Futures Forks], None,
        |threads| built(burst_pool::ThreadPool::builder().threads(threads));
    "burst-dealt", "as burst, without stealing", ON_REQUEST, [Futures Forks], None,
        |threads| built(burst_pool::ThreadPool::builder().threads(threads).stealing(false));
    "burst-typed", "as burst, each job a value for a handler", ON_REQUEST, [], None,
        |threads| burst_typed::BurstTyped::new(threads).map(Adapted::of);
    "elastic", "threads come and go; one queue in lanes", ON_REQUEST, [Futures Forks], None,
        |threads| built(elastic_pool::ThreadPool::builder().threads(threads));
    "elastic-started", "as elastic, all threads from the beginning", ON_REQUEST, [Futures Forks], None,
        |threads| built(elastic_pool::ThreadPool::builder().threads(threads)).inspect(elastic_pool::ThreadPool::start_core_threads);
    "elastic-growing", "as elastic, but no thread stays for good", ON_REQUEST, [Futures Forks Growth], None,
        |threads| built(elastic_pool::ThreadPool::builder().core(0).max(threads));
    "dispatcher", "subpools; jobs go to one as wide as the pool", ON_REQUEST, [Futures Forks Subpools], None,
        |threads| built(Dispatcher::builder().threads(threads).cpu_limit(threads));
    "dispatcher-ordered", "as dispatcher, in strict order", ON_REQUEST, [Futures Forks Subpools], None,
        |threads| built(Dispatcher::builder().threads(threads).cpu_limit(threads).strict_order(true));
    "dispatcher-limited", "as dispatcher, in a subpool one job narrower", ON_REQUEST, [Futures Forks Subpools], None,
        |threads| built(Dispatcher::builder().threads(threads).subpool("jobs", one_less(threads)).main_subpool("jobs", Priority::NORMAL));
    "dispatcher-bound", "as dispatcher, in a subpool bound to one thread", ON_REQUEST, [Futures Forks Subpools], None,
        |threads| built(Dispatcher::builder().threads(threads).bound_subpool("jobs").main_subpool("jobs", Priority::NORMAL));
    "reference-unpark", "a queue for each worker, in turn; `unpark`", ON_REQUEST, [], None,
        |threads| reference::Unpark::new(threads).map(Adapted::of);
    "reference-mutex-condvar", "one queue behind a mutex; a condition variable", ON_REQUEST, [], None,
        |threads| reference::MutexCondvar::new(threads).map(Adapted::of);
    #[cfg(feature = "published")]
    "published-threadpool", "executors 0.10.0: `threadpool`", ON_REQUEST, [], None,
        |threads| Ok(Adapted::of(published::threadpool(threads)));
    #[cfg(feature = "published")]
    "published-channel", "executors 0.10.0: `channel`", ON_REQUEST, [Futures Forks], None,
        |threads| Ok(Adapted::of(published::channel(threads)));
    #[cfg(feature = "published")]
    "published-workstealing", "executors 0.10.0: `workstealing-small`", ON_REQUEST, [Futures Forks], Some(32),
        |threads| Ok(Adapted::of(published::workstealing(threads)));
    #[cfg(feature = "peers")]
    "rayon", "`rayon`: workers take their newest job first", ON_REQUEST, [Forks], None,
        |threads| peers::Rayon::new(threads).map(Adapted::of);
    #[cfg(feature = "peers")]
    "rayon-fifo", "`rayon`: workers take their oldest job first", ON_REQUEST, [Forks], None,
        |threads| peers::RayonFifo::new(threads).map(Adapted::of);
    #[cfg(feature = "peers")]
    "tokio", "the runtime of `tokio`: each job is a task", ON_REQUEST, [Futures Forks], None,
        |threads| peers::Tokio::new(threads).map(Adapted::of);
    #[cfg(feature = "peers")]
    "threadpool-crate", "the crate `threadpool`, called directly", ON_REQUEST, [], None,
        |threads| Ok(Adapted::of(peers::Threadpool::new(threads)));
    #[cfg(feature = "peers")]
    "threadpool-crossbeam-channel", "`threadpool` on another channel", ON_REQUEST, [], None,
        |threads| Ok(Adapted::of(peers::ThreadpoolCrossbeamChannel::new(threads)));
    #[cfg(feature = "peers")]
    "rusty_pool", "crate `rusty_pool`: one queue for all workers", ON_REQUEST, [Futures Forks], None,
        |threads| Ok(Adapted::of(peers::RustyPool::new(threads)));
    #[cfg(feature = "peers")]
    "compat-rusty_pool", "`elastic` behind the interface of `rusty_pool`", ON_REQUEST, [Futures Forks], None,
        |threads| Ok(Adapted::of(peers::CompatRustyPool::new(threads)));
    #[cfg(feature = "peers")]
    "rusty_pool-growing", "as rusty_pool, but no thread stays for good", ON_REQUEST, [Futures Forks Growth], None,
        |threads| Ok(Adapted::of(peers::RustyPool::growing(threads)));
    #[cfg(feature = "peers")]
    "compat-rusty_pool-growing", "as rusty_pool-growing, with compat-rusty_pool", ON_REQUEST, [Futures Forks Growth], None,
        |threads| Ok(Adapted::of(peers::CompatRustyPool::growing(threads)));
    #[cfg(feature = "peers")]
    "workerpool", "crate `workerpool`: one queue for all workers", ON_REQUEST, [], None,
        |threads| Ok(Adapted::of(peers::Workerpool::new(threads)));
    #[cfg(feature = "peers")]
    "async-executor", "the crate `async-executor`: each job is a task", ON_REQUEST, [Futures Forks], None,
        |threads| peers::AsyncExecutor::new(threads).map(Adapted::of);
    #[cfg(feature = "peers")]
    "futures-pool", "the pool of `futures`: each job is a task", ON_REQUEST, [Futures Forks], None,
        |threads| peers::Futures::new(threads).map(Adapted::of);
    #[cfg(all(feature = "peers", peers_burst_pool))]
    "burst-pool", "the crate `burst-pool`: slots, and `eventfd`", ON_REQUEST, [], None,
        |threads| peers::BurstPool::new(threads).map(Adapted::of);
    #[cfg(feature = "peers")]
    "compat-burst-pool", "mailboxes behind the interface of `burst-pool`", ON_REQUEST, [], None,
        |threads| peers::CompatBurstPool::new(threads).map(Adapted::of);
    #[cfg(all(feature = "peers", peers_forte))]
    "forte", "the crate `forte`: workers share at heartbeats", ON_REQUEST, [Futures Forks], Some(peers::Forte::MAX_THREADS),
        |threads| peers::Forte::new(threads).map(Adapted::of);
}

impl Entry {
    /// The executor called `name`.
    pub fn named(name: &str) -> Option<&'static Entry> {
        ENTRIES.iter().find(|entry| entry.name == name)
    }

    /// Whether it can do what is asked for with `ability`.
    pub fn can(&self, ability: Ability) -> bool {
        ability == Ability::Jobs || self.abilities.contains(&ability)
    }

    /// The module of the library `executors` that it is from, if it is from there.
    pub fn module(&self) -> Option<&'static str> {
        match self.name {
            "threadpool" => Some("threadpool_executor"),
            "channel" => Some("crossbeam_channel_pool"),
            "burst" | "burst-dealt" | "burst-typed" => Some("burst_pool"),
            name if name.starts_with("workstealing") => Some("crossbeam_workstealing_pool"),
            name if name.starts_with("elastic") => Some("elastic_pool"),
            name if name.starts_with("dispatcher") => Some("dispatcher"),
            _ => None,
        }
    }

    /// How many jobs it runs at a time with `threads` threads: as many, except in subpools that are narrower.
    pub fn width(&self, threads: usize) -> usize {
        match self.name {
            "dispatcher-limited" => one_less(threads),
            "dispatcher-bound" => 1,
            _ => threads,
        }
    }

    /// Whether it can have `threads` threads.
    pub fn takes(&self, threads: usize) -> bool {
        self.max_threads.is_none_or(|max| threads <= max)
    }
}

/// How to build this program so that it has the executor called `name`, if that is in other builds only.
pub fn remedy(name: &str) -> Option<String> {
    if Entry::named(name).is_some() {
        return None;
    }
    CONDITIONS.iter().find(|(other, _)| *other == name).map(|(_, condition)| build_with(condition))
}

/// How to build this program so that `condition` holds, which names a feature and perhaps a flag of the compiler.
fn build_with(condition: &str) -> String {
    let feature = ["published", "peers"].into_iter().find(|feature| condition.contains(&format!("\"{feature}\"")));
    let flag = ["peers_burst_pool", "peers_forte"].into_iter().find(|flag| condition.contains(flag));
    let with_flag = flag.map(|flag| format!(" and RUSTFLAGS=\"--cfg {flag}\"")).unwrap_or_default();
    format!("build it with --features {}{with_flag}", feature.unwrap_or_default())
}

fn one_less(threads: usize) -> usize {
    (threads - 1).max(1)
}

fn built<P: executors::Build>(builder: Builder<P>) -> Result<P, Failure> {
    builder.build().map_err(|error| Failure::of_build(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::assemble;
    use std::{any::TypeId, collections::HashSet, time::Duration};

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ENTRIES.len());
        for entry in ENTRIES {
            assert_eq!(Entry::named(entry.name).expect("listed").name, entry.name);
        }
        assert!(Entry::named("no-such").is_none());
    }

    #[test]
    fn executors_of_other_builds_are_known_with_what_these_are_built_with() {
        let condition = |name| CONDITIONS.iter().find(|(other, _)| *other == name).expect(name).1;
        for (name, told) in [
            ("published-channel", "build it with --features published"),
            ("rayon", "build it with --features peers"),
            ("burst-pool", "build it with --features peers and RUSTFLAGS=\"--cfg peers_burst_pool\""),
            ("forte", "build it with --features peers and RUSTFLAGS=\"--cfg peers_forte\""),
        ] {
            assert_eq!(build_with(condition(name)), told);
            assert_eq!(remedy(name).is_some(), Entry::named(name).is_none(), "{name}");
        }
        for (name, condition) in CONDITIONS {
            assert!(!build_with(condition).contains("  ") && condition.contains("feature"), "{name}: {condition}");
        }
        assert_eq!((remedy("channel"), remedy("no-such")), (None, None));
    }

    #[test]
    fn those_with_subpools_are_dispatchers() {
        struct IsDispatcher;

        impl Visitor for IsDispatcher {
            type Output = bool;

            fn visit<E: Executor + Sync + 'static>(self, _: &'static Entry, _: Build<E>) -> bool {
                TypeId::of::<E>() == TypeId::of::<Dispatcher>()
            }
        }

        for entry in ENTRIES {
            assert_eq!(entry.can(Ability::Subpools), entry.accept(IsDispatcher), "{}", entry.name);
        }
    }

    #[test]
    fn those_that_take_visitors_of_a_kind_can_do_that() {
        struct Anything;

        impl FuturesVisitor for Anything {
            type Output = ();

            fn visit<S: Spawner>(self, _: &'static Entry, _: Build<S>) {}
        }

        impl ForksVisitor for Anything {
            type Output = ();

            fn visit<F: Forker>(self, _: &'static Entry, _: Build<F>) {}
        }

        for entry in ENTRIES {
            assert_eq!(entry.can(Ability::Futures), entry.accept_futures(Anything).is_some(), "{}", entry.name);
            assert_eq!(entry.can(Ability::Forks), entry.accept_forks(Anything).is_some(), "{}", entry.name);
        }
    }

    #[test]
    fn every_entry_runs_as_many_jobs_at_a_time_as_its_width_and_no_more() {
        /// This many jobs at a time, with three threads.
        struct Assemble(usize, Duration);

        impl Visitor for Assemble {
            type Output = Result<(), Failure>;

            fn visit<E: Executor + Sync + 'static>(self, entry: &'static Entry, build: Build<E>) -> Self::Output {
                let executor = build(3).expect(entry.name);
                let assembled = assemble(self.0, self.1, |job| executor.execute(job));
                executor.shutdown().expect(entry.name);
                assembled
            }
        }

        for entry in ENTRIES {
            let (name, width) = (entry.name, entry.width(3));
            entry
                .accept(Assemble(width, Duration::from_secs(60)))
                .unwrap_or_else(|failure| panic!("{name}: {failure}"));
            if width < 3 {
                let failure = entry.accept(Assemble(width + 1, Duration::from_millis(50))).expect_err(name);
                assert!(matches!(failure, Failure::Stalled { ran, .. } if ran <= width as u64), "{name}: {failure}");
            }
        }
    }

    #[test]
    fn every_entry_builds_what_runs_jobs_and_shuts_down() {
        struct RunOne;

        impl Visitor for RunOne {
            type Output = ();

            fn visit<E: Executor + Sync + 'static>(self, entry: &'static Entry, build: Build<E>) {
                let executor = build(2).expect(entry.name);
                let (sender, receiver) = std::sync::mpsc::channel();
                executor.execute(move || sender.send(entry.name).expect("the test waits"));
                assert_eq!(receiver.recv(), Ok(entry.name));
                executor.shutdown().expect(entry.name);
            }
        }

        for entry in ENTRIES {
            entry.accept(RunOne);
        }
    }
}
