//! Models of hiding and showing: a seat with one job, whose owner may spare the fence after a push.

use super::Shown;
use crate::{
    asymmetric_fence::{LightSide, heavy_fence},
    recall,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
            fence,
        },
        check_reaching, thread,
    },
};

/// A seat whose owner sleeps and wakes, and another worker that falls asleep.
struct Crew {
    shown: Shown,
    /// Of the only seat.
    jobs: AtomicUsize,
    asleep: AtomicBool,
    side: LightSide,
}

impl Crew {
    /// A crew whose owner shows its seat, and has had one job.
    fn new() -> Arc<Self> {
        let shown = Shown::of(1);
        shown.show(0);
        let (jobs, asleep, side) = Default::default();
        Arc::new(Crew { shown, jobs, asleep, side })
    }

    /// The owner sleeps and wakes, and gets a job. Returns whether it sees that the other worker sleeps.
    fn rest_and_push(&self, order: impl FnOnce()) -> bool {
        self.shown.hide(0);
        self.shown.show(0);
        self.jobs.store(1, Release);
        order();
        self.asleep.load(Relaxed)
    }

    fn look(&self) -> bool {
        self.shown.iter().any(|_| self.jobs.load(Acquire) > 0)
    }

    /// Another worker falls asleep. Returns whether it sees the job, if need be by a second look after a heavy fence,
    /// where the owner spares its own.
    fn fall_asleep(&self, spares_fences: bool) -> bool {
        self.asleep.store(true, Relaxed);
        fence(SeqCst);
        let spares_fences = spares_fences && self.shown.contains(0);
        recall::sees(spares_fences, || self.look(), || heavy_fence([&self.side]))
    }
}

fn is_seen(spares_fences: bool) {
    let goals = ["only the worker that falls asleep sees the other", "only the owner does"];
    check_reaching(3, goals, move |[is_job_seen, is_sleeper_seen]| {
        let crew = Crew::new();
        let other = {
            let crew = Arc::clone(&crew);
            thread::spawn(move || crew.fall_asleep(spares_fences))
        };
        let sees_sleeper = crew.rest_and_push(|| if spares_fences { crew.side.fence() } else { fence(SeqCst) });
        let sees_job = other.join().unwrap();
        is_job_seen.is_reached_if(sees_job && !sees_sleeper);
        is_sleeper_seen.is_reached_if(sees_sleeper && !sees_job);
        assert!(sees_job || sees_sleeper, "the job is overlooked");
    });
}

#[test]
fn a_job_after_a_rest_is_seen_or_its_owner_sees_the_sleeper() {
    is_seen(false);
}

#[test]
fn a_job_after_a_rest_is_seen_though_its_owner_spares_a_fence() {
    is_seen(true);
}

/// A thief takes the only job of a seat, which the owner then hides. A thread that finds the seat hidden sees that a
/// worker is active, without a fence in between: not all threads that look have one.
#[test]
fn a_thread_that_finds_a_seat_hidden_sees_the_active_thief() {
    check_reaching(3, ["it is found hidden", "it is found shown"], |[is_hidden, is_shown]| {
        let (shown, jobs, active) = (Shown::of(1), AtomicUsize::new(1), AtomicUsize::new(0));
        shown.show(0);
        let crew = Arc::new((shown, jobs, active));
        let (owner, thief) = (Arc::clone(&crew), Arc::clone(&crew));
        let hides = move || {
            let (shown, jobs, _) = &*owner;
            if jobs.load(Relaxed) == 0 {
                shown.hide(0);
            }
        };
        let takes = move || {
            let (_, jobs, active) = &*thief;
            active.fetch_add(1, Relaxed);
            jobs.fetch_sub(1, Release);
        };
        let threads = [thread::spawn(hides), thread::spawn(takes)];
        let (shown, _, active) = &*crew;
        let finds_hidden = shown.is_empty();
        is_hidden.is_reached_if(finds_hidden);
        is_shown.is_reached_if(!finds_hidden);
        if finds_hidden {
            assert_eq!(active.load(Relaxed), 1, "the crew is not idle");
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
