//! A queue that is first in, first out, whichever thread puts in: one lane, and a way round its back.
//!
//! A submitter often gets its core from a worker that is running, and now and then that worker was just putting in a
//! job itself: the worker is suspended, and holds the back of the lane. If the submitter gave up the core, it would get
//! it back only when the worker has used up its time slice, milliseconds later; and as long as the submitter keeps the
//! core, it waits in vain. So it goes round: it puts its job into the *detour*, from where the job goes to the lane as
//! soon as some thread has the lane's back.
//!
//! The detour has a lock of the system's. Jobs are copied under it, and what they are copied into grows now and then:
//! so a thread that meets a suspended holder sleeps there for a short time only. (If the lane needs a large block when
//! the detour's jobs go there, that takes as long as the system takes to clear it: see `README.md`.)
//!
//! Why the order holds, if one job was there before another one was submitted by a thread that knew of it:
//!
//! - *Both in the detour:* it is first in, first out, and so is the lane to which its jobs go.
//! - *The first in the lane:* the detour's jobs go behind it. As long as the back is held, they are taken out of the
//!   detour itself, when a thread that has the detour's lock sees that the lane is empty: the thread that put one in
//!   there had this lock, and knew of all that were in the lane before. (A job that gets into the lane after that look
//!   was submitted by a thread that did not know of the detour's.)
//! - *The first in the detour:* the thread that has the back, to put the other one into the lane, sees that the detour
//!   is used, unless the first is already in the lane, or out. It puts the detour's jobs into the lane first; but only
//!   some of them, because others may have to wait for that. If more are left, it puts the other one behind them, into
//!   the detour, which gets shorter nevertheless.
//!
//! Jobs go from the detour to the lane, and never back. The detour's length is lowered after the lane's count has been
//! raised (both stored with Release, and loaded with Acquire). So a thread that looks into the detour and then into the
//! lane overlooks none; and one that takes a job looks again if others have emptied the lane meanwhile, but not the
//! detour.

#[cfg(all(test, executors_loom))]
mod model;

