//! Models of an errand: its future is polled after each wake-up, and dropped once, whatever its wakers do meanwhile.

use super::{By, Site, first_step};
use crate::sync::{
    Arc, Condvar, Goal, Mutex,
    atomic::{AtomicUsize, Ordering::Relaxed},
    cell::Watch,
    check, check_reaching, thread,
};
use std::{
    future::poll_fn,
    mem,
    task::{Context, Poll, Waker},
};

type Job = Box<dyn FnOnce() + Send>;

/// Where steps wait, and what has become of the errand.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    steps: Vec<Job>,
    futures_dropped: usize,
    errands_freed: usize,
}

impl Queue {
    fn change(&self, change: impl FnOnce(&mut QueueState)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    /// Runs steps until the future is dropped.
    fn run_to_end(&self) {
        let mut state = self.state.lock().unwrap();
        while state.futures_dropped == 0 {
            match state.steps.pop() {
                Some(step) => {
                    drop(state);
                    step();
                    state = self.state.lock().unwrap();
                }
                None => state = self.changed.wait(state).unwrap(),
            }
        }
    }

    fn assert_all_is_over(&self) {
        let state = self.state.lock().unwrap();
        assert_eq!((state.steps.len(), state.futures_dropped, state.errands_freed), (0, 1, 1));
    }
}

/// Which threads are where steps run.
#[derive(Clone, Copy)]
enum Here {
    All,
    None,
    /// The model's own thread, which runs most steps.
    Own,
}

/// The site of the one errand of a model.
struct ModelSite {
    queue: Arc<Queue>,
    here: Here,
    own: thread::ThreadId,
    /// Read by whoever uses the site, and written by who frees the errand.
    used: Watch,
}

// SAFETY: loom runs one thread at a time, and tells if accesses to the watch overlap.
unsafe impl Sync for ModelSite {}

impl ModelSite {
    fn new(queue: &Arc<Queue>, here: Here) -> Self {
        ModelSite { queue: Arc::clone(queue), here, own: thread::current().id(), used: Watch::default() }
    }
}

impl Drop for ModelSite {
    fn drop(&mut self) {
        self.used.write();
        self.queue.change(|state| state.errands_freed += 1);
    }
}

// SAFETY: once the step is put, the site is used only if the thread is not here.
unsafe impl Site for ModelSite {
    fn is_here(&self) -> bool {
        self.used.read();
        match self.here {
            Here::All => true,
            Here::None => false,
            Here::Own => thread::current().id() == self.own,
        }
    }

    unsafe fn put(site: *const Self, step: impl FnOnce() + Send + 'static, _by: By) {
        // SAFETY: the caller vouches for it.
        let (queue, is_here) = unsafe { (Arc::clone(&(*site).queue), (*site).is_here()) };
        queue.change(|state| state.steps.push(Box::new(step)));
        if !is_here {
            // SAFETY: then the site is valid until this returns.
            unsafe { (*site).used.read() };
        }
    }
}

/// Counts the drop of a future.
struct Witness(Arc<Queue>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.change(|state| state.futures_dropped += 1);
    }
}

/// What a thread does with a waker.
type Other = Box<dyn FnOnce(Waker) + Send>;

