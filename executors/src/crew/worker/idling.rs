//! What a worker does when it runs out of jobs: it looks around, sleeps, and may leave.

use super::Worker;
use crate::{
    containment::{contain, discard},
    courtesy::{self, Courtesy},
    crew::{Crew, nap::Nap},
    job::Job,
    options::Idle,
    parker::{self, Origin, Parker},
    source::Source,
    sync::atomic::{Ordering::SeqCst, fence},
};
use crossbeam_utils::Backoff;
use std::{
    hint,
    panic::resume_unwind,
    time::{Duration, Instant},
};

/// How a worker that has run dry looks for jobs before it sleeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// It does not.
    Not,
    /// It counts as active meanwhile.
    Active,
    /// It counts as idle, because another worker might be hired, or because a thread waits until all are idle.
    Idle,
}

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
                self.see_to_the_rest(false);
            };
            return Some(self.with_job_in_hand(job, get_ready));
        }
        // It may take long to find one, and must not keep the crew open meanwhile.
        self.account.settle();
        let may_go_on = self.crew.parker.start_looking(self.seat);
        let mut look = self.how_to_look(may_go_on);
        let begin = Instant::now();
        // Not when it sleeps, which may be long after that.
        let deadline = self.deadline(begin);
        let mut rests_at = begin;
        if look == Look::Active
            && let Some(spin) = self.spin()
        {
            if let Some(job) = self.watch(begin, spin, deadline, || self.crew.life.is_awaited(), || self.search()) {
                self.outlook.finds();
                return Some(self.found(job));
            }
            if self.crew.life.is_awaited() {
                // That thread may submit the next job as soon as all are idle.
                look = Look::Idle;
            }
            rests_at = Instant::now();
        }
        self.await_job(look, rests_at, deadline)
    }

    /// How it looks, if the parker says that it `may_go_on`, or it is new.
    fn how_to_look(&self, may_go_on: bool) -> Look {
        let Crew { life, idle, .. } = self.crew;
        let is_welcome = may_go_on || self.outlook.is_new() && life.has_few_threads();
        if !is_welcome || life.is_closed() || !self.outlook.is_promising(self.meter.read().runs(), *idle) {
            Look::Not
        } else if S::ELASTIC && self.crew.may_grow() || life.is_awaited() {
            Look::Idle
        } else {
            Look::Active
        }
    }

    fn search_at_own_pace(&self) -> Option<Job> {
        if self.crew.source.gathers(&self.local) {
            self.pace.search(|| self.meter.read(), || self.search())
        } else {
            self.search()
        }
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
            None => self.await_job(Look::Not, Instant::now(), None),
        }
    }

    /// Sleeps, from `now` on, until there is a job; an idle `look` comes first, an active one is over. `None` as for
    /// [`look_for_job`](Self::look_for_job).
    fn await_job(&self, look: Look, now: Instant, deadline: Option<Instant>) -> Option<Job> {
        let mut nap = Nap::default();
        let burst = self.outlook.rests(now, self.meter.read().runs(), self.spin().filter(|_| look == Look::Active));
        if let Some(jobs) = burst {
            self.crew.precedence.learns(jobs);
        }
        let mut first = Some(look);
        loop {
            self.rest(first.take(), nap, deadline);
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
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) && self.resigns() {
                    return None;
                }
            } else {
                nap = nap.next(self.crew.reading().runs());
            }
        }
    }

    /// Looks around, from `begin` on for `spin`, but not after the `deadline` if the worker is to leave then; and calls
    /// `then` whenever there is a job, until that returns something.
    ///
    /// Meanwhile it yields the core: a thread that waits for the last job may just have been woken there, and submit
    /// the next. It ends early if a thread waits for that: if the pool is closed, or if `is_awaited` says so.
    fn watch<R>(
        &self,
        begin: Instant,
        spin: Duration,
        deadline: Option<Instant>,
        is_awaited: impl Fn() -> bool,
        then: impl Fn() -> Option<R>,
    ) -> Option<R> {
        let mut courtesy = self.courtesy().spread_over(spin);
        while !self.crew.life.is_closed() && !is_awaited() {
            for _ in 0..8 {
                if self.crew.source.has_jobs_for(&self.local)
                    && let Some(result) = then()
                {
                    courtesy.has_come();
                    return Some(result);
                }
                hint::spin_loop();
            }
            let now = Instant::now();
            if now.saturating_duration_since(begin) >= spin || deadline.is_some_and(|it| self.is_to_leave(it, now)) {
                break;
            }
            if courtesy.is_due(now, None) {
                self.step_aside(&mut courtesy, now);
            }
        }
        None
    }

    /// For how long it looks for jobs before it sleeps, if it does both.
    fn spin(&self) -> Option<Duration> {
        match self.crew.idle {
            Idle::Park { spin } if spin > Duration::ZERO => Some(self.outlook.patience(spin)),
            _ => None,
        }
    }

    fn courtesy(&self) -> Courtesy {
        let can_move = self.outlook.take_light_sleep() && self.crew.mask.has_others();
        if can_move { Courtesy::with_way_out() } else { Courtesy::new() }
    }

    /// Yields the core, `now`, and announces that, because it may take long to come back. If it did, and there is a job
    /// then, for which it is late, it moves to another core.
    fn step_aside(&self, courtesy: &mut Courtesy, now: Instant) {
        let tells_of_return = self.crew.parker.step_aside(self.seat);
        courtesy.yields(now);
        if courtesy.was_long() && self.crew.source.has_jobs_for(&self.local) {
            courtesy.has_come();
            self.crew.mask.move_on();
        }
        if tells_of_return {
            self.crew.parker.come_back(self.seat);
        }
    }

    /// The worker stops looking, as it has found `job`.
    fn found(&self, job: Job) -> Job {
        let get_ready = || {
            self.become_busy();
            let last = self.crew.parker.stop_looking(self.seat);
            self.see_to_the_rest(last);
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
    fn with_job_in_hand(&self, job: Job, get_ready: impl FnOnce()) -> Job {
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
    pub(super) fn see_to_the_rest(&self, was_last_looking: bool) {
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
    fn sees_any(&self, look: impl Fn() -> bool) -> bool {
        let Crew { source, .. } = self.crew;
        // In this order: what is not reserved any more, because another thread has recalled it, must have been so
        // before the look.
        let spares_fences = source.spares_fences(Some(&self.local));
        look()
            || spares_fences && {
                source.recall(&self.local);
                look()
            }
    }

    /// When a worker that has run out of jobs `now` may leave, if it may.
    fn deadline(&self, now: Instant) -> Option<Instant> {
        if S::ELASTIC { now.checked_add(self.crew.terms.keep_alive) } else { None }
    }

    /// Leaves the crew, if that has enough workers: steps L2 to L5 in `elastic_pool/README.md`.
    fn resigns(&self) -> bool {
        let Crew { life, parker, source, terms, .. } = self.crew;
        if !life.resign(terms, || !source.has_unfinished()) {
            return false;
        }
        self.active.set(false);
        parker.stop_looking(self.seat);
        // Pairs with S2 of a submitter: either that one sees that there is room, or we see its job.
        fence(SeqCst);
        if life.hire(terms, || source.len(), false) {
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

    /// Idles until there may be a job, the pool is over, or it is time to leave. The worker is not active meanwhile.
    /// `first` is how it looks at its first rest; `None` at later ones.
    fn rest(&self, first: Option<Look>, nap: Nap, deadline: Option<Instant>) {
        self.become_idle();
        let is_called_for =
            first.is_some() && self.sees_the_end() || first == Some(Look::Idle) && self.sees_a_job(deadline);
        if !is_called_for {
            match self.crew.idle {
                Idle::Park { .. } => self.sleep(nap, deadline),
                Idle::Spin => self.hover(deadline),
            }
        }
        self.become_active();
    }

    /// Whether a job comes while the worker looks.
    fn sees_a_job(&self, deadline: Option<Instant>) -> bool {
        let Some(spin) = self.spin() else { return false };
        let is_there = self.watch(Instant::now(), spin, deadline, || false, || Some(())).is_some();
        if is_there {
            self.outlook.finds();
        }
        is_there
    }

    /// Whether the end comes, or a job, while the worker looks, if it does. When the crew is closed the end may come
    /// soon, and the thread that declares it would have to wake this worker.
    fn sees_the_end(&self) -> bool {
        let Crew { life, source, .. } = self.crew;
        let looks = self.spin().is_some() && life.has_few_threads() && life.is_closed();
        looks && courtesy::look(|| self.crew.end_if_due() || source.has_jobs_for(&self.local))
    }

    /// Whether it is time to leave, `now`.
    fn is_to_leave(&self, deadline: Instant, now: Instant) -> bool {
        now >= deadline && self.is_surplus()
    }

    /// Whether there are more workers than those that stay for good.
    fn is_surplus(&self) -> bool {
        self.crew.life.roll().live() > self.crew.terms.core
    }

    fn sleep(&self, nap: Nap, deadline: Option<Instant>) {
        self.outlook.sleeps();
        let Crew { parker, source, .. } = self.crew;
        source.falls_asleep(&self.local);
        let nap = nap.announce(parker, self.seat);
        parker.stop_looking(self.seat);
        let has_jobs = || {
            if nap.is_some() {
                return source.has_crowds(&self.local);
            }
            self.sees_any(|| source.has_jobs_for(&self.local))
        };
        let left = || Some(deadline.filter(|_| self.is_surplus())?.saturating_duration_since(Instant::now()));
        // Its fence pairs with S2 of a submitter: either that one sees that we sleep, or we see its job.
        parker::sleep(parker, self.seat, || has_jobs() || self.crew.end_if_due(), || nap.or_else(left));
        parker.start_looking(self.seat);
    }

    fn hover(&self, deadline: Option<Instant>) {
        let backoff = Backoff::new();
        let is_to_leave = || deadline.is_some_and(|deadline| self.is_to_leave(deadline, Instant::now()));
        while !self.crew.source.has_jobs_for(&self.local) && !self.crew.end_if_due() && !is_to_leave() {
            backoff.snooze();
        }
    }
}

#[cfg(all(test, target_os = "linux", feature = "cb-channel-exec", feature = "elastic-exec", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{
        crew::{Setup, Terms, tests::setup_of},
        job::Closure,
        options::Options,
        parker::{DynamicThreadData, ParkResult, StaticParker},
        source::shared::{SharedSource, Worth},
    };
    use std::sync::mpsc;

    /// Tells of each nap how long it was to be.
    #[derive(Clone)]
    struct TellsOfNaps(StaticParker<DynamicThreadData>, mpsc::Sender<Duration>);

    impl Parker for TellsOfNaps {
        fn max_threads(&self) -> Option<usize> {
            self.0.max_threads()
        }

        fn init(&self, thread_id: usize) {
            self.0.init(thread_id);
        }

        fn leave(&self, thread_id: usize) {
            self.0.leave(thread_id);
        }

        fn prepare_park(&self, thread_id: usize) {
            self.0.prepare_park(thread_id);
        }

        fn abort_park(&self, thread_id: usize) {
            self.0.abort_park(thread_id);
        }

        fn park(&self, thread_id: usize) -> ParkResult {
            self.0.park(thread_id)
        }

        fn nap(&self, thread_id: usize, duration: Duration) {
            self.1.send(duration).expect("the test listens");
            self.0.nap(thread_id, duration);
        }

        fn unpark_one(&self) {
            self.0.unpark_one();
        }

        fn unpark_all(&self) {
            self.0.unpark_all();
        }
    }

    /// It could look for much longer than it may stay, and so has no time left when it sleeps.
    #[test]
    fn the_time_in_which_a_worker_looks_counts_as_idle() {
        let (tell, told) = mpsc::channel();
        let terms = Terms { core: 0, max: 1, only_replaces: false, keep_alive: Duration::from_millis(10) };
        let options = Options { idle: Some(Idle::Park { spin: Duration::from_secs(1000) }), ..Options::new() };
        let Setup { cold, source, parker, charter, options, .. } = setup_of(terms, 0..0, SharedSource::new(), options);
        let crew = Crew::new(Setup { terms, cold, source, parker: TellsOfNaps(parker, tell), charter, options });
        crew.put_from_outside(Worth::Kept, Closure(|| ()));
        assert_eq!(told.recv(), Ok(Duration::ZERO));
        crew.close();
        assert!(crew.await_end(None));
    }
}
