//! Models of cold threads: real workers and the parker that knows of them, on the source of the other models.

use super::{
    ModelParker, ModelSource, Pair, REFUSED, Tally, opens, scenario, see_off, setup_refusing, spawn, the_first_only,
    with_a_hook,
};
use crate::{
    backing::Backing,
    crew::{Handle, Setup, Terms, precedence::IS_DUE_IN_MODEL},
    job::Job,
    parker::{
        self,
        Origin::{Inside, Outside},
    },
    source::Source,
    sync::{
        Gate,
        atomic::{Ordering::SeqCst, fence},
        check, thread,
    },
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

type Cold = Handle<ModelSource, ModelParker>;

/// `threads` workers, of which the first is there or on its way, and the others come when they are needed.
fn crew(threads: usize) -> Cold {
    refusing_crew(threads, |seat| seat.to_string())
}

/// The same; a thread whose name is [`REFUSED`] does not start.
fn refusing_crew(threads: usize, thread_name: fn(usize) -> String) -> Cold {
    crew_with(ModelSource::new(threads, |_| 1).without_privileges(), threads, thread_name)
}

fn crew_with(source: ModelSource, threads: usize, thread_name: fn(usize) -> String) -> Cold {
    preheated(1, source, threads, thread_name)
}

/// `threads` workers, of which the first `warm` are there or on their way.
fn preheated(warm: usize, source: ModelSource, threads: usize, thread_name: fn(usize) -> String) -> Cold {
    let setup = setup_refusing(Terms::fixed(threads), source, parker::dynamic(), thread_name);
    Handle::start(Setup { cold: warm..threads, ..setup }).unwrap()
}

/// As [`check`], with submitters that give way, or not. (All submitters of this process do: `scripts/loom.sh` runs each
/// model in a process of its own.)
fn check_giving_way(gives_way: bool, preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    IS_DUE_IN_MODEL.store(gives_way, Relaxed);
    check(preemptions, model);
    IS_DUE_IN_MODEL.store(false, Relaxed);
}

fn comes_for_a_second_job(gives_way: bool) {
    check_giving_way(gives_way, 2, || scenario::jobs_wait_for_each_other(crew(2)));
}

/// The second job needs a thread that does not exist yet, whether the first one has been taken or not.
#[test]
fn a_cold_thread_comes_for_a_second_job() {
    comes_for_a_second_job(false);
}

/// The same with a submitter that gives way: the worker that takes the first job meanwhile relies on it.
#[test]
fn a_cold_thread_comes_though_a_submitter_gives_way() {
    comes_for_a_second_job(true);
}

/// Each job of the pair has a submitter of its own, which may rely on what the other has called.
#[test]
fn a_cold_thread_comes_for_one_of_two_submitters() {
    check(1, || scenario::jobs_of_two_submitters_wait_for_each_other(crew(2)));
}

/// The first worker is at a job until the others have met, so that two more must come.
fn three_jobs_need_three_threads(crew: Cold) {
    let pair = Pair::default();
    let meeting = pair.clone();
    crew.execute(move || meeting.meet());
    for job in pair.jobs() {
        crew.execute(job);
    }
    pair.meet();
    see_off(crew);
}

/// The second one when the first has arrived.
#[test]
fn cold_threads_come_one_after_the_other() {
    check(1, || three_jobs_need_three_threads(crew(3)));
}

/// Of two threads that are on their way from the beginning, either may arrive first.
#[test]
fn a_cold_thread_comes_after_two_warm_ones() {
    check(1, || {
        let source = ModelSource::new(3, |_| 1).without_privileges();
        three_jobs_need_three_threads(preheated(2, source, 3, |seat| seat.to_string()));
    });
}

fn comes_for_a_child(gives_way: bool) {
    check_giving_way(gives_way, 2, || {
        let crew = crew_with(ModelSource::new(2, |_| 1), 2, |seat| seat.to_string());
        let pair = Pair::default();
        let [parent, child] = pair.jobs();
        crew.execute(move || {
            spawn(child);
            parent();
        });
        pair.meet();
        see_off(crew);
    });
}

/// The child is submitted from inside, by a worker that has its privileges, and its parent waits for it.
#[test]
fn a_cold_thread_comes_for_a_child() {
    comes_for_a_child(false);
}

/// The same, and the submitter of the parent gives way: the worker that submits the child relies on it, and spares a
/// fence.
#[test]
fn a_cold_thread_comes_for_a_child_though_a_submitter_gives_way() {
    comes_for_a_child(true);
}

/// No thread that has been started has arrived, not even the first, because nothing here lets another thread go on.
#[test]
fn a_worker_starts_two_if_there_are_jobs_for_both() {
    for (origin, jobs, starts) in [(Inside, 1, 0), (Inside, 2, 1), (Inside, 3, 2), (Inside, 4, 2), (Outside, 4, 1)] {
        check(0, move || {
            let handle = crew(4);
            let crew = handle.crew();
            (0..jobs).for_each(|_| _ = crew.source.inject((), Job::new(|| ())));
            fence(SeqCst);
            crew.call_one(origin);
            assert_eq!(crew.cold.coming(), 1 + starts, "{jobs} jobs from {origin:?}");
            see_off(handle);
        });
    }
}

/// The thread is refused when the second job asks for it, if not already for the first. So the third asks once more.
#[test]
fn a_refused_thread_is_asked_for_again() {
    // Not loom's: attempts are made one at a time.
    static ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
    let name = |seat: usize| {
        let is_refused = seat == 1 && ATTEMPTS.fetch_add(1, Relaxed) == 0;
        if is_refused { REFUSED.to_owned() } else { seat.to_string() }
    };
    check(2, move || {
        ATTEMPTS.store(0, Relaxed);
        let (crew, [begun, done]) = (refusing_crew(2, name), [(); 2].map(|()| Arc::new(Gate::default())));
        crew.execute({
            let (begun, done) = (Arc::clone(&begun), Arc::clone(&done));
            move || {
                begun.open();
                done.pass();
            }
        });
        begun.pass();
        crew.execute(opens(&done));
        crew.execute(|| ());
        see_off(crew);
    });
}

/// It counts as active until it is refused, because it would have a hook to call.
#[test]
fn a_crew_ends_though_a_cold_thread_with_a_hook_is_refused() {
    check(1, || {
        let source = ModelSource::new(2, |_| 1);
        let setup = setup_refusing(Terms::fixed(2), source, parker::dynamic(), the_first_only);
        let crew = Handle::start(Setup { cold: 1..2, options: with_a_hook(), ..setup }).unwrap();
        let ran = Tally::default();
        let submitter = thread::spawn({
            let (crew, marks) = (crew.clone(), [(); 2].map(|()| ran.mark()));
            move || marks.map(|mark| usize::from(crew.try_execute(mark).is_ok())).iter().sum::<usize>()
        });
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        let accepted = submitter.join().unwrap();
        see_off(crew);
        assert_eq!(ran.count(), accepted);
    });
}
