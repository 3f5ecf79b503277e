//! Which worker am I, of which pool?
//!
//! A worker (or anything else that runs jobs on behalf of an executor) stands at a [`Post`], on its stack, for as long
//! as it runs jobs. Posts nest: an executor that runs a job in place, inside another pool's job, hides the outer post
//! and restores it afterwards.
//!
//! A thread whose stack is not under our control, but that runs jobs of one executor only and for good,
//! is [enlisted](enlist) there instead; that is its outermost post.

#[cfg(feature = "_crew")]
mod employer;
mod home;
pub(crate) mod place;

#[cfg(feature = "_crew")]
pub(crate) use employer::Employer;
pub(crate) use home::{Home, PoolId};

use crate::{
    containment::{abort_out_of_turn, discard_payload, tell},
    job::Job,
    sync::thread_local,
};
use std::{any::Any, cell::Cell, ptr};

/// What the current thread does for an executor while it runs jobs.
pub(crate) trait Attendant {
    /// Takes a job for this executor from the thread that is running one of its jobs. Returns whether it was accepted.
    fn accept(&self, job: Job) -> bool;

    /// Counts and reports the panic of a job, where the job itself has caught it to pass it on.
    fn report(&self, payload: &(dyn Any + Send));

    /// Which of the executor's seats the thread has, if it has seats.
    fn seat(&self) -> Option<usize> {
        None
    }

    /// What this thread does about a job of that `division` of the executor which has not begun, and for which a job
    /// that runs here is about to wait.
    fn help(&self, division: usize) -> Help {
        let _ = division;
        Help::Run
    }

    /// The thread is about to block: its executor may let another thread stand in for it until it
    /// [`goes_on`](Self::goes_on), and takes back what the thread has to itself.
    fn blocks(&self) {}

    /// The thread no longer blocks.
    fn goes_on(&self) {}
}

/// What happens to a job for which a thread is about to wait, and which has not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Help {
    /// It runs here and now.
    Run,
    /// It is dropped, because it must not run at all.
    Drop,
    /// Nothing: it must run elsewhere, and the thread blocks until it has.
    Nothing,
}

/// The head of what represents an executor on this thread. See [`Post::stand`].
pub(crate) struct Post<'a> {
    pool: PoolId,
    /// The executor's own worker structure, or null; its type follows from `pool`, see [`Post::with_worker`].
    worker: *const (),
    attendant: &'a dyn Attendant,
    /// Whether the thread, which is no worker of the executor, is dropping one of its jobs, and may run others within
    /// that; if it can.
    drops_jobs: Option<&'a Cell<bool>>,
    /// The post that this one hides while the thread stands here, or null.
    outer: *const Post<'static>,
}

thread_local! {
    /// The innermost post at which this thread stands, or null.
    static CURRENT: Cell<*const Post<'static>> = const { Cell::new(ptr::null()) };

    /// Where this thread is enlisted.
    static ENLISTMENT: Cell<Option<Enlistment>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Enlistment {
    pool: PoolId,
    attendant: &'static dyn Attendant,
}

/// From now on, whatever runs on this thread is part of a job of `pool`.
pub(crate) fn enlist(pool: PoolId, attendant: &'static dyn Attendant) {
    ENLISTMENT.with(|enlistment| enlistment.set(Some(Enlistment { pool, attendant })));
}

/// The thread no longer belongs to an executor.
pub(crate) fn discharge() {
    ENLISTMENT.with(|enlistment| enlistment.set(None));
}

impl Enlistment {
    fn as_post(&self) -> Post<'_> {
        Post::without_worker(self.pool, self.attendant)
    }
}

impl<'a> Post<'a> {
    /// A post of a worker of `pool`: [`worker_of`] returns `worker` for that id.
    ///
    /// # Safety
    ///
    /// `pool` identifies the worker's own executor: every call of [`worker_of`] with that id, while a thread stands at
    /// this post or at a copy of it, asks for this `W`, up to lifetimes.
    #[inline]
    pub(crate) unsafe fn with_worker<W: Attendant>(pool: PoolId, worker: &'a W) -> Self {
        Post { pool, worker: ptr::from_ref(worker).cast(), attendant: worker, drops_jobs: None, outer: ptr::null() }
    }

    /// A post for which [`worker_of`] returns `None`: the thread that stands there is not a worker of `pool`, or not
    /// any more, but that executor is to do for it what it does for its workers, or has no workers.
    pub(crate) fn without_worker(pool: PoolId, attendant: &'a dyn Attendant) -> Self {
        Post { pool, worker: ptr::null(), attendant, drops_jobs: None, outer: ptr::null() }
    }