use super::{
    Busy, insist,
    lane::{Back, Lane},
};
use crate::{
    containment::discard,
    courtesy,
    job::{IntoJob, Job, hand::Hand},
    sync::{
        Mutex, MutexGuard,
        atomic::{
            AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
        thread,
    },
};
use std::{
    collections::VecDeque,
    hint, mem,
    sync::PoisonError,
    time::{Duration, Instant},
};

/// A thread that finds the back held looks again after this many pauses (some tenths of a microsecond): the holder
/// needs some tens of nanoseconds, and may have come for a single job.
const PAUSES: u32 = 8;

/// Then it stays away this many times, before it goes round. If the holder has more jobs, it puts them in faster with
/// the cache lines of the queue to itself: two submitters of empty jobs need 26 to 34 ns for each job, instead of 50 to
/// 95 when both looked as often as they could. A model does not wait.
const ABSENCES: u32 = if cfg!(executors_loom) { 0 } else { 2 };

/// Long compared with the time that the queue's cache lines take to come, short compared with a wake-up.
const ABSENCE: Duration = Duration::from_micros(1);

/// Each time that the detour has a multiple of this many jobs, the submitter yields, maybe to the thread that holds the
/// back.
const JOBS_PER_YIELD: usize = 64;

/// This many jobs of the detour at most are put into the lane at a time: under both locks, while other submitters go
/// round, and other consumers have to wait. It takes a microsecond or two. A thousand times as many jobs, which
/// submitters put in while the holder of the back is suspended, would take as long as that may be.
const LED_AT_ONCE: usize = if cfg!(executors_loom) { 1 } else { 64 };

pub(crate) struct SingleLane {
    lane: Lane,
    detour: Detour,
}

/// Jobs that were submitted while the back of the lane was held for long.
struct Detour {
    /// How many there are. Written under the lock.
    len: AtomicUsize,
    /// How many jobs had been put into the lane when the last one came here. Wraps around. Only a hint.
    lane_was_at: AtomicUsize,
    jobs: Mutex<VecDeque<Job>>,
}

impl SingleLane {
    pub(crate) fn new() -> Self {
        SingleLane { lane: Lane::new(), detour: Detour::new() }
    }

    /// Puts a job in, behind all others.
    #[inline(always)]
    pub(crate) fn push(&self, job: impl IntoJob) {
        if job.allocates() {
            // Not while the back is held: the allocator may re-enter, and others would go round for longer.
            return self.push(job.into_job());
        }
        let Some(mut back) = self.lane.back().or_else(|| self.back_in_time()) else {
            return self.go_round(job.into_job());
        };
        if self.detour.is_used() {
            return self.detour.lead_back(&mut back, Some(job.into_job()));
        }
        back.push(job);
    }

    /// The back, unless it is held for long.
    #[cold]
    fn back_in_time(&self) -> Option<Back<'_>> {
        if self.detour.lane_was_at.load(Relaxed) == self.lane.put_in() {
            // Most likely another thread has waited for the same holder.
            return None;
        }
        (0..PAUSES).for_each(|_| hint::spin_loop());
        self.lane.back().or_else(|| {
            (0..ABSENCES).find_map(|_| {
                courtesy::spin_for(ABSENCE, Instant::now());
                self.lane.back()
            })
        })
    }

    #[cold]
    fn go_round(&self, job: Job) {
        self.detour.push(job, self.lane.put_in());
    }

    /// Takes the first job, if there is one, as soon as no other thread is taking one.
    #[inline]
    pub(crate) fn take_first(&self, hand: &mut Hand) {
        if self.try_take_first(hand).is_err() {
            self.insist_on_first(hand);
        }
    }

    #[cold]
    fn insist_on_first(&self, hand: &mut Hand) {
        insist(|| self.try_take_first(hand));
    }

    /// Takes the first job, as soon as no other thread is taking one.
    pub(crate) fn pop(&self) -> Option<Job> {
        let mut hand = Hand::empty();
        self.take_first(&mut hand);
        hand.into_job()
    }

    /// Takes the first job, if there is one.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thread is taking, or has just taken or moved one: there may be some nevertheless.
    #[inline]
    pub(crate) fn try_take_first(&self, hand: &mut Hand) -> Result<(), Busy> {
        if self.detour.is_used() { self.take_first_of_both(hand) } else { self.lane.take_first(hand) }
    }

    #[cold]
    fn take_first_of_both(&self, hand: &mut Hand) -> Result<(), Busy> {
        self.lane.take_first(hand)?;
        if hand.is_full() {
            return Ok(());
        }
        match self.lane.back() {
            Some(mut back) => {
                self.detour.lead_back(&mut back, None);
                self.lane.take_first(hand)?;
                // Others may have taken all that was led back, and not what was left behind it.
                if hand.is_full() || !self.detour.is_used() { Ok(()) } else { Err(Busy) }
            }
            None => self.detour.take_first_behind(&self.lane).ok_or(Busy).map(|job| hand.put(job)),
        }
    }

    /// How many jobs have been taken out of the lane, as far as has been seen here. Wraps around.
    pub(crate) fn taken(&self) -> usize {
        self.lane.taken()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many jobs there are; exact while no thread puts any in or takes any out.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // In this order, so that none is overlooked.
        self.detour.len.load(Acquire) + self.lane.len()
    }
}

impl Detour {
    fn new() -> Self {
        Detour {
            len: AtomicUsize::new(0),
            lane_was_at: AtomicUsize::new(usize::MAX),
            jobs: Mutex::new(VecDeque::new()),
        }
    }

    #[inline]
    fn is_used(&self) -> bool {
        self.len.load(Acquire) > 0
    }

    fn push(&self, job: Job, lane_is_at: usize) {
        let mut jobs = self.lock();
        jobs.push_back(job);
        let len = jobs.len();
        self.len.store(len, Release);
        drop(jobs);
        self.lane_was_at.store(lane_is_at, Relaxed);
        if len.is_multiple_of(JOBS_PER_YIELD) {
            thread::yield_now();
        }
    }

    /// Puts the first jobs into the lane, [so many](LED_AT_ONCE) at most, and a `new` one behind all: here, if others
    /// are left here.
    #[cold]
    fn lead_back(&self, lane: &mut Back<'_>, new: Option<Job>) {
        let mut jobs = self.lock();
        let led = jobs.len().min(LED_AT_ONCE);
        jobs.drain(..led).for_each(|job| lane.push(job));
        match new {
            Some(new) if jobs.is_empty() => lane.push(new),
            // Some have just been taken out, so there is room: nothing is allocated.
            new => jobs.extend(new),
        }
        if jobs.is_empty() {
            jobs.shrink_to(JOBS_PER_YIELD);
        }
        self.len.store(jobs.len(), Release);
    }

