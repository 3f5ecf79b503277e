//! Where executors and experiments meet: executors of the registry that take turns of an experiment.

use crate::{
    experiment::{ForkTurn, FutureTurn, JobTurn, Subject, Turn},
    failure::Failure,
    forker::Forker,
    registry::{Ability, Build, Entry, ForksVisitor, FuturesVisitor, Visitor},
    rehearsal::{rehearse, rehearse_anew},
    spawner::Spawner,
    usage::{Usage, UsageMeter},
    workload::assemble,
};
use executors::Executor;
use std::{fmt, marker::PhantomData, panic, thread, time::Duration};

/// How to build an executor.
#[derive(Clone, Copy)]
pub struct BuildPlan<E> {
    build: Build<E>,
    threads: usize,
    width: usize,
}

impl<E> BuildPlan<E> {
    /// A plan to `build` an executor with `threads` threads, which runs as many jobs at a time.
    pub fn new(build: Build<E>, threads: usize) -> Self {
        BuildPlan { build, threads, width: threads }
    }

    /// A plan to `build` the executor of `entry` with `threads` threads.
    fn of(entry: &Entry, build: Build<E>, threads: usize) -> Self {
        BuildPlan { width: entry.width(threads), ..BuildPlan::new(build, threads) }
    }

    /// Builds a new executor.
    ///
    /// # Errors
    ///
    /// If it cannot be built.
    pub fn build(&self) -> Result<E, Failure> {
        // What it has built until it panics is of no use to anyone.
        panic::catch_unwind(|| (self.build)(self.threads)).unwrap_or_else(|payload| {
            // It may have panicked because it was refused a thread.
            rehearse_anew(self.threads)?;
            Err(Failure::of_panic(&*payload))
        })
    }

    /// Builds a new executor, and lets as many jobs wait for each other as it runs at a time, so that all its threads
    /// are started. For measurements that rely on all workers being there.
    ///
    /// # Errors
    ///
    /// If it cannot be built, or its jobs do not come together within `patience` of each other.
    pub fn build_assembled(&self, patience: Duration) -> Result<E, Failure>
    where
        E: Executor,
    {
        /// For workers that look for more jobs before they sleep: forte misses the wake-up for a job that comes at that
        /// moment.
        const REST: Duration = Duration::from_millis(1);
        let executor = self.build()?;
        assemble(self.width, patience, |job| executor.execute(job)).inspect_err(|_| executor.shutdown_async())?;
        thread::sleep(REST);
        Ok(executor)
    }

    /// How many threads it has.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// How many jobs it runs at a time.
    pub fn width(&self) -> usize {
        self.width
    }
}

/// Makes a subject of an entry, with that many threads; none if the entry cannot take such turns.
type Enlist<T> = fn(&'static Entry, usize) -> Option<Box<dyn Subject<T>>>;

/// Makes subjects for turns of type `T`.
pub struct Roster<T> {
    ability: Ability,
    enlist: Enlist<T>,
}

impl<T: Turn + 'static> Roster<T> {
    /// A roster of all executors.
    pub fn of_executors() -> Self
    where
        T: JobTurn,
    {
        Roster { ability: Ability::Jobs, enlist: |entry, threads| Some(entry.accept(Enlistment::new(threads))) }
    }

    /// A roster of those that run futures.
    pub fn of_spawners() -> Self
    where
        T: FutureTurn,
    {
        Roster { ability: Ability::Futures, enlist: |entry, threads| entry.accept_futures(Enlistment::new(threads)) }
    }

    /// A roster of those whose jobs can wait for jobs.
    pub fn of_forkers() -> Self
    where
        T: ForkTurn,
    {
        Roster { ability: Ability::Forks, enlist: |entry, threads| entry.accept_forks(Enlistment::new(threads)) }
    }

    /// What an entry must be able to do.
    pub fn ability(&self) -> Ability {
        self.ability
    }

    /// Makes subjects with that many `threads` of those `entries` that can take such turns.
    pub fn enlist(&self, entries: &[&'static Entry], threads: usize) -> Vec<Box<dyn Subject<T>>> {
        entries.iter().filter_map(|entry| (self.enlist)(entry, threads)).collect()
    }

    /// The names of those `entries` that can take such turns.
    pub fn names(&self, entries: &[&'static Entry]) -> Vec<&'static str> {
        entries.iter().filter(|entry| entry.can(self.ability)).map(|entry| entry.name).collect()
    }
}

/// Makes an executor a subject for turns of type `T`.
struct Enlistment<T> {
    threads: usize,
    turn: PhantomData<T>,
}

impl<T> Enlistment<T> {
    fn new(threads: usize) -> Self {
        Enlistment { threads, turn: PhantomData }
    }
}

impl<T: JobTurn + 'static> Visitor for Enlistment<T> {
    type Output = Box<dyn Subject<T>>;

    fn visit<E: Executor + Sync + 'static>(self, entry: &'static Entry, build: Build<E>) -> Box<dyn Subject<T>> {
        Box::new(Enlisted { name: entry.name, plan: BuildPlan::of(entry, build, self.threads), take: T::run_on::<E> })
    }
}

impl<T: FutureTurn + 'static> FuturesVisitor for Enlistment<T> {
    type Output = Box<dyn Subject<T>>;

    fn visit<S: Spawner>(self, entry: &'static Entry, build: Build<S>) -> Box<dyn Subject<T>> {
        Box::new(Enlisted { name: entry.name, plan: BuildPlan::of(entry, build, self.threads), take: T::run_on::<S> })
    }
}

