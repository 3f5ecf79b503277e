//! Mailboxes: a message queue for each worker, and dealing letters to workers that have nothing to do.
//!
//! Each letter is dealt to one worker, and waits in its mailbox. A mailbox counts the letters that were dealt to its
//! worker, and how many of them are settled; the others were promised to the worker, lie in the mailbox, or are being
//! handled by the worker or a thief. A worker without such letters is *idle*, asleep or not. It is claimed by dealing
//! to it while both counts are the same: by one dealer, for one letter. The orderings, and why nothing is lost, are in
//! `burst_pool/README.md`.

use crate::{
    bell::{self, Bell},
    rows::Rows,
    sync::{
        Mutex, MutexGuard,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
    },
};
use std::{collections::VecDeque, fmt, sync::PoisonError, time::Duration};

/// The mailboxes of one pool. Workers join, and do not leave before the end. (Receivers of `compat::burst_pool` may:
/// the mailbox of one that has left is claimed, and empty, until another has its number.)
pub(crate) struct Mailboxes<L> {
    boxes: Rows<Mailbox<L>>,
    /// How many workers there are. Release and Acquire: a thread that sees a worker also sees what the worker was given
    /// before it joined.
    workers: AtomicUsize,
    /// Where the next dealer begins to look for an idle worker. Relaxed: any number is correct.
    next: AtomicUsize,
    /// Rung for one waiter when a worker becomes idle, and for all when they may wait in vain.
    bell: Bell,
}

struct Mailbox<L> {
    /// Letters that were promised to this worker. Relaxed: for threads that wait for an idle worker the bell's fences
    /// order it, for others the accesses to `settled`.
    dealt: AtomicUsize,
    /// How many of those are settled: done, taken by a thief that has claimed itself for it, or taken by a thread that
    /// drops it, and is active meanwhile. Never more than were dealt. Its Release pairs with
    ///
    /// - the Acquire in `all_settled`: a thread that sees that a letter is settled also sees what was dealt in handling
    ///   it, or else the claim of the thief that handles it;
    /// - that of the next addition in `settle`: the last of two settlers must not compare with an older `dealt` than
    ///   the other one knew, or the bell might not be rung;
    /// - those in `claim` and `load`, which must not read an older `dealt` than that of a settled letter: an idle
    ///   worker would be passed over, or would seem to have more letters than any other.
    settled: AtomicUsize,
    /// How many letters lie here. Written under the lock. Relaxed: a thread that reads it without the lock, and must
    /// not miss a letter, does so after a fence; others may miss one for a moment.
    waiting: AtomicUsize,
    letters: Mutex<VecDeque<L>>,
}

/// Capacity, in letters, that is kept when a mailbox has been emptied.
const ROOM_KEPT: usize = 64;

/// The promise of a letter to the worker with this number: it has to be [`put`](Mailboxes::put).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a claimed worker that is given nothing is lost to the pool"]
pub(crate) struct Claim {
    pub(crate) worker: usize,
}

impl<L> Mailboxes<L> {
    pub(crate) fn new(workers: usize) -> Self {
        Mailboxes {
            boxes: Rows::new((0..workers).map(|_| Mailbox::default())),
            workers: AtomicUsize::new(workers),
            next: AtomicUsize::new(0),
            bell: Bell::default(),
        }
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers.load(Acquire)
    }

    /// Adds a worker, to which letters are dealt from now on. To be called by one thread at a time, while no thread
    /// waits for a claim.
    pub(crate) fn add_worker(&self) {
        self.workers.store(self.workers.load(Relaxed) + 1, Release);
    }

    /// Claims an idle worker: the next in turn.
    #[inline]
    pub(crate) fn claim_idle(&self) -> Option<Claim> {
        let (workers, first) = (self.workers(), self.next.load(Relaxed));
        for worker in in_turn(first, workers) {
            if self.claim(worker) {
                self.next.store(worker + 1, Relaxed);
                return Some(Claim { worker });
            }
        }
        None
    }

    /// Claims `worker` if it is idle. Returns whether it was.
    pub(crate) fn claim(&self, worker: usize) -> bool {
        let Mailbox { dealt, settled, .. } = self.boxes.get(worker);
        // Neither count ever goes back, and no more are settled than dealt: if `dealt` still has this value at the
        // exchange, all letters are settled.
        let settled = settled.load(Acquire);
        let one_more = settled.wrapping_add(1);
        dealt.load(Relaxed) == settled && dealt.compare_exchange(settled, one_more, Relaxed, Relaxed).is_ok()
    }

