//! Jobs that are awaited, or cancelled, as a whole.
//!
//! # Examples
//!
//! ```
//! use executors::{*, crossbeam_workstealing_pool::small_pool, group::{Group, partition}};
//!
//! let pool = small_pool(2);
//! let halves: Group<u32> =
//!     (0..4).map(|n| pool.submit(move || if n % 2 == 0 { n / 2 } else { panic!("{n} is odd") })).collect();
//! let halves = partition(halves.wait());
//! assert_eq!(halves.successes, [(0, 0), (2, 1)]);
//! assert!(matches!(halves.failures[..], [(1, TaskError::Panicked(_)), (3, _)]));
//! pool.shutdown()?;
//! # Ok::<(), String>(())
//! ```

use crate::{bell, containment::Each, error::TaskError, task::TaskHandle};
use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    iter,
    panic::{RefUnwindSafe, UnwindSafe},
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

/// The results of many jobs, in the order in which the jobs were added.
///
/// The jobs may be closures or futures, of one pool or of several. Like a [`TaskHandle`], a group can be waited for by
/// blocking or by `.await`; it returns a result for each job, whatever became of the others. (To end at the first
/// failure instead, pass the handles to `try_join_all` of the crate `futures`.)
///
/// Dropping a group lets its jobs run on, unobserved.
///
/// # Examples
///
/// ```
/// use executors::{*, group::Group};
/// use executors::crossbeam_workstealing_pool::small_pool;
///
/// let pool = small_pool(2);
/// let squares: Group<u64> = (1..=4).map(|n| pool.submit(move || n * n)).collect();
/// let squares: Result<Vec<u64>, TaskError> = squares.wait().into_iter().collect();
/// assert_eq!(squares?, [1, 4, 9, 16]);
///
/// let mut group = Group::new();
/// group.push(pool.submit(|| "a closure"));
/// group.push(pool.submit_future(async { "a future" }));
/// let stopped = group.cancel();
/// let results = group.wait();
/// assert_eq!(results.iter().filter(|result| result.is_err()).count(), stopped);
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping the group lets its jobs run unobserved; call `detach` to say so"]
pub struct Group<T> {
    /// Those of the first jobs, which have been waited for.
    results: Each<Result<T, TaskError>>,
    /// All other jobs.
    members: VecDeque<Member<T>>,
}

/// A job of a group, which has one result or several.
pub(crate) enum Member<T> {
    One(TaskHandle<T>),
    /// A job that has `len` results.
    Cluster {
        handle: TaskHandle<Each<Result<T, TaskError>>>,
        len: usize,
    },
}

impl<T> Group<T> {
    /// A group without jobs, which is finished.
    pub const fn new() -> Group<T> {
        Group { results: Each::of(Vec::new()), members: VecDeque::new() }
    }

    /// Adds a job, whose handle must not have given its result yet: waiting for the group would panic, as it does for
    /// such a handle.
    pub fn push(&mut self, handle: TaskHandle<T>) {
        self.members.push_back(Member::One(handle));
    }

    pub(crate) fn push_cluster(&mut self, handle: TaskHandle<Each<Result<T, TaskError>>>, len: usize) {
        self.members.push_back(Member::Cluster { handle, len });
    }

    /// How many results there will be.
    #[must_use]
    pub fn len(&self) -> usize {
        self.results.len() + self.members.iter().map(Member::len).sum::<usize>()
    }