    /// The same for a thread that drops jobs of that executor while `is_dropping`.
    #[cfg(feature = "_crew")]
    pub(crate) fn of_dropper(pool: PoolId, attendant: &'a dyn Attendant, is_dropping: &'a Cell<bool>) -> Self {
        Post { drops_jobs: Some(is_dropping), ..Post::without_worker(pool, attendant) }
    }

    /// Calls `f` while this thread stands at this post.
    ///
    /// The post is taken by value, and the guard kept here, so that no caller can leave the post out of turn: the
    /// soundness of all code that follows [`CURRENT`] rests on that. (A coroutine with a stack of its own still can.
    /// That ends the process.)
    #[inline]
    pub(crate) fn stand<R>(self, f: impl FnOnce() -> R) -> R {
        let post = Post { outer: CURRENT.with(Cell::get), ..self };
        let _standing = Standing(&post);
        CURRENT.with(|current| current.set(ptr::from_ref(&post).cast()));
        f()
    }

    /// As [`stand`](Self::stand), but if the thread stands at a post of this executor already, be it further out than
    /// those of others, it stands there once more.
    pub(crate) fn stand_once_more<R>(self, f: impl FnOnce() -> R) -> R {
        with_post_of(self.pool, |own| own.map_or(self, Post::again).stand(f))
    }

    /// The same post, to stand at further in.
    fn again(&self) -> Post<'_> {
        Post { outer: ptr::null(), ..*self }
    }
}

/// Leaves a post, even if the code that runs there panics.
struct Standing<'a>(&'a Post<'a>);

impl Drop for Standing<'_> {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            if current.get() != ptr::from_ref(self.0).cast() {
                abort_out_of_turn();
            }
            current.set(self.0.outer);
        });
    }
}