    /// Claims an idle worker, or else the one with the fewest letters. `None` if there is no worker at all.
    #[inline]
    pub(crate) fn claim_any(&self) -> Option<Claim> {
        self.claim_idle().or_else(|| self.claim_least_loaded())
    }

    #[cold]
    fn claim_least_loaded(&self) -> Option<Claim> {
        let first = self.next.load(Relaxed);
        let worker = in_turn(first, self.workers()).min_by_key(|&worker| self.boxes.get(worker).load())?;
        self.next.store(worker + 1, Relaxed);
        Some(self.promise(worker))
    }

    /// Promises a letter to `worker`, however many it has. The worker may be about to be
    /// [added](Self::add_worker).
    pub(crate) fn promise(&self, worker: usize) -> Claim {
        self.boxes.get(worker).dealt.fetch_add(1, Relaxed);
        Claim { worker }
    }

    /// [`claim_idle`](Self::claim_idle), waiting for an idle worker for at most `timeout` and only as long as `in_vain`
    /// does not hold.
    pub(crate) fn claim_within(&self, timeout: Option<Duration>, in_vain: impl Fn() -> bool) -> Option<Claim> {
        self.bell.wait_for(timeout.and_then(bell::deadline), in_vain, || self.claim_idle())
    }

    /// Makes the threads that wait for an idle worker check `in_vain` again.
    pub(crate) fn ring(&self) {
        self.bell.ring();
    }

    /// Puts `letter` into the mailbox of the worker to which it was promised.
    #[inline]
    pub(crate) fn put(&self, claim: Claim, letter: L) {
        let mailbox = self.boxes.get(claim.worker);
        let mut letters = mailbox.lock();
        letters.push_back(letter);
        mailbox.waiting.store(letters.len(), Relaxed);
    }

    /// Takes a letter out of the mailbox of `worker`. It remains that worker's until it is [`settled`](Self::settle).
    #[inline]
    pub(crate) fn take(&self, worker: usize) -> Option<L> {
        let mailbox = self.boxes.get(worker);
        if mailbox.waiting.load(Relaxed) == 0 {
            return None;
        }
        let mut letters = mailbox.lock();
        let letter = letters.pop_front();
        mailbox.waiting.store(letters.len(), Relaxed);
        if letters.is_empty() {
            letters.shrink_to(ROOM_KEPT);
        }
        letter
    }

    /// Takes a letter out of any mailbox but that of the `thief`, beginning with that of `first`, and returns whose it
    /// remains until it is settled.
    pub(crate) fn steal(&self, thief: usize, first: usize) -> Option<(L, usize)> {
        let mut others = in_turn(first, self.workers()).filter(|&worker| worker != thief);
        others.find_map(|worker| Some((self.take(worker)?, worker)))
    }

    /// Takes a letter out of any mailbox, and returns whose it remains until it is settled.
    pub(crate) fn take_any(&self) -> Option<(L, usize)> {
        (0..self.workers()).find_map(|worker| Some((self.take(worker)?, worker)))
    }

    /// Records that `worker` is done with a letter.
    #[inline]
    pub(crate) fn settle(&self, worker: usize) {
        let Mailbox { dealt, settled, .. } = self.boxes.get(worker);
        if settled.fetch_add(1, AcqRel).wrapping_add(1) == dealt.load(Relaxed) {
            self.bell.ring_for_one();
        }
    }

    /// Whether all letters that were dealt before this call are settled, and all that were dealt in handling these.
    pub(crate) fn all_settled(&self) -> bool {
        // In this order, see the README: what was dealt before a letter was settled is counted here if that letter is.
        // Acquire is for the first sum, and pairs with the additions to `settled`. The second does not need it.
        let sum = |count: fn(&Mailbox<L>) -> &AtomicUsize| {
            let counts = (0..self.workers()).map(|worker| count(self.boxes.get(worker)).load(Acquire));
            counts.fold(0, usize::wrapping_add)
        };
        sum(|mailbox| &mailbox.settled) == sum(|mailbox| &mailbox.dealt)
    }

    #[inline]
    pub(crate) fn has_letters_for(&self, worker: usize) -> bool {
        self.boxes.get(worker).waiting.load(Relaxed) > 0
    }

    pub(crate) fn has_letters(&self) -> bool {
        (0..self.workers()).any(|worker| self.has_letters_for(worker))
    }

    /// How many letters wait; exact while no thread puts any in or takes any out.
    pub(crate) fn len(&self) -> usize {
        (0..self.workers()).map(|worker| self.boxes.get(worker).waiting.load(Relaxed)).sum()
    }
}

