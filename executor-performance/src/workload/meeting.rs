//! Jobs that wait for each other, so that an executor has a thread for each of them at the same time.

use crate::failure::Failure;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread::{self, ThreadId},
    time::Duration,
};

/// A job that the caller gives to an executor.
pub type BoxedJob = Box<dyn FnOnce() + Send + 'static>;

/// Lets `give` give `jobs` jobs, each of which waits until all have begun. If a pool runs that many at a time, all its
/// threads are started then; many pools start a thread only for a job that finds none free.
///
/// One job after the other, because some pools give two that come at the same time to one worker.
///
/// # Errors
///
/// If they do not come together: if one does not begin within `patience`, or is refused. Then those that wait go on.
pub fn assemble(jobs: usize, patience: Duration, mut give: impl FnMut(BoxedJob)) -> Result<(), Failure> {
    let meeting = Arc::new(Meeting::of(jobs, patience));
    let (sender, begun) = mpsc::channel();
    let assembled = (0..jobs).try_for_each(|ran| {
        let (attended, sender) = (Arc::clone(&meeting), sender.clone());
        let job = move || {
            // If this comes too late, the receiver is gone.
            let _ = sender.send(());
            attended.attend();
        };
        catch_unwind(AssertUnwindSafe(|| give(Box::new(job)))).map_err(|_| Failure::Submission)?;
        let in_time = begun.recv_timeout(patience).is_ok();
        // A job that has given up may have left its thread to this one.
        let together = in_time && !meeting.is_broken_up();
        together.then_some(()).ok_or(Failure::Stalled { ran: ran as u64, expected: jobs as u64, patience })
    });
    if assembled.is_err() {
        meeting.break_up();
    }
    assembled
}

/// Where jobs wait until all have come.
#[derive(Debug)]
pub struct Meeting {
    jobs: usize,
    patience: Duration,
    /// The thread that gives the jobs. A job that runs on it does not wait, because no other thread would give the
    /// others.
    giver: ThreadId,
    attendance: Mutex<Attendance>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct Attendance {
    came: usize,
    /// Whether jobs that have not come are no longer waited for.
    broken_up: bool,
}

impl Meeting {
    /// A meeting of `jobs` jobs, which this thread gives. When none comes for `patience`, those that wait break it up.
    pub fn of(jobs: usize, patience: Duration) -> Self {
        let giver = thread::current().id();
        Meeting { jobs, patience, giver, attendance: Mutex::default(), over: Condvar::new() }
    }

    /// What each of the jobs does: waits until all have come, unless it runs on the thread that gives the jobs. Returns
    /// `false` if the meeting is broken up.
    pub fn attend(&self) -> bool {
        let mut attendance = self.lock();
        if attendance.broken_up {
            return false;
        }
        attendance.came += 1;
        if attendance.came == self.jobs {
            self.over.notify_all();
        }
        if thread::current().id() == self.giver {
            return true;
        }
        loop {
            let came = attendance.came;
            let waits = |attendance: &mut Attendance| attendance.came < self.jobs && !attendance.broken_up;
            let waited = self.over.wait_timeout_while(attendance, self.patience, waits);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            attendance = now;
            if timeout.timed_out() && attendance.came == came {
                attendance.broken_up = true;
                self.over.notify_all();
            }
            if !waits(&mut attendance) {
                return !attendance.broken_up;
            }
        }
    }

    /// How many have come before it was broken up, if it was.
    pub fn came(&self) -> usize {
        self.lock().came
    }

    /// Whether some jobs went on although others had not come.
    pub fn is_broken_up(&self) -> bool {
        self.lock().broken_up
    }

    /// Lets jobs go on that wait, and those that will come.
    pub fn break_up(&self) {
        self.lock().broken_up = true;
        self.over.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Attendance> {
        self.attendance.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executors::{Executor, crossbeam_channel_pool::ThreadPool, run_now::RunNowExecutor};
    use std::{collections::HashSet, time::Instant};

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(50);

    #[test]
    fn each_of_the_jobs_has_a_thread() {
        let pool = ThreadPool::new(5);
        let threads = Arc::new(Mutex::new(HashSet::new()));
        let give = |job: BoxedJob| {
            let threads = Arc::clone(&threads);
            pool.execute(move || {
                threads.lock().expect("no panic").insert(thread::current().id());
                job();
            });
        };
        assemble(5, LONG, give).expect("five threads");
        assert_eq!(threads.lock().expect("no panic").len(), 5);
        pool.shutdown().expect("nobody waits");
    }

    #[test]
    fn those_that_wait_for_one_too_many_are_let_go() {
        let pool = ThreadPool::new(2);
        // Long enough for both to begin, whatever else the machine does.
        let patience = Duration::from_millis(500);
        let failure = assemble(4, patience, |job| pool.execute(job)).expect_err("two threads");
        assert!(matches!(failure, Failure::Stalled { ran: 2, expected: 4, .. }), "{failure}");
        let again = assemble(2, LONG, |job| pool.execute(job));
        again.expect("both are free");
        pool.shutdown().expect("nobody waits");
    }

    #[test]
    fn who_waits_gives_up_without_being_told() {
        let meeting = Arc::new(Meeting::of(2, SHORT));
        let (alone, begin) = (Arc::clone(&meeting), Instant::now());
        let complete = thread::spawn(move || alone.attend()).join().expect("no panic");
        assert!(!complete && begin.elapsed() >= SHORT);
        assert!(meeting.is_broken_up() && meeting.came() == 1);
    }

    #[test]
    fn nobody_waits_when_all_have_come() {
        let meeting = Arc::new(Meeting::of(3, LONG));
        let attend = || {
            let meeting = Arc::clone(&meeting);
            thread::spawn(move || meeting.attend())
        };
        let attending = [attend(), attend(), attend()];
        assert!(attending.into_iter().all(|thread| thread.join().expect("no panic")));
    }

    #[test]
    fn jobs_that_run_on_the_thread_of_the_giver_do_not_wait() {
        let executor = RunNowExecutor::new();
        assemble(3, LONG, |job| executor.execute(job)).expect("all have run");
    }

    #[test]
    fn a_refusal_is_a_failure_and_lets_those_go_that_wait() {
        let pool = ThreadPool::new(1);
        let mut given = 0;
        let give = |job: BoxedJob| {
            given += 1;
            assert!(given < 2, "as the test wants it");
            pool.execute(job);
        };
        assert!(matches!(assemble(2, LONG, give), Err(Failure::Submission)));
        pool.shutdown().expect("nobody waits");
    }
}
