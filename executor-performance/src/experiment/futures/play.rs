//! What tasks do.

use crate::{
    failure::Failure,
    spawner::Spawner,
    workload::{Burst, Tasks, Token},
};
use futures::channel::oneshot;
use serde::{Deserialize, Serialize};
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Play {
    /// Each task spawns the next.
    Chain,
    /// One task spawns all others.
    ManyInside,
    /// A thread that is not part of the executor spawns all tasks.
    ManyOutside,
    /// Each of many tasks spawns another, sends it a message and waits for the answer.
    PingPong,
    /// A number of tasks yield again and again.
    Yield,
}

/// Tasks that yield, if there are enough operations.
const YIELDING: u64 = 200;

impl Play {
    /// All plays.
    pub const ALL: [Play; 5] = [Play::Chain, Play::ManyInside, Play::ManyOutside, Play::PingPong, Play::Yield];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Play::Chain => "chain",
            Play::ManyInside => "many-inside",
            Play::ManyOutside => "many-outside",
            Play::PingPong => "ping-pong",
            Play::Yield => "yield",
        }
    }

    /// What an operation is.
    pub fn summary(self) -> &'static str {
        match self {
            Play::Chain => "each task spawns the next",
            Play::ManyInside => "a task spawns all others, which do nothing",
            Play::ManyOutside => "a thread spawns all tasks, which do nothing",
            Play::PingPong => "each task spawns another, sends it a message and waits for the answer",
            Play::Yield => "a number of tasks yield",
        }
    }

    /// Does `operations` operations and one more: the spawning of the first task.
    pub(super) fn perform<S: Spawner>(self, tasks: &mut Tasks<S>, operations: u64) -> Result<Burst, Failure> {
        let ends = if self == Play::Yield { operations.min(YIELDING) } else { operations };
        tasks.run(operations + 1, ends + 1, |mut token| {
            let rest = token.split(operations);
            match self {
                Play::Chain => token.spawn(Link(Some(rest))),
                Play::ManyInside => token.spawn(async move { many(rest) }),
                Play::ManyOutside => many(rest),
                Play::PingPong => token.spawn(async move { pairs(rest) }),
                Play::Yield => yielding(&token, rest, ends),
            }
            token.end();
        })
    }
}

/// A task that spawns the next. An `async fn` that spawns itself cannot be shown to be `Send`.
struct Link<S>(Option<Token<S>>);

impl<S: Spawner> Future for Link<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if let Some(mut token) = self.0.take() {
            if token.operations() > 1 {
                let rest = token.operations() - 1;
                let next = token.split(rest);
                token.spawn(Link(Some(next)));
            }
            token.end();
        }
        Poll::Ready(())
    }
}

/// Spawns a task for each operation but one; that one is the spawning itself.
fn many<S: Spawner>(mut token: Token<S>) {
    while token.operations() > 1 {
        let one = token.split(1);
        token.spawn(async move { one.end() });
    }
    token.end();
}

fn pairs<S: Spawner>(mut token: Token<S>) {
    while token.operations() > 1 {
        let one = token.split(1);
        token.spawn(ping(one));
    }
    token.end();
}

/// If the other task is lost, so is this one: its token is not counted.
async fn ping<S: Spawner>(token: Token<S>) {
    let (ping, pinged) = oneshot::channel();
    let (pong, ponged) = oneshot::channel();
    token.spawn(async move {
        if pinged.await.is_ok() {
            let _ = pong.send(());
        }
    });
    if ping.send(()).is_ok() && ponged.await.is_ok() {
        token.end();
    }
}

/// Lets `starter` spawn `tasks` tasks that share the operations of `rest`, and yield once for each of theirs.
fn yielding<S: Spawner>(starter: &Token<S>, mut rest: Token<S>, tasks: u64) {
    for others in (1..tasks).rev() {
        let share = rest.split(rest.operations() / (others + 1));
        starter.spawn(yield_all(share));
    }
    starter.spawn(yield_all(rest));
}

async fn yield_all<S: Spawner>(token: Token<S>) {
    for _ in 0..token.operations() {
        YieldOnce(false).await;
    }
    token.end();
}

/// Wakes itself when it is polled for the first time, and is done when it is polled again.
struct YieldOnce(bool);

impl Future for YieldOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executors::crossbeam_workstealing_pool::ThreadPool;
    use std::time::Duration;

    #[test]
    fn every_play_does_all_operations() {
        for play in Play::ALL {
            let pool = ThreadPool::builder().threads(2).build().expect("built");
            let mut tasks = Tasks::new(pool, Duration::from_secs(60));
            for operations in [1, 2, 199, 201, 1000, 12_345] {
                let burst = play.perform(&mut tasks, operations).expect("all were done");
                assert_eq!(burst.jobs, operations + 1, "{play:?}");
            }
            tasks.finish().expect("none was done twice");
        }
    }
}
