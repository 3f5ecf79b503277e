//! The queue for jobs from everywhere: several lanes.
//!
//! A thread keeps to one lane, and moves on to the next for good when it finds its lane held (in two attempts, one
//! right after the other, where jobs are put in [at once](Lanes::push_at_once)): so producers that come at the same
//! time soon have one each. A thread may also [have its lane to itself](super::biased_lock). A thread that puts in or
//! takes out goes on to another lane rather than wait, except for the moment in which a lane is made, and while all
//! backs are held.

#[cfg(all(test, executors_loom))]
mod model;

use super::{
    Busy,
    biased_lock::RecalledLock,
    first_found,
    lane::{Back, Lane},
    snooze,
};
use crate::{
    asymmetric_fence,
    job::{IntoJob, Job, hand::Hand},
    local::place::{self, Place},
    placement::core_count,
    sync::{
        OnceLock,
        atomic::{
            AtomicUsize,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
    },
};
use crossbeam_utils::Backoff;

/// Each is made for its first job: a lane that was never used is neither built, nor looked at by workers that sleep or
/// wake.
pub(crate) struct Lanes {
    places: Box<[OnceLock<Box<Lane>>]>,
    /// How many of the places there are to look at: all others are empty. That is raised before a lane is made.
    reach: AtomicUsize,
    /// Whether a thread's number decides with which lane it begins.
    is_spread: bool,
    /// Whether threads may have backs to themselves. Then these have to be [recalled](Self::recall) now and then.
    grants_privileges: bool,
}

/// Enough for each of some 16 to 32 producers to find a lane that it can have to itself, as every other one can be; few
/// enough to look at them all. Two in a model, where all are made at once.
pub(crate) fn suitable_number() -> usize {
    if cfg!(executors_loom) { 2 } else { (16 * core_count()).clamp(32, 64) }
}

impl Lanes {
    /// Rounds `lanes` up to a power of two. All threads begin with the first, so that workers, which most often look
    /// for jobs of one thread or a few, find them where they have looked before; but jobs of threads that never meet
    /// wait in one queue.
    pub(crate) fn new(lanes: usize) -> Self {
        let lanes = lanes.next_power_of_two();
        // A model that is not about the making of lanes has less to explore if all are there.
        Lanes::with_made(lanes, if cfg!(executors_loom) { lanes } else { 0 })
    }

    /// The first lanes are `made` at once.
    fn with_made(lanes: usize, made: usize) -> Self {
        let place = |number| if number < made { OnceLock::from(Box::new(Lane::new())) } else { OnceLock::new() };
        let (places, reach) = ((0..lanes).map(place).collect(), AtomicUsize::new(made));
        Lanes { places, reach, is_spread: false, grants_privileges: false }
    }

    /// The same, with privileges, where the system is [prepared](asymmetric_fence::prepare) for them.
    pub(crate) fn with_privileges(self) -> Self {
        Lanes { grants_privileges: asymmetric_fence::is_possible(), ..self }
    }

    /// The same, where jobs of one thread do not queue behind those of another, as far as there are lanes. Not in a
    /// model, which must not depend on those before it.
    pub(crate) fn spread(self) -> Self {
        Lanes { is_spread: !cfg!(executors_loom), ..self }
    }

    /// The number of the calling thread's lane.
    #[inline(always)]
    pub(crate) fn own_number(&self) -> usize {
        self.known_number().unwrap_or_else(|| self.number_from(place::current()))
    }

    /// The same, unless the thread has to be given its own number first.
    #[inline(always)]
    fn known_number(&self) -> Option<usize> {
        let place = place::known();
        (!self.is_spread || place.number != 0).then(|| self.number_from(place))
    }

    #[inline(always)]
    fn number_from(&self, Place { number, moves }: Place) -> usize {
        (if self.is_spread { number.wrapping_add(moves) } else { moves }) as usize
    }

    /// All lanes that exist.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lane> {
        (0..self.reach()).filter_map(|number| self.lane(number))
    }

    /// All lanes that exist, with their numbers, beginning with number `start`.
    pub(crate) fn beginning_with(&self, start: usize) -> impl Iterator<Item = (usize, &Lane)> {
        let (start, reach) = (self.index(start), self.reach());
        let first = if start < reach { start } else { 0 };
        (first..reach).chain(0..first).filter_map(|number| Some((number, self.lane(number)?)))
    }

    /// A thread that has to see a job also sees that its lane is within reach, by the same fences: that was so before
    /// the lane was made.
    #[inline]
    fn reach(&self) -> usize {
        self.reach.load(Relaxed)
    }

    #[inline]
    fn index(&self, number: usize) -> usize {
        number & (self.places.len() - 1)
    }

    #[inline]
    fn place(&self, number: usize) -> &OnceLock<Box<Lane>> {
        &self.places[self.index(number)]
    }

    #[inline]
    fn lane(&self, number: usize) -> Option<&Lane> {
        self.place(number).get().map(|lane| &**lane)
    }

    /// The back of the lane, which is made if there is none; unless it is held.
    #[inline(always)]
    fn back(&self, number: usize) -> Option<Back<'_>> {
        self.lane(number).unwrap_or_else(|| self.make(number)).own_back()
    }

    #[cold]
    fn make(&self, number: usize) -> &Lane {
        // In this order, see `reach`. What the maker has done is seen by others that use the lane, through the place.
        self.reach.fetch_max(self.index(number) + 1, Relaxed);
        lane_at(self.place(number))
    }

    /// Puts a job into a lane that no other thread is writing to.
    #[inline(always)]
    pub(crate) fn push(&self, job: impl IntoJob) {
        if job.allocates() {
            // Not while the back is held: the allocator may re-enter.
            return self.push(job.into_job());
        }
        let mut back = self.own_back();
        let review_is_due = self.review_is_due(&back);
        back.push(job);
        if review_is_due {
            self.review_privilege(back);
        }
    }

    /// The same, followed by a [fence](Self::fence_pushes).
    #[cold]
    pub(crate) fn push_fenced(&self, job: Job) {
        let mut back = self.own_back();
        let review_is_due = self.review_is_due(&back);
        back.push(job);
        if review_is_due {
            self.review_privilege(back);
            self.fence_pushes();
        } else {
            back.leave_fenced();
        }
    }

    /// The same, if nothing has to be done that is seldom needed; otherwise it gives the job back, and has done
    /// nothing. It calls no function, so that its caller saves no registers, unless the job has yet to be allocated.
    #[inline(always)]
    pub(crate) fn push_at_once(&self, job: impl IntoJob) -> Result<(), Job> {
        if job.allocates() {
            // As above.
            return self.push_at_once(job.into_job());
        }
        let lane = self.known_number().and_then(|number| self.lane(number));
        let back = lane.and_then(Lane::own_back_at_once);
        let Some(mut back) = back.filter(|back| !self.review_is_due(back)) else {
            return Err(job.into_job());
        };
        back.push_at_once(job).map_err(IntoJob::into_job)?;
        back.leave_fenced();
        Ok(())
    }

    /// The back of a lane that no other thread is writing to.
    #[inline(always)]
    fn own_back(&self) -> Back<'_> {
        self.back(self.own_number()).unwrap_or_else(|| self.another_back())
    }

    /// Whether [`review_privilege`](Self::review_privilege) is to be called after the next push.
    #[inline(always)]
    fn review_is_due(&self, back: &Back<'_>) -> bool {
        !back.is_privileged() && self.grants_privileges && back.is_to_be_asked()
    }

    /// Moves this thread to a lane whose back is not held.
    #[cold]
    fn another_back(&self) -> Back<'_> {
        let backoff = Backoff::new();
        loop {
            for _ in 0..self.places.len() {
                place::move_on();
                if let Some(back) = self.back(self.own_number()) {
                    return back;
                }
            }
            snooze(&backoff);
        }
    }

    /// Reserves that back for the calling thread, if that is due. Only on lanes with even numbers, so that some are
    /// left for all others: a thread on another lane is moved on.
    #[cold]
    fn review_privilege(&self, mut back: Back<'_>) {
        if back.check_privilege_due(place::current().number) {
            // The number of this lane: unless the push needed another block, and the allocator, which then put in jobs
            // itself, has moved this thread on. Then a lane may be reserved that should not be, until it is recalled.
            if self.own_number().is_multiple_of(2) {
                back.reserve();
            } else {
                // No other thread might come there, and a large block would be kept.
                if back.is_in_large_block() {
                    back.refuse_privilege();
                } else {
                    place::move_on();
                }
            }
        }
    }

    /// A fence after what the calling thread has put in: see [`Lane::fence_pushes`].
    #[inline(always)]
    pub(crate) fn fence_pushes(&self) {
        match self.lane(self.own_number()) {
            Some(lane) => lane.fence_pushes(),
            None => fence(SeqCst),
        }
    }

    /// Recalls all backs that threads have to themselves.
    pub(crate) fn recall(&self) -> impl Iterator<Item = RecalledLock<'_>> {
        self.iter().filter_map(Lane::recall)
    }

    /// Takes one job, out of lane `start` if there is one, and returns which lane it was, if there was any.
    ///
    /// # Errors
    ///
    /// [`Busy`] if jobs were only seen in lanes at whose front another thread is.
    #[inline]
    pub(crate) fn take_one(&self, start: usize, hand: &mut Hand) -> Result<Option<usize>, Busy> {
        if let Some(front) = self.lane(start).and_then(Lane::front) {
            front.take_first(hand);
        }
        if hand.is_full() { Ok(Some(start)) } else { self.take_elsewhere(start, hand) }
    }

    #[cold]
    fn take_elsewhere(&self, start: usize, hand: &mut Hand) -> Result<Option<usize>, Busy> {
        let filled = self.beginning_with(start).filter(|(_, lane)| !lane.is_empty());
        first_found(filled.map(|(number, lane)| {
            lane.take_first(hand)?;
            Ok(hand.is_full().then_some(number))
        }))
    }
}

