//! What a worker does when it runs out of jobs: it looks around, sleeps, and may leave.

use super::{Duty, Worker, looking::Look};
use crate::{
    crew::{Crew, nap::Nap},
    job::Job,
    options::Idle,
    parker::{self, Origin, Parker},
    source::Source,
    sync::atomic::{Ordering::SeqCst, fence},
};
use crossbeam_utils::Backoff;
use std::time::Instant;

impl<S, P> Worker<'_, S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Finds a job elsewhere, however long that takes. `None` means that the pool is over, or has enough workers; the
    /// worker is idle then.
    #[cold]
    pub(super) fn look_for_job(&self) -> Option<Job> {
        self.meter.work_ends();
        self.publish();
        if let Some(job) = self.search_at_own_pace() {
            let get_ready = || {
                self.become_busy();
                self.call_for_overlooked(false);
            };
            return Some(self.with_job_in_hand(job, get_ready));
        }
        // It may take long to find one, and must not keep the crew open meanwhile.
        self.account.settle();
        let may_go_on = self.crew.parker.start_looking(self.seat);
        let mut look = self.how_to_look(may_go_on);
        let begin = Instant::now();
        // Counted from now, not from when it sleeps, which may be long after.
        self.stays_until.set(self.deadline(begin));
        let mut rests_at = begin;
        if let Look::Active(spin) = look {
            if let Some(job) = self.watch(begin, spin, || self.crew.life.is_awaited(), || self.search()) {
                self.outlook.finds();
                return Some(self.found(job));
            }
            if self.crew.life.is_awaited() {
                // That thread may submit the next job as soon as all are idle.
                look = Look::Idle(spin);
            }
            rests_at = Instant::now();
        }
        self.await_job(look, rests_at)
    }

    /// The first job. A worker that was started for a job finds it, and then sees to the rest: others may have relied
    /// on it while it was coming (F3).
    pub(super) fn find_first_job(&self) -> Option<Job> {
        self.outlook.begins(Instant::now(), self.meter.read().runs());
        if S::ELASTIC {
            return self.look_for_job();
        }
        self.crew.parker.start_looking(self.seat);
        match self.search() {
            Some(job) => Some(self.found(job)),
            None => self.await_job(Look::Not, Instant::now()),
        }
    }

    /// Sleeps, from `now` on, until there is a job; an idle `look` comes first, an active one is over. `None` as for
    /// [`look_for_job`](Self::look_for_job).
    fn await_job(&self, look: Look, now: Instant) -> Option<Job> {
        let mut nap = Nap::default();
        let looked = if let Look::Active(spin) = look { Some(spin) } else { None };
        if let Some(jobs) = self.outlook.rests(now, self.meter.read().runs(), looked) {
            self.crew.precedence.learns(jobs);
        }
        let mut first = Some(look);
        loop {
            self.rest(first.take(), nap);
            if self.crew.life.is_over() {
                self.publish();
                self.crew.run_what_is_left(&self.local);
                // No thread relies on one that looks any more: each submitter checks for the end itself.
                self.crew.parker.stop_looking(self.seat);
                self.become_idle();
                return None;
            }
            if let Some(job) = self.search() {
                return Some(self.found(job));
            }
            if S::ELASTIC {
                if self.has_stayed(Instant::now) && self.resigns() {
                    return None;
                }
            } else {
                nap = nap.next(self.crew.reading().runs());
            }
        }
    }

    /// Idles until there may be a job, the pool is over, or it is time to leave. The worker is not active meanwhile.
    /// `first` is how it looks at its first rest; `None` at later ones.
    fn rest(&self, first: Option<Look>, nap: Nap) {
        self.become_idle();
        let is_called_for =
            first.is_some_and(|look| self.sees_the_end() || matches!(look, Look::Idle(spin) if self.sees_a_job(spin)));
        if !is_called_for {
            match self.crew.idle {
                Idle::Park { .. } => self.sleep(nap),
                Idle::Spin => self.hover(),
            }
        }
        self.become_active();
    }

    fn sleep(&self, nap: Nap) {
        self.outlook.sleeps();
        let Crew { parker, source, .. } = self.crew;
        source.on_sleep(&self.local);
        let nap = nap.announce(parker, self.seat);
        parker.stop_looking(self.seat);
        let has_jobs = || {
            if nap.is_some() {
                return source.has_crowds(&self.local);
            }
            self.sees_any(|| source.has_jobs_for(&self.local))
        };
        let end = || self.stays_until.get().filter(|_| self.is_surplus());
        let left = || end().map(|end| end.saturating_duration_since(Instant::now()));
        // Its fence pairs with S2 of a submitter: either that one sees that we sleep, or we see its job.
        parker::sleep(parker, self.seat, || has_jobs() || self.crew.end_if_due(), || nap.or_else(left));
        parker.start_looking(self.seat);
    }

    fn hover(&self) {
        let backoff = Backoff::new();
        while !self.crew.source.has_jobs_for(&self.local) && !self.crew.end_if_due() && !self.is_to_leave(Instant::now)
        {
            backoff.snooze();
        }
    }

    /// Until when a worker stays that has run out of jobs `now`, if not for good.
    fn deadline(&self, now: Instant) -> Option<Instant> {
        if S::ELASTIC { now.checked_add(self.crew.terms.keep_alive) } else { None }
    }

    /// Whether it has been without a job for as long as it stays.
    fn has_stayed(&self, now: impl FnOnce() -> Instant) -> bool {
        self.stays_until.get().is_some_and(|end| now() >= end)
    }

    /// Whether it is time to leave.
    pub(super) fn is_to_leave(&self, now: impl FnOnce() -> Instant) -> bool {
        self.has_stayed(now) && self.is_surplus()
    }

    /// Whether there are more workers than those that stay for good.
    fn is_surplus(&self) -> bool {
        self.crew.life.roll.read().live() > self.crew.terms.core
    }

    /// Leaves the crew, if that has enough workers: steps L2 to L5 in `elastic_pool/README.md`.
    fn resigns(&self) -> bool {
        let Crew { life, parker, source, terms, .. } = self.crew;
        if !life.resign(terms, || !source.has_unfinished()) {
            return false;
        }
        self.duty.set(Duty::Idle);
        parker.stop_looking(self.seat);
        // Pairs with S2 of a submitter: either that one sees that there is room, or we see its job.
        fence(SeqCst);
        if terms.hire(&life.roll, || source.len(), false) {
            self.become_active();
            parker.start_looking(self.seat);
            return false;
        }
        if source.has_jobs() {
            parker.job_arrived(Origin::Waiting);
        }
        self.crew.end_if_due();
        parker.leave(self.seat);
        self.crew.let_go_of_others();
        true
    }
}

