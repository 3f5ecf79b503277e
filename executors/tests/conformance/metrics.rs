//! What executors publish through the `metrics` facade.

use super::{subject::Subject, tools::occupy};
use crate::support::{
    child::Child,
    watchdog::{PATIENCE, until},
};
use executors::{Executor, Pool};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit, atomics::AtomicU64};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, atomic::Ordering::SeqCst},
};

/// Keeps the last value of everything.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    described: BTreeSet<String>,
    counters: HashMap<Key, Arc<AtomicU64>>,
    gauges: HashMap<Key, Arc<AtomicU64>>,
}

impl Book {
    fn with<R>(&self, read: impl FnOnce(&mut Pages) -> R) -> R {
        read(&mut self.0.lock().expect("no panic under this lock"))
    }

    fn executed(&self) -> u64 {
        self.with(|pages| {
            let ours = pages.counters.iter().filter(|(key, _)| key.name() == "executors.jobs_executed");
            ours.map(|(_, value)| value.load(SeqCst)).sum()
        })
    }

    fn queued(&self) -> Vec<f64> {
        self.with(|pages| {
            let ours = pages.gauges.iter().filter(|(key, _)| key.name() == "executors.jobs_queued");
            ours.map(|(_, bits)| f64::from_bits(bits.load(SeqCst))).collect()
        })
    }

    fn describe(&self, name: KeyName) {
        self.with(|pages| pages.described.insert(name.as_str().to_owned()));
    }
}

impl Recorder for Book {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(name);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(name);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(name);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.with(|pages| Counter::from_arc(Arc::clone(pages.counters.entry(key.clone()).or_default())))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.with(|pages| Gauge::from_arc(Arc::clone(pages.gauges.entry(key.clone()).or_default())))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Each job is counted once and in the end nothing is queued, whatever the pool did meanwhile.
pub(crate) fn jobs_are_published(subject: &impl Subject) {
    // There is one recorder for the whole process.
    Child::default().run(|| {
        let book = Book::default();
        metrics::set_global_recorder(book.clone()).expect("there is no other recorder");
        let pool = subject.pool(2);
        pool.register_metrics();
        assert!(book.with(|pages| pages.described.contains("executors.jobs_executed")));
        for _ in 0..3 {
            for _ in 0..500 {
                let local = pool.clone();
                pool.execute(move || local.execute(|| ()));
            }
            pool.join().expect("this is no worker");
        }
        until("all jobs are published", || book.executed() == 3000);
        until("nothing is queued any more", || book.queued().iter().all(|queued| *queued == 0.0));
        book.with(|pages| {
            for key in pages.counters.keys().chain(pages.gauges.keys()) {
                assert!(key.labels().any(|label| label.key() == "executor"), "{key}");
            }
        });
        pool.shutdown().expect("nothing blocks");
        assert_eq!(book.executed(), 3000);
    });
}

/// Executors of one kind have the same labels, and a recorder that is installed late is told what each worker did
/// before.
pub(crate) fn figures_of_several_executors_add_up(subject: &impl Subject) {
    Child::default().run(|| {
        let run = |jobs| {
            let pool = subject.pool(1);
            (0..jobs).for_each(|_| pool.execute(|| ()));
            pool.join().expect("this is no worker");
            pool
        };
        // One job, which the first worker runs: where workers come and go, other workers may have no successor that
        // publishes their figures.
        run(1).shutdown().expect("nothing blocks");
        let book = Book::default();
        metrics::set_global_recorder(book.clone()).expect("there is no other recorder");
        let pools = [run(100), run(50)];
        until("the jobs of both are published", || book.executed() == 151);
        until("nothing is queued any more", || book.queued().iter().sum::<f64>() == 0.0);
        for pool in pools {
            pool.shutdown().expect("nothing blocks");
        }
        run(10).shutdown().expect("nothing blocks");
        until("and those of one that came later", || book.executed() == 161);
    });
}

/// Three jobs run, and none waits.
pub(crate) fn jobs_that_run_do_not_count_as_queued(subject: &impl Subject) {
    Child::default().run(|| {
        let book = Book::default();
        metrics::set_global_recorder(book.clone()).expect("there is no other recorder");
        let pool = subject.pool(4);
        let gate = occupy(&pool, 3);
        pool.execute(|| ());
        until("the short job is published, and nothing is queued", || book.executed() == 1 && book.queued() == [0.0]);
        gate.open();
        pool.shutdown().expect("nothing blocks");
    });
}

/// Jobs that are discarded wait no longer, although another still runs.
pub(crate) fn discarded_jobs_do_not_stay_queued(subject: &impl Subject) {
    Child::default().run(|| {
        let book = Book::default();
        metrics::set_global_recorder(book.clone()).expect("there is no other recorder");
        let pool = subject.pool(2);
        let (gate, local) = (occupy(&pool, 1), pool.clone());
        pool.execute(move || {
            (0..10).for_each(|_| local.execute(|| ()));
            local.shutdown_now();
        });
        until("one job is published, and nothing is queued", || book.executed() == 1 && book.queued() == [0.0]);
        gate.open();
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks any more");
    });
}
