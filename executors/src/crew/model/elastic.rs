//! Models of a crew whose workers come and go.

use super::{
    ModelParker, Pair, REFUSED, Tally, opens, passes, scenario, see_end, see_off, setup, setup_refusing, spawn,
    the_first_only, trays::Tray, with_a_hook,
};
use crate::{
    backing::Backing,
    crew::{Handle, Setup, Terms},
    job::{IntoJob, Job},
    local::blocking,
    meter::Meter,
    options::Options,
    parker,
    source::{Source, Whom},
    sync::{
        Gate, check, check_at_length, check_reaching,
        thread::{self, JoinHandle},
    },
};
use std::{sync::Arc, time::Duration};

/// One tray for all.
#[derive(Default)]
struct OneTray(Tray);

impl Source for OneTray {
    const ELASTIC: bool = true;

    type Address = ();
    type Local = ();

    fn attach(&self, _seat: Option<usize>) {}

    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.0.put([job.into_job()]);
        Whom::Anyone
    }

    fn run_next(&self, (): &()) -> bool {
        self.take().map(Job::run).is_some()
    }

    fn search(&self, (): &(), _meter: &Meter) -> Option<Job> {
        self.take()
    }

    fn take(&self) -> Option<Job> {
        self.0.take_one()
    }

    fn has_jobs(&self) -> bool {
        self.len() > 0
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

type Elastic = Handle<OneTray, ModelParker>;

/// In a model no time passes: a worker that may leave at all leaves at once.
const AT_ONCE: Duration = Duration::ZERO;
const NEVER: Duration = Duration::MAX;

fn crew(core: usize, max: usize, keep_alive: Duration) -> Elastic {
    grown(Terms { core, max, only_replaces: false, keep_alive })
}

fn grown(terms: Terms) -> Elastic {
    Handle::without_workers(setup(terms, OneTray::default(), parker::dynamic()))
}

/// A crew to which a thread does not come if its name is [`REFUSED`].
fn refusing_crew(core: usize, max: usize, thread_name: fn(usize) -> String) -> Elastic {
    refusing_crew_with(Options::new(), core, max, thread_name)
}

fn refusing_crew_with(options: Options, core: usize, max: usize, thread_name: fn(usize) -> String) -> Elastic {
    let terms = Terms { core, max, only_replaces: false, keep_alive: AT_ONCE };
    let setup = setup_refusing(terms, OneTray::default(), parker::dynamic(), thread_name);
    Handle::without_workers(Setup { options, ..setup })
}

fn none(_seat: usize) -> String {
    REFUSED.to_owned()
}

/// Another thread asks for the threads of the core.
fn fill_core_elsewhere(crew: Elastic) -> JoinHandle<()> {
    thread::spawn(move || crew.fill_core())
}

#[test]
fn jobs_bring_workers() {
    check(3, || scenario::jobs_are_waited_for(crew(1, 2, NEVER), 2));
}

/// One worker is idle, and two submitters bring jobs that need each other.
#[test]
fn an_idle_worker_is_promised_once() {
    check(2, || {
        let crew = crew(1, 2, NEVER);
        crew.fill_core();
        scenario::jobs_of_two_submitters_wait_for_each_other(crew);
    });
}

/// The only worker leaves as soon as it has nothing to do.
#[test]
fn a_job_meets_a_leaving_worker() {
    check(3, || scenario::jobs_are_waited_for(crew(0, 1, AT_ONCE), 2));
}

/// The first job waits for the third, on the one worker that stays. The other may be leaving when the third comes.
#[test]
fn a_job_that_meets_a_leaving_worker_does_not_wait_for_the_others() {
    check(2, || {
        let (crew, gate) = (crew(1, 2, AT_ONCE), Arc::new(Gate::default()));
        crew.execute(passes(&gate));
        crew.execute(|| ());
        crew.execute(opens(&gate));
        gate.pass();
        see_off(crew);
    });
}

/// The job may be submitted when the only worker is counted already, whose thread then comes too late.
#[test]
fn a_late_job_may_count_on_a_worker_that_does_not_come() {
    check(2, || {
        let (crew, ran) = (crew(1, 1, NEVER), Tally::default());
        let starter = fill_core_elsewhere(crew.clone());
        let submitter = scenario::try_execute_elsewhere(crew.clone(), ran.mark());
        crew.shutdown_async();
        starter.join().unwrap();
        let accepted = submitter.join().unwrap();
        see_off(crew);
        assert_eq!(ran.count(), usize::from(accepted));
    });
}

/// Two leave at the same time, and one of them is needed.
#[test]
fn one_of_two_leaving_workers_stays_for_a_job() {
    check(2, || scenario::jobs_are_waited_for(crew(0, 2, AT_ONCE), 3));
}

/// The third job may come when one worker sleeps and the other, which is believed to look for it, is leaving.
#[test]
fn a_leaving_worker_calls_one_that_sleeps() {
    check_at_length(2, || {
        let (crew, pair, ran) = (crew(1, 2, AT_ONCE), Pair::default(), Tally::default());
        loom::stop_exploring(); // how two workers come to be
        for job in pair.jobs() {
            crew.execute(job);
        }
        pair.meet();
        loom::explore();
        crew.execute(ran.mark());
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 1);
        see_off(crew);
    });
}

