//! Parts of running jobs, which other workers may take: see `part/README.md`.

use super::{StealingLocal, StealingSource};
use crate::{
    part::{self, Forker, Forks, Loan, Stub},
    source::queue::{Busy, insist},
};

/// What there is for a worker that waits for a part of its job.
pub(crate) enum PartOf<'a> {
    /// A part of that part, which the worker has taken.
    Taken(Loan),
    /// Nothing: the part has been settled by now.
    Settled,
    /// Nothing yet; this is where it would be.
    NoneYet(&'a Forks),
}

impl StealingSource {
    /// Where the worker puts parts of its job; `None` if it has no seat of its own, because no thread would look there.
    #[inline(always)]
    pub(crate) fn forker<'a>(&self, local: &'a StealingLocal) -> Option<&'a Forker> {
        match local.forker.get() {
            Some(forker) if !local.is_hidden.get() => Some(forker),
            _ => self.show_forks(local),
        }
    }

    #[cold]
    #[inline(never)]
    fn show_forks<'a>(&self, local: &'a StealingLocal) -> Option<&'a Forker> {
        if !local.has_seat {
            return None;
        }
        let forker = local.forker.get_or_init(|| {
            let (forker, forks) = part::forks();
            let placed = self.seats[local.seat].forks.set(forks);
            debug_assert!(placed.is_ok(), "a seat has one worker, which comes here once");
            forker
        });
        self.show_ring(local);
        Some(forker)
    }

    /// Takes a part of the job that the victim runs, if `is_worth_it`, and then if it `is_wanted`: see
    /// [`Forker::take`].
    pub(super) fn take_part(
        &self,
        victim: usize,
        local: &StealingLocal,
        is_worth_it: impl FnOnce(&Forks) -> bool,
        is_wanted: impl FnOnce() -> bool,
    ) -> Result<Option<Loan>, Busy> {
        match self.seats[victim].forks.get() {
            Some(forks) if is_worth_it(forks) => match self.forker(local) {
                Some(forker) => forker.take(local.seat, forks, is_wanted),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// For the worker that has forked `part` and waits for it: something that the worker which has taken `part` has
    /// forked in turn.
    pub(crate) fn take_part_of(&self, part: &Stub, local: &StealingLocal) -> PartOf<'_> {
        let taker = insist(|| if part.is_settled() { Ok(None) } else { part.taker().map(Some) });
        let Some(taker) = taker else { return PartOf::Settled };
        match insist(|| self.take_part(taker, local, Forks::has_parts, || !part.is_settled())) {
            Some(loan) => PartOf::Taken(loan),
            None => PartOf::NoneYet(self.seats[taker].forks.get().expect("a worker that takes parts has a stack")),
        }
    }

    pub(super) fn forks(&self) -> impl Iterator<Item = &Forks> {
        self.seats_shown().filter_map(|(_, seat)| seat.forks.get())
    }
}
