//! Counting the jobs of a relay, and noticing the last one. The parent module says how, and why in this way.

mod seat;

pub(super) use self::seat::{count_first_jobs, count_jobs};

use crate::failure::Failure;
use crossbeam_utils::CachePadded;
use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// From this number of chains on, they are not counted down.
///
/// Counting down moves the cache line of that number to another core for most chains, which takes tens of nanoseconds
/// where cores do not share a first-level cache: negligible in a burst of a millisecond that is mostly waking up, but a
/// large part of the time of short chains on a fast pool.
pub const CHAINS_COUNTED_DOWN: u64 = 10_000;

/// The waiting thread looks at the tallies no more often than this.
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);

/// And no less often than this, because it also looks for stalls.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Jobs that one thread has ended. Only that thread writes to it.
type Tally = CachePadded<AtomicU64>;

/// The count of all jobs of one relay.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// Read by every job, written a few times a burst.
    rules: CachePadded<Rules>,
    /// Chains that have not ended. Written at the end of every chain, if chains are counted down.
    chains_left: CachePadded<AtomicU64>,
    books: Mutex<Books>,
    something_happened: Condvar,
}

#[derive(Debug, Default)]
struct Rules {
    /// Whether chains are counted down in this burst.
    count_down: AtomicBool,
    /// Whether all chains have ended, so that the end of each further job may be the end of the burst.
    closing: AtomicBool,
}

#[derive(Debug, Default)]
struct Books {
    /// The tally of each thread that has ever run a job of this relay.
    tallies: Vec<Arc<Tally>>,
    /// What their sum was before the current burst.
    before: u64,
    /// What it will be after it.
    expected: u64,
    /// When it reached that, if a thread has seen it.
    ended: Option<Instant>,
    /// Whether it never will, because jobs could not be submitted.
    given_up: bool,
}

/// How a burst ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// When its last job did.
    pub(super) at: Instant,
    /// How many jobs it had.
    pub(super) jobs: u64,
}

impl Books {
    /// Jobs that have ended since the relay began.
    ///
    /// Acquire pairs with the Release in `Seat::count_jobs`: everything that the counted jobs did has happened.
    fn total(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.load(Ordering::Acquire)).sum()
    }
}

impl Score {
    /// Announces a burst of `jobs` in `chains`. All jobs of earlier bursts must have been counted.
    pub(super) fn announce(&self, jobs: u64, chains: u64) {
        let mut books = self.lock();
        books.before = books.expected;
        books.expected += jobs;
        books.ended = None;
        // Relaxed: a thread that runs a job of this burst got it through the start gate and a queue, after these
        // stores.
        self.rules.count_down.store(chains < CHAINS_COUNTED_DOWN, Ordering::Relaxed);
        self.rules.closing.store(false, Ordering::Relaxed);
        self.chains_left.store(chains, Ordering::Relaxed);
    }

