//! Putting workers to sleep, and waking the right number of them.
//!
//! A pool asks its [`Parker`] for this. Use one of [`small`], [`large`] and [`dynamic`], or implement the trait. All
//! three share one protocol, whose rules and proof are in [a README][readme] of the sources; they differ in the number
//! of threads they serve.
//!
//! [readme]: https://github.com/Bathtor/rust-executors/blob/master/executors/src/parker/README.md
//!
//! A parker keeps the state of one pool: each pool makes one of its own from the parker that it is given
//! ([`Parker::for_pool`]). So clones of one parker may be given to several pools, and tell nothing about any of them.
//!
//! # Examples
//!
//! ```
//! use executors::{crossbeam_workstealing_pool::ThreadPool, parker, Executor};
//!
//! let pool = ThreadPool::new(4, parker::small());
//! pool.execute(|| println!("woken for this"));
//! pool.shutdown().unwrap();
//! ```

mod idle;
mod kinds;
#[cfg(feature = "_crew")]
mod slumber;
#[cfg(feature = "dispatcher-exec")]
mod two;
mod word;

#[cfg(feature = "burst-exec")]
pub(crate) use kinds::for_bursts;
#[cfg(all(test, executors_loom, feature = "burst-exec"))]
pub(crate) use kinds::for_bursts_on;
#[cfg(feature = "elastic-exec")]
pub(crate) use kinds::last_first;
pub use kinds::{
    BoundedThreadData, DynParker, DynamicThreadData, LargeThreadData, SmallThreadData, StaticParker, ThreadData,
    dynamic, large, small,
};
#[cfg(feature = "_crew")]
pub(crate) use slumber::sleep;
#[cfg(feature = "dispatcher-exec")]
pub(crate) use two::TwoParkers;

use std::time::Duration;

/// How an attempt to park ended.
#[derive(Clone, Debug, Copy, PartialEq, Eq)]
pub enum ParkResult {
    /// The thread did not park and is still prepared: try again.
    Retry,
    /// The thread did not park and is no longer prepared: look for work before the next attempt.
    Abort,
    /// The thread parked, was woken, and is no longer prepared.
    Woken,
}

/// Where a job that needs a worker came from. Treat variants that you do not know as [`Outside`](Origin::Outside).
#[derive(Clone, Debug, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// From a thread that is not a worker of the pool.
    Outside,
    /// From a worker of the pool, which will run it itself if no other worker does.
    Inside,
    /// From a worker of the pool that has no other job waiting: most often the next job of a chain. Unless the worker
    /// blocks, it will run this job next.
    Alone,
    /// As [`Inside`](Origin::Inside), but the thread that reports the job has not submitted it, or need not be a
    /// worker.
    Waiting,
}

/// Lets the workers of a pool sleep until there is work.
///
/// The required methods are the mechanism: they keep track of which threads sleep, and wake them. The others are
/// *events* that the pool reports, questions that it asks, and naps; with them a parker can wake fewer threads than
/// there are jobs. Their provided bodies are correct, if not economical: every job wakes a thread. A parker that wraps
/// another must forward all of them, because they depend on each other.
///
/// No method should panic. If one panics when a thread submits a job to the pool, or closes it, that thread panics,
/// though the job is in. If one panics that a worker calls for itself, this worker is lost to the pool: an `error!` is
/// logged; [`init`](Self::init) is called once more, so that the worker does not pass for a sleeper; then
/// [`leave`](Self::leave), if `init` succeeds; and then the worker's stop hook (but no hook, if the panic is that of
/// its first `init`). Jobs that wait at the worker are left to the other workers; if there are none, the jobs stay, and
/// a shutdown waits in vain. A job that the worker has just taken, and not begun, is dropped, and counts as discarded.
/// If a parker that wraps another panics after it has forwarded only a part of what belongs together, the inner one is
/// left with wrong counts: sleepers may not be called any more.
///
/// # Fences
///
/// Some methods say that a *fence* comes before the call: it stands between the job and what the call reads. The other
/// side is a thread that announces something and then looks for jobs once more: that it will sleep, by
/// [`prepare_park`](Self::prepare_park), or that it was the last one looking, as [`stop_looking`](Self::stop_looking)
/// has told it. Either that look sees the job, or the call sees the announcement. (The look of a napper may miss a job
/// that is submitted at that moment; its next look sees it.) For any other purpose a parker needs a fence of its own.
pub trait Parker: Sync + Send + Clone {
    /// A parker of this kind for one pool: the pool that is given this parker calls this once, and uses the result. No
    /// other pool may use that or a clone of it, because the workers would answer each other's calls, and jobs would
    /// wait for ever.
    ///
    /// The provided body returns a clone: then do not give clones of one parker to several pools. The parkers of this
    /// module return one that knows no threads yet. A parker that wraps another must forward this one, too.
    #[must_use]
    fn for_pool(&self) -> Self {
        self.clone()
    }