/// Some thread has to declare the end, whichever workers have left before.
#[test]
fn a_crew_may_end_while_its_workers_leave() {
    check(3, || {
        let (crew, ran) = (crew(0, 1, AT_ONCE), Tally::default());
        crew.execute(ran.mark());
        see_end(crew);
        assert_eq!(ran.count(), 1);
    });
}

/// One stays, one may be leaving, and the one that becomes idle last declares the end.
#[test]
fn a_crew_may_end_while_some_of_its_workers_leave() {
    check(2, || {
        let (crew, ran) = (crew(1, 2, AT_ONCE), Tally::default());
        crew.execute(ran.mark());
        crew.execute(ran.mark());
        see_end(crew);
        assert_eq!(ran.count(), 2);
    });
}

#[test]
fn a_crew_without_workers_ends() {
    check(0, || see_end(crew(1, 1, NEVER)));
}

#[test]
fn a_late_job_runs_once_or_is_given_back() {
    check(2, || scenario::a_late_job_runs_once_or_is_given_back(crew(0, 1, NEVER)));
}

/// The first job blocks until the second has run, and says so before or after the second comes.
#[test]
fn a_blocked_worker_is_replaced() {
    check(3, || {
        let crew = grown(Terms { core: 1, max: 2, only_replaces: true, keep_alive: NEVER });
        let gate = Arc::new(Gate::default());
        crew.execute({
            let pass = passes(&gate);
            move || blocking(pass)
        });
        crew.execute(opens(&gate));
        gate.pass();
        see_off(crew);
    });
}

/// Jobs that jobs submit are waited for, although the worker that submitted them may leave before they run.
#[test]
fn joining_waits_for_children() {
    check(2, || scenario::children_are_waited_for(crew(0, 2, AT_ONCE)));
}

/// The job counts on a thread that another thread asks for, and that is refused. Both have returned then, and no thread
/// is left to run it.
#[test]
fn a_job_that_counts_on_a_refused_thread_runs() {
    check(3, || {
        let (crew, ran) = (refusing_crew(1, 1, none), Tally::default());
        let starter = fill_core_elsewhere(crew.clone());
        crew.execute(ran.mark());
        starter.join().unwrap();
        assert_eq!(ran.count(), 1);
        see_off(crew);
    });
}

/// Each of two submitters may rely on the thread that the other has asked for.
#[test]
fn the_last_of_two_refused_threads_is_stood_in_for() {
    check(3, || {
        let (crew, ran) = (refusing_crew(0, 2, none), Tally::default());
        let submitter = scenario::execute_elsewhere(crew.clone(), ran.mark());
        crew.execute(ran.mark());
        submitter.join().unwrap();
        assert_eq!(ran.count(), 2);
        see_off(crew);
    });
}

/// The thread for the second job is refused, unless the only worker has left: that one may be leaving.
#[test]
fn a_job_whose_thread_is_refused_meets_a_leaving_worker() {
    check_reaching(3, ["the worker runs it", "its submitter does"], |[is_run_there, is_run_here]| {
        let (crew, ran) = (refusing_crew(0, 2, the_first_only), Tally::default());
        crew.execute(ran.mark());
        crew.execute({
            let (mark, submitter) = (ran.mark(), thread::current().id());
            move || {
                let is_here = thread::current().id() == submitter;
                is_run_here.is_reached_if(is_here);
                is_run_there.is_reached_if(!is_here);
                mark();
            }
        });
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
        see_off(crew);
    });
}

/// While it is not known whether the thread comes, it counts as active, because it would have a hook to call. The other
/// one may sleep by then, and the crew be closed: whoever has asked for the thread declares the end.
#[test]
fn a_crew_ends_though_a_thread_with_a_hook_is_refused() {
    check(3, || {
        let crew = refusing_crew_with(with_a_hook(), 2, 2, the_first_only);
        let starter = fill_core_elsewhere(crew.clone());
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        starter.join().unwrap();
        see_off(crew);
    });
}

/// The child counts on a thread that another submitter has asked for, or on the one that runs its parent in place of a
/// worker.
#[test]
fn a_child_of_a_job_that_its_submitter_runs_runs_too() {
    check(2, || {
        let (crew, ran) = (refusing_crew(0, 1, none), Tally::default());
        let submitter = scenario::execute_elsewhere(crew.clone(), ran.mark());
        let (parent, child) = (ran.mark(), ran.mark());
        let run = crew.run_here(move || {
            spawn(child);
            parent();
        });
        assert!(run.is_ok());
        submitter.join().unwrap();
        assert_eq!(ran.count(), 3);
        see_off(crew);
    });
}

/// The thread that runs the parent becomes idle without a look. The worker becomes idle, too, and a thread waits for
/// that: none of them may overlook the child.
#[test]
fn joining_waits_for_the_child_of_a_job_that_its_submitter_runs() {
    check(3, || {
        let (crew, ran, begun) = (crew(1, 1, NEVER), Tally::default(), Arc::new(Gate::default()));
        crew.fill_core();
        let submitter = thread::spawn({
            let (crew, begins, child) = (crew.clone(), opens(&begun), ran.mark());
            move || {
                let run = crew.run_here(move || {
                    begins();
                    spawn(child);
                });
                assert!(run.is_ok());
            }
        });
        begun.pass();
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 1);
        submitter.join().unwrap();
        see_off(crew);
    });
}
