//! A queue of packed records, first in, first out, for any number of threads.
//!
//! Whoever puts in or takes out locks that end; who would have to wait may go on to another lane, if there are several
//! ([`Lanes`](super::lanes::Lanes)), or round the back ([`SingleLane`](super::single::SingleLane)). Jobs lie one behind
//! the other in blocks, each in as many words as it needs; a batch is taken out under one lock.
//!
//! The two ends share two counts, of jobs put in and of jobs taken out, each written by one end only. Who looks whether
//! there are jobs reads the counts and no lock: a worker that was suspended while it held one hides nothing.
//!
//! The orderings:
//!
//! - *A record is written before it is read.* The producer stores the count (Release) behind its writes to the block,
//!   and the links that lead to it; a consumer loads it (Acquire) and reads so many records and no more.
//! - *A block is read before it is written again.* The consumer passes it on by an exchange (Release) behind its reads;
//!   the producer takes it by one (Acquire).
//! - *One at a time at each end.* The lock of the front is taken (Acquire) and given back (Release); that of the back
//!   may be [reserved](BiasedLock) for the thread that puts jobs in.

use super::{
    Busy,
    biased_lock::{BiasedLock, Entry, RecalledLock},
    block::{Block, STRETCH},
    presence::Presence,
    privilege::Privilege,
};
use crate::{
    containment::discard,
    job::{Hand, IntoJob, Job, Record},
    sync::{
        atomic::{
            AtomicBool, AtomicPtr, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
        cell::{UnsafeCell, Watch},
        thread,
    },
};
use crossbeam_utils::{Backoff, CachePadded};
use std::{
    marker::PhantomData,
    mem,
    panic::{RefUnwindSafe, UnwindSafe},
    ptr,
};

pub(crate) struct Lane {
    back: CachePadded<BackEnd>,
    front: CachePadded<FrontEnd>,
}

/// Who locks it, and puts in a job, uses the first 64 bytes.
#[repr(C)]
struct BackEnd {
    lock: BiasedLock,
    end: End,
}

struct FrontEnd {
    locked: AtomicBool,
    end: End,
    /// The block that everything begins with, once there is one.
    first: AtomicPtr<Block>,
    /// A block that has been read and can be written again, or null. Here as the back comes for it once in a block.
    spare: AtomicPtr<Block>,
}

#[repr(C)]
struct End {
    /// Jobs that have passed this end. Written under the lock, read by all.
    passed: AtomicUsize,
    cursor: UnsafeCell<Cursor>,
}

/// Where the next record is written or read. The block is null before the first.
#[repr(C)]
struct Cursor {
    block: *mut Block,
    at: usize,
    /// Where the stretch ends that is written.
    end: usize,
    /// What `passed` is, so that this end only ever writes that.
    passed: usize,
    /// What had passed the back when the front last looked.
    seen: usize,
    /// Of the back: the thread that put in last, if it went in as itself, and whether it has the back to itself.
    giver: u32,
    privilege: Privilege,
}

// SAFETY: the blocks, to which the cursors point, belong to the lane; jobs are `Send`. Who may touch what is said
// above.
unsafe impl Send for Lane {}
// SAFETY: as above.
unsafe impl Sync for Lane {}

// A job is moved in as bytes, and what a panic of the one to whom jobs are given leaves behind is told at `Visit`.
impl UnwindSafe for Lane {}
impl RefUnwindSafe for Lane {}

/// How many jobs somebody comes for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Portion {
    /// As long as there are known to be more, the producer's line is left alone.
    One,
    /// Worth a look how many there are by now.
    Batch,
}

/// Counts what has been taken, when it has all been given away: jobs are seen here until they are seen where they go.
/// Also if the one to whom they were given has panicked.
struct Visit<'a> {
    end: &'a End,
    cursor: &'a mut Cursor,
    taken: usize,
}

impl Drop for Visit<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.end.pass(self.cursor, self.taken);
    }
}

/// The end of a lane where jobs are put in, which is the holder's for as long as this lives.
#[must_use = "nobody else can put in while this lives"]
pub(crate) struct Back<'a> {
    lane: &'a Lane,
    /// Of this thread.
    entry: Entry<'a>,
    stays_here: PhantomData<*const ()>,
}

impl<'a> Back<'a> {
    #[inline(always)]
    fn new(lane: &'a Lane, entry: Option<Entry<'a>>) -> Option<Self> {
        Some(Back { lane, entry: entry?, stays_here: PhantomData })
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, job: impl IntoJob) {
        // SAFETY: this thread holds the lock of the back.
        unsafe { self.lane.push_locked(job) };
    }