    /// The largest number of threads that this parker serves; `None` if there is no limit.
    fn max_threads(&self) -> Option<usize>;

    /// Gives the calling thread the number `thread_id`. It is awake, whatever a thread with this number was before.
    ///
    /// # Panics
    ///
    /// May panic if `thread_id` is not below [`max_threads`](Self::max_threads).
    fn init(&self, thread_id: usize);

    /// Event: thread `thread_id`, the caller, has left the pool, awake. Until [`init`](Self::init) gives that number to
    /// a thread again, there is no such thread.
    ///
    /// Reported for workers that are lost because a parker has panicked, and for workers that leave elastic pools,
    /// whose parker is always one of this module. Not reported for workers that leave because the pool has ended.
    fn leave(&self, thread_id: usize) {
        let _ = thread_id;
    }

    /// Announces that thread `thread_id`, the caller, is about to sleep.
    ///
    /// After this the caller must look for work once more, and then either [`abort_park`](Self::abort_park) or
    /// [`park`](Self::park): a thread that brings work later sees the announcement.
    fn prepare_park(&self, thread_id: usize);

    /// Takes the announcement back.
    fn abort_park(&self, thread_id: usize);

    /// Sleeps until woken. May return early; the result says what state the caller is in.
    fn park(&self, thread_id: usize) -> ParkResult;

    /// Wakes one thread that has announced its sleep, if there is one.
    fn unpark_one(&self);

    /// Wakes thread `thread_id`, if it has announced its sleep. For jobs that only this thread can run; the pool issues
    /// a sequentially consistent fence before the call. The provided body wakes all threads.
    fn unpark(&self, thread_id: usize) {
        let _ = thread_id;
        self.unpark_all();
    }

    /// Wakes all threads that have announced their sleep. The pool issues a sequentially consistent fence before the
    /// call.
    fn unpark_all(&self);

    /// [`prepare_park`](Self::prepare_park) for a worker that has slept, napped or looked for jobs in vain. If this
    /// returns `true`, the caller will [`nap`](Self::nap) or [`abort_park`](Self::abort_park) instead of parking, and
    /// until then the parker need not wake any thread for jobs of [`Origin::Alone`]. Both end the nap before they
    /// return, and so does [`init`](Self::init). A napper can be woken like any sleeper.
    fn prepare_nap(&self, thread_id: usize) -> bool {
        self.prepare_park(thread_id);
        false
    }

    /// Sleeps until woken, for at most about `duration`. The caller is no longer prepared afterwards, and looks for
    /// work.
    ///
    /// Called only if [`prepare_nap`](Self::prepare_nap) returned `true`. (Elastic pools, whose parker is always one of
    /// this module, also call it in place of [`park`](Self::park), for workers that leave when the time is up.)
    fn nap(&self, thread_id: usize, duration: Duration) {
        let _ = duration;
        self.abort_park(thread_id);
    }

    /// Whether some thread will look for a job that is visible now, or can be called for it: a thread that sleeps, that
    /// was called and has not arrived yet, or that looks. A [fence](Self#fences) comes before. If the answer is
    /// `false`, and some threads of the pool have not been started yet, the pool starts one for the job, unless enough
    /// are on their way.
    ///
    /// The provided body does not know, and returns `false`: then jobs start threads until all are there.
    fn is_anybody_free(&self) -> bool {
        false
    }

