//! One function over many elements: a job for each, a job for some at a time, or one element after the other.
//!
//! # Examples
//!
//! ```
//! use executors::{*, sequence};
//! use executors::crossbeam_workstealing_pool::small_pool;
//!
//! let pool = small_pool(2);
//! let words = ["to", "be", "or", "not"];
//! let lengths = |results: Vec<Result<usize, TaskError>>| results.into_iter().collect::<Result<Vec<_>, _>>();
//!
//! // A job for each: for elements that take long.
//! assert_eq!(lengths(sequence::each(&pool, words, str::len).wait())?, [2, 2, 2, 3]);
//! // A job for every three: for many elements that take some nanoseconds.
//! assert_eq!(lengths(sequence::clusters(&pool, words, 3, str::len)?.wait())?, [2, 2, 2, 3]);
//! // One after the other, up to the first error.
//! let short = |word: &str| if word.len() < 3 { Ok(word.len()) } else { Err("too long") };
//! let stopped = sequence::serial(&pool, words, short).wait()?.unwrap_err();
//! assert_eq!((stopped.done, stopped.error), (vec![2, 2, 2], "too long"));
//! pool.shutdown()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "_futures")]
mod serial;

#[cfg(feature = "_futures")]
pub use self::serial::{Stopped, serial};
use crate::{
    containment::{Contained, Each, contain},
    group::Group,
    pool::Pool,
    task::panicked,
};
use std::{error::Error, fmt, sync::Arc};

/// Calls `f` with each element, in a job of its own, and returns the results in the order of the elements.
///
/// All elements are taken, and all jobs given to the pool, before this returns. If the call for an element panics, the
/// panic is the result of that element; the others are not affected. [`Group::cancel`] keeps the jobs that have not
/// begun from running.
///
/// # Examples
///
/// ```
/// use executors::{*, sequence, crossbeam_workstealing_pool::small_pool};
///
/// let pool = small_pool(2);
/// let halves = sequence::each(&pool, 0..4, |n| n as f64 / 2.0).wait();
/// assert_eq!(halves.into_iter().collect::<Result<Vec<_>, _>>()?, [0.0, 0.5, 1.0, 1.5]);
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn each<P, I, F, T>(pool: &P, elements: I, f: F) -> Group<T>
where
    P: Pool,
    I: IntoIterator<Item: Send + 'static>,
    F: Fn(I::Item) -> T + Send + Sync + 'static,
    T: Send + 'static,
{
    // What the function owns is dropped with the last use of it, and that must not cost an element its result.
    let f = Arc::new(Contained::new(f));
    let submit = |element| {
        let f = Arc::clone(&f);
        pool.submit(move || f(element))
    };
    elements.into_iter().map(submit).collect()
}

/// Calls `f` with each element, in one job for every `size` elements (and one for the rest), and returns the results in
/// the order of the elements.
///
/// Like [`each`], but the cost of a job is paid once for `size` elements. A cluster that has begun runs to its end,
/// even if the call for one of its elements panics; clusters are cancelled as a whole.
///
/// For one cluster per thread, use a `size` of `elements.len().div_ceil(pool.max_workers()).max(1)`. A subpool of a
/// dispatcher runs at most `status().limit` jobs at a time: there, divide by the lesser of that and
/// [`max_workers`](Pool::max_workers). If the elements differ, several times as many clusters share the work better.
///
/// # Errors
///
/// [`ClusterSizeError`] if `size` is 0.
///
/// # Examples
///
/// ```
/// use executors::{*, sequence, crossbeam_workstealing_pool::small_pool};
///
/// let pool = small_pool(2);
/// let squares = sequence::clusters(&pool, 0..1000_u64, 250, |n| n * n)?.wait();
/// assert_eq!(squares.into_iter().sum::<Result<u64, _>>()?, 332_833_500);
/// assert!(sequence::clusters(&pool, 0..10, 0, |n| n).is_err());
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn clusters<P, I, F, T>(pool: &P, elements: I, size: usize, f: F) -> Result<Group<T>, ClusterSizeError>
where
    P: Pool,
    I: IntoIterator<Item: Send + 'static>,
    F: Fn(I::Item) -> T + Send + Sync + 'static,
    T: Send + 'static,
{
    if size == 0 {
        return Err(ClusterSizeError);
    }
    // As in `each`.
    let f = Arc::new(Contained::new(f));
    // The last cluster has met the end, after which an iterator must not be asked again.
    let mut elements = elements.into_iter().fuse();
    let mut group = Group::new();
    loop {
        let mut cluster = Each::of(Vec::new());
        cluster.extend(elements.by_ref().take(size));
        if cluster.is_empty() {
            return Ok(group);
        }
        let (f, len) = (Arc::clone(&f), cluster.len());
        let job = move || {
            let elements = cluster.take().into_iter();
            Each::of(elements.map(|element| contain(|| f(element)).map_err(panicked)).collect())
        };
        group.push_cluster(pool.submit(job), len);
    }
}

/// A cluster of 0 elements was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterSizeError;

impl fmt::Display for ClusterSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence cannot be cut into clusters of size 0: ask for at least 1 element in each")
    }
}

impl Error for ClusterSizeError {}
