//! Running futures on an executor: tasks that spawn tasks, and prove that all have run.
//!
//! A [`Token`] has the [`Stage`] [on loan](super::lent). Tokens are handed out such that the operations that they stand
//! for always add up to those that were announced; the stage is taken back only when all of these were counted. So then
//! there are no tokens left, and ending its token is the last thing that a task does with it.

use super::{
    lent::{Lent, Loan},
    relay::Burst,
    score::{self, Score},
};
use crate::{
    clock::{cpu_time, difference},
    failure::Failure,
    spawner::Spawner,
};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

/// Runs tasks on one executor.
pub struct Tasks<S> {
    stage: Lent<Stage<S>>,
    score: Arc<Score>,
    /// Whether tokens may exist that have the stage on loan.
    in_use: bool,
    patience: Duration,
}

/// What all tasks have in common.
struct Stage<S> {
    spawner: S,
    score: Arc<Score>,
}

/// What a task needs to spawn others, and to be counted. It stands for one or more operations.
pub struct Token<S> {
    stage: Loan<Stage<S>>,
    operations: u64,
}

impl<S: Spawner> Tasks<S> {
    /// Tasks on `spawner`. If no token ends within `patience` of the last that did, they are stalled.
    pub fn new(spawner: S, patience: Duration) -> Self {
        let score = Arc::new(Score::default());
        let stage = Lent::new(Stage { spawner, score: Arc::clone(&score) });
        Tasks { stage, score, in_use: false, patience }
    }

    /// Calls `begin` on this thread with a token for `operations` operations, from which others are split: `tokens` in
    /// all. Waits until all of them have ended.
    ///
    /// The clock starts just before `begin`.
    ///
    /// # Errors
    ///
    /// If not all have ended. Then the tasks must not be used any more.
    pub fn run(&mut self, operations: u64, tokens: u64, begin: impl FnOnce(Token<S>)) -> Result<Burst, Failure> {
        assert!(!self.in_use, "tasks that failed cannot be run again");
        self.in_use = true;
        let burst = self.try_run(operations, tokens, begin);
        if burst.is_ok() {
            self.in_use = false;
        } else {
            // Lets workers end that would disturb what is measured next.
            self.stage.get().spawner.shutdown_async();
        }
        burst
    }

    fn try_run(&self, operations: u64, tokens: u64, begin: impl FnOnce(Token<S>)) -> Result<Burst, Failure> {
        self.score.announce(operations, tokens);
        let token = Token { stage: self.stage.loan(), operations };
        let (cpu, started) = (cpu_time(), Instant::now());
        catch_unwind(AssertUnwindSafe(|| begin(token))).map_err(|_| Failure::Submission)?;
        let submitting = started.elapsed();
        let end = self.score.wait(started, self.patience)?;
        Ok(Burst {
            jobs: end.jobs,
            started,
            submitting,
            wall: end.at.saturating_duration_since(started),
            cpu: difference(cpu_time(), cpu),
            idle: Duration::ZERO,
            idle_cpu: None,
        })
    }

    /// Shuts the executor down and checks the count once more.
    ///
    /// # Errors
    ///
    /// If the executor does not shut down.
    pub fn finish(self) -> Result<(), Failure> {
        assert!(!self.in_use, "tasks that failed cannot be finished");
        // SAFETY: Only tokens have loans. All operations that were announced since `in_use` was set were counted, and
        // each of them by the one token that stood for it, which is consumed by that and does not touch the stage after
        // the counting. The counting of each happened before `wait` returned (Release and Acquire on the tallies).
        let stage = unsafe { self.stage.take_back() };
        stage.spawner.shutdown().map_err(Failure::Shutdown)?;
        self.score.verify()
    }
}

impl<S: Spawner> Token<S> {
    /// Operations that it stands for.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Gives `operations` of its operations, but not all, to a token of their own.
    pub fn split(&mut self, operations: u64) -> Self {
        assert!(0 < operations && operations < self.operations, "a token stands for one operation at least");
        self.operations -= operations;
        Token { stage: self.stage, operations }
    }

    /// Spawns a task, from inside if a task calls this.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.stage().spawner.spawn_future(task);
    }

    /// Counts its operations as done.
    pub fn end(self) {
        let score = Arc::as_ptr(&self.stage().score);
        if !score::count_jobs(score, self.operations, true) {
            score::count_first_jobs(Arc::clone(&self.stage().score), self.operations, true);
        }
    }

    fn stage(&self) -> &Stage<S> {
        // SAFETY: The stage is taken back only after all tokens have ended, and this one has not.
        unsafe { self.stage.get() }
    }
}

impl<S> fmt::Debug for Tasks<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("score", &self.score).field("in_use", &self.in_use).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Token<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("operations", &self.operations).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executors::crossbeam_channel_pool::ThreadPool;

    const LONG: Duration = Duration::from_secs(60);

    /// Spawns a task for each operation.
    fn spawn_all<S: Spawner>(mut token: Token<S>) {
        while token.operations() > 1 {
            let other = token.split(1);
            token.spawn(async move { other.end() });
        }
        token.end();
    }

    #[test]
    fn counts_every_operation() {
        let mut tasks = Tasks::new(ThreadPool::new(3), LONG);
        for operations in [1, 2, 1000, 20_000] {
            let burst = tasks.run(operations, operations, spawn_all).expect("all ended");
            assert_eq!(burst.jobs, operations);
            let burst = tasks.run(operations + 1, operations + 1, |mut token| {
                let inside = token.split(operations);
                token.spawn(async move { spawn_all(inside) });
                token.end();
            });
            assert_eq!(burst.expect("all ended").jobs, operations + 1);
        }
        tasks.finish().expect("no operation was counted twice");
    }

    #[test]
    fn a_token_that_is_dropped_is_a_stall() {
        let mut tasks = Tasks::new(ThreadPool::new(1), Duration::from_millis(20));
        let failure = tasks.run(10, 2, |mut token| token.split(3).end()).expect_err("seven are missing");
        assert!(matches!(failure, Failure::Stalled { ran: 3, expected: 10, .. }));
    }

    #[test]
    fn a_panic_is_a_failure() {
        let mut tasks = Tasks::new(ThreadPool::new(1), LONG);
        let failure = tasks.run(10, 2, |_| panic!("as the test wants it")).expect_err("it panics");
        assert!(matches!(failure, Failure::Submission));
    }

    #[test]
    fn no_token_gives_all_away() {
        let mut tasks = Tasks::new(ThreadPool::new(1), LONG);
        let failure = tasks.run(2, 1, |mut token| token.split(2).end()).expect_err("it panics");
        assert!(matches!(failure, Failure::Submission));
    }
}