    /// Whether a thread sleeps, or has announced that it will. A [fence](Self#fences) comes before, and if the answer
    /// is `false`, the pool does not report [`job_arrived`](Self::job_arrived). Asked for nearly every job, so it
    /// should be a single load.
    ///
    /// `true` is always right. `false` loses jobs if there is a thread whose announcement the call sees, and that has
    /// neither been woken nor taken the announcement back. The provided body does not know, and returns `true`.
    fn is_anybody_asleep(&self) -> bool {
        true
    }

    /// Whether a sleeping thread has to be called for a job of `origin` that is visible now; it need not if another
    /// thread will look for the job by itself, for example. A [fence](Self#fences) comes before, and if the answer is
    /// `false`, the pool need not report [`job_arrived`](Self::job_arrived). Asked for most jobs from inside while a
    /// thread sleeps, or has not been started yet.
    ///
    /// `true` is always right. `false` promises what `job_arrived` would have to ensure: that a thread which was
    /// called, looks, or naps (for a job of [`Origin::Alone`]) will search for jobs after this. The provided body
    /// returns what [`is_anybody_asleep`](Self::is_anybody_asleep) returns.
    fn needs_call(&self, origin: Origin) -> bool {
        let _ = origin;
        self.is_anybody_asleep()
    }

    /// Event: a job was made visible to all workers, and a [fence](Self#fences) has followed.
    ///
    /// Must make sure that some worker looks for the job. Mostly not reported while
    /// [`is_anybody_asleep`](Self::is_anybody_asleep) or [`needs_call`](Self::needs_call) returns `false`.
    fn job_arrived(&self, origin: Origin) {
        let _ = origin;
        self.unpark_one();
    }

    /// Event: worker `thread_id` looks for jobs, because it has run out of them or was woken.
    ///
    /// Returns whether it should go on looking for a while before it sleeps. (A worker that has never slept may do so
    /// in any case.)
    fn start_looking(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        true
    }

    /// Event: worker `thread_id` has stopped looking, because it found a job or because it has announced its sleep.
    ///
    /// Returns whether no thread looks or [gives way](Self::give_way) any more, so that the caller has to make sure
    /// that no visible job is overlooked. A call that returns `false` must happen before the later call that returns
    /// `true`, as read-modify-writes with `AcqRel` do.
    fn stop_looking(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        true
    }

    /// Event: worker `thread_id`, which looks for jobs, yields its core to other threads. It will not look again before
    /// it has the core back, and for that it may have to wait for the thread that submits the jobs.
    ///
    /// Returns whether to report its return by [`come_back`](Self::come_back). A wrapper that forwards one of these two
    /// must forward both, and [`start_looking`](Self::start_looking) and [`stop_looking`](Self::stop_looking), too.
    fn step_aside(&self, thread_id: usize) -> bool {
        let _ = thread_id;
        false
    }

    /// Event: worker `thread_id` has its core back, and goes on looking.
    fn come_back(&self, thread_id: usize) {
        let _ = thread_id;
    }

    /// Whether all threads but one sleep, and that one was called and has not arrived. A thread that is not a worker
    /// asks this before it reports a job to [`job_arrived`](Self::job_arrived): the called thread may be waiting for
    /// the caller's core. If the answer is `true`, the caller may [give way](Self::give_way) first. Either answer is
    /// right.
    ///
    /// The provided body does not know, and returns `false`.
    fn is_one_coming(&self) -> bool {
        false
    }

    /// Event: a thread that is not a worker, and has made a job visible and then issued a [fence](Self#fences), yields
    /// its core to other threads. It will [`go_on`](Self::go_on), and then look whether there are jobs, as a called
    /// thread does: until then others may rely on that. A wrapper that forwards one of
    /// [`is_one_coming`](Self::is_one_coming), this and `go_on` must forward all three, and
    /// [`stop_looking`](Self::stop_looking), too.
    fn give_way(&self) {}

    /// Event: a thread that has [given way](Self::give_way) goes on.
    ///
    /// Returns whether the caller has to look for jobs, after a fence that follows this call, and to call a thread if
    /// there are any. `true` is always right; `false` promises that another thread will search for jobs after this. A
    /// call that returns `false` to another caller must happen before the one that returns `true`, as for
    /// [`stop_looking`](Self::stop_looking).
    fn go_on(&self) -> bool {
        true
    }

    /// How many times threads were woken so far; zero if the parker does not count.
    fn wake_ups(&self) -> u64 {
        0
    }
}
