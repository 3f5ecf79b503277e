//! For tests: a recorder that is a function.

use crate::local;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use std::sync::Mutex;

/// Calls the function whenever it is asked for a counter, and records nothing.
pub(crate) struct OnCounter<F>(pub(crate) F);

impl<F: Fn(&Key)> Recorder for OnCounter<F> {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        (self.0)(key);
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// A recorder that submits a job to the executor of the thread that publishes, once. The job does `work`.
pub(crate) fn submits(work: impl FnOnce() + Send + 'static) -> OnCounter<impl Fn(&Key)> {
    let work = Mutex::new(Some(work));
    OnCounter(move |_key: &Key| {
        let work = work.lock().expect("no panic under this lock").take();
        if let Some(work) = work {
            assert!(local::try_execute_locally(work).is_ok(), "this thread is in a job, or stands for a worker");
        }
    })
}
