//! Jobs that are dealt to workers: a mailbox for each worker. See `burst_pool/README.md`.

use super::{Source, Whom};
use crate::{
    job::{IntoJob, Job},
    mailbox::{Claim, Mailboxes},
    meter::Meter,
};
use std::{cell::Cell, sync::Arc};

/// `GROWS` if workers are added one by one.
pub(crate) struct MailSource<const GROWS: bool> {
    boxes: Arc<Mailboxes<Job>>,
    theft: Theft,
}

/// Whether a worker that has nothing to do, or has run many jobs of its own, takes what lies in the mailboxes of
/// others; and for which worker that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theft {
    Never,
    /// For the thief, which claims itself before it takes anything: dealers pass it by.
    OnOwnAccount,
    /// For the worker to which it was dealt. `burst_pool/README.md` says which pools need that.
    OnOthersAccount,
}

pub(crate) struct MailLocal {
    /// The seat whose mailbox letters for it are dealt to, if any are.
    seat: Option<usize>,
    /// The mailbox for which the job that the worker has taken last counts, until it is settled.
    owes: Cell<Option<usize>>,
    /// The mailbox that it searches first when it steals: the next after the one in which it found a job last. So none
    /// is passed over for ever because another one, searched before it, always has letters.
    next_victim: Cell<usize>,
}

impl<const GROWS: bool> MailSource<GROWS> {
    pub(crate) fn new(boxes: Arc<Mailboxes<Job>>, theft: Theft) -> Self {
        MailSource { boxes, theft }
    }

    pub(crate) fn boxes(&self) -> &Mailboxes<Job> {
        &self.boxes
    }

    fn steals(&self) -> bool {
        self.theft != Theft::Never
    }

    /// Puts the job into the mailbox for which it was promised.
    #[inline]
    pub(crate) fn put(&self, claim: Claim, job: impl IntoJob) -> Whom {
        self.boxes.put(claim, job.into_job());
        // The owner also if it is busy: it may fall asleep before the job is there.
        if self.steals() { Whom::Anyone } else { Whom::Owner(claim.worker) }
    }

    /// The worker's previous job has ended.
    #[inline]
    fn settle(&self, local: &MailLocal) {
        if let Some(worker) = local.owes.take() {
            self.boxes.settle(worker);
        }
    }

    fn take_own(&self, local: &MailLocal) -> Option<Job> {
        let seat = local.seat?;
        let job = self.boxes.take(seat)?;
        local.owes.set(Some(seat));
        Some(job)
    }

    /// Takes a job out of the mailbox of another worker, each of them in turn, for the worker on `seat`.
    fn steal(&self, local: &MailLocal, seat: usize, meter: &Meter) -> Option<Job> {
        if !self.steals() || !self.boxes.has_letters() {
            return None;
        }
        // Before it takes anything, so that no dealer takes it for idle. If it has been promised a job already, or does
        // not claim itself, what is dealt to it waits, and others may take it.
        let is_own = self.theft == Theft::OnOwnAccount && self.boxes.claim(seat);
        let taken = self.boxes.steal(seat, local.next_victim.get());
        if is_own {
            let done = taken.as_ref().map_or(seat, |&(_, dealt_to)| dealt_to);
            self.boxes.settle(done);
        }
        let (job, dealt_to) = taken?;
        local.next_victim.set(dealt_to + 1);
        meter.stole();
        local.owes.set(Some(if is_own { seat } else { dealt_to }));
        Some(job)
    }
}

impl<const GROWS: bool> Source for MailSource<GROWS> {
    const ELASTIC: bool = GROWS;

    type Address = ();
    type Local = MailLocal;

    fn attach(&self, seat: Option<usize>) -> MailLocal {
        MailLocal { seat, owes: Cell::new(None), next_victim: Cell::new(seat.map_or(0, |seat| seat + 1)) }
    }

    #[inline]
    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        let claim = self.boxes.claim_any().expect("no job is submitted to a pool without workers");
        self.put(claim, job)
    }

    #[inline]
    fn push(&self, local: &MailLocal, (): (), job: impl IntoJob) -> Result<Whom, Job> {
        // The first worker's start hook may come here before any worker is dealt to.
        let claim = self.boxes.claim_any().or_else(|| local.seat.map(|seat| self.boxes.promise(seat)));
        Ok(self.put(claim.expect("a pool without workers has no jobs that give others"), job))
    }

    #[inline]
    fn run_next(&self, local: &MailLocal) -> bool {
        self.settle(local);
        self.take_own(local).map(Job::run).is_some()
    }

    fn search(&self, local: &MailLocal, meter: &Meter) -> Option<Job> {
        self.settle(local);
        let Some(seat) = local.seat else {
            let (job, dealt_to) = self.boxes.take_any()?;
            local.owes.set(Some(dealt_to));
            return Some(job);
        };
        self.take_own(local).or_else(|| self.steal(local, seat, meter))
    }

    /// Letters of a worker whose job blocks would wait for ever if the others always had some of their own.
    fn pop_outside(&self, local: &MailLocal, _period: usize, meter: &Meter) -> Option<Job> {
        self.settle(local);
        self.steal(local, local.seat?, meter)
    }

    fn take(&self) -> Option<Job> {
        let (job, dealt_to) = self.boxes.take_any()?;
        self.boxes.settle(dealt_to);
        Some(job)
    }

    fn has_jobs(&self) -> bool {
        self.steals() && self.boxes.has_letters()
    }

    fn has_unfinished(&self) -> bool {
        !self.boxes.all_settled()
    }

    fn has_jobs_for(&self, local: &MailLocal) -> bool {
        match local.seat {
            Some(seat) if !self.steals() => self.boxes.has_letters_for(seat),
            _ => self.boxes.has_letters(),
        }
    }

    fn len(&self) -> usize {
        self.boxes.len()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, sync::Mutex};

    /// All others are blocked, and the thief and one of them are dealt new letters again and again.
    #[test]
    fn no_mailbox_is_passed_over_for_ever() {
        let boxes = Arc::new(Mailboxes::new(4));
        let source = MailSource::<false>::new(Arc::clone(&boxes), Theft::OnOwnAccount);
        let ran = Arc::new(Mutex::new(BTreeSet::new()));
        let deal = |worker| {
            let ran = Arc::clone(&ran);
            boxes.put(boxes.promise(worker), Job::new(move || _ = ran.lock().expect("no panic").insert(worker)));
        };
        (0..4).for_each(deal);
        let thief = source.attach(Some(2));
        for _ in 0..3 {
            source.pop_outside(&thief, 1, &Meter::default()).expect("there are letters").run();
            [2, 3].into_iter().for_each(deal);
        }
        assert_eq!(*ran.lock().expect("no panic"), BTreeSet::from([0, 1, 3]), "and it takes none of its own");
    }
}
