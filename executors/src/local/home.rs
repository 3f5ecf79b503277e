//! Which executor, and which division of it.

use std::ptr;

/// Tells executors apart: the address of what all handles and workers of one executor share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PoolId(usize);

impl PoolId {
    /// The id of no executor.
    pub(crate) const NONE: PoolId = PoolId(0);

    #[inline]
    pub(crate) fn of<T>(shared: &T) -> PoolId {
        PoolId(ptr::from_ref(shared).addr())
    }
}

/// Where a job belongs. A job that belongs to the same home and waits for it may [run it in place](super::Help::Run).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Home {
    pub(crate) pool: PoolId,
    /// Which division of the pool, if it has several.
    pub(crate) division: usize,
}

impl Home {
    /// The home of jobs that only the executor to which they are given may run.
    pub(crate) const NOWHERE: Home = Home::of(PoolId::NONE);

    /// A pool that has no divisions.
    pub(crate) const fn of(pool: PoolId) -> Home {
        Home { pool, division: 0 }
    }
}