impl<T: ForkTurn + 'static> ForksVisitor for Enlistment<T> {
    type Output = Box<dyn Subject<T>>;

    fn visit<F: Forker>(self, entry: &'static Entry, build: Build<F>) -> Box<dyn Subject<T>> {
        Box::new(Enlisted { name: entry.name, plan: BuildPlan::of(entry, build, self.threads), take: T::run_on::<F> })
    }
}

/// An executor that takes turns of one kind.
struct Enlisted<E, T: Turn> {
    name: &'static str,
    plan: BuildPlan<E>,
    take: fn(&T, &BuildPlan<E>) -> Result<T::Sample, Failure>,
}

impl<E, T: Turn> Subject<T> for Enlisted<E, T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn take(&self, turn: &T) -> Result<T::Sample, Failure> {
        self.take_metered(turn).map(|(sample, _)| sample)
    }

    fn take_metered(&self, turn: &T) -> Result<(T::Sample, Usage), Failure> {
        rehearse(self.plan.threads() + turn.own_threads())?;
        let meter = UsageMeter::start();
        (self.take)(turn, &self.plan).map(|sample| (sample, meter.read()))
    }
}

impl<E> fmt::Debug for BuildPlan<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuildPlan").field("threads", &self.threads).field("width", &self.width).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Roster<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roster").field("ability", &self.ability).finish_non_exhaustive()
    }
}

impl<E, T: Turn> fmt::Debug for Enlisted<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enlisted").field("name", &self.name).field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executors::{crossbeam_channel_pool, elastic_pool};

    #[test]
    fn what_is_assembled_has_all_its_threads() {
        let growing = |threads| {
            let builder = elastic_pool::ThreadPool::builder().core(0).max(threads);
            builder.build().map_err(|error| Failure::of_build(&error))
        };
        let pool = BuildPlan::new(growing, 5).build_assembled(Duration::from_secs(60)).expect("five threads");
        assert_eq!(pool.worker_count(), 5);
    }

    #[test]
    fn what_panics_is_not_built() {
        let greedy: [(Build<crossbeam_channel_pool::ThreadPool>, &str); 3] = [
            (|_| panic!("as the test wants it"), "as the test wants it"),
            (|threads| panic!("{threads} are too many"), "2 are too many"),
            (|_| panic::panic_any(7), "it panicked"),
        ];
        for (build, told) in greedy {
            let failure = BuildPlan::new(build, 2).build().expect_err("it panics").to_string();
            assert_eq!(failure, format!("could not be built: {told}"));
        }
    }

    #[test]
    fn what_has_too_few_threads_is_not_assembled() {
        let narrow = |threads: usize| Ok(crossbeam_channel_pool::ThreadPool::new(threads - 1));
        let failure = BuildPlan::new(narrow, 2).build_assembled(Duration::from_millis(20)).expect_err("one thread");
        assert!(matches!(failure, Failure::Stalled { ran: 1, expected: 2, .. }), "{failure}");
    }
}
