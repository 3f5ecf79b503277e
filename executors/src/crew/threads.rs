//! The threads of a crew, from their start to their real end.
//!
//! A thread is counted before it starts, and signs off as its last act: step 5 of "The end" in `crew/README.md`.

use super::{Crew, worker::Worker};
use crate::{
    containment::guard,
    error::{BuildError, BuildErrorKind},
    parker::Parker,
    placement::{Outset, cores, place_current_thread},
    source::Source,
    sync::thread,
};
use std::{
    io,
    sync::{Arc, PoisonError},
};

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Starts the workers who are there from the beginning, of a fixed number; all of them or none.
    pub(super) fn start(self: &Arc<Self>) -> Result<(), BuildError> {
        debug_assert!(!S::ELASTIC);
        let threads = self.terms.core;
        for worker in (0..threads).filter(|&seat| !self.cold.contain(seat)) {
            if let Err(error) = self.spawn_worker(worker) {
                self.close();
                self.join_threads();
                return Err(error.into_build_error(Some((worker, threads))));
            }
        }
        Ok(())
    }

    /// Starts the worker of the next cold seat, if that is due. Returns whether it comes: not if the crew is over, and
    /// not if the operating system refuses it; then the others do its work.
    pub(super) fn start_late(&self, is_due: impl FnOnce() -> bool) -> bool {
        let start = |seat| {
            // So that no hooks are called behind those who have waited for the end.
            if !self.life.late_thread_starts() {
                return Err(None);
            }
            self.myself().spawn_counted_worker(seat).map_err(|refused| Some((seat, refused)))
        };
        // Logged when no lock is held any more: a logger may give a job to this pool.
        self.cold.start_one(is_due, start).unwrap_or_else(|refused| {
            if let Some((seat, refused)) = refused {
                let refused = refused.into_build_error(None);
                guard(|| log::error!("{} goes on without worker {seat}: {refused}", self.name()));
            }
            false
        })
    }

    /// Starts the worker on `seat`.
    pub(super) fn spawn_worker(self: &Arc<Self>, seat: usize) -> Result<(), SpawnError> {
        self.life.thread_starts();
        self.spawn_counted_worker(seat)
    }

    /// If it has a hook to call, which may give jobs, it is active from now on: so the end waits for that.
    fn spawn_counted_worker(self: &Arc<Self>, seat: usize) -> Result<(), SpawnError> {
        let has_hook = self.options.on_start.is_some();
        if has_hook {
            self.life.become_active();
        }
        let spawned = self.spawn_counted(seat, |crew, seat| Worker::new(crew, seat).work());
        if spawned.is_err() && has_hook {
            self.become_idle(false);
            // It may have been the last active one.
            self.is_over();
        }
        spawned
    }

    /// Starts a thread for `seat`, on its core if it has one, that does `work`.
    pub(super) fn spawn(self: &Arc<Self>, seat: usize, work: fn(&Arc<Self>, usize)) -> Result<(), SpawnError> {
        self.life.thread_starts();
        self.spawn_counted(seat, work)
    }

    /// The same for a thread that counts already, and does not any more if it is refused.
    fn spawn_counted(self: &Arc<Self>, seat: usize, work: fn(&Arc<Self>, usize)) -> Result<(), SpawnError> {
        let spawned = self.spawn_thread(seat, work);
        if spawned.is_err() {
            self.life.thread_ended();
        }
        spawned
    }

    fn spawn_thread(self: &Arc<Self>, seat: usize, work: fn(&Arc<Self>, usize)) -> Result<(), SpawnError> {
        let name = self.options.thread_name(seat, self.charter.thread_name).map_err(SpawnError::Name)?;
        let mut builder = thread::Builder::new().name(name);
        if let Some(bytes) = self.options.stack_size {
            builder = builder.stack_size(bytes);
        }
        let core = self.cores.get(seat).copied();
        let outset = (core.is_none() && self.starts_apart(seat)).then(Arc::<Outset>::default);
        let (crew, begins) = (Arc::clone(self), outset.clone());
        let spawned = builder.spawn(move || {
            crew.employer.employ();
            let departure = Departure { crew, seat };
            if let Some(outset) = begins {
                outset.begin();
            }
            place_current_thread(core, &departure.crew.mask);
            work(&departure.crew, seat);
        });
        if let (Ok(thread), Some(outset)) = (&spawned, outset) {
            outset.send_elsewhere(thread, &self.mask);
        }
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if S::ELASTIC && threads.len() == threads.capacity() {
            threads.retain(|thread| !thread::has_ended(thread));
        }
        threads.push(spawned.map_err(SpawnError::Thread)?);
        Ok(())
    }

    /// Whether a thread on `seat` should begin on another core than the caller's: if that is a worker's which works on.
    /// Not if it is one of more threads than there are cores: no core waits for it.
    fn starts_apart(&self, seat: usize) -> bool {
        seat < cores() && self.with_this_worker(|starter| starter.is_some_and(Worker::works_on))
    }

    /// Waits until the threads of a crew that is over have really ended.
    pub(super) fn join_threads(&self) {
        // The destructor of a thread-local that a job has left may ask for this, on a thread that others wait for.
        if self.employer.has_employed_this_thread() {
            return;
        }
        // Locked until all have ended, so that of several callers none returns before.
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A worker contains all panics, so there is nothing to learn from the result.
            let _ = thread.join();
        }
    }
}

/// Signs a thread off when it ends, however it ends.
struct Departure<S: Source, P> {
    crew: Arc<Crew<S, P>>,
    seat: usize,
}

impl<S: Source, P> Drop for Departure<S, P> {
    fn drop(&mut self) {
        self.crew.vacancies.give_back(self.seat);
        self.crew.life.thread_ended();
    }
}

pub(super) enum SpawnError {
    Name(BuildError),
    Thread(io::Error),
}

impl SpawnError {
    /// For a thread of so many, if their number was known beforehand.
    pub(super) fn into_build_error(self, one_of: Option<(usize, usize)>) -> BuildError {
        match (self, one_of) {
            (SpawnError::Name(error), _) => error,
            (SpawnError::Thread(source), Some((worker, threads))) => {
                BuildErrorKind::Spawn { worker: Some(worker), threads, source }.into()
            }
            (SpawnError::Thread(source), None) => BuildErrorKind::Spawn { worker: None, threads: 1, source }.into(),
        }
    }
}

#[cfg(all(test, target_os = "linux", feature = "cb-channel-exec", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{crew::ending::tests::setup, job::Closure, local, options::Options};
    use std::sync::mpsc;

    #[test]
    fn a_thread_starts_apart_from_a_job_that_goes_on_as_far_as_there_are_cores() {
        let crew = Crew::found(setup(1..1, Options::new()));
        crew.start().expect("the thread is not refused");
        let (tell, told) = mpsc::channel();
        let asked = Arc::clone(&crew);
        crew.put_from_outside(
            (),
            Closure(move || {
                let blocking = local::blocking(|| asked.starts_apart(0));
                let answers = [asked.starts_apart(0), blocking, asked.starts_apart(cores())];
                tell.send(answers).expect("the test listens");
            }),
        );
        assert_eq!(told.recv(), Ok([true, false, false]));
        assert!(!crew.starts_apart(0), "this thread is none of its workers");
        crew.close();
        crew.join_threads();
    }
}
