//! Why a dispatcher cannot be built: options that do not fit together.

use crate::error::BuildError;
use std::{error::Error, fmt};

#[derive(Debug)]
pub(super) enum Misfit {
    SubpoolTwice { name: String },
    TooManySubpools { asked: usize, limit: usize },
    TooManyBound { bound: usize, threads: usize },
    AllReserved { reserve: usize, threads: usize },
    ReservedForNothing { reserve: usize, bound: usize },
    UnknownMain { name: String, known: Vec<String> },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::SubpoolTwice { name } => {
                write!(f, "there are two subpools called {name:?} (\"cpu\" is always there): rename one")
            }
            Misfit::TooManySubpools { asked, limit } => write!(
                f,
                "{asked} subpools share the threads of the dispatcher, but only {limit} can, the CPU subpool included: \
                 merge some, or build a second dispatcher"
            ),
            Misfit::TooManyBound { bound, threads } => write!(
                f,
                "{bound} subpools are to be bound to a thread each, but there are only {threads} threads: ask for more, \
                 or bind fewer subpools"
            ),
            Misfit::AllReserved { reserve, threads } => write!(
                f,
                "{reserve} of {threads} threads are reserved for bound subpools, so none is left for the others: \
                 ask for more threads, or reserve fewer"
            ),
            Misfit::ReservedForNothing { reserve, bound } => write!(
                f,
                "{reserve} threads are reserved for bound subpools, of which there are {bound}: reserve at most as many"
            ),
            Misfit::UnknownMain { name, known } => {
                write!(
                    f,
                    "the main subpool is to be {name:?}, but there are only {known:?}: add it, or choose one of these"
                )
            }
        }
    }
}

impl Error for Misfit {}

impl From<Misfit> for BuildError {
    fn from(misfit: Misfit) -> Self {
        BuildError::of_one_kind(misfit)
    }
}