/// The lane at `place`, which is made if there is none.
#[inline(always)]
pub(crate) fn lane_at(place: &OnceLock<Box<Lane>>) -> &Lane {
    match place.get() {
        Some(lane) => lane,
        None => make_lane(place),
    }
}

#[cold]
fn make_lane(place: &OnceLock<Box<Lane>>) -> &Lane {
    // Before the place is locked: the allocator may re-enter.
    let lane = Box::new(Lane::new());
    place.get_or_init(|| lane)
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::{super::privilege, *};
    use crate::{
        job::{Closure, Job},
        recall::{self, Recalled},
    };
    use std::thread;

    #[test]
    fn a_locked_back_is_avoided() {
        let lanes = Lanes::new(2);
        let _back = lanes.back(lanes.own_number()).expect("no other thread is there");
        lanes.push(Job::new(|| ()));
        let lengths: Vec<_> = lanes.iter().map(Lane::len).collect();
        assert!(lengths == [0, 1] || lengths == [1, 0], "{lengths:?}");
    }

    #[test]
    fn threads_begin_with_the_same_lane_unless_they_are_spread() {
        let used = |lanes: Lanes| {
            for _ in 0..8 {
                thread::scope(|scope| _ = scope.spawn(|| lanes.push(Job::new(|| ()))));
            }
            lanes.iter().count()
        };
        assert_eq!(used(Lanes::new(64)), 1);
        assert!(used(Lanes::new(64).spread()) > 1);
    }

    /// Puts a job in as a source does. Returns whether a few instructions were enough.
    fn push_fenced(lanes: &Lanes) -> bool {
        lanes.push_at_once(Job::new(|| ())).map_err(|job| lanes.push_fenced(job)).is_ok()
    }

    /// In both ways, in turn.
    fn push_many(lanes: &Lanes) {
        for _ in 0..2 * privilege::LEAST_FOR_SUBMITTERS {
            lanes.push(Job::new(|| ()));
            push_fenced(lanes);
        }
    }

    #[test]
    fn a_job_that_cannot_be_pushed_at_once_is_given_back() {
        const JOBS: usize = 10_000;
        let lanes = Lanes::new(2);
        assert!(!push_fenced(&lanes), "a lane has to be made");
        let at_once = (1..JOBS).filter(|_| push_fenced(&lanes)).count();
        assert!((JOBS * 9 / 10..JOBS - 1).contains(&at_once), "{at_once}: now and then a block is full");
        let lane = lanes.lane(lanes.own_number()).expect("it was used");
        assert_eq!(lane.len(), JOBS);
        let back = lane.back().expect("no other thread is there");
        assert!(!push_fenced(&lanes), "another thread is at the back");
        drop(back);
        assert_eq!(lane.len(), JOBS, "it went elsewhere");
        let large = [0_u8; 100];
        let job = Closure(move || assert_eq!(large, [0; 100]));
        assert!(lanes.push_at_once(job).is_ok(), "the lane comes after the allocator");
    }

    fn recall(lanes: &Lanes) {
        let recalled: Vec<_> = lanes.recall().collect();
        recall::end_all(recalled.iter().map(|lock| lock as &dyn Recalled));
    }

    #[test]
    fn a_busy_submitter_has_its_own_lane_until_it_is_recalled() {
        if !asymmetric_fence::is_ready_for_test() {
            return;
        }
        let lanes = Lanes::new(2).with_privileges();
        let is_privileged = || lanes.back(lanes.own_number()).is_some_and(|back| back.is_privileged());
        for _ in 0..2 {
            assert!(!is_privileged());
            push_many(&lanes);
            assert!(is_privileged());
            assert!(lanes.own_number().is_multiple_of(2), "the other lane is for others");
            thread::scope(|scope| _ = scope.spawn(|| push_many(&lanes)));
            assert!(is_privileged(), "others leave it alone");
            recall(&lanes);
        }
        assert_eq!(lanes.iter().map(Lane::len).sum::<usize>(), 4 * 4 * privilege::LEAST_FOR_SUBMITTERS);
    }

    #[test]
    fn a_thread_that_ends_leaves_its_lane_reserved_until_that_is_recalled() {
        if !asymmetric_fence::is_ready_for_test() {
            return;
        }
        let lanes = Lanes::new(2).with_privileges();
        let reserved = || lanes.iter().filter(|lane| lane.back().is_none()).count();
        thread::scope(|scope| _ = scope.spawn(|| push_many(&lanes)));
        assert_eq!(reserved(), 1);
        recall(&lanes);
        assert_eq!(reserved(), 0);
    }

    #[test]
    fn no_submitter_is_sent_on_from_a_large_block() {
        if !asymmetric_fence::is_ready_for_test() {
            return;
        }
        let lanes = Lanes::new(2);
        while lanes.own_number().is_multiple_of(2) {
            place::move_on();
        }
        (0..100_000).for_each(|_| lanes.push(Job::new(|| ())));
        if !lanes.back(lanes.own_number()).is_some_and(|mut back| back.is_in_large_block()) {
            println!("skipped: the system gives no large blocks");
            return;
        }
        let number = lanes.own_number();
        let lanes = lanes.with_privileges();
        push_many(&lanes);
        assert_eq!(lanes.own_number(), number);
        while let Ok(Some(_)) = lanes.take_one(number, &mut Hand::empty()) {}
        (0..20_000).for_each(|_| lanes.push(Job::new(|| ())));
        assert!(lanes.own_number().is_multiple_of(2), "the large block has gone back");
    }

    #[test]
    fn jobs_are_found_in_every_lane() {
        let lanes = Lanes::new(4);
        for number in [2, 1] {
            lanes.back(number).expect("no other thread is there").push(Job::new(|| ()));
        }
        let from = |start| lanes.take_one(start, &mut Hand::empty());
        assert_eq!([from(2), from(2), from(2)], [Ok(Some(2)), Ok(Some(1)), Ok(None)]);
    }
}
