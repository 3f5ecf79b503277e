//! The options of a work-stealing pool, and how it is built.

use super::{CHARTER, ThreadPool};
#[cfg(feature = "numa-aware")]
use crate::numa_utils::ProcessingUnitDistance;
use crate::{
    builder::{Build, Builder, sealed::Recipe},
    crew::{Handle, Setup, Terms},
    error::{BuildError, BuildErrorKind},
    options::Options,
    parker::Parker,
    placement::{Distances, Neighbourhood},
    source::stealing::StealingSource,
};
use std::fmt;

/// The options that only a work-stealing pool has.
pub struct Extra<P> {
    /// Of no other pool.
    parker: P,
    pub(super) distances: Distances,
}

impl<P: Parker> Extra<P> {
    /// With a parker like this one.
    pub(super) fn new(parker: &P) -> Self {
        Extra::with(parker.for_pool())
    }

    /// With this parker, which no pool has.
    pub(super) fn with(parker: P) -> Self {
        Extra { parker, distances: Distances::default() }
    }
}

impl<P: Parker> Clone for Extra<P> {
    fn clone(&self) -> Self {
        Extra { distances: self.distances.clone(), ..Extra::new(&self.parker) }
    }
}

impl<P> fmt::Debug for Extra<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extra").field("distances", &self.distances).finish_non_exhaustive()
    }
}

impl<P> Builder<ThreadPool<P>>
where
    P: Parker + Clone + 'static,
{
    /// The parker. The default is one for any number of threads, as in
    /// [`pool_with_auto_parker`](super::pool_with_auto_parker).
    pub fn parker<Q>(self, parker: Q) -> Builder<ThreadPool<Q>>
    where
        Q: Parker + Clone + 'static,
    {
        Builder { options: self.options, extra: Extra { distances: self.extra.distances, ..Extra::new(&parker) } }
    }

    /// How far apart cores are: a worker steals from workers on near ones first. The default is what the machine itself
    /// reports ([`ProcessingUnitDistance::from_topology`]).
    ///
    /// Workers that are not [pinned](Builder::placement), or whose core is outside the matrix, are the farthest from
    /// all others.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::ThreadPool, numa_utils::ProcessingUnitDistance};
    ///
    /// // Cores with even numbers, and those with odd ones, share a cache.
    /// let distances = ProcessingUnitDistance::from_function(64, |from, to| i32::from(from % 2 != to % 2));
    /// let pool = ThreadPool::builder().threads(4).name("near").distances(distances).build()?;
    /// assert_eq!(pool.submit(|| 6 * 7).wait()?, 42);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "numa-aware")]
    pub fn distances(mut self, distances: ProcessingUnitDistance) -> Self {
        self.extra.distances = distances.into();
        self
    }
}

impl<P> Build for ThreadPool<P> where P: Parker + Clone + 'static {}

impl<P> Recipe for ThreadPool<P>
where
    P: Parker + Clone + 'static,
{
    type Extra = Extra<P>;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, extra: Extra<P>) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        Self::start(options, extra)
    }
}

impl<P> ThreadPool<P>
where
    P: Parker + Clone + 'static,
{
    pub(super) fn start(options: Options, extra: Extra<P>) -> Result<ThreadPool<P>, BuildError> {
        let (threads, Extra { parker, distances }) = (options.thread_count()?, extra);
        check_limit(threads, &parker)?;
        let neighbourhood = Neighbourhood::with_distances(threads, &options.placement, distances);
        let source = StealingSource::new(threads, neighbourhood);
        let (terms, cold) = (Terms::fixed(threads), options.cold_seats(threads, CHARTER.idle));
        let handle = Handle::start(Setup { terms, cold, source, parker, charter: CHARTER, options })?;
        Ok(ThreadPool { handle })
    }
}

/// Checked before anything is allocated for each thread.
fn check_limit(threads: usize, parker: &impl Parker) -> Result<(), BuildError> {
    match parker.max_threads() {
        Some(limit) if threads > limit => Err(BuildErrorKind::ParkerTooSmall { asked: threads, limit }.into()),
        _ => Ok(()),
    }
}
