//! Where executors and experiments meet: an executor of the registry that takes turns of an experiment.

use crate::{
    experiment::{Subject, Turn},
    failure::Failure,
    registry::{Build, Entry, Visitor},
};
use executors::Executor;
use std::{fmt, marker::PhantomData};

/// Makes an executor a subject for turns of type `T`.
#[derive(Debug)]
pub struct Enlist<T> {
    threads: usize,
    turn: PhantomData<T>,
}

/// How to build an executor.
#[derive(Clone, Copy)]
pub struct Plan<E> {
    build: Build<E>,
    threads: usize,
}

impl<E> Plan<E> {
    /// To `build` one with that many `threads`.
    pub fn new(build: Build<E>, threads: usize) -> Self {
        Plan { build, threads }
    }

    /// Builds a new executor.
    ///
    /// # Errors
    ///
    /// If it cannot be built.
    pub fn build(&self) -> Result<E, Failure> {
        (self.build)(self.threads).map_err(Failure::Build)
    }

    /// How many threads it has.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

/// An executor that takes turns of any kind.
struct Enlisted<E> {
    name: &'static str,
    plan: Plan<E>,
}

impl<T> Enlist<T> {
    /// With that many threads in each executor.
    pub fn new(threads: usize) -> Self {
        Enlist { threads, turn: PhantomData }
    }
}

impl<T: Turn> Visitor for Enlist<T> {
    type Output = Box<dyn Subject<T>>;

    fn visit<E: Executor + Sync + 'static>(self, entry: &'static Entry, build: Build<E>) -> Box<dyn Subject<T>> {
        Box::new(Enlisted { name: entry.name, plan: Plan::new(build, self.threads) })
    }
}

impl<E: Executor + Sync + 'static, T: Turn> Subject<T> for Enlisted<E> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn take(&self, turn: &T) -> Result<T::Sample, Failure> {
        turn.run_on(&self.plan)
    }
}

impl<E> fmt::Debug for Plan<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<E> fmt::Debug for Enlisted<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enlisted").field("name", &self.name).field("plan", &self.plan).finish()
    }
}
