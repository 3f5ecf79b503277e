//! An event count: waiting for something that is seldom waited for. Ringing costs one fence and one load while no
//! thread listens.
//!
//! There are two ways of waiting. With [`Bell::wait_until`] each listener waits for itself: it goes on when it finds
//! its condition met. [`Bell::wait_together`] is for a condition that is the same for all, and may hold no longer when
//! the slower listeners look: they go on together once one of them has found it met, or once a change by
//! [`Bell::ring_by`] has met it.
//!
//! # One change for one listener
//!
//! Listeners that [`Bell::wait_for`] something of which each takes one away, such as room for a job, need not all be
//! woken for each: [`Bell::ring_for_one`] wakes one of those that sleep. Why a listener does not sleep while there is
//! something for it: call a thing *looked after* if a thread is about to ring for it, or if a listener that was woken
//! for one is about to look (each such thread looks after one thing). As long as a listener sleeps, there are no more
//! things than are looked after:
//!
//! - *A thing comes.* Its bringer rings. If that finds no listener asleep, then those that fall asleep later look after
//!   the ringing, as each looks under the lock that ringing takes. If it finds none counted, they look after the fence.
//! - *A listener that was woken finds one.* There is one less of either. It may be another one than that for which it
//!   was woken: things are alike.
//! - *It finds none*, and sleeps again, or its time is up. What is there nevertheless has come where it had looked
//!   before. So whoever brought that has yet to ring: for that it needs the lock, which the listener has had since.
//! - *A thread that has just come, or that yields, overtakes it.* That takes a thing away, and rings when it gives it
//!   back.
//! - *It goes without having looked*, because it waits in vain. Then it wakes another one in its place.
//!
//! What concerns all listeners, such as that they wait in vain, has to be told to all, by [`Bell::ring`].
//!
//! # The models
//!
//! The models in `bell/model.rs` fail if a change by `ring_by` is not counted as a release, if no listener is told of
//! one that may or may not meet the condition, and if a listener that goes without having looked wakes no other.

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    courtesy::Courtesy,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering::SeqCst, fence},
    },
};
use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

/// When a wait ends that begins now and takes `timeout` at most; `None`, which is never, if that is beyond what the
/// clock can tell.
pub(crate) fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// Wakes threads that wait for a condition on atomics.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    listeners: AtomicUsize,
    /// How often the listeners that wait together were released. Locked while any thread looks at a condition: so a
    /// thread that finds it met has looked after all listeners had come.
    releases: Mutex<usize>,
    rung: Condvar,
}

impl Bell {
    /// Lets all listeners look at their conditions again. To be called after a change that may fulfil one.
    pub(crate) fn ring(&self) {
        if self.finds_listeners() {
            self.rung.notify_all();
        }
    }

    /// Lets one listener look again. To be called after a change that lets one more [succeed](Self::wait_for): see the
    /// module documentation.
    pub(crate) fn ring_for_one(&self) {
        if self.finds_listeners() {
            self.rung.notify_one();
        }
    }

    /// Whether there are listeners; those that looked before the change sleep when this returns, or are about to look
    /// again.
    fn finds_listeners(&self) -> bool {
        // Pairs with the fence in `wait`: either the listener's look sees the change, or we see the listener.
        fence(SeqCst);
        let is_heard = self.listeners.load(SeqCst) > 0;
        if is_heard {
            // A listener that looked before the change holds the lock until it sleeps; once we have had the lock, it
            // does.
            drop(self.lock());
        }
        is_heard
    }

    /// Makes a `change`, which returns whether it may fulfil a condition, and rings if so. If `is_all_else_met`, which
    /// is checked before, the change does fulfil the condition of those that [`wait_together`](Self::wait_together):
    /// all that waited before this call are released then, however soon the condition ceases to hold.
    pub(crate) fn ring_by(&self, is_all_else_met: impl FnOnce() -> bool, change: impl FnOnce() -> bool) {
        if !self.is_awaited() {
            if change() {
                // A listener that has come meanwhile looks for itself.
                self.ring();
            }
            return;
        }
        // The condition is checked and met under the lock: no listener looks in between.
        let mut releases = self.lock();
        let is_met = is_all_else_met();
        // To all threads, what is checked comes before the change, as in the looks of the listeners. (Those of
        // `Crew::is_idle` have a fence in the same place.)
        fence(SeqCst);
        if change() {
            if is_met {
                *releases = releases.wrapping_add(1);
            }
            drop(releases);
            self.rung.notify_all();
        }
    }

