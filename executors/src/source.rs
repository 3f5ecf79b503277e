//! Where a crew gets its jobs from. What differs between pools is their source; the crew exists once.

#[cfg(any(feature = "workstealing-exec", feature = "dispatcher-exec"))]
mod dice;
#[cfg(feature = "dispatcher-exec")]
pub(crate) mod dispatch;
#[cfg(feature = "cb-channel-exec")]
pub(crate) mod fifo;
#[cfg(feature = "burst-exec")]
pub(crate) mod mail;
#[cfg(any(
    feature = "cb-channel-exec",
    feature = "workstealing-exec",
    feature = "elastic-exec",
    feature = "dispatcher-exec"
))]
pub(crate) mod queue;
#[cfg(feature = "elastic-exec")]
pub(crate) mod shared;
#[cfg(any(feature = "workstealing-exec", feature = "dispatcher-exec"))]
pub(crate) mod stealing;

use crate::{
    job::{IntoJob, Job},
    meter::Meter,
    sync::atomic::{Ordering::SeqCst, fence},
};

/// Whom a job needs that has just been put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whom {
    /// One of those who look for jobs, or a sleeper.
    Anyone,
    /// The worker on this seat, as no other can run it.
    Owner(usize),
    /// Nobody but the worker that has put it in, which will come to it.
    Nobody,
}