    /// Takes the first job, if all that were put into the lane before it are out.
    fn take_first_behind(&self, lane: &Lane) -> Option<Job> {
        let mut jobs = self.lock();
        let job = if lane.is_empty() { jobs.pop_front() } else { None };
        if job.is_some() {
            self.len.store(jobs.len(), Release);
        }
        job
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Detour {
    fn drop(&mut self) {
        mem::take(&mut *self.lock()).into_iter().for_each(discard);
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::{iter, sync::Arc};

    /// A queue, and the numbers of the jobs that have run.
    #[derive(Clone)]
    struct Numbers {
        queue: Arc<SingleLane>,
        run: Arc<std::sync::Mutex<Vec<u32>>>,
    }

    impl Numbers {
        fn new() -> Self {
            Numbers { queue: Arc::new(SingleLane::new()), run: Arc::default() }
        }

        fn job(&self, number: u32) -> Job {
            let run = Arc::clone(&self.run);
            Job::new(move || run.lock().unwrap().push(number))
        }

        fn push(&self, number: u32) {
            self.queue.push(self.job(number));
        }

        /// Puts a job into the lane, and others while its back is held for that.
        fn push_amid(&self, number: u32, others: impl IntoIterator<Item = u32>) {
            let mut back = self.queue.lane.back().expect("no other thread is there");
            others.into_iter().for_each(|other| self.push(other));
            back.push(self.job(number));
        }

        fn run(&self) -> Vec<u32> {
            iter::from_fn(|| self.queue.pop()).for_each(Job::run);
            std::mem::take(&mut *self.run.lock().unwrap())
        }
    }

    #[test]
    fn jobs_stay_in_order_when_the_back_is_held() {
        let numbers = Numbers::new();
        numbers.push(0);
        numbers.push(1);
        numbers.push_amid(2, [3, 4]);
        numbers.push(5);
        numbers.push_amid(6, [7]);
        assert_eq!(numbers.queue.len(), 8);
        assert_eq!(numbers.run(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(numbers.queue.is_empty());
    }

    #[test]
    fn a_long_detour_is_led_back_step_by_step() {
        let numbers = Numbers::new();
        let (led, all) = (LED_AT_ONCE as u32, 4 * LED_AT_ONCE as u32);
        numbers.push_amid(0, 1..all);
        let in_lane = || numbers.queue.lane.len() as u32;
        numbers.push(all);
        assert_eq!((in_lane(), numbers.queue.len() as u32), (1 + led, all + 1));
        numbers.push(all + 1);
        assert_eq!((in_lane(), numbers.queue.len() as u32), (1 + 2 * led, all + 2));
        assert!(numbers.run().into_iter().eq(0..all + 2));
    }

    #[test]
    fn jobs_of_the_detour_are_there_while_the_back_is_held() {
        let numbers = Numbers::new();
        numbers.push(0);
        let _back = numbers.queue.lane.back();
        numbers.push(1);
        numbers.push(2);
        assert_eq!(numbers.queue.len(), 3);
        assert_eq!(numbers.run(), [0, 1, 2]);
        assert!(numbers.queue.is_empty());
    }

    #[test]
    fn a_held_front_is_no_proof_of_emptiness() {
        let numbers = Numbers::new();
        let front = numbers.queue.lane.front();
        assert_eq!(numbers.queue.try_take_first(&mut Hand::empty()), Err(Busy));
        drop(front);
        let mut hand = Hand::empty();
        assert_eq!((numbers.queue.try_take_first(&mut hand), hand.is_full()), (Ok(()), false));
    }

    #[test]
    fn the_rest_is_dropped() {
        let numbers = Numbers::new();
        numbers.push_amid(1, [0, 2]);
        let Numbers { queue, run } = numbers;
        assert_eq!(Arc::strong_count(&run), 4);
        drop(queue);
        assert_eq!(Arc::strong_count(&run), 1);
    }
}