    /// Makes a `change`, which returns whether it may fulfil the condition of those that
    /// [`wait_together`](Self::wait_together), and rings if so. If it `is_met` after the change, all that waited before
    /// this call are released.
    pub(crate) fn ring_and_look(&self, change: impl FnOnce() -> bool, is_met: impl FnOnce() -> bool) {
        if !self.is_awaited() {
            if change() {
                // As above.
                self.ring();
            }
            return;
        }
        let mut releases = self.lock();
        if change() {
            if is_met() {
                *releases = releases.wrapping_add(1);
            }
            drop(releases);
            self.rung.notify_all();
        }
    }

    /// Whether to [`ring`](Self::ring) after a change. For use where it takes long to tell whether the change matters,
    /// in place of ringing always.
    ///
    /// A fence belongs between the change and this call, as there is one between being counted and looking in `wait`; a
    /// caller that leaves it out may miss a listener that arrives just then.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.listeners.load(SeqCst) > 0
    }

    /// Blocks until `met` holds, at most until the `deadline`. Returns whether it does.
    pub(crate) fn wait_until(&self, deadline: Option<Instant>, mut met: impl FnMut() -> bool) -> bool {
        self.wait(deadline, |_releases| met())
    }

    /// Blocks until `attempt` returns something, at most until the `deadline` and as long as `in_vain` does not hold.
    /// That is asked before each attempt: what made the wait vain must not let an attempt succeed. Where each success
    /// takes one of several like things away, [`ring_for_one`](Self::ring_for_one) is enough for one more of them.
    pub(crate) fn wait_for<T>(
        &self,
        deadline: Option<Instant>,
        in_vain: impl Fn() -> bool,
        attempt: impl Fn() -> Option<T>,
    ) -> Option<T> {
        let (mut found, mut is_vain) = (None, false);
        self.wait_until(deadline, || {
            is_vain = in_vain();
            is_vain || {
                found = attempt();
                found.is_some()
            }
        });
        if is_vain {
            // This thread may have been woken for something, and has not looked.
            self.rung.notify_one();
        }
        found
    }

    /// [`wait_until`](Self::wait_until) for a condition that is the same for all that wait in this way. Returns whether
    /// it has held since this call began.
    pub(crate) fn wait_together(&self, deadline: Option<Instant>, mut met: impl FnMut() -> bool) -> bool {
        let mut before = None;
        self.wait(deadline, |releases| {
            if *before.get_or_insert(*releases) != *releases {
                return true;
            }
            let met = met();
            if met {
                *releases = releases.wrapping_add(1);
                self.rung.notify_all();
            }
            met
        })
    }

    /// Looks at a condition under the lock, until it holds; several times before it sleeps.
    fn wait(&self, deadline: Option<Instant>, mut met: impl FnMut(&mut usize) -> bool) -> bool {
        let mut guard = self.lock();
        self.listeners.fetch_add(1, SeqCst);
        // Pairs with the fence in `finds_listeners`, and with one between a change and `is_awaited`: either the thread
        // that makes the change sees that it is counted here, or this one's look sees the change. It is the fences that
        // order this; the accesses to `listeners` need not be SeqCst.
        fence(SeqCst);
        let mut courtesy = Courtesy::new();
        let holds = loop {
            if met(&mut guard) {
                courtesy.has_come();
                break true;
            }
            // Anew after each look: that may take long, and so may the lock.
            let now = Instant::now();
            if courtesy.grants_yield(now, deadline) {
                drop(guard);
                courtesy.yields(now);
                guard = self.lock();
                continue;
            }
            guard = match deadline {
                None => {
                    courtesy.sleeps();
                    self.rung.wait(guard).unwrap_or_else(PoisonError::into_inner)
                }
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(now);
                    if left.is_zero() {
                        break false;
                    }
                    courtesy.sleeps();
                    self.rung.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        };
        self.listeners.fetch_sub(1, SeqCst);
        holds
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.releases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For tests: blocks until so many `listeners` have looked. Those that [abstain](crate::courtesy::abstain) from
    /// yields sleep then.
    #[cfg(all(test, not(executors_loom)))]
    pub(crate) fn await_listeners(&self, listeners: usize) {
        while self.listeners.load(SeqCst) < listeners {
            std::thread::yield_now();
        }
        // Each has the lock from when it is counted until it yields or sleeps.
        drop(self.lock());
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::courtesy;
    use std::thread;

    /// Far more than a listener needs to look, and less than a test may take.
    fn patience() -> Option<Instant> {
        deadline(Duration::from_secs(30))
    }

    /// Lets eight listeners `wait` for `state` to be zero, and acts when they have come; returns what each was told.
    fn with_listeners(wait: fn(&Bell, &AtomicUsize) -> bool, act: impl FnOnce(&Bell, &AtomicUsize)) -> Vec<bool> {
        let (bell, state) = (Bell::default(), AtomicUsize::new(1));
        thread::scope(|scope| {
            let listeners: Vec<_> = (0..8).map(|_| scope.spawn(|| wait(&bell, &state))).collect();
            bell.await_listeners(8);
            act(&bell, &state);
            listeners.into_iter().map(|listener| listener.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_listeners_hear_the_bell() {
        let heard = with_listeners(
            |bell, state| {
                courtesy::abstain();
                bell.wait_until(None, || state.load(SeqCst) == 0)
            },
            |bell, state| {
                for change in [2, 3, 0] {
                    state.store(change, SeqCst);
                    bell.ring();
                }
            },
        );
        assert_eq!(heard, [true; 8]);
    }

    fn together(bell: &Bell, state: &AtomicUsize) -> bool {
        bell.wait_together(patience(), || state.load(SeqCst) == 0)
    }

    #[test]
    fn joint_listeners_are_released_though_the_moment_has_passed() {
        let released = with_listeners(together, |bell, state| {
            bell.ring_by(|| true, || state.swap(0, SeqCst) == 1);
            state.store(1, SeqCst);
        });
        assert_eq!(released, [true; 8]);
    }

    /// One listener sees it for all, even if the thread that made it so has not looked.
    #[test]
    fn the_first_listener_to_see_the_change_releases_the_others() {
        let released = with_listeners(
            |bell, state| {
                let is_zero = || state.compare_exchange(0, 1, SeqCst, SeqCst).is_ok();
                bell.wait_together(patience(), is_zero)
            },
            |bell, state| bell.ring_by(|| false, || state.swap(0, SeqCst) == 1),
        );
        assert_eq!(released, [true; 8]);
    }

    #[test]
    fn a_listener_that_waits_alone_is_not_released_by_others() {
        let released = with_listeners(
            |bell, state| bell.wait_until(deadline(Duration::from_millis(50)), || state.load(SeqCst) == 0),
            |bell, state| {
                bell.ring_by(|| true, || true);
                assert!(bell.wait_together(None, || true));
                assert_eq!(state.load(SeqCst), 1);
            },
        );
        assert_eq!(released, [false; 8]);
    }

    #[test]
    fn a_listener_that_comes_after_a_release_waits_for_the_next() {
        let bell = Bell::default();
        assert!(bell.wait_together(None, || true));
        bell.ring_by(|| true, || true);
        assert!(!bell.wait_together(deadline(Duration::from_millis(1)), || false));
    }

    #[test]
    fn a_wait_ends_at_its_timeout() {
        let bell = Bell::default();
        assert!(!bell.wait_until(deadline(Duration::from_millis(1)), || false));
        assert!(bell.wait_until(deadline(Duration::ZERO), || true));
        assert!(bell.wait_until(deadline(Duration::MAX), || true));
    }
}
