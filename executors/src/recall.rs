//! Taking away what one thread has to itself.
//!
//! A thread, the *user*, has a part of a queue to itself until another thread *recalls* it. The recaller says so in the
//! word that the user checks after each light [fence](crate::asymmetric_fence), issues a heavy fence, and ends the
//! recall by another exchange of that word. A user that goes on with its jobs sees the recall at the next one, and may
//! end it itself by an exchange: it *gives back* what it had, at the cost of one round trip of a cache line for each of
//! the two. So [`end_all`] first waits a moment for that. A heavy fence is needed only if the user does not get there,
//! because its job takes long or because it has no core.
//!
//! *Why none is needed then.* The recaller sees by an Acquire load that the word has changed. There are three cases:
//!
//! - The user ended the recall: the recaller sees all that the user did before that. What the user does later sees what
//!   the recaller wrote before the recall, because its exchange reads the recaller's. If another thread had made the
//!   recall, the recaller found it made after a fence of its own, and that fence comes before the one after the user's
//!   next push.
//! - Another recaller ended it, after a heavy fence: the word passes on what that one saw, and the user, who sees the
//!   change, has used real fences since.
//! - The user has reserved the part again meanwhile: it does so by an exchange, or by a Release store once it has the
//!   lock, which pass on the same; and the fence that follows comes after the fence of each thread that saw the word as
//!   it was before.
//!
//! # The user's fence
//!
//! A user that has put something in, and then checks between two light fences that what it uses is still reserved,
//! needs no real fence before what it reads next, with respect to all threads that issue a fence between what they
//! write and a recall, and then look: they see what was put in, or the user sees what they have written. There are four
//! cases:
//!
//! - A thread that has not issued its heavy fence yet will see it.
//! - So will a thread that needs none, because the user will end the recall.
//! - One whose recall was over before this, or that found another's over, would have made the user see that here.
//! - One that found it not reserved yet did so before the fence that follows each time when it is reserved, after which
//!   the user sees what that thread has written.

use crate::{
    asymmetric_fence::{LightSide, heavy_fence},
    placement::core_count,
};
use std::{
    hint,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

/// Whether a heavy fence was issued because the user of something was late to give it back. Relaxed, and none of
/// loom's: what it tells is a matter of speed.
#[derive(Debug, Default)]
pub(crate) struct Interruption(AtomicBool);

impl Interruption {
    pub(crate) fn note(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether there was one since this was last asked.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Relaxed)
    }

    /// It is reserved anew: what was noted before is not about this time.
    pub(crate) fn forget(&self) {
        self.0.store(false, Relaxed);
    }
}

/// Something that its user has had to itself, until another thread recalled it.
pub(crate) trait Recalled {
    /// The light side of the user.
    fn side(&self) -> &LightSide;

    /// Where it is noted that the user was late to end it.
    fn interruption(&self) -> &Interruption;

    /// Whether the user, or another thread, has ended it since. Acquire: see the [module](self).
    fn is_over(&self) -> bool;

    /// To be called after a heavy fence.
    fn end(&self);
}

/// How long to wait for users, who may end recalls themselves, in pauses of the processor: about 1 to 3 us, much less
/// than a heavy fence takes. All recalls of one call share it.
const PAUSES: u32 = if cfg!(executors_loom) { 0 } else { 64 };

/// Whether `look` sees something, even if the thread that has put it there was spared a fence. `spares_fences` is what
/// the caller has learnt after a fence of its own and *before* this call: if nobody has what is looked at to itself,
/// because it was recalled meanwhile, that must have been so before the look. `recall` recalls it.
#[inline]
pub(crate) fn sees(spares_fences: bool, look: impl Fn() -> bool, recall: impl FnOnce()) -> bool {
    look()
        || spares_fences && {
            recall();
            look()
        }
}

/// Ends one recall: see [`end_all`].
pub(crate) fn end(recall: &impl Recalled) {
    end_all([recall as &dyn Recalled].into_iter());
}

/// Waits a moment for the users to end these recalls. If one does not, issues one heavy fence, and ends all that are
/// left.
pub(crate) fn end_all<'a>(recalls: impl Iterator<Item = &'a dyn Recalled> + Clone) {
    // On one core no user goes on meanwhile.
    let mut pauses = 0..if core_count() > 1 { PAUSES } else { 0 };
    let is_soon_over = |recall: &dyn Recalled| {
        while !recall.is_over() {
            if pauses.next().is_none() {
                return false;
            }
            hint::spin_loop();
        }
        true
    };
    if !recalls.clone().all(is_soon_over) {
        recalls.clone().filter(|recall| !recall.is_over()).for_each(|recall| recall.interruption().note());
        heavy_fence(recalls.clone().map(Recalled::side));
        recalls.for_each(Recalled::end);
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::asymmetric_fence::is_ready_for_test;
    use std::cell::Cell;

    /// Is over after some looks.
    #[derive(Default)]
    struct Counted {
        side: LightSide,
        interruption: Interruption,
        looks: Cell<u32>,
        is_over_after: u32,
        ended: Cell<u32>,
    }

    impl Recalled for Counted {
        fn side(&self) -> &LightSide {
            &self.side
        }

        fn interruption(&self) -> &Interruption {
            &self.interruption
        }

        fn is_over(&self) -> bool {
            self.looks.update(|looks| looks + 1);
            self.looks.get() > self.is_over_after
        }

        fn end(&self) {
            self.ended.update(|times| times + 1);
        }
    }

    /// How often each of two recalls was ended, and whether its user was late.
    fn ended(looks: [u32; 2]) -> [(u32, bool); 2] {
        let recalls = looks.map(|is_over_after| Counted { is_over_after, ..Counted::default() });
        end_all(recalls.iter().map(|recall| recall as &dyn Recalled));
        recalls.map(|recall| (recall.ended.get(), recall.interruption.take()))
    }

    #[test]
    fn recalls_are_ended_unless_all_are_soon_over() {
        if !is_ready_for_test() {
            return;
        }
        let patience = if core_count() > 1 { PAUSES } else { 0 };
        let [in_time, ended_in_time, late] = [(0, false), (1, false), (1, true)];
        assert_eq!(ended([0, 0]), [in_time; 2]);
        assert_eq!(ended([0, patience]), [in_time; 2]);
        assert_eq!(ended([u32::MAX, 0]), [late, ended_in_time]);
        assert_eq!(ended([0, u32::MAX]), [ended_in_time, late]);
        assert_eq!(ended([u32::MAX; 2]), [late; 2]);
        if patience > 0 {
            assert_eq!(ended([patience / 2; 2]), [in_time; 2]);
            assert_eq!(ended([patience, 2]), [ended_in_time, late], "they share it");
        }
    }
}
