//! Where executors and experiments meet: an executor of the registry that takes turns of an experiment.

use crate::{
    experiment::{Sample, Subject, Turn},
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

/// An executor that takes turns of any kind.
struct Enlisted<E> {
    name: &'static str,
    threads: usize,
    build: Build<E>,
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
        Box::new(Enlisted { name: entry.name, threads: self.threads, build })
    }
}

impl<E: Executor + Sync + 'static, T: Turn> Subject<T> for Enlisted<E> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn take(&self, turn: &T) -> Result<Sample, Failure> {
        turn.run_on((self.build)(self.threads).map_err(Failure::Build)?)
    }
}

impl<E> fmt::Debug for Enlisted<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enlisted").field("name", &self.name).field("threads", &self.threads).finish_non_exhaustive()
    }
}