/// All numbers below `end`, beginning with `first` modulo `end`.
#[inline]
fn in_turn(first: usize, end: usize) -> impl Iterator<Item = usize> {
    let first = first.checked_rem(end).unwrap_or(0);
    (first..end).chain(0..first)
}

impl<L> Mailbox<L> {
    /// How many letters are not settled.
    fn load(&self) -> usize {
        let settled = self.settled.load(Acquire);
        self.dealt.load(Relaxed).wrapping_sub(settled)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<L>> {
        // Under this lock only an allocation that fails can panic, and the queue is intact then.
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L> Default for Mailbox<L> {
    fn default() -> Self {
        Mailbox {
            dealt: AtomicUsize::new(0),
            settled: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            letters: Mutex::new(VecDeque::new()),
        }
    }
}

impl<L> fmt::Debug for Mailboxes<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailboxes")
            .field("workers", &self.workers())
            .field("letters", &self.len())
            .field("bell", &self.bell)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::courtesy;

    fn claimed<L>(boxes: &Mailboxes<L>, times: usize) -> Vec<usize> {
        (0..times).map(|_| boxes.claim_any().expect("there are workers").worker).collect()
    }

    #[test]
    fn idle_workers_are_claimed_in_turn_and_once() {
        let boxes = Mailboxes::<()>::new(3);
        assert_eq!(claimed(&boxes, 3), [0, 1, 2]);
        assert_eq!(boxes.claim_idle(), None);
        boxes.settle(1);
        assert_eq!(boxes.claim_idle(), Some(Claim { worker: 1 }));
        boxes.settle(0);
        boxes.settle(2);
        assert_eq!(claimed(&boxes, 2), [2, 0]);
    }

    #[test]
    fn the_least_loaded_worker_is_next() {
        let boxes = Mailboxes::<()>::new(2);
        assert_eq!(claimed(&boxes, 5), [0, 1, 0, 1, 0]);
        boxes.settle(0);
        boxes.settle(0);
        assert_eq!(boxes.claim_any(), Some(Claim { worker: 0 }));
    }

    #[test]
    fn letters_keep_their_order_and_are_settled_where_they_are_taken() {
        let boxes = Mailboxes::new(2);
        for letter in 0..4 {
            let claim = boxes.claim_any().expect("there are workers");
            boxes.put(claim, letter);
        }
        assert_eq!((boxes.len(), boxes.take(0), boxes.take(0), boxes.take(0)), (4, Some(0), Some(2), None));
        assert_eq!(
            (boxes.steal(1, 1), boxes.steal(0, 0), boxes.take_any(), boxes.take_any()),
            (None, Some((1, 1)), Some((3, 1)), None)
        );
        assert!(!boxes.all_settled());
        boxes.settle(1);
        assert_eq!(boxes.claim_idle(), None, "both are at some letter");
        boxes.settle(1);
        assert_eq!(boxes.claim_idle(), Some(Claim { worker: 1 }));
        boxes.settle(1);
        boxes.settle(0);
        boxes.settle(0);
        assert!(boxes.all_settled());
    }

    #[test]
    fn a_worker_that_is_added_is_dealt_letters() {
        let boxes = Mailboxes::<()>::new(0);
        assert_eq!(boxes.claim_any(), None);
        boxes.add_worker();
        boxes.add_worker();
        assert_eq!(claimed(&boxes, 2), [0, 1]);
    }

    #[test]
    fn a_worker_about_to_be_added_may_be_promised_a_letter() {
        let boxes = Mailboxes::new(0);
        boxes.put(boxes.promise(0), ());
        boxes.add_worker();
        assert!(!boxes.all_settled() && boxes.claim_idle().is_none());
        assert_eq!(boxes.take(0), Some(()));
    }

    #[test]
    fn a_claim_waits_until_it_succeeds_or_is_given_up() {
        let boxes = Mailboxes::<()>::new(1);
        assert_eq!(claimed(&boxes, 1), [0]);
        assert_eq!(boxes.claim_within(Some(Duration::ZERO), || false), None);
        assert_eq!(boxes.claim_within(None, || true), None);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                courtesy::abstain();
                boxes.claim_within(None, || false)
            });
            boxes.bell.await_listeners(1);
            boxes.settle(0);
            assert!(waits.join().unwrap().is_some());
        });
        boxes.settle(0);
        assert_eq!(boxes.claim_within(None, || true), None, "though the worker is idle");
    }
}