/// How jobs are stored, found and shared among workers.
///
/// Every job given to a source comes out exactly once. (Also the [parts](Self::parts) of running jobs that a source may
/// have, which it gives as if they were jobs to whoever searches and has a seat; others are told of them in vain.) A
/// source is free in the order, and may keep jobs at workers; but a job that is in, wherever, must be found by any
/// worker's [`search`](Self::search) and seen by [`has_jobs`](Self::has_jobs), unless it is withheld or its owner's
/// ([`Whom::Owner`], or [`Whom::Nobody`] if that one has put it in). The search of a worker without a seat of its own
/// finds all in any case.
///
/// What has no default is storage, and all that a queue for all has to answer.
pub(crate) trait Source: Send + Sync + 'static {
    /// Whether workers may come and go: then they keep no jobs. See `elastic_pool/README.md`.
    const ELASTIC: bool = false;

    /// Whether there may be jobs that nobody may run yet. See `dispatcher/README.md`.
    const WITHHOLDS: bool = false;

    /// Whether jobs from outside come in queues whose ends workers take from who gives jobs with each look. A worker
    /// that keeps up lets some gather then. Not if it also runs dry, as it were, between jobs of such a queue.
    const GATHERS: bool = false;

    /// To which part of the source a job goes.
    type Address: Copy + Default + Send + Sync + 'static;

    /// A worker's own part.
    type Local;

    /// The own part of the worker on `seat`; or of somebody without a seat, who only finds and runs what there is.
    fn attach(&self, seat: Option<usize>) -> Self::Local;

    /// Takes a job from any thread.
    fn inject(&self, to: Self::Address, job: impl IntoJob) -> Whom;

    /// [`inject`](Self::inject), and behind it [`order_pushes`](Self::order_pushes), if anyone may run the job. Or it
    /// gives the job back, for [`inject_slowly`](Self::inject_slowly). Hot: who knows where the job has gone need not
    /// find that out twice.
    #[inline(always)]
    fn inject_in_order(&self, to: Self::Address, job: impl IntoJob) -> Result<Whom, Job> {
        let whom = self.inject(to, job);
        if whom == Whom::Anyone {
            self.order_pushes(None);
        }
        Ok(whom)
    }

    /// As [`inject_in_order`](Self::inject_in_order), a job that this has just given back. Cold.
    fn inject_slowly(&self, to: Self::Address, job: Job) -> Whom {
        let _ = (to, job);
        unreachable!("this source gives no job back")
    }

    /// Takes a job from a worker; or gives it back, for [`push_slowly`](Self::push_slowly). Hot.
    fn push(&self, local: &Self::Local, to: Self::Address, job: impl IntoJob) -> Result<Whom, Job>;

    /// Takes a job that [`push`](Self::push) has just given back. Cold.
    fn push_slowly(&self, local: &Self::Local, to: Self::Address, job: Job) -> Whom {
        let _ = (local, to, job);
        unreachable!("this source gives no job back")
    }

    /// A fence between what the calling thread, a worker or somebody else, has put in and what it reads next: for all
    /// who issue one themselves and then [`recall`](Self::recall) what privilege it has. Hot.
    #[inline(always)]
    fn order_pushes(&self, giver: Option<&Self::Local>) {
        let _ = giver;
        fence(SeqCst);
    }

    /// Whether [`order_pushes`](Self::order_pushes) may have spared others a fence. If not, a look behind this has seen
    /// what it has to see, if this is behind a fence of the caller's; if so, another look is needed, behind a
    /// [`recall`](Self::recall).
    ///
    /// The own privilege of the worker that asks does not count; `None` stands for somebody else.
    fn spares_fences(&self, local: Option<&Self::Local>) -> bool {
        let _ = local;
        false
    }

    /// Makes up for fences that [`order_pushes`](Self::order_pushes) has spared others.
    fn recall(&self, local: &Self::Local) {
        let _ = local;
    }

    /// Runs the worker's next job, if it has one; what that throws passes through. Returns whether there was one. Hot:
    /// the clock, and a wait for its turn, now and then only; no other wait before it, except for who is at the same
    /// queue just then.
    fn run_next(&self, local: &Self::Local) -> bool;

    /// A job from wherever there is one. Cold. `None` only if each place was seen empty, or what was there has moved.
    fn search(&self, local: &Self::Local, meter: &Meter) -> Option<Job>;

    /// A job from wherever there is one, on a thread that is no worker.
    fn take(&self) -> Option<Job>;

    /// Whether there is a job that anyone might run, neither its owner's nor withheld. It must see every such job
    /// that was put in before a fence that comes before the caller's own in the order of all sequentially consistent
    /// ones; and, if the caller has [recalled](Self::recall) privileges since its own, before what stood for such a
    /// fence.
    fn has_jobs(&self) -> bool;

    /// How many jobs there are; exact when nobody puts in or takes out.
    fn len(&self) -> usize;

    /// How many parts of running jobs there are besides, which others may take: to [`search`](Self::search) and
    /// [`has_jobs`](Self::has_jobs) these are jobs. See `part/README.md`.
    fn parts(&self) -> usize {
        0
    }

    // Where workers keep jobs:

    /// Whether the worker would go on with other jobs than those from outside. Cold.
    fn prefers(&self, local: &Self::Local) -> bool {
        let _ = local;
        true
    }

    /// A job from outside, for a worker that [`prefers`](Self::prefers) others, and will ask again after `period` jobs;
    /// or one of another worker that does not come to it. More may come along, which everybody sees all the while.
    /// `None` also if all jobs wait alike.
    fn pop_outside(&self, local: &Self::Local, period: usize, meter: &Meter) -> Option<Job> {
        let _ = (local, period, meter);
        None
    }

    /// The worker is about to sleep. If it has no jobs of its own, it has none until it pushes some, or takes others
    /// along: nobody need look there until then.
    fn falls_asleep(&self, local: &Self::Local) {
        let _ = local;
    }

    /// Whether a worker that has just found a job owes others a call for those that came along with it: they were on
    /// their way to it, where nobody saw them, until just now. If jobs may be withheld, it may say so though there are
    /// none. Asked once, for it pays then.
    fn owes_call(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// Whether the job that the worker has pushed last is the next that it takes, by [`run_next`](Self::run_next)
    /// or [`pop_outside`](Self::pop_outside), or is seen by everybody to whom [`has_jobs`](Self::has_jobs) shows that
    /// this next one was taken. To deny it is always right.
    fn shows_by_taking(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// Whether the job that the worker has just pushed to `to` is alone there: the worker will come to it next, unless
    /// it blocks. Asked if there is somebody who might be called for it.
    fn is_lone(&self, local: &Self::Local, to: Self::Address) -> bool {
        let _ = (local, to);
        false
    }

    /// As [`has_jobs_for`](Self::has_jobs_for), ignoring jobs that are alone at their worker.
    fn has_crowds(&self, local: &Self::Local) -> bool {
        self.has_jobs_for(local)
    }

    // Where jobs go to different parts:

    /// Where jobs go for which nobody has chosen.
    fn anywhere(&self) -> Self::Address {
        Self::Address::default()
    }

    /// The address of the job that the worker runs; `None` if it runs none, where that matters.
    fn here(&self, local: &Self::Local) -> Option<Self::Address> {
        let _ = local;
        Some(self.anywhere())
    }

    /// Which part of the source an address belongs to: a job may run in place of another one that waits for it, if both
    /// are of one part.
    fn part(to: Self::Address) -> usize {
        let _ = to;
        0
    }

    // Where some jobs are not for all, or not yet:

    /// Shows the jobs that were put in at `to`, after a sequentially consistent fence, and returns whether somebody may
    /// run one now. If not, nobody need be told.
    #[inline(always)]
    fn expose(&self, to: Self::Address) -> bool {
        let _ = to;
        true
    }

    /// How many workers more may run jobs of `to` at this moment, as far as can be told.
    fn room(&self, to: Self::Address) -> usize {
        let _ = to;
        usize::MAX
    }

    /// Whether there is a job that the worker's [`search`](Self::search) would find, also if it alone may run it. The
    /// check before a sleep: what is said of fences at [`has_jobs`](Self::has_jobs) holds for all of these jobs.
    fn has_jobs_for(&self, local: &Self::Local) -> bool {
        let _ = local;
        self.has_jobs()
    }

    /// Whether there is a job anywhere, or may be one that was pushed by a job which did not run to its end before this
    /// call.
    ///
    /// A source in which a worker may become idle that has not looked everywhere has to know this, and so has one with
    /// jobs of owners; for others it is [`has_jobs`](Self::has_jobs), and the crew knows who is at work.
    fn has_unfinished(&self) -> bool {
        self.has_jobs()
    }

    /// The crew has been closed, and what was to be discarded has been. Whatever is withheld has to be given out from
    /// now on, sooner or later.
    fn on_close(&self) {}
}
