//! How many jobs wait, as threads publish it that do not wait for each other. When all have done so, the gauge shows
//! what is so.
//!
//! The models in `queued/model.rs` fail with each of these changes:
//!
//! | change | noticed by |
//! |---|---|
//! | the total is changed Relaxed, or looked at again Relaxed, or by a load (Acquire) | `the_gauge_shows_the_total` |
//! | it is not looked at again | the same |
//! | a share is exchanged Relaxed, or with Acquire or Release only | `a_worker_that_has_seen_jobs_does_not_hide_the_end` |
//! | the jobs are not looked at again | the same |
//! | a thread that counts out the last job issues no fence, or asks what was published before that | `a_thread_that_counts_out_the_last_job_publishes_that` |

#[cfg(all(test, executors_loom))]
mod model;

use crate::sync::atomic::{
    AtomicI64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// The jobs that wait in all executors of one kind, for which there is one gauge.
#[derive(Debug, Default)]
pub(super) struct Total(AtomicI64);

impl Total {
    /// Adds `jobs`, and calls `set` with the total: once more if that was changed meanwhile.
    ///
    /// So the last call of all threads sets what the total is then. The thread that makes it has looked at the total
    /// after it (Release). Had another thread changed the total after that look, it would have read what the look
    /// wrote, or what was changed since (Acquire), and its call would have come later.
    pub(super) fn change(&self, jobs: i64, set: impl Fn(i64)) {
        let mut total = self.0.fetch_add(jobs, Acquire) + jobs;
        loop {
            set(total);
            // A read-modify-write, because a load may come before what others have written to the gauge.
            let now = self.0.fetch_add(0, Release);
            if now == total {
                return;
            }
            total = now;
        }
    }
}

/// The jobs that wait in one executor, as they were published last.
#[derive(Debug, Default)]
pub(super) struct Share(AtomicI64);

impl Share {
    /// Counts the jobs that are `waiting`, and calls `change` with how many more these are than was published last.
    ///
    /// A thread that has published some looks again: meanwhile another may have published that there are none, and this
    /// thread's older number would stay. If the other's exchange came first, this one's has read from it (Release,
    /// Acquire), so the second look sees that there are none; if it came later, it stands.
    pub(super) fn publish(&self, waiting: impl Fn() -> usize, change: impl Fn(i64)) {
        let set = |jobs: usize| {
            let jobs = jobs as i64;
            change(jobs - self.0.swap(jobs, AcqRel));
        };
        let jobs = waiting();
        set(jobs);
        if jobs > 0 && waiting() == 0 {
            set(0);
        }
    }

    /// Whether there were jobs. For a thread that has counted out jobs and then issued a fence: it sees what was
    /// published, or the thread that publishes it sees, after a fence of its own and by its second look, that they are
    /// counted out. Relaxed, because of these fences.
    pub(super) fn is_published(&self) -> bool {
        self.0.load(Relaxed) != 0
    }
}