    #[inline(always)]
    pub(super) fn is_privileged(&self) -> bool {
        matches!(self.entry, Entry::Privileged(_))
    }

    /// Whether `thread`, which has locked the back to put in a job, should have it to itself.
    #[inline]
    pub(super) fn is_privilege_due(&mut self, thread: u32) -> bool {
        let is_reserved = self.is_privileged();
        self.with_cursor(|cursor| {
            if mem::replace(&mut cursor.giver, thread) != thread {
                cursor.privilege.begin_anew(cursor.passed);
            }
            cursor.privilege.is_due(cursor.passed, is_reserved)
        })
    }

    /// Whether the next job goes into a large block: that goes back to the system when more jobs have come than it has
    /// room for, or a few hundred where few wait.
    pub(super) fn is_in_large_block(&mut self) -> bool {
        // SAFETY: the block is alive until a reader has passed the end mark, which is yet to be written.
        self.with_cursor(|cursor| !cursor.block.is_null() && unsafe { Block::is_large(cursor.block) })
    }

    /// It is due, but not to be given.
    #[cold]
    pub(super) fn refuse_privilege(&mut self) {
        self.with_cursor(|cursor| cursor.privilege.is_refused(cursor.passed));
    }

    /// Leaves the back, which is locked, to the calling thread alone.
    #[cold]
    pub(super) fn reserve(mut self) {
        debug_assert!(!self.is_privileged());
        let Some(thread) = Presence::make() else { return };
        self.with_cursor(|cursor| cursor.privilege.is_given(cursor.passed));
        self.lane.back.lock.leave_reserved(thread);
        mem::forget(self);
    }

    #[inline(always)]
    fn with_cursor<R>(&mut self, f: impl FnOnce(&mut Cursor) -> R) -> R {
        // SAFETY: the lock makes the cursor this thread's.
        self.lane.back.end.cursor.with_mut(|cursor| f(unsafe { &mut *cursor }))
    }
}

/// The end where jobs are taken out, likewise.
#[must_use = "nobody else can take out while this lives"]
pub(super) struct Front<'a>(&'a Lane);

impl Front<'_> {
    /// Takes out the first job, if there is one.
    #[inline]
    pub(super) fn take_first(self, hand: &mut Hand) {
        // SAFETY: this thread holds the lock of the front.
        unsafe { self.0.take_locked(Portion::One, |_| 1, |record| hand.put(record)) };
    }

    /// Takes out as many jobs as `most` says of so many that are there, and gives them to `sink` one by one. Returns
    /// how many.
    #[inline]
    fn take(self, most: impl FnOnce(usize) -> usize, sink: impl FnMut(Record<'_>)) -> usize {
        // SAFETY: this thread holds the lock of the front.
        unsafe { self.0.take_locked(Portion::Batch, most, sink) }
    }
}

impl Drop for Front<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.front.locked.store(false, Release);
    }
}

impl Drop for Back<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lane.back.lock.leave(&self.entry);
    }
}

/// Waits for an end that somebody else holds: for some copying, unless its thread is suspended.
pub(super) fn snooze(backoff: &Backoff) {
    // A model has no time to lose.
    if cfg!(executors_loom) || backoff.is_completed() {
        thread::yield_now();
    } else {
        backoff.snooze();
    }
}

impl End {
    fn new() -> Self {
        End {
            passed: AtomicUsize::new(0),
            cursor: UnsafeCell::new(Cursor {
                block: ptr::null_mut(),
                at: 0,
                end: 0,
                passed: 0,
                seen: 0,
                giver: 0,
                privilege: Privilege::NEW,
            }),
        }
    }

    /// So many more jobs have passed. The cursor is that of this end.
    #[inline]
    fn pass(&self, cursor: &mut Cursor, jobs: usize) {
        cursor.passed = cursor.passed.wrapping_add(jobs);
        self.passed.store(cursor.passed, Release);
    }
}

impl Lane {
    pub(crate) fn new() -> Self {
        Lane {
            back: CachePadded::new(BackEnd { lock: BiasedLock::new(), end: End::new() }),
            front: CachePadded::new(FrontEnd {
                locked: AtomicBool::new(false),
                end: End::new(),
                first: AtomicPtr::new(ptr::null_mut()),
                spare: AtomicPtr::new(ptr::null_mut()),
            }),
        }
    }

