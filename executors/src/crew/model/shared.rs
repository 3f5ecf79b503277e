//! Models of a crew on the source of the elastic pool and with its parker: real workers, which come and go, and lanes.

use super::{ModelParker, Tally, scenario, see_off, setup};
use crate::{
    backing::Backing,
    crew::{Handle, Terms},
    job::Closure,
    parker,
    source::{
        Source,
        shared::{SharedSource, Worth},
    },
    sync::{check, check_reaching, thread},
};
use std::time::Duration;

type Shared = Handle<SharedSource, ModelParker>;

fn crew(core: usize, max: usize, source: SharedSource) -> Shared {
    // In a model no time passes: a worker that may leave at all leaves at once.
    let terms = Terms { core, max, only_replaces: false, keep_alive: Duration::ZERO };
    Handle::without_workers(setup(terms, source, parker::last_first()))
}

/// Each brings a worker.
#[test]
fn jobs_can_wait_for_each_other() {
    check(1, || scenario::jobs_wait_for_each_other(crew(1, 2, SharedSource::new())));
}

/// The only worker leaves as soon as it has nothing to do.
#[test]
fn jobs_meet_a_leaving_worker() {
    check(2, || scenario::jobs_are_waited_for(crew(0, 1, SharedSource::new()), 2));
}

/// The oldest job that is expendable is dropped, or runs.
#[test]
fn an_expendable_job_runs_or_is_dropped() {
    check_reaching(2, ["it is dropped", "it runs"], |[is_dropped, runs]| {
        let (crew, ran) = (crew(0, 1, SharedSource::with_expendable()), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.put_by(Worth::Expendable, |source| source.inject(Worth::Expendable, Closure(mark)))
        });
        let dropped = crew.discard_one(|source| source.take_oldest().map(|job| (job, ())).ok_or(())).is_ok();
        submitter.join().unwrap();
        crew.join(None).unwrap();
        is_dropped.is_reached_if(dropped);
        runs.is_reached_if(!dropped);
        assert_eq!(ran.count() + usize::from(dropped), 1);
        see_off(crew);
    });
}