    /// Waits for the last job of the burst that began at `start`.
    pub(super) fn wait(&self, start: Instant, patience: Duration) -> Result<End, Failure> {
        let mut books = self.lock();
        let mut progress = (books.before, start);
        loop {
            let (ran, now) = (books.total(), Instant::now());
            if ran >= books.expected {
                let end = End { at: books.ended.unwrap_or(now), jobs: ran - books.before };
                return self.verified(&books).map(|()| end);
            }
            if books.given_up {
                return Err(Failure::Submission);
            }
            if ran > progress.0 {
                progress = (ran, now);
            } else if now.duration_since(progress.1) > patience {
                return Err(Failure::Stalled {
                    ran: ran - books.before,
                    expected: books.expected - books.before,
                    patience,
                });
            }
            let pause = self.pause(&books, ran, now.duration_since(start));
            books = self.something_happened.wait_timeout(books, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Subtracts `jobs` from those announced, because a chain ends before its time. Its last job is still to be
    /// counted.
    ///
    /// Wakes the waiting thread: if chains are not counted down, it sleeps as if all of these were still to come.
    #[cold]
    pub(super) fn forgo(&self, jobs: u64) {
        self.lock().expected -= jobs;
        self.something_happened.notify_one();
    }

    /// Tells the waiting thread that not all jobs of this burst will be given to the executor.
    pub(super) fn give_up(&self) {
        self.lock().given_up = true;
        self.something_happened.notify_one();
    }

    /// Checks that neither more nor fewer jobs ran than were announced. To be called when no job can be on its way any
    /// more.
    pub(super) fn verify(&self) -> Result<(), Failure> {
        self.verified(&self.lock())
    }

    fn verified(&self, books: &Books) -> Result<(), Failure> {
        let (ran, expected) = (books.total(), books.expected);
        if ran == expected { Ok(()) } else { Err(Failure::Miscounted { ran, expected }) }
    }

    /// How long the waiting thread may sleep.
    fn pause(&self, books: &Books, ran: u64, elapsed: Duration) -> Duration {
        if self.rules.closing.load(Ordering::Relaxed) {
            SHORTEST_PAUSE
        } else if self.rules.count_down.load(Ordering::Relaxed) {
            LONGEST_PAUSE
        } else {
            unwoken_pause(ran - books.before, books.expected - ran, elapsed)
        }
    }

    /// Called when all chains have ended, and so has the caller's job: stops the clock if it was the last. The waiting
    /// thread is woken in any case, because there is one thing that the workers can miss: if two jobs end at the same
    /// time, neither may see the other's tally, because both are still in a store buffer.
    #[cold]
    fn close(&self) {
        let mut books = self.lock();
        if books.total() == books.expected {
            books.ended.get_or_insert_with(Instant::now);
        }
        drop(books);
        self.something_happened.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long to sleep if no thread will wake the sleeper, when `done` jobs took `elapsed` and some are `left`: an eighth
/// of the time that these should take. The sleeper must not sleep past the end, and the jobs become faster towards it,
/// when the producers leave the cores to the workers. (With half of the time, pools appeared to be up to a tenth slower
/// than they were, some more than others.) At first that time is a wild guess, so the pause is no longer than an eighth
/// of the time that the guess is based on.
fn unwoken_pause(done: u64, left: u64, elapsed: Duration) -> Duration {
    let seconds = elapsed.as_secs_f64() * (left as f64 / done as f64).min(1.0) / 8.0;
    Duration::from_secs_f64(seconds.min(LONGEST_PAUSE.as_secs_f64())).max(SHORTEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const PATIENCE: Duration = Duration::from_millis(20);

    fn end_chains(score: &Arc<Score>, chains: u64) {
        for _ in 0..chains {
            if !count_jobs(Arc::as_ptr(score), 1, true) {
                count_first_jobs(Arc::clone(score), 1, true);
            }
        }
    }

    #[test]
    fn adds_up_what_the_threads_counted() {
        for chains in [30, CHAINS_COUNTED_DOWN * 3] {
            let score = Arc::new(Score::default());
            for _burst in 0..2 {
                score.announce(chains, chains);
                let start = Instant::now();
                thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| end_chains(&score, chains / 3));
                    }
                    let end = score.wait(start, Duration::from_secs(60)).expect("all were counted");
                    assert!(end.at >= start && end.jobs == chains);
                });
                score.verify().expect("and no more");
            }
        }
    }

    #[test]
    fn a_missing_job_is_a_stall() {
        for chains in [2, CHAINS_COUNTED_DOWN] {
            let score = Arc::new(Score::default());
            score.announce(chains, chains);
            end_chains(&score, chains - 1);
            let failure = score.wait(Instant::now(), PATIENCE).expect_err("one is missing");
            assert!(
                matches!(failure, Failure::Stalled { ran, expected, .. } if ran == chains - 1 && expected == chains)
            );
        }
    }

    #[test]
    fn looks_more_often_at_the_beginning_and_at_the_end() {
        let second = Duration::from_secs(1);
        assert_eq!(unwoken_pause(0, 100, Duration::ZERO), SHORTEST_PAUSE);
        assert_eq!(unwoken_pause(0, 100, second / 100), second / 800);
        assert_eq!(unwoken_pause(1, 99, second / 100), second / 800);
        assert_eq!(unwoken_pause(50, 50, second), LONGEST_PAUSE);
        assert_eq!(unwoken_pause(99, 1, second), Duration::from_secs_f64(1.0 / 99.0 / 8.0));
        assert_eq!(unwoken_pause(1_000_000, 1, second), SHORTEST_PAUSE);
    }

    /// Jobs that are three times as fast for the last third do not make the sleeper late.
    #[test]
    fn is_not_late_when_the_jobs_become_faster() {
        let micros = |time: Duration| time.as_micros() as u64;
        let done_after = |time: Duration| {
            let (slow, fast) = (micros(time).min(20_000), micros(time).saturating_sub(20_000));
            slow + 3 * fast
        };
        let jobs = done_after(Duration::from_millis(25));
        let mut now = Duration::ZERO;
        while done_after(now) < jobs {
            now += unwoken_pause(done_after(now), jobs - done_after(now), now);
        }
        assert!(now - Duration::from_millis(25) <= SHORTEST_PAUSE, "{now:?}");
    }

    #[test]
    fn giving_up_ends_the_waiting() {
        let score = Arc::new(Score::default());
        score.announce(2, 2);
        score.give_up();
        assert!(matches!(score.wait(Instant::now(), Duration::MAX), Err(Failure::Submission)));
    }

    #[test]
    fn a_surplus_job_is_noticed() {
        let score = Arc::new(Score::default());
        score.announce(2, 2);
        end_chains(&score, 2);
        score.wait(Instant::now(), PATIENCE).expect("two of two");
        end_chains(&score, 1);
        assert!(matches!(score.verify(), Err(Failure::Miscounted { ran: 3, expected: 2 })));
    }

    /// The waiting thread is asleep by then, because a second has passed without the end of a job.
    #[test]
    fn the_end_of_many_chains_that_are_stopped_is_noticed_soon() {
        const RAN: u64 = 1 << 30;
        let late = || {
            let score = &Arc::new(Score::default());
            score.announce(1 << 40, CHAINS_COUNTED_DOWN);
            // So many that the rest should take next to no time.
            count_first_jobs(Arc::clone(score), RAN, false);
            thread::scope(|scope| {
                let long_ago = Instant::now() - Duration::from_secs(1);
                let waiting = scope.spawn(move || score.wait(long_ago, Duration::from_secs(60)));
                thread::sleep(LONGEST_PAUSE / 10);
                score.forgo((1 << 40) - RAN - CHAINS_COUNTED_DOWN);
                end_chains(score, CHAINS_COUNTED_DOWN);
                let ended = Instant::now();
                let end = waiting.join().expect("no panic").expect("all were counted");
                end.at.saturating_duration_since(ended)
            })
        };
        let fastest = (0..5).map(|_| late()).min().expect("some");
        assert!(fastest < LONGEST_PAUSE / 4, "{fastest:?}");
    }

    #[test]
    fn jobs_that_are_forgone_are_not_waited_for() {
        let score = Arc::new(Score::default());
        score.announce(1 << 40, 2);
        end_chains(&score, 1);
        score.forgo((1 << 40) - 2);
        end_chains(&score, 1);
        assert_eq!(score.wait(Instant::now(), PATIENCE).expect("two of two").jobs, 2);
    }
}