/// Runs the errand of a future with this `poll` to its end. The first poll starts a thread for each of `others`, with a
/// waker, before anything else.
fn errand<const N: usize>(
    here: Here,
    others: [Other; N],
    poll: impl FnMut(&mut Context<'_>) -> Poll<()> + Send + 'static,
) {
    errand_on(&Arc::new(Queue::default()), here, others, poll);
}

/// The same with a queue that the others know.
fn errand_on<const N: usize>(
    queue: &Arc<Queue>,
    here: Here,
    others: [Other; N],
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<()> + Send + 'static,
) {
    let threads = Arc::new(Mutex::new(Vec::new()));
    let (witness, started) = (Witness(Arc::clone(queue)), Arc::clone(&threads));
    let mut others = Some(others);
    let future = poll_fn(move |context| {
        let _captured = &witness;
        let start = |other: Other| {
            let waker = context.waker().clone();
            thread::spawn(move || other(waker))
        };
        started.lock().unwrap().extend(others.take().into_iter().flatten().map(start));
        poll(context)
    });
    first_step(future, ModelSite::new(queue, here))();
    queue.run_to_end();
    let threads = mem::take(&mut *threads.lock().unwrap());
    for thread in threads {
        thread.join().unwrap();
    }
    queue.assert_all_is_over();
}

/// A flag that is raised before a waker is used. Relaxed: it is the wake-up that makes it visible.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicUsize>);

impl Flag {
    fn raise(&self) {
        self.0.store(1, Relaxed);
    }

    fn is_raised(&self) -> bool {
        self.0.load(Relaxed) == 1
    }

    fn raised_and(&self, then: fn(Waker)) -> Other {
        let flag = self.clone();
        Box::new(move |waker| {
            flag.raise();
            then(waker);
        })
    }
}

fn wake_by_ref(waker: Waker) {
    waker.wake_by_ref();
}

/// A future that waits for a flag, and notes that it has seen it.
fn await_flags<const N: usize>(flags: [Flag; N], done: &Flag) -> impl FnMut(&mut Context<'_>) -> Poll<()> + use<N> {
    let done = done.clone();
    move |_| {
        if !flags.iter().all(Flag::is_raised) {
            return Poll::Pending;
        }
        done.raise();
        Poll::Ready(())
    }
}

fn every_wake_up_is_answered<const N: usize>(here: Here, wake: [fn(Waker); N]) {
    let (flags, done) = (wake.map(|_| Flag::default()), Flag::default());
    let mut wake = wake.into_iter();
    let others = flags.each_ref().map(|flag| flag.raised_and(wake.next().expect("one for each")));
    errand(here, others, await_flags(flags, &done));
    assert!(done.is_raised(), "the last poll has seen what was written before each wake-up");
}

#[test]
fn a_wake_up_is_answered() {
    check(3, || every_wake_up_is_answered(Here::All, [Waker::wake]));
}

#[test]
fn a_wake_up_from_elsewhere_is_answered() {
    check(3, || every_wake_up_is_answered(Here::None, [Waker::wake]));
}

#[test]
fn two_wake_ups_are_answered() {
    check(2, || every_wake_up_is_answered(Here::All, [Waker::wake, wake_by_ref]));
}

#[test]
fn two_wake_ups_from_elsewhere_are_answered() {
    check(2, || every_wake_up_is_answered(Here::None, [Waker::wake, wake_by_ref]));
}

/// Other threads are none on which steps run.
#[test]
fn a_wake_up_from_outside_is_answered() {
    check(3, || every_wake_up_is_answered(Here::Own, [Waker::wake]));
}

#[test]
fn two_wake_ups_from_outside_are_answered() {
    check(2, || every_wake_up_is_answered(Here::Own, [Waker::wake, wake_by_ref]));
}

#[test]
fn a_future_is_dropped_with_its_last_waker_outside() {
    check(2, || a_future_is_dropped_with_its_last_waker::<2>(Here::Own));
}

/// The future wakes itself once, if the other thread has not come before.
#[test]
fn a_future_may_wake_itself_meanwhile() {
    check_reaching(3, ["it wakes itself"], |[wakes_itself]: [Goal; 1]| {
        let (flag, done, mut has_yielded) = (Flag::default(), Flag::default(), false);
        let other = flag.raised_and(Waker::wake);
        let mut waits = await_flags([flag], &done);
        errand(Here::All, [other], move |context| {
            let outcome = waits(context);
            if outcome.is_pending() && !mem::replace(&mut has_yielded, true) {
                context.waker().wake_by_ref();
                wakes_itself.is_reached_if(true);
            }
            outcome
        });
        assert!(done.is_raised());
    });
}

/// The thread that wakes the future runs its next step, too, and sees what the step before has done.
#[test]
fn the_next_step_may_run_on_another_thread() {
    check(3, || {
        let queue = Arc::new(Queue::default());
        let (others, mut poll) = (Arc::clone(&queue), second_poll_ends());
        let wakes_and_runs: Other = Box::new(move |waker| {
            waker.wake();
            let step = others.state.lock().unwrap().steps.pop();
            step.into_iter().for_each(|step| step());
        });
        errand_on(&queue, Here::All, [wakes_and_runs], move |context| poll(context));
    });
}

/// Without a wake-up: the future is dropped, by the step that leaves it so, or by one for that.
fn a_future_is_dropped_with_its_last_waker<const N: usize>(here: Here) {
    let others = [(); N].map(|()| -> Other { Box::new(drop) });
    let mut is_polled = false;
    errand(here, others, move |_| {
        assert!(!mem::replace(&mut is_polled, true), "nobody wakes it");
        Poll::Pending
    });
}

#[test]
fn a_future_is_dropped_with_its_last_waker_here() {
    check(3, || a_future_is_dropped_with_its_last_waker::<1>(Here::All));
}

#[test]
fn a_future_is_dropped_with_its_last_waker_elsewhere() {
    check(2, || a_future_is_dropped_with_its_last_waker::<2>(Here::None));
}

/// Pending once.
fn second_poll_ends() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    let mut is_polled = false;
    move |_| if mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
}

/// One thread wakes the future while another lets go of its waker, and the future ends.
#[test]
fn a_waker_may_go_as_the_future_ends() {
    check(2, || errand(Here::All, [Box::new(Waker::wake), Box::new(drop)], second_poll_ends()));
}

/// The future ends with its second poll, maybe before the other thread wakes it once more.
#[test]
fn a_waker_may_be_used_after_the_end() {
    check_reaching(3, ["it is over"], |[is_over]: [Goal; 1]| {
        let has_ended = Flag::default();
        let (ends, mut poll) = (has_ended.clone(), second_poll_ends());
        let twice = move |waker: Waker| {
            waker.wake_by_ref();
            is_over.is_reached_if(has_ended.is_raised());
            waker.wake();
        };
        errand(Here::All, [Box::new(twice)], move |context| {
            let outcome = poll(context);
            if outcome.is_ready() {
                ends.raise();
            }
            outcome
        });
    });
}

/// A step that is dropped drops the future, whoever holds wakers.
#[test]
fn a_step_that_is_dropped_ends_the_errand() {
    check(3, || {
        let queue = Arc::new(Queue::default());
        let site = ModelSite::new(&queue, Here::All);
        let (witness, hands_over) = (Witness(Arc::clone(&queue)), Arc::new(Mutex::new(None)));
        let given = Arc::clone(&hands_over);
        let future = poll_fn(move |context| {
            let _captured = &witness;
            *given.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        });
        first_step(future, site)();
        let waker = hands_over.lock().unwrap().take().expect("the first step has left it");
        let again = waker.clone();
        let wakes = thread::spawn(move || again.wake());
        waker.wake();
        let step = queue.state.lock().unwrap().steps.pop();
        drop(step);
        wakes.join().unwrap();
        let rest = queue.state.lock().unwrap().steps.pop();
        drop(rest);
        queue.assert_all_is_over();
    });
}
