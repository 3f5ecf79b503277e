//! A source that loom can follow.

use crate::{
    asymmetric_fence::{LightSide, heavy_fence},
    job::{IntoJob, Job},
    meter::Meter,
    source::{Source, Whom},
    sync::atomic::{
        AtomicUsize,
        Ordering::{AcqRel, Acquire, Release, SeqCst},
        fence,
    },
};
use std::{collections::VecDeque, sync::Mutex};

/// Like the source of the work-stealing pool: a tray for each worker and one for jobs from outside. Jobs that are moved
/// from one to another are in neither for a moment.
pub(super) struct ModelSource {
    common: Tray,
    own: Box<[Tray]>,
    /// One for each worker, and one for all other submitters, if they have the privilege of light fences. All have it
    /// all the time, or none.
    sides: Box<[LightSide]>,
    /// For seats beyond the last; no worker steals from it.
    late: Tray,
    /// How many of a number of jobs a search takes: one to run, the others to its worker's tray.
    share: fn(usize) -> usize,
}

/// Jobs, and their number. Whether there are any is seen by a load, as in our queues: no lock helps the
/// protocol.
#[derive(Default)]
pub(super) struct Tray {
    count: AtomicUsize,
    /// Not loom's: locked only between two steps of the model.
    jobs: Mutex<VecDeque<Job>>,
}

impl Tray {
    pub(super) fn put(&self, jobs: impl IntoIterator<Item = Job>) {
        let mut tray = self.jobs.lock().unwrap();
        let before = tray.len();
        tray.extend(jobs);
        let more = tray.len() - before;
        drop(tray);
        if more > 0 {
            self.count.fetch_add(more, Release);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count.load(Acquire)
    }

    /// Takes as many of the jobs as `share` returns for their number.
    fn take(&self, share: impl Fn(usize) -> usize) -> VecDeque<Job> {
        let mut seen = self.len();
        while seen > 0 {
            let claimed = share(seen);
            match self.count.compare_exchange(seen, seen - claimed, AcqRel, Acquire) {
                Ok(_) => return self.jobs.lock().unwrap().drain(..claimed).collect(),
                Err(now) => seen = now,
            }
        }
        VecDeque::new()
    }

    pub(super) fn take_one(&self) -> Option<Job> {
        self.take(|_| 1).pop_front()
    }
}

impl ModelSource {
    pub(super) fn new(workers: usize, share: fn(usize) -> usize) -> Self {
        let own = (0..workers).map(|_| Tray::default()).collect();
        let sides = (0..=workers).map(|_| LightSide::default()).collect();
        ModelSource { common: Tray::default(), own, sides, late: Tray::default(), share }
    }

    /// The same with a fence at each push.
    pub(super) fn without_privileges(self) -> Self {
        ModelSource { sides: Box::default(), ..self }
    }

    fn tray(&self, seat: usize) -> &Tray {
        self.own.get(seat).unwrap_or(&self.late)
    }
}

impl Source for ModelSource {
    type Address = ();
    type Local = usize;

    fn attach(&self, seat: Option<usize>) -> usize {
        seat.unwrap_or(self.own.len() + 1) // beyond the side of submitters, which is another thread's
    }

    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.common.put([job.into_job()]);
        Whom::Anyone
    }

    fn push(&self, &seat: &usize, (): (), job: impl IntoJob) -> Result<Whom, Job> {
        self.tray(seat).put([job.into_job()]);
        Ok(Whom::Anyone)
    }

    fn fence_pushes(&self, giver: Option<&usize>) {
        match self.sides.get(giver.map_or(self.own.len(), |&seat| seat)) {
            Some(side) => side.fence(),
            None => fence(SeqCst),
        }
    }

    fn spares_fences(&self, _seat: Option<&usize>) -> bool {
        !self.sides.is_empty()
    }

    fn recall(&self, seat: Option<&usize>) {
        if !self.sides.is_empty() {
            let others = self.sides.iter().enumerate().filter(|&(other, _)| Some(&other) != seat);
            heavy_fence(others.map(|(_, side)| side));
        }
    }

    fn is_lone(&self, &seat: &usize, (): ()) -> bool {
        self.tray(seat).len() <= 1
    }

    fn run_next(&self, &seat: &usize) -> bool {
        self.tray(seat).take_one().map(Job::run).is_some()
    }

    fn pop_outside(&self, _seat: &usize, _period: usize, _meter: &Meter) -> Option<Job> {
        self.common.take_one()
    }

    fn search(&self, &seat: &usize, _meter: &Meter) -> Option<Job> {
        self.tray(seat).take_one().or_else(|| {
            let neighbours = (1..self.own.len()).map(|distance| &self.own[(seat + distance) % self.own.len()]);
            let mut jobs = [&self.common].into_iter().chain(neighbours).find_map(|tray| {
                let jobs = tray.take(self.share);
                (!jobs.is_empty()).then_some(jobs)
            })?;
            let first = jobs.pop_front();
            self.tray(seat).put(jobs);
            first
        })
    }

    fn take(&self) -> Option<Job> {
        [&self.common].into_iter().chain(&self.own).find_map(Tray::take_one)
    }

    fn take_owed_call(&self, &seat: &usize) -> bool {
        self.tray(seat).len() > 0
    }

    fn shows_by_taking(&self, _seat: &usize) -> bool {
        true // both are steps of one count
    }

    fn has_crowds(&self, _seat: &usize) -> bool {
        [&self.common].into_iter().any(|tray| tray.len() > 0) || self.own.iter().any(|tray| tray.len() > 1)
    }

    fn has_jobs(&self) -> bool {
        self.len() > 0
    }

    fn len(&self) -> usize {
        [&self.common].into_iter().chain(&self.own).map(Tray::len).sum()
    }
}
