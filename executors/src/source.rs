//! Where a crew gets its jobs from. Pools differ in their source; they share one implementation of the crew.

#[cfg(feature = "_stealing")]
mod dice;
#[cfg(feature = "dispatcher-exec")]
pub(crate) mod dispatch;
#[cfg(feature = "cb-channel-exec")]
pub(crate) mod fifo;
#[cfg(feature = "burst-exec")]
pub(crate) mod mail;
#[cfg(feature = "_queues")]
pub(crate) mod queue;
#[cfg(feature = "elastic-exec")]
pub(crate) mod shared;
#[cfg(feature = "_stealing")]
pub(crate) mod stealing;

use crate::{
    job::{IntoJob, Job},
    meter::Meter,
    sync::atomic::{Ordering::SeqCst, fence},
};

/// Which worker is needed to run a job that has just been put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Any worker: one that looks for jobs, or a sleeper.
    Anyone,
    /// The worker on this seat, because no other can run the job.
    Owner(usize),
    /// No other worker: the one that has put the job in will get to it.
    Nobody,
}

/// How jobs are stored, found and shared among workers.
///
/// A source may choose the order of jobs, and may keep them at workers. What it has to hold:
///
/// - Every job given to it comes out exactly once.
/// - A job that is in it, wherever that is, is found by any worker's [`search`](Self::search) and seen by
///   [`has_jobs`](Self::has_jobs): unless it is withheld, or only its owner may run it ([`Whom::Owner`], or
///   [`Whom::Nobody`] if the owner has put it in itself).
/// - A worker without a seat of its own finds all jobs in any case. There may be jobs where only such a worker looks:
///   there is one only when the others have left, or are about to.
/// - The [parts](Self::parts) of running jobs, if it has any, come out exactly once, too: by a search of a worker with
///   a seat, as if they were jobs. A worker without one is told of them, but cannot get them.
///
/// The methods without a default are those for storage, and all that a queue shared by all workers needs.
pub(crate) trait Source: Send + Sync + 'static {
    /// Whether the number of workers is not fixed: they come with jobs and leave (see `elastic_pool/README.md`), or
    /// join one by one (`BurstPool`).
    const ELASTIC: bool = false;

    /// Whether there can be jobs that no worker may run yet. See `dispatcher/README.md`. Then closing the crew lets
    /// them run, and workers do not count handles by themselves (`crew/stakes.rs`).
    const WITHHOLDS: bool = false;

    /// Where in the source a job goes.
    type Address: Copy + Default + Send + Sync + 'static;

    /// What a worker has of the source for itself.
    type Local;

    /// What the worker on `seat` has for itself, or a thread without a seat, which only finds and runs the jobs that
    /// there are.
    fn attach(&self, seat: Option<usize>) -> Self::Local;

    /// Takes a job from any thread.
    fn inject(&self, to: Self::Address, job: impl IntoJob) -> Whom;

    /// [`inject`](Self::inject), followed by [`fence_pushes`](Self::fence_pushes) if any worker may run the job; or
    /// gives the job back, for [`inject_slowly`](Self::inject_slowly). Hot: a source that knows where the job went need
    /// not find that out twice.
    #[inline(always)]
    fn inject_fenced(&self, to: Self::Address, job: impl IntoJob) -> Result<Whom, Job> {
        let whom = self.inject(to, job);
        if whom == Whom::Anyone {
            self.fence_pushes(None);
        }
        Ok(whom)
    }

    /// Puts in a job that [`inject_fenced`](Self::inject_fenced) has just given back, with a fence in any case. Cold.
    /// To be overridden by a source that gives jobs back.
    fn inject_slowly(&self, to: Self::Address, job: Job) -> Whom {
        let whom = self.inject(to, job);
        self.fence_pushes(None);
        whom
    }

    /// Takes a job from a worker; or gives it back, for [`push_slowly`](Self::push_slowly). Hot.
    #[inline(always)]
    fn push(&self, local: &Self::Local, to: Self::Address, job: impl IntoJob) -> Result<Whom, Job> {
        let _ = local;
        Ok(self.inject(to, job))
    }

    /// Takes a job that [`push`](Self::push) has just given back. Cold. To be overridden by a source that gives jobs
    /// back.
    fn push_slowly(&self, local: &Self::Local, to: Self::Address, job: Job) -> Whom {
        let _ = local;
        self.inject(to, job)
    }

    /// Step S2: orders what the caller, a worker or another thread, has just put in before what it reads next. Hot.
    ///
    /// A caller with a privilege may use a light fence; whoever relies on the order then has to issue a fence and
    /// [`recall`](Self::recall) that privilege.
    #[inline(always)]
    fn fence_pushes(&self, giver: Option<&Self::Local>) {
        let _ = giver;
        fence(SeqCst);
    }

    /// Whether anybody but `local`, the asking worker if it is one, may have such a privilege. To be asked after a
    /// fence and before the look at the jobs: if not, that look is enough; if so, a [`recall`](Self::recall) and
    /// another look have to follow.
    fn spares_fences(&self, local: Option<&Self::Local>) -> bool {
        let _ = local;
        false
    }

    /// Makes up for fences that [`fence_pushes`](Self::fence_pushes) has spared anybody but `local`, the calling worker
    /// if it is one.
    fn recall(&self, local: Option<&Self::Local>) {
        let _ = local;
    }

    /// Runs the worker's next job, if it has one; a panic of the job passes through. Returns whether there was one.
    /// Hot: it reads the clock, or waits for its turn, only now and then; before the job it waits for nothing else,
    /// except for a thread that is at the same queue at that moment.
    fn run_next(&self, local: &Self::Local) -> bool;

    /// A job from wherever there is one. Cold. `None` only if each place was seen empty, or what was there has moved.
    fn search(&self, local: &Self::Local, meter: &Meter) -> Option<Job>;

    /// A job from wherever there is one, on a thread that is not a worker.
    fn take(&self) -> Option<Job>;

    /// Whether there is a job that any worker might run: one that is neither its owner's nor withheld. It must see
    /// every such job that was put in before a fence that precedes the caller's own fence in the order of all
    /// sequentially consistent ones; and, if the caller has [recalled](Self::recall) privileges since its own fence,
    /// also every such job that was put in before what stood for such a fence.
    fn has_jobs(&self) -> bool;

    /// How many jobs there are; exact while no thread puts any in or takes any out.
    fn len(&self) -> usize;

    /// How many parts of running jobs there are in addition, which other workers may take: [`search`](Self::search) and
    /// [`has_jobs`](Self::has_jobs) treat these as jobs. See `part/README.md`.
    fn parts(&self) -> usize {
        0
    }

    /// Whether a worker that has run dry, and keeps up with a submitter, should wait a moment before it looks. Yes
    /// where each look takes the cache line of a queue's end from the submitter (`crew/pace.rs`); no if the worker has
    /// left jobs there, or can seem dry between two of them.
    fn gathers(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    // Where workers keep jobs:

    /// Whether the worker would go on with jobs other than those from outside. Cold.
    fn prefers(&self, local: &Self::Local) -> bool {
        let _ = local;
        true
    }

    /// A job from outside, for a worker that [`prefers`](Self::prefers) others and will ask again after `period` jobs;
    /// or a job of another worker that does not get to it. More jobs may come along, which all threads see throughout.
    /// `None` also if the source treats all waiting jobs alike.
    fn pop_outside(&self, local: &Self::Local, period: usize, meter: &Meter) -> Option<Job> {
        let _ = (local, period, meter);
        None
    }

    /// The worker is about to sleep. If it has no jobs of its own, it has none until it pushes some, or takes others
    /// along: no other thread need look there until then.
    fn on_sleep(&self, local: &Self::Local) {
        let _ = local;
    }

    /// The worker's thread is about to block, in a job. What the worker has to itself until then would have to be taken
    /// away from a thread that does not get there.
    fn on_block(&self, local: &Self::Local) {
        let _ = local;
    }

    /// Whether a worker that has just found a job owes a call for the jobs that came along with it: until now these
    /// were on their way to the worker, where no thread could see them. If jobs may be withheld, this can be `true`
    /// although there are none. To be asked once for each job that was found: the caller makes the call.
    fn take_owed_call(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// Whether the worker's last push needs no call: it is the next job that the worker takes, by
    /// [`run_next`](Self::run_next) or [`pop_outside`](Self::pop_outside), or each thread that sees by
    /// [`has_jobs`](Self::has_jobs) that the next job is gone sees this one. `false` is always correct.
    fn shows_by_taking(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// Whether the job that the worker has just pushed to `to` is alone there: the worker will run it next, unless it
    /// blocks. Asked if there is a worker that might be called for it.
    fn is_lone(&self, local: &Self::Local, to: Self::Address) -> bool {
        let _ = (local, to);
        false
    }

    /// Like [`has_jobs_for`](Self::has_jobs_for), ignoring jobs that are alone at their worker; it may also ignore
    /// others that are alone in their queue.
    fn has_crowds(&self, local: &Self::Local) -> bool {
        self.has_jobs_for(local)
    }

    // Where jobs have different addresses:

    /// Where a job goes for which no address was chosen.
    fn anywhere(&self) -> Self::Address {
        Self::Address::default()
    }

    /// The address of the job that the worker runs; `None` if it runs none, where that matters.
    fn here(&self, local: &Self::Local) -> Option<Self::Address> {
        let _ = local;
        Some(self.anywhere())
    }

    /// Which division of the source an address belongs to: a job may run in place of another that waits for it if both
    /// belong to the same one.
    fn division(to: Self::Address) -> usize {
        let _ = to;
        0
    }

    // Where some jobs are not for all workers, or not yet:

    /// Shows the jobs that were put in at `to`; a sequentially consistent fence must have followed the push. Returns
    /// whether a worker may run one of them now. If not, no worker need be told.
    #[inline(always)]
    fn expose(&self, to: Self::Address) -> bool {
        let _ = to;
        true
    }

    /// How many more workers may run jobs of `to` at this moment, as far as is known.
    fn room(&self, to: Self::Address) -> usize {
        let _ = to;
        usize::MAX
    }

    /// Whether there is a job that the worker's [`search`](Self::search) would find, including one that only this
    /// worker may run. This is the check before a sleep: what [`has_jobs`](Self::has_jobs) says of fences holds for all
    /// of these jobs.
    fn has_jobs_for(&self, local: &Self::Local) -> bool {
        let _ = local;
        self.has_jobs()
    }

    /// Whether there is a job anywhere, or may be one that was pushed by a job that had not ended before this call.
    ///
    /// A source has to know this itself if a worker can become idle without having looked everywhere, or if some jobs
    /// are for their owners only. For other sources it is [`has_jobs`](Self::has_jobs), and the crew knows which
    /// workers are active.
    fn has_unfinished(&self) -> bool {
        self.has_jobs()
    }

    /// The crew is about to be closed; or it has been, and what was to be discarded has been discarded. From now on all
    /// withheld jobs have to be given out, sooner or later.
    fn on_close(&self) {}
}
