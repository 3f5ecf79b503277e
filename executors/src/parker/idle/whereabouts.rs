//! On which cores workers are awake.

/// Each worker counts where it was when it introduced itself, or last fell asleep: there the system most likely wakes
/// it, too. Where it goes while it is awake is not known. Whoever left counts until somebody else has its number.
#[derive(Debug, Default)]
pub(super) struct Whereabouts {
    /// By worker; `None` where the system does not tell.
    cores: Vec<Option<usize>>,
    /// By core, how many.
    awake: Vec<usize>,
}

impl Whereabouts {
    /// A thread on `core` takes the number `worker`, on which nobody was, or a thread that counted as awake.
    pub(super) fn moves_in(&mut self, worker: usize, core: Option<usize>) {
        self.falls_asleep(worker, core);
        self.wakes(worker);
    }

    pub(super) fn falls_asleep(&mut self, worker: usize, core: Option<usize>) {
        if let Some(core) = self.of(worker) {
            self.awake[core] -= 1;
        }
        if self.cores.len() <= worker {
            self.cores.resize(worker + 1, None);
        }
        self.cores[worker] = core;
    }

    /// `worker` no longer sleeps, or is about to be woken.
    pub(super) fn wakes(&mut self, worker: usize) {
        if let Some(core) = self.of(worker) {
            if self.awake.len() <= core {
                self.awake.resize(core + 1, 0);
            }
            self.awake[core] += 1;
        }
    }

    /// Whether nobody is known to be awake where `worker` sleeps.
    pub(super) fn is_alone(&self, worker: usize) -> bool {
        self.of(worker).is_none_or(|core| self.awake.get(core).is_none_or(|&awake| awake == 0))
    }

    fn of(&self, worker: usize) -> Option<usize> {
        self.cores.get(worker).copied().flatten()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_is_awake_counts_where_it_last_fell_asleep() {
        let mut whereabouts = Whereabouts::default();
        whereabouts.moves_in(0, Some(5));
        (1..=3).for_each(|worker| whereabouts.moves_in(worker, Some(2)));
        whereabouts.falls_asleep(1, Some(5));
        whereabouts.falls_asleep(2, Some(3));
        whereabouts.falls_asleep(3, None);
        let alone = |whereabouts: &Whereabouts| [1, 2, 3].map(|worker| whereabouts.is_alone(worker));
        assert_eq!(alone(&whereabouts), [false, true, true]);
        whereabouts.falls_asleep(0, Some(3));
        assert_eq!(alone(&whereabouts), [true, true, true]);
        whereabouts.wakes(0);
        assert_eq!(alone(&whereabouts), [true, false, true]);
        whereabouts.moves_in(0, None);
        assert_eq!(alone(&whereabouts), [true, true, true]);
    }
}
