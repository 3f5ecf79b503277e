//! On which cores workers are awake.

/// Each worker that has ever slept, and has not left, counts where it was when it last fell asleep, or to which core it
/// went to make way: there the system most likely wakes it, too. Where the system moves it while it is awake is not
/// known.
#[derive(Debug, Default)]
pub(super) struct Whereabouts {
    /// By worker; `None` where the core is not known.
    cores: Vec<Option<usize>>,
    /// How many workers are awake, by core.
    awake: Vec<usize>,
    /// On how many cores a worker is awake.
    occupied: usize,
}

impl Whereabouts {
    /// A thread on `core` takes the number `worker`, which no thread had, or one that counted as awake.
    pub(super) fn moves_in(&mut self, worker: usize, core: Option<usize>) {
        self.falls_asleep(worker, core);
        self.wakes(worker);
    }

    /// `worker`, which was awake, counts nowhere any more.
    pub(super) fn moves_out(&mut self, worker: usize) {
        self.falls_asleep(worker, None);
    }

    /// `worker`, which is new or was awake, falls asleep on `core`.
    pub(super) fn falls_asleep(&mut self, worker: usize, core: Option<usize>) {
        if let Some(core) = self.of(worker) {
            self.awake[core] -= 1;
            self.occupied -= usize::from(self.awake[core] == 0);
        }
        if self.cores.len() <= worker {
            self.cores.resize(worker + 1, None);
        }
        self.cores[worker] = core;
        // So that `wakes` allocates nothing: an allocator that submits jobs would get there again, in the middle of a
        // call.
        if let Some(core) = core
            && self.awake.len() <= core
        {
            self.awake.resize(core + 1, 0);
        }
    }

    /// `worker` no longer sleeps, or is about to be woken.
    pub(super) fn wakes(&mut self, worker: usize) {
        if let Some(core) = self.of(worker) {
            self.occupied += usize::from(self.awake[core] == 0);
            self.awake[core] += 1;
        }
    }

    /// On how many cores a worker is known to be awake.
    pub(super) fn occupied(&self) -> usize {
        self.occupied
    }

    /// Whether no worker is known to be awake on the core where `worker` sleeps.
    pub(super) fn has_quiet_core(&self, worker: usize) -> bool {
        self.of(worker).is_none_or(|core| self.awake.get(core).is_none_or(|&awake| awake == 0))
    }

    /// Whether `worker` counts on `core`.
    pub(super) fn is_on(&self, worker: usize, core: usize) -> bool {
        self.of(worker) == Some(core)
    }

    fn of(&self, worker: usize) -> Option<usize> {
        self.cores.get(worker).copied().flatten()
    }
}

#[cfg(test)]
impl Whereabouts {
    pub(super) fn assert_all_awake(&self) {
        assert_eq!(self.awake.iter().sum::<usize>(), self.cores.iter().flatten().count());
        assert_eq!(self.awake.iter().filter(|&&awake| awake > 0).count(), self.occupied);
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_awake_worker_counts_where_it_last_fell_asleep() {
        let mut whereabouts = Whereabouts::default();
        whereabouts.moves_in(0, Some(5));
        (1..=3).for_each(|worker| whereabouts.moves_in(worker, Some(2)));
        assert_eq!(whereabouts.occupied(), 2);
        whereabouts.falls_asleep(1, Some(5));
        whereabouts.falls_asleep(2, Some(3));
        whereabouts.falls_asleep(3, None);
        let quiet = |of: &Whereabouts| ([1, 2, 3].map(|worker| of.has_quiet_core(worker)), of.occupied());
        assert_eq!(quiet(&whereabouts), ([false, true, true], 1));
        whereabouts.falls_asleep(0, Some(3));
        assert_eq!(quiet(&whereabouts), ([true, true, true], 0));
        whereabouts.wakes(0);
        assert_eq!(quiet(&whereabouts), ([true, false, true], 1));
        whereabouts.moves_in(0, None);
        assert_eq!(quiet(&whereabouts), ([true, true, true], 0));
    }
}