/// Calls `f` with the innermost post of this thread that `is_sought`.
#[inline]
fn with_post<R>(is_sought: impl Fn(PoolId) -> bool, f: impl FnOnce(Option<&Post<'_>>) -> R) -> R {
    let mut next = CURRENT.with(Cell::get);
    // SAFETY: the pointer is null, or `stand` has set it, which restores what was there before when it returns or
    // unwinds, and whose post lives until then. So the post it points to is that of the innermost call of `stand` which
    // has not returned, and `outer` points to that of the next one, or is null. There is no unique reference to a post.
    while let Some(post) = unsafe { next.as_ref() } {
        if is_sought(post.pool) {
            return f(Some(post));
        }
        next = post.outer;
    }
    let enlistment = ENLISTMENT.with(Cell::get).filter(|enlistment| is_sought(enlistment.pool));
    f(enlistment.as_ref().map(Enlistment::as_post).as_ref())
}

/// Calls `f` with the innermost post of this thread.
fn with_current<R>(f: impl FnOnce(Option<&Post<'_>>) -> R) -> R {
    with_post(|_any| true, f)
}

/// Calls `f` with each post at which this thread stands, the innermost first.
fn for_each_post(f: impl Fn(&Post<'_>)) {
    let mut next = CURRENT.with(Cell::get);
    // SAFETY: as in `with_post`.
    while let Some(post) = unsafe { next.as_ref() } {
        f(post);
        next = post.outer;
    }
}

/// Calls `f` with the post of `pool` on this thread, even if it is further out than those of other executors.
#[inline]
fn with_post_of<R>(pool: PoolId, f: impl FnOnce(Option<&Post<'_>>) -> R) -> R {
    with_post(|one| one == pool, f)
}

/// Whether a job of `pool` is running on this thread.
pub(crate) fn is_at(pool: PoolId) -> bool {
    with_post_of(pool, |post| post.is_some())
}

/// If this thread runs a job of the executor of `home` (also if a job of another executor runs further in), and its
/// attendant says so, runs a job that belongs to `home` and has not begun, by `run`, or drops it, by `drop`, as part of
/// a job of that executor.
pub(crate) fn help(home: Home, run: impl FnOnce(), drop: impl FnOnce()) {
    with_post_of(home.pool, |post| {
        let Some(post) = post else { return };
        post.again().stand(|| match post.attendant.help(home.division) {
            Help::Run => run(),
            Help::Drop => drop(),
            Help::Nothing => (),
        });
    });
}

/// The innermost post of `pool` at which this thread stands.
///
/// This takes no closure, unlike the other functions here: what the caller does with the post must be inlined into the
/// caller; otherwise the closure that it submits is copied once more on its way to the queue, in pieces that the
/// processor cannot forward.
///
/// # Safety
///
/// The caller chooses the lifetime of the reference, and must not keep it when it returns: the thread stands at the
/// post for longer than that, but maybe not for much longer.
#[inline(always)]
unsafe fn innermost_of<'a>(pool: PoolId) -> Option<&'a Post<'a>> {
    let mut next = CURRENT.with(Cell::get);
    loop {
        // SAFETY: as in `with_post`.
        let post = unsafe { next.as_ref() }?;
        if post.pool == pool {
            return Some(post);
        }
        next = post.outer;
    }
}

/// The worker of `pool` that this thread is, if it is one. For the inlining see [`innermost_of`].
///
/// # Safety
///
/// Every post of `pool` that has a worker must have been made with one of type `W`, up to lifetimes: this is what
/// [`Post::with_worker`] is promised, too. The caller chooses the lifetime of the reference, and must not keep it when
/// it returns.
#[inline(always)]
pub(crate) unsafe fn worker_of<'a, W>(pool: PoolId) -> Option<&'a W> {
    // SAFETY: this function does not keep it, nor does the caller, see above; a worker is borrowed for as long as its
    // post is there. The caller vouches for the type.
    unsafe { innermost_of(pool)?.worker.cast::<W>().as_ref() }
}

/// Whether this thread, which is no worker of `pool`, is dropping one of its jobs.
///
/// Inlined, though it is seldom asked: a call would make those who ask on the way to the queue save registers.
#[cfg(feature = "_crew")]
#[inline(always)]
pub(crate) fn drops_jobs(pool: PoolId) -> bool {
    // SAFETY: the post is used here only.
    unsafe { innermost_of(pool) }.is_some_and(|post| post.drops_jobs.is_some_and(Cell::get))
}

/// The seat at which this thread runs a job, if it runs one of an executor that has seats.
pub(crate) fn seat() -> Option<usize> {
    with_current(|post| post?.attendant.seat())
}

/// Counts and reports a panic with the executor whose job this thread is running. Returns whether there is one.
pub(crate) fn report(payload: &(dyn Any + Send)) -> bool {
    with_current(|post| post.map(|post| post.attendant.report(payload)).is_some())
}

/// The same for a panic that goes no further. Returns the payload if this thread runs no job of an executor.
pub(crate) fn report_and_drop(payload: Box<dyn Any + Send>) -> Option<Box<dyn Any + Send>> {
    if !report(&*payload) {
        return Some(payload);
    }
    discard_payload(payload);
    None
}

/// Calls `f`, which blocks. Meanwhile the executor whose job this thread is running may let another thread stand in for
/// it, and takes back what the thread has to itself; and so do the executors within whose jobs that job runs.
pub(crate) fn blocking<R>(f: impl FnOnce() -> R) -> R {
    struct Blocked;

    impl Drop for Blocked {
        fn drop(&mut self) {
            for_each_post(|post| post.attendant.goes_on());
        }
    }

    for_each_post(|post| post.attendant.blocks());
    let _blocked = Blocked;
    f()
}

/// Gives a job to the executor whose job this thread is running.
///
/// The job runs on the same executor as the caller, whichever that is, and like any job given to it from inside. So a
/// job that submits others need not own a clone of the executor.
///
/// # Errors
///
/// Returns `f` if this thread is running neither a job of an executor of this crate nor a start or stop hook, nor drops
/// a job that such an executor discards. Where a job from inside is refused (after `shutdown_now`, and in a stop hook)
/// the result is `Ok`, and the job is dropped, with one `warn!`.
///
/// # Examples
///
/// ```
/// use executors::*;
/// use std::sync::mpsc::channel;
///
/// let pool = crossbeam_workstealing_pool::small_pool(2);
/// let (sender, receiver) = channel();
/// pool.execute(move || {
///     let job = move || sender.send("from the same pool").unwrap();
///     try_execute_locally(job).unwrap_or_else(|_| unreachable!("this is a job of a pool"));
/// });
/// assert_eq!(receiver.recv(), Ok("from the same pool"));
/// assert!(try_execute_locally(|| ()).is_err(), "the main thread belongs to no pool");
/// pool.shutdown().unwrap();
/// ```
pub fn try_execute_locally<F>(f: F) -> Result<(), F>
where
    F: FnOnce() + Send + 'static,
{
    with_current(|post| match post {
        None => Err(f),
        Some(post) => {
            if !post.attendant.accept(Job::new(f)) {
                tell(|| {
                    log::warn!("Ignoring a job that was submitted in a stop hook, or to a pool that drops its jobs.");
                });
            }
            Ok(())
        }
    })
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::containment::tests::assert_abort;
    use std::process::Stdio;

    struct Nobody;

    impl Attendant for Nobody {
        fn accept(&self, _: Job) -> bool {
            false
        }

        fn report(&self, _: &(dyn Any + Send)) {}
    }

    #[test]
    fn leaving_a_post_out_of_turn_ends_the_process() {
        assert_abort("leaving_a_post_out_of_turn", Stdio::null(), || {
            let outer = Post::without_worker(PoolId::NONE, &Nobody);
            Post::without_worker(PoolId::NONE, &Nobody).stand(|| drop(Standing(&outer)));
        });
    }
}
