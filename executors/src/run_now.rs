//! An executor that runs each job at once, on the thread that submits it.
//!
//! For interfaces that require an executor where none is needed, and for tests: it keeps the same contract as the
//! pools, without their threads.
//!
//! A job that submits a job to this executor runs it in place, like a function call; a long chain of such jobs takes
//! stack for each of them.
//!
//! # Examples
//!
//! ```
//! use executors::*;
//! use executors::run_now::RunNowExecutor;
//!
//! let executor = RunNowExecutor::new();
//! executor.execute(|| println!("first"));
//! executor.execute(|| println!("second"));
//! executor.shutdown().unwrap();
//! ```

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    backing::{Backing, impl_pool},
    bell::{self, Bell},
    containment::{self, contain, discard_payload},
    error::{Rejected, ShutdownReport},
    job::Job,
    local::{self, Attendant, PoolId, Post},
    meter::Exporter,
    pool::Stats,
    sync::{
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
        fence_of_models,
    },
};
use std::{any::Any, sync::Arc, time::Duration};

/// A handle to an executor that runs jobs in place. See the [module](self).
///
/// Clones share the counters, and whether the executor is closed.
#[derive(Clone, Debug)]
#[must_use = "an executor that is dropped at once runs nothing"]
pub struct RunNowExecutor {
    handle: Handle,
}

impl RunNowExecutor {
    /// A new executor, open for jobs.
    pub fn new() -> RunNowExecutor {
        let shared = Shared {
            closed: AtomicBool::new(false),
            discarding: AtomicBool::new(false),
            running: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            panicked: AtomicU64::new(0),
            bell: Bell::default(),
            exporter: Exporter::new(LABEL),
        };
        RunNowExecutor { handle: Handle(Arc::new(shared)) }
    }
}

impl Default for RunNowExecutor {
    fn default() -> Self {
        RunNowExecutor::new()
    }
}

impl_pool!(RunNowExecutor);

const LABEL: &str = "run_now";

#[derive(Clone, Debug)]
struct Handle(Arc<Shared>);

/// What the clones share.
#[derive(Debug)]
struct Shared {
    /// SeqCst, for the order with `running`.
    closed: AtomicBool,
    /// Set before `closed`, whose exchange publishes it; a job from inside that does not see it may run, as if it had
    /// come a moment before. So Relaxed is enough.
    discarding: AtomicBool,
    /// Jobs that run now, on any thread. Incremented before `closed` is read, and read after `closed` was set: so a
    /// thread that closes the executor and then sees none has seen all jobs that will ever be accepted from outside.
    /// That takes SeqCst on both. The decrement also publishes what the job has done (Release) to a thread that reads
    /// that it is over (Acquire).
    running: AtomicUsize,
    ended: AtomicU64,
    panicked: AtomicU64,
    /// Rung when the last running job ends.
    bell: Bell,
    exporter: Exporter,
}

impl Shared {
    fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    /// Runs `closure`, or gives it back if the executor is closed.
    fn run<F: FnOnce()>(&self, closure: F) -> Result<(), F> {
        let _running = Running::new(self);
        if self.closed.load(SeqCst) && (self.discarding.load(Relaxed) || !local::is_at(self.id())) {
            return Err(closure);
        }
        Post::without_worker(self.id(), self).stand(|| {
            if let Err(payload) = contain(closure) {
                self.report(&*payload);
                discard_payload(payload);
            }
            self.ended.fetch_add(1, Relaxed); // published by the decrement of `running`
            // At the post: a recorder of metrics that waits for this executor is told that it is part of a job.
            self.publish();
        });
        Ok(())
    }

    /// After each job: there is no idle worker that could do it later.
    fn publish(&self) {
        self.exporter.publish(0, || self.ended.load(Relaxed), || 0);
    }
}

/// Counts a job as running while it lives.
struct Running<'a>(&'a Shared);

impl<'a> Running<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.running.fetch_add(1, SeqCst);
        fence_of_models();
        Running(shared)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // There is no queue: when nothing runs, all is done.
        self.0.bell.ring_by(|| true, || self.0.running.fetch_sub(1, SeqCst) == 1);
    }
}

impl Attendant for Shared {
    fn accept(&self, job: Job) -> bool {
        self.run(move || job.run()).map_err(containment::discard).is_ok()
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        self.panicked.fetch_add(1, Relaxed);
        containment::report(payload, format_args!("A job of {LABEL}"), None);
    }
}

impl Backing for Handle {
    const CLOSED_BEFORE: &str = "was already shut down!";

    fn name(&self) -> &str {
        LABEL
    }

    fn id(&self) -> PoolId {
        self.0.id()
    }

    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.0.run(closure).map_err(Rejected::Closed)
    }

    fn close(&self) -> bool {
        !self.0.closed.swap(true, SeqCst)
    }

    fn discard(&self) {
        self.0.discarding.store(true, Relaxed);
        self.close();
    }

    fn await_idle(&self, timeout: Option<Duration>) -> bool {
        self.0.bell.wait_together(timeout.and_then(bell::deadline), || self.0.running.load(SeqCst) == 0)
    }

    fn await_end(&self, timeout: Duration) -> bool {
        self.await_idle(Some(timeout))
    }

    fn workers_left(&self) -> usize {
        self.0.running.load(SeqCst)
    }

    fn report(&self) -> ShutdownReport {
        let Stats { running, finished, .. } = self.stats();
        ShutdownReport { running, finished, ..ShutdownReport::default() }
    }

    fn stats(&self) -> Stats {
        Stats {
            running: self.0.running.load(SeqCst),
            finished: self.0.ended.load(Relaxed),
            panicked: self.0.panicked.load(Relaxed),
            ..Stats::default()
        }
    }

    fn max_workers(&self) -> usize {
        1
    }
}

#[cfg(all(test, feature = "produce-metrics", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{Executor, meter::on_counter::submits};
    use std::sync::mpsc;

    #[test]
    fn a_recorder_is_called_in_the_job() {
        let (executor, (tell, told)) = (RunNowExecutor::new(), mpsc::channel());
        let recorder = submits(move || tell.send(()).expect("the test listens"));
        metrics::with_local_recorder(&recorder, || executor.execute(|| ()));
        assert_eq!(told.try_recv(), Ok(()));
    }
}