    /// Whether there will be no results, because nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // Each member has a result.
        self.results.is_empty() && self.members.is_empty()
    }

    /// Whether every job has ended, or will never begin.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.members.iter().all(Member::is_finished)
    }

    /// Keeps the jobs that have not begun from running; what their closures own is dropped at once.
    ///
    /// Returns how many results this makes [`TaskError::Cancelled`]. Jobs that have begun run on, so the group still
    /// has to be waited for.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, group::Group, crossbeam_workstealing_pool::small_pool};
    ///
    /// let pool = small_pool(2);
    /// let group: Group<u32> = (0..100).map(|n| pool.submit(move || n)).collect();
    /// let cancelled = group.cancel();
    /// let results = group.wait();
    /// assert_eq!(results.iter().filter(|result| matches!(result, Err(TaskError::Cancelled))).count(), cancelled);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self) -> usize {
        // From the end, because the first jobs are the next to begin.
        self.members.iter().rev().filter(|member| member.cancel()).map(Member::len).sum()
    }

    /// Blocks until every job has ended, and returns what each of them returned.
    ///
    /// In a job of the same pool this first runs the jobs that have not begun, one after the other, like
    /// [`TaskHandle::wait`]: closures before futures, because these may wait for them. If the caller is a job of the
    /// group, the result of that job is [`TaskError::WouldDeadlock`]; but a future of the group waits for itself for
    /// ever, unless this is its first step.
    ///
    /// # Panics
    ///
    /// If a handle was added that had given its result before: see [`push`](Self::push).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, group::Group, crossbeam_workstealing_pool::small_pool};
    ///
    /// let pool = small_pool(2);
    /// let group: Group<u32> = (0..3).map(|n| pool.submit(move || if n == 1 { panic!("one") } else { n })).collect();
    /// let results = group.wait();
    /// assert!(results[1].is_err());
    /// assert_eq!((results[0].as_ref().ok(), results[2].as_ref().ok()), (Some(&0), Some(&2)));
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(mut self) -> Vec<Result<T, TaskError>> {
        self.help(|| false);
        while let Some(member) = self.members.pop_front() {
            match member {
                Member::One(handle) => self.results.push(handle.wait()),
                Member::Cluster { handle, len } => self.results.extend(in_order(handle.wait(), len)),
            }
        }
        self.results.take()
    }

    /// [`wait`](Self::wait) for at most `timeout`. In a job of the same pool, a job that is begun here runs to its end,
    /// and none is begun once the time is up.
    ///
    /// # Errors
    ///
    /// The group, if some job has not ended in time; wait again, or cancel it, or drop it.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, group::Group, crossbeam_workstealing_pool::small_pool};
    /// use std::{sync::mpsc, time::Duration};
    ///
    /// let pool = small_pool(2);
    /// let (open, gate) = mpsc::channel::<()>();
    /// let group: Group<bool> = [pool.submit(move || gate.recv().is_err())].into_iter().collect();
    /// let group = group.wait_timeout(Duration::from_millis(1)).expect_err("it waits for the gate");
    /// drop(open);
    /// let results = group.wait_timeout(Duration::from_secs(60)).expect("in time");
    /// assert!(matches!(results[..], [Ok(true)]));
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_timeout(mut self, timeout: Duration) -> Result<Vec<Result<T, TaskError>>, Self> {
        // A timeout beyond the range of the clock is none.
        let Some(deadline) = bell::deadline(timeout) else { return Ok(self.wait()) };
        self.help(|| Instant::now() >= deadline);
        while let Some(member) = self.members.pop_front() {
            let left = deadline.saturating_duration_since(Instant::now());
            // Then no further job is begun here, in a job of the same pool.
            if left.is_zero() && !member.is_finished() {
                self.members.push_front(member);
                return Err(self);
            }
            if let Err(unfinished) = member.wait_timeout(left, &mut self.results) {
                self.members.push_front(unfinished);
                return Err(self);
            }
        }
        Ok(self.results.take())
    }

    /// Lets the jobs run unobserved. Results that are there already are dropped here; a panic in the `Drop` of one is
    /// caught.
    pub fn detach(self) {}

    /// In a job of their pool, runs the jobs that have not begun, until it `is_late`. Comes before the wait for the
    /// first job that has begun, which may take long, or wait for another.
    ///
    /// Futures come last: what one of them awaits is not run while this thread polls it to its end.
    fn help(&self, is_late: impl Fn() -> bool) {
        let those_that = |await_others| self.members.iter().filter(move |member| member.awaits() == await_others);
        those_that(false).chain(those_that(true)).take_while(|_| !is_late()).for_each(Member::help);
    }
}

/// What is done with the handle of a member, of whichever kind it is.
macro_rules! each_kind {
    ($member:expr, $handle:ident => $done:expr) => {
        match $member {
            Member::One($handle) => $done,
            Member::Cluster { handle: $handle, .. } => $done,
        }
    };
}

impl<T> Member<T> {
    fn len(&self) -> usize {
        match self {
            Member::One(_) => 1,
            Member::Cluster { len, .. } => *len,
        }
    }

    fn is_finished(&self) -> bool {
        each_kind!(self, handle => handle.is_finished())
    }

    fn cancel(&self) -> bool {
        each_kind!(self, handle => handle.cancel())
    }