#[cfg(all(test, target_os = "linux", feature = "cb-channel-exec", feature = "elastic-exec", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{
        crew::{
            Setup, Terms,
            tests::{Asked, ToldParker, setup_of},
        },
        job::Closure,
        options::Options,
        source::shared::{SharedSource, Worth},
    };
    use std::{
        sync::{Arc, mpsc},
        time::Duration,
    };

    /// It could look for much longer than it may stay, and so has no time left when it sleeps.
    #[test]
    fn the_time_in_which_a_worker_looks_counts_as_idle() {
        let (tell, told) = mpsc::channel();
        let terms = Terms { core: 0, max: 1, only_replaces: false, keep_alive: Duration::from_millis(10) };
        let options = Options { idle: Some(Idle::Park { spin: Duration::from_secs(1000) }), ..Options::new() };
        let Setup { cold, source, parker, charter, options, .. } = setup_of(terms, 0..0, SharedSource::new(), options);
        let tell_of_naps = move |asked| {
            if let Asked::Nap(duration) = asked {
                tell.send(duration).expect("the test listens");
            }
        };
        let parker = ToldParker { parker, tell: Arc::new(tell_of_naps) };
        let crew = Crew::new(Setup { terms, cold, source, parker, charter, options });
        crew.put_from_outside(Worth::Kept, Closure(|| ()));
        assert_eq!(told.recv(), Ok(Duration::ZERO));
        crew.close();
        assert!(crew.await_end(None));
    }
}
