//! Parts of running jobs, which other workers may take: what `crew/fork/README.md` needs of the source.

#[cfg(all(test, executors_loom))]
mod model;

use super::{StealingLocal, StealingSource};
use crate::{
    bell::Bell,
    part::{Loan, Stub},
    source::queue::{
        Busy, first_found, insist,
        stack::{self, Owner, Thief},
    },
    sync::atomic::{AtomicBool, Ordering::SeqCst, fence},
};

/// Workers that wait for parts of their jobs that others have taken, and take other parts meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Joiners {
    bell: Bell,
    /// Whether they were called because of a new part, and have not looked since. Otherwise each fork would call them
    /// until they come.
    are_called: AtomicBool,
}

impl Joiners {
    /// Heard when a part is settled.
    #[inline(always)]
    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Has them look for parts, if there are any. Behind a fence that follows the push of a new one.
    #[inline(always)]
    pub(crate) fn part_came(&self) {
        if self.bell.is_awaited() {
            self.call();
        }
    }

    #[cold]
    #[inline(never)]
    fn call(&self) {
        // If they are called already, one of them takes that back before it looks, and that comes behind this, and so
        // the fence there behind ours.
        if !self.are_called.swap(true, SeqCst) {
            self.bell.ring();
        }
    }

    /// Blocks until one of these holds.
    pub(crate) fn wait_until(&self, is_settled: impl Fn() -> bool, has_parts: impl Fn() -> bool) {
        self.bell.wait_until(None, || {
            self.are_called.store(false, SeqCst);
            // Pairs with the fence of who forks: see `call`.
            fence(SeqCst);
            is_settled() || has_parts()
        });
    }
}

impl StealingSource {
    /// Where the worker puts parts of its job; nowhere if it has no seat of its own, as nobody looks there.
    #[inline(always)]
    pub(crate) fn own_forks<'a>(&self, local: &'a StealingLocal) -> Option<&'a Owner<Stub>> {
        match local.forks.get() {
            Some(forks) if !local.is_hidden.get() => Some(forks),
            _ => self.show_forks(local),
        }
    }

    #[cold]
    #[inline(never)]
    fn show_forks<'a>(&self, local: &'a StealingLocal) -> Option<&'a Owner<Stub>> {
        if !local.has_seat {
            return None;
        }
        let forks = local.forks.get_or_init(|| {
            let (owner, thief) = stack::stack();
            let placed = self.seats[local.seat].forks.set(thief);
            debug_assert!(placed.is_ok(), "a seat has one worker, which comes here once");
            owner
        });
        self.show_ring(local);
        Some(forks)
    }

    pub(crate) fn joiners(&self) -> &Joiners {
        &self.joiners
    }

    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// A part of another worker's job, if there is one, for who waits for a part of its own.
    pub(crate) fn take_part(&self, local: &StealingLocal) -> Option<Loan> {
        insist(|| first_found(self.victims(local).map(|victim| self.steal_part_from(victim, |forks| forks.len() > 0))))
    }

    /// Whether there is one.
    pub(crate) fn has_parts(&self, local: &StealingLocal) -> bool {
        self.forks_of_others(local).any(|forks| forks.len() > 0)
    }

    pub(super) fn steal_part_from(
        &self,
        victim: usize,
        is_worth_it: impl FnOnce(&Thief<Stub>) -> bool,
    ) -> Result<Option<Loan>, Busy> {
        match self.seats[victim].forks.get() {
            Some(forks) if is_worth_it(forks) => {
                // SAFETY: whoever has put the part into its stack keeps it until it has taken it out again, which it has
                // not and cannot any more, or it is settled. A stack gives each out once, and only here. The bell is that
                // of this source, of which the thief, on whose thread the loan stays, is a worker.
                Ok(forks.steal()?.map(|stub| unsafe { Loan::new(stub) }))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn forks(&self) -> impl Iterator<Item = &Thief<Stub>> {
        self.seats_shown().filter_map(|(_, seat)| seat.forks.get())
    }

    pub(super) fn forks_of_others(&self, local: &StealingLocal) -> impl Iterator<Item = &Thief<Stub>> {
        let own = local.seat;
        self.seats_shown().filter(move |&(number, _)| number != own).filter_map(|(_, seat)| seat.forks.get())
    }
}
