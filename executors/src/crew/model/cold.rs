//! Models of cold threads: real workers and the parker that knows of them, on the source of the other models.

use super::{ModelSource, Pair, see_off, setup};
use crate::{
    backing::Backing,
    crew::{Handle, Terms},
    parker::TwoParkers,
    sync::{Gate, check, thread},
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

type Cold = Handle<ModelSource, TwoParkers>;

/// `threads` workers, of which the first is there, and the others come when they are needed. The first `refusals`
/// attempts to start one fail.
fn crew(threads: usize, refusals: usize) -> Cold {
    let (source, parker) = (ModelSource::new(threads, |_| 1), TwoParkers::new(1, threads));
    let crew = Handle::start_some(setup(Terms::fixed(threads), source, parker.clone()), |seat| seat == 0).unwrap();
    // Not loom's: attempts are made one at a time.
    let (start, attempts) = (crew.starter(), AtomicUsize::new(0));
    parker.start_by(move |seat| attempts.fetch_add(1, Relaxed) >= refusals && start(seat));
    crew
}

/// The second job needs a thread that does not exist yet, whether the first one has been taken or not.
#[test]
fn a_cold_thread_comes_for_a_second_job() {
    check(2, || {
        let (crew, pair) = (crew(2, 0), Pair::default());
        pair.jobs().for_each(|job| crew.execute(job));
        pair.meet();
        see_off(crew);
    });
}

/// Each may rely on what the other has called.
#[test]
fn a_cold_thread_comes_for_one_of_two_submitters() {
    check(1, || {
        let (crew, pair) = (crew(2, 0), Pair::default());
        let mut jobs = pair.jobs();
        let submitter = thread::spawn({
            let (crew, job) = (crew.clone(), jobs.next().unwrap());
            move || crew.execute(job)
        });
        jobs.for_each(|job| crew.execute(job));
        submitter.join().unwrap();
        pair.meet();
        see_off(crew);
    });
}

/// The first worker is at a job until the others have met, so that two more must come: the second one when the first
/// has arrived.
#[test]
fn cold_threads_come_one_after_the_other() {
    check(1, || {
        let (crew, pair) = (crew(3, 0), Pair::default());
        let meeting = pair.clone();
        crew.execute(move || meeting.meet());
        pair.jobs().for_each(|job| crew.execute(job));
        pair.meet();
        see_off(crew);
    });
}

/// The thread is refused to the second job, if not to the first. So the third asks once more.
#[test]
fn a_refused_thread_is_asked_for_again() {
    check(2, || {
        let (crew, [begun, done]) = (crew(2, 1), [(); 2].map(|()| Arc::new(Gate::default())));
        crew.execute({
            let (begun, done) = (Arc::clone(&begun), Arc::clone(&done));
            move || {
                begun.open();
                done.pass();
            }
        });
        begun.pass();
        crew.execute(move || done.open());
        crew.execute(|| ());
        see_off(crew);
    });
}
