//! The crate's pool, and how jobs enter it.

use super::{records::Records, this_worker, worker::Worker};
use crate::{backing::HUGE, options::Options};
use std::sync::{Arc, Barrier};
use threadpool::ThreadPool;

/// The crate's pool, and what it does not know.
///
/// Handles hold it, and so does a worker for the duration of a submit. When it is dropped, the pool's queue is closed
/// and its threads end after the last job.
pub(super) struct Wrapped {
    pub(super) pool: ThreadPool,
    pub(super) records: Arc<Records>,
}

impl Wrapped {
    pub(super) fn start(pool: ThreadPool, options: &Options) -> Arc<Self> {
        let threads = pool.max_count();
        let records = Arc::new(Records::new(threads, options));
        let wrapped = Arc::new(Wrapped { pool, records });
        // Each thread takes one of these jobs, because none ends before all have begun. Nothing else needs to wait for
        // that: all other jobs are behind these in the crate's only queue.
        let barrier = Arc::new(Barrier::new(threads));
        for index in 0..threads {
            let all_here = Arc::clone(&barrier);
            let worker = Worker::new(index, &wrapped);
            wrapped.pool.execute(move || {
                all_here.wait();
                this_worker::enlist(worker);
            });
        }
        wrapped
    }

    /// Gives `closure` to the pool if it is open, or gives it back. If the pool is closed, `though_closed` is asked to
    /// count it nevertheless, and returns whether it has.
    #[inline]
    pub(super) fn deliver<F>(&self, closure: F, though_closed: impl FnOnce(&Records) -> bool) -> Result<(), F>
    where
        F: FnOnce() + Send + 'static,
    {
        let records = &*self.records;
        if !records.admits(this_worker::index_in(records), though_closed) {
            return Err(closure);
        }
        if size_of::<F>() > HUGE {
            let boxed: Box<dyn FnOnce() + Send> = Box::new(closure);
            self.pool.execute(move || this_worker::run(boxed));
        } else {
            self.pool.execute(move || this_worker::run(closure));
        }
        Ok(())
    }
}