    /// Puts a job in, behind all others.
    #[inline(always)]
    pub(crate) fn push(&self, job: impl IntoJob) {
        let backoff = Backoff::new();
        loop {
            match self.back() {
                Some(mut back) => return back.push(job),
                None => snooze(&backoff),
            }
        }
    }

    /// The back, unless somebody holds it.
    #[inline(always)]
    pub(crate) fn back(&self) -> Option<Back<'_>> {
        Back::new(self, self.back.lock.enter())
    }

    /// The same for the calling thread, which may have it to itself.
    #[inline(always)]
    pub(super) fn own_back(&self) -> Option<Back<'_>> {
        Back::new(self, self.back.lock.enter_as(Presence::of_this_thread()))
    }

    /// A fence behind what the calling thread has put in by its [own back](Self::own_back): see [`BiasedLock::order`].
    #[inline(always)]
    pub(super) fn order_pushes(&self) {
        self.back.lock.order(Presence::of_this_thread());
    }

    /// Whether a thread has the back to itself, or that is about to end.
    pub(crate) fn is_reserved(&self) -> bool {
        self.back.lock.is_reserved()
    }

    /// Ends, with [`end_recalls`](crate::barrier::end_recalls), that a thread has the back to itself.
    pub(crate) fn recall(&self) -> Option<RecalledLock<'_>> {
        self.back.lock.recall()
    }

    /// The front, unless somebody holds it.
    #[inline]
    pub(super) fn front(&self) -> Option<Front<'_>> {
        let locked = &self.front.locked;
        let is_free = !locked.load(Relaxed) && locked.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        is_free.then(|| Front(self))
    }

    /// Takes out as many jobs as `most` says of so many that are there, if there are any, and gives them to `sink` one
    /// by one. Returns how many.
    ///
    /// # Errors
    ///
    /// [`Busy`] if there are jobs, but somebody else is at the front.
    #[inline]
    pub(crate) fn take(&self, most: impl FnOnce(usize) -> usize, sink: impl FnMut(Record<'_>)) -> Result<usize, Busy> {
        if self.is_empty() {
            return Ok(0);
        }
        Ok(self.front().ok_or(Busy)?.take(most, sink))
    }

    /// Takes the first job.
    ///
    /// Unlike [`take`](Self::take) it does not look before it locks the front: as long as the front has seen that there
    /// are more jobs, the line that the producer writes to is left alone.
    ///
    /// # Errors
    ///
    /// [`Busy`] if somebody else is at the front.
    #[inline]
    pub(crate) fn take_first(&self, hand: &mut Hand) -> Result<(), Busy> {
        self.front().ok_or(Busy)?.take_first(hand);
        Ok(())
    }

    /// Takes the first job, if there is one.
    ///
    /// # Errors
    ///
    /// As [`take_first`](Self::take_first).
    pub(crate) fn pop(&self) -> Result<Option<Job>, Busy> {
        let mut hand = Hand::empty();
        self.take_first(&mut hand)?;
        Ok(hand.into_job())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many jobs have been put in, as far as has been seen here; modulo what fits.
    pub(super) fn put_in(&self) -> usize {
        self.back.end.passed.load(Relaxed)
    }

    /// How many jobs have been taken out, as far as has been seen here; modulo what fits.
    pub(crate) fn taken(&self) -> usize {
        self.front.end.passed.load(Relaxed)
    }

    /// How many jobs there are; exact when nobody puts in or takes out.
    pub(crate) fn len(&self) -> usize {
        // In this order: what was put in is never seen to be less than what was taken out.
        let out = self.front.end.passed.load(Acquire);
        self.back.end.passed.load(Acquire).wrapping_sub(out)
    }

    /// # Safety
    ///
    /// The caller holds the lock of the back.
    #[inline(always)]
    unsafe fn push_locked(&self, job: impl IntoJob) {
        self.back.end.cursor.with_mut(|cursor| {
            // SAFETY: the lock makes the cursor this thread's.
            let cursor = unsafe { &mut *cursor };
            // One word must remain for the end mark.
            if cursor.at + job.record_words() >= cursor.end {
                self.go_on(cursor);
            }
            // SAFETY: there is room, and no reader comes here before the count says so.
            unsafe { cursor.write(job) };
            self.back.end.pass(cursor, 1);
        });
    }

    /// Takes the cursor to the next stretch of its block, or to another block.
    #[cold]
    fn go_on(&self, cursor: &mut Cursor) {
        if cursor.block.is_null() {
            let first = Block::allocate(0);
            self.front.first.store(first, Relaxed); // published by the count
            return cursor.begin(first);
        }
        // A model has no room for many.
        let waiting = if cfg!(executors_loom) { 0 } else { cursor.passed.wrapping_sub(self.taken()) };
        // SAFETY: the block is alive until a reader has passed the end mark.
        if let Some(end) = unsafe { Block::next_stretch(cursor.block, cursor.end, waiting) } {
            cursor.end = end;
            return;
        }
        let mut next = self.front.spare.swap(ptr::null_mut(), Acquire);
        if next.is_null() {
            next = Block::allocate(waiting);
        }
        // SAFETY: as above, and the mark is not visible before the next job is; a word was kept for it.
        unsafe { Block::close(cursor.block, cursor.at, next) };
        cursor.begin(next);
    }

    /// See [`Front::take`].
    ///
    /// # Safety
    ///
    /// The caller holds the lock of the front.
    #[inline]
    unsafe fn take_locked(
        &self,
        portion: Portion,
        most: impl FnOnce(usize) -> usize,
        mut sink: impl FnMut(Record<'_>),
    ) -> usize {
        self.front.end.cursor.with_mut(|cursor| {
            // SAFETY: the lock makes the cursor this thread's.
            let cursor = unsafe { &mut *cursor };
            if portion == Portion::Batch || cursor.seen == cursor.passed {
                cursor.seen = self.back.end.passed.load(Acquire);
            }
            let there = cursor.seen.wrapping_sub(cursor.passed);
            let jobs = if there > 0 { most(there).min(there) } else { 0 };
            let mut visit = Visit { end: &self.front.end, cursor, taken: 0 };
            while visit.taken < jobs {
                // SAFETY: the count says that there is another record. The lock is held for longer than the cursor is
                // borrowed.
                let record = unsafe { self.read(visit.cursor) };
                visit.taken += 1;
                sink(record);
            }
            jobs
        })
    }

    /// Reads the next record. Its block is recycled by the next call, for which the cursor must be back.
    ///
    /// # Safety
    ///
    /// There is another record. The cursor is that of the front, whose lock the caller holds while it is borrowed.
    #[inline]
    unsafe fn read<'a>(&self, cursor: &'a mut Cursor) -> Record<'a> {
        if cursor.block.is_null() {
            cursor.begin(self.front.first.load(Relaxed));
        }
        // SAFETY: there is a record or, behind the last of a block, the end mark and a block with a record. The block
        // that is left has no record in use: the last was borrowed from the cursor, which is here. That of the new one
        // is borrowed likewise, and the producer comes to no block that was not recycled.
        unsafe {
            cursor.read().unwrap_or_else(|| {
                self.leave_block(cursor);
                cursor.read().expect("no block is empty")
            })
        }
    }

    /// # Safety
    ///
    /// The cursor is that of the front, and has come to the end mark of its block. None of the block's records is in
    /// use.
    #[cold]
    unsafe fn leave_block(&self, cursor: &mut Cursor) {
        // SAFETY: as promised, and behind an end mark there is another block.
        unsafe {
            let next = Block::next(cursor.block);
            self.recycle(cursor.block);
            cursor.begin(next);
        }
    }

    /// # Safety
    ///
    /// Nobody uses the block any more.
    unsafe fn recycle(&self, block: *mut Block) {
        // SAFETY: alive until it is passed on or freed, and as promised.
        unsafe {
            if Block::is_large(block)
                || self.front.spare.compare_exchange(ptr::null_mut(), block, Release, Relaxed).is_err()
            {
                Block::free(block);
            }
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // SAFETY: nobody else is left, so both ends are ours.
        unsafe { self.take_locked(Portion::Batch, |all| all, |record| discard(record.into_job())) };
        // SAFETY: as above.
        let last = self.back.end.cursor.with(|cursor| unsafe { (*cursor).block });
        for block in [last, self.front.spare.load(Relaxed)] {
            if !block.is_null() {
                // SAFETY: made by `allocate`, and freed here only: the reader has come to the block that was written
                // last, and has recycled all others.
                unsafe { Block::free(block) };
            }
        }
    }
}

impl Cursor {
    fn begin(&mut self, block: *mut Block) {
        (self.block, self.at, self.end) = (block, 0, STRETCH);
    }

    /// # Safety
    ///
    /// The block is alive, has room for the record, and nobody reads there.
    #[inline(always)]
    unsafe fn write(&mut self, job: impl IntoJob) {
        let words = job.record_words();
        // SAFETY: as promised.
        unsafe {
            Block::watch(self.block, self.at, words, Watch::write);
            job.write_record(Block::word(self.block, self.at));
        }
        self.at += words;
    }

    /// Reads the record, if it is none but the end mark.
    ///
    /// # Safety
    ///
    /// The block is alive, there is a record or the end mark, and nobody writes there; all this while `'a` lasts, for
    /// which the caller has to find a bound.
    #[inline]
    unsafe fn read<'a>(&mut self) -> Option<Record<'a>> {
        // SAFETY: as promised. A record is asked for once, as the cursor goes on behind it.
        unsafe {
            Block::watch(self.block, self.at, 1, Watch::read);
            let record = Record::at(Block::word(self.block, self.at))?;
            Block::watch(self.block, self.at, record.record_words(), Watch::read);
            self.at += record.record_words();
            Some(record)
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::{super::huge_page, *};
    use std::{
        cell::RefCell,
        sync::{Arc, mpsc},
    };

    #[test]
    fn what_one_thread_puts_in_comes_out_in_order() {
        let lane = Lane::new();
        let (sender, receiver) = mpsc::channel();
        let mut out = 0..;
        for round in 0..100 {
            for job in 0..50 {
                let (number, sender) = (round * 50 + job, sender.clone());
                let weight = vec![0; number % 3];
                lane.push(match number % 3 {
                    0 => Job::new(move || sender.send(number).unwrap()),
                    1 => Job::new(move || sender.send(number + weight[0]).unwrap()),
                    _ => Job::new(move || sender.send([number, 0, 0, 0, 0][weight[1]]).unwrap()),
                });
            }
            // Not all, so that the blocks are passed at different places.
            assert_eq!(lane.take(|_| 45, |record| record.into_job().run()), Ok(45));
            assert!(receiver.try_iter().zip(&mut out).all(|(number, expected)| number == expected));
        }
        assert_eq!(lane.len(), 500);
    }

    fn drop_job(record: Record<'_>) {
        drop(record.into_job());
    }

    #[test]
    fn jobs_come_out_in_order_also_where_very_many_wait() {
        const MANY: usize = 200_000;
        let lane = Lane::new();
        let next = Arc::new(AtomicUsize::new(0));
        let mut numbers = 0..;
        let mut put_in = |jobs| {
            for number in numbers.by_ref().take(jobs) {
                let next = Arc::clone(&next);
                lane.push(Job::new(move || assert_eq!(next.fetch_add(1, Relaxed), number)));
            }
        };
        let take = |jobs| assert_eq!(lane.take(|_| jobs, |record| record.into_job().run()), Ok(jobs));
        // SAFETY: nobody else uses the lane, so its block is alive.
        let is_large = || lane.back.end.cursor.with(|cursor| unsafe { Block::is_large((*cursor).block) });
        // Where the system has none, small blocks follow.
        let piece = huge_page::map();
        let are_there = piece.is_some();
        // SAFETY: from `map`, and used by nobody.
        piece.into_iter().for_each(|piece| unsafe { huge_page::unmap(piece) });
        for round in 0..3 {
            put_in(MANY);
            assert_eq!(is_large(), are_there, "in round {round}");
            take(MANY - 1000);
            put_in(2000);
            assert!(!is_large(), "in round {round}");
            // Through the end of the large block, and of a few small ones.
            take(2000);
        }
        take(3000);
        assert_eq!((lane.len(), next.load(Relaxed)), (0, 3 * (MANY + 2000)));
    }

    #[test]
    fn jobs_in_large_blocks_are_dropped_with_the_lane() {
        const JOBS: usize = 200_000;
        let (lane, shared) = (Lane::new(), Arc::new(()));
        for _ in 0..JOBS {
            let shared = Arc::clone(&shared);
            lane.push(Job::new(move || drop(shared)));
        }
        assert_eq!(Arc::strong_count(&shared), 1 + JOBS);
        drop(lane);
        assert_eq!(Arc::strong_count(&shared), 1);
    }

    #[test]
    fn a_locked_front_is_no_proof_of_emptiness() {
        let lane = Lane::new();
        assert_eq!(lane.take(|_| 1, drop_job), Ok(0));
        lane.push(Job::new(|| ()));
        let inner = RefCell::new(None);
        lane.push(Job::new(|| ()));
        let sink = |outer: Record<'_>| {
            drop_job(outer);
            *inner.borrow_mut() = Some((lane.take(|_| 1, drop_job), lane.take_first(&mut Hand::empty())));
        };
        assert_eq!(lane.take(|_| 1, sink), Ok(1));
        assert_eq!(inner.take(), Some((Err(Busy), Err(Busy))));
    }
}
