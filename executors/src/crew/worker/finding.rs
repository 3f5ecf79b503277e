//! What a worker does with a job that it finds elsewhere than in its own queue: it takes the job in hand, and sees to
//! it that others come for what it leaves.

use super::Worker;
use crate::{
    containment::{contain, discard},
    crew::Crew,
    job::Job,
    parker::{Origin, Parker},
    recall,
    source::Source,
    sync::atomic::{Ordering::SeqCst, fence},
};
use std::panic::resume_unwind;

impl<S, P> Worker<'_, S, P>
where
    S: Source,
    P: Parker + 'static,
{
    pub(super) fn search_at_own_pace(&self) -> Option<Job> {
        if self.crew.source.gathers(&self.local) {
            self.pace.search(|| self.meter.read(), || self.search())
        } else {
            self.search()
        }
    }

    /// The worker stops looking, as it has found `job`.
    pub(super) fn found(&self, job: Job) -> Job {
        let get_ready = || {
            self.become_busy();
            let last = self.crew.parker.stop_looking(self.seat);
            self.call_for_overlooked(last);
            if self.crew.hires() {
                // Beyond what is needed: jobs that block keep their workers, so that soon each job will need another.
                for _ in 0..self.crew.source.len().min(2) {
                    self.crew.parker.unpark_one();
                }
            }
        };
        self.with_job_in_hand(job, get_ready)
    }

    /// What the worker does between taking a `job` and beginning it. If a user's parker panics over that, the job is
    /// lost, and counts as discarded. (A part goes back to its forker.)
    pub(super) fn with_job_in_hand(&self, job: Job, get_ready: impl FnOnce()) -> Job {
        if let Err(payload) = contain(get_ready) {
            if self.meter.is_at_part() {
                discard(job);
            } else {
                self.discard(job);
            }
            resume_unwind(payload);
        }
        job
    }

    /// Makes sure that jobs beside the one just found are not overlooked.
    ///
    /// If this worker was the last that looked, a submitter that brought a job meanwhile relied on it. And jobs that
    /// came along with the one found were on their way from one queue to another until now, where no thread could see
    /// them: other workers may have fallen asleep because of that.
    pub(super) fn call_for_overlooked(&self, was_last_looking: bool) {
        let owes_call = self.crew.source.take_owed_call(&self.local);
        if !owes_call && !was_last_looking {
            return;
        }
        // Pairs with the fence in `parker::sleep`: either a worker that falls asleep sees the jobs, or the parker sees
        // the sleeper.
        fence(SeqCst);
        if owes_call && !S::WITHHOLDS || self.has_overlooked(was_last_looking) {
            self.crew.call_one(Origin::Waiting);
        }
    }

    /// Whether there are jobs; also those whose submitters have relied on this worker, because it `was_last_looking`,
    /// and have spared a fence.
    fn has_overlooked(&self, was_last_looking: bool) -> bool {
        let Crew { source, .. } = self.crew;
        if was_last_looking && self.crew.may_call() { self.sees_any(|| source.has_jobs()) } else { source.has_jobs() }
    }

    /// Whether there are any jobs by `look`. Relies on a fence before, and makes up for those that others have spared,
    /// too.
    pub(super) fn sees_any(&self, look: impl Fn() -> bool) -> bool {
        let (Crew { source, .. }, local) = (self.crew, Some(&self.local));
        recall::sees(source.spares_fences(local), look, || source.recall(local))
    }
}