    /// Adds what it returns to the `results`; or gives it back if it has not ended in this time.
    fn wait_timeout(self, timeout: Duration, results: &mut Vec<Result<T, TaskError>>) -> Result<(), Self> {
        match self {
            Member::One(handle) => results.push(handle.wait_timeout(timeout).map_err(Member::One)?),
            Member::Cluster { handle, len } => {
                let cluster = handle.wait_timeout(timeout).map_err(|handle| Member::Cluster { handle, len })?;
                results.extend(in_order(cluster, len));
            }
        }
        Ok(())
    }

    fn awaits(&self) -> bool {
        each_kind!(self, handle => handle.awaits())
    }

    fn help(&self) {
        each_kind!(self, handle => handle.help());
    }

    fn drop_result(&self) {
        each_kind!(self, handle => handle.drop_result());
    }
}

/// The results of a cluster; if it returned none, as many errors as it would have had results.
fn in_order<T>(
    results: Result<Each<Result<T, TaskError>>, TaskError>,
    len: usize,
) -> impl Iterator<Item = Result<T, TaskError>> {
    let (results, error) = match results {
        Ok(mut results) => (results.take(), None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let errors = error.into_iter().flat_map(move |error| {
        let others: fn() -> TaskError = match error {
            TaskError::Cancelled => || TaskError::Cancelled,
            TaskError::WouldDeadlock => || TaskError::WouldDeadlock,
            TaskError::Dropped | TaskError::Panicked(_) => || TaskError::Dropped,
        };
        iter::once(error).chain(iter::repeat_with(others)).take(len).map(Err)
    });
    results.into_iter().chain(errors)
}

/// Polled again after it has returned the results, it is a group without jobs.
impl<T> Future for Group<T> {
    type Output = Vec<Result<T, TaskError>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // One after the other: all have to end, so each is polled once or twice, however many there are.
        while let Some(member) = this.members.front_mut() {
            match member {
                Member::One(handle) => this.results.push(ready!(Pin::new(handle).poll(context))),
                Member::Cluster { handle, len } => {
                    this.results.extend(in_order(ready!(Pin::new(handle).poll(context)), *len));
                }
            }
            this.members.pop_front();
        }
        Poll::Ready(this.results.take())
    }
}

/// A wait that gave the group back may have run jobs here. The pool keeps them until their turn comes, but not their
/// results.
impl<T> Drop for Group<T> {
    fn drop(&mut self) {
        self.members.iter().for_each(Member::drop_result);
    }
}

// Nothing in it is pinned.
impl<T> Unpin for Group<T> {}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Group::new()
    }
}

impl<T> FromIterator<TaskHandle<T>> for Group<T> {
    fn from_iter<I: IntoIterator<Item = TaskHandle<T>>>(handles: I) -> Self {
        Group { results: Each::of(Vec::new()), members: handles.into_iter().map(Member::One).collect() }
    }
}

impl<T> Extend<TaskHandle<T>> for Group<T> {
    fn extend<I: IntoIterator<Item = TaskHandle<T>>>(&mut self, handles: I) {
        self.members.extend(handles.into_iter().map(Member::One));
    }
}

/// A panic elsewhere leaves the result as it is, or is the result.
impl<T> UnwindSafe for Group<T> {}
impl<T> RefUnwindSafe for Group<T> {}

impl<T> fmt::Debug for Group<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("len", &self.len()).field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// Successes and failures, each with its place among the results.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partitioned<T, E> {
    /// The values, in order.
    pub successes: Vec<(usize, T)>,
    /// The errors, in order.
    pub failures: Vec<(usize, E)>,
}

/// Separates successes from failures.
///
/// # Examples
///
/// ```
/// use executors::{*, group::partition, sequence};
/// use executors::crossbeam_workstealing_pool::small_pool;
///
/// let pool = small_pool(2);
/// let results = sequence::each(&pool, ["4", "x", "2"], |text| text.parse::<u32>()).wait();
/// let parsed = partition(results.into_iter().map(Failure::flatten));
/// assert_eq!(parsed.successes, [(0, 4), (2, 2)]);
/// assert!(matches!(parsed.failures[..], [(1, Failure::Returned(_))]));
/// pool.shutdown().unwrap();
/// ```
#[must_use]
pub fn partition<T, E>(results: impl IntoIterator<Item = Result<T, E>>) -> Partitioned<T, E> {
    let mut partitioned = Partitioned { successes: Vec::new(), failures: Vec::new() };
    for (place, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => partitioned.successes.push((place, value)),
            Err(error) => partitioned.failures.push((place, error)),
        }
    }
    partitioned
}
