//! The workers that sleep, in the order in which they fell asleep.

use std::iter;

/// A list of workers, each of which is on it at most once. However many there are, taking one off takes the same time,
/// and searching for one takes no more than a certain time.
#[derive(Debug, Default)]
pub(super) struct Sleepers {
    /// By worker; `None` for those that are not on the list.
    neighbours: Vec<Option<Neighbours>>,
    last: Option<usize>,
}

/// The sleepers that fell asleep just before and just after this one.
#[derive(Debug, Clone, Copy)]
struct Neighbours {
    before: Option<usize>,
    after: Option<usize>,
}

/// A search for a sleeper that suits looks at this many at most. A guess: a lock is held meanwhile.
const LOOKED_AT: usize = 64;

impl Sleepers {
    /// Puts `worker`, which must not be on the list, at its end.
    pub(super) fn push(&mut self, worker: usize) {
        if self.neighbours.len() <= worker {
            self.neighbours.resize(worker + 1, None);
        }
        debug_assert!(self.neighbours[worker].is_none(), "{worker} sleeps already");
        self.neighbours[worker] = Some(Neighbours { before: self.last, after: None });
        if let Some(before) = self.last.replace(worker) {
            self.of(before).after = Some(worker);
        }
    }

    /// Takes the last off the list.
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.pop_where(|_| true)
    }

    /// Takes the last sleeper that `suits` off the list, if one of the last [`LOOKED_AT`] does.
    pub(super) fn pop_where(&mut self, suits: impl Fn(usize) -> bool) -> Option<usize> {
        let mut last_ones = iter::successors(self.last, |&worker| self.neighbours[worker]?.before).take(LOOKED_AT);
        let worker = last_ones.find(|&worker| suits(worker))?;
        self.remove(worker);
        Some(worker)
    }

    /// Takes `worker` off the list; returns whether it was on it.
    pub(super) fn remove(&mut self, worker: usize) -> bool {
        let Some(Neighbours { before, after }) = self.neighbours.get_mut(worker).and_then(Option::take) else {
            return false;
        };
        if let Some(before) = before {
            self.of(before).after = after;
        }
        match after {
            Some(after) => self.of(after).before = before,
            None => self.last = before,
        }
        true
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    fn of(&mut self, sleeper: usize) -> &mut Neighbours {
        self.neighbours[sleeper].as_mut().expect("a neighbour of a sleeper on the list is on it")
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// A list as simple as can be.
    #[derive(Default)]
    struct Oracle(Vec<usize>);

    impl Oracle {
        fn remove(&mut self, worker: usize) -> bool {
            let place = self.0.iter().position(|&sleeper| sleeper == worker);
            place.map(|place| self.0.remove(place)).is_some()
        }

        fn pop_where(&mut self, suits: impl Fn(usize) -> bool) -> Option<usize> {
            let place = self.0.iter().rposition(|&sleeper| suits(sleeper))?;
            Some(self.0.remove(place))
        }
    }

    #[test]
    fn sleepers_keep_their_order_when_another_is_removed() {
        const WORKERS: usize = 7;
        let (mut sleepers, mut oracle) = (Sleepers::default(), Oracle::default());
        // All numbers below 2^16 come up, in no order that means anything.
        let mut state = 1_usize;
        for _ in 0..100_000 {
            state = (state * 20_077 + 12_345) % (1 << 16);
            let (worker, deed) = ((state >> 3) % WORKERS, (state >> 9) % 4);
            match deed {
                0 => {
                    let suits = |sleeper| sleeper % 3 == worker % 3;
                    assert_eq!(sleepers.pop_where(suits), oracle.pop_where(suits));
                }
                1 => assert_eq!(sleepers.remove(worker), oracle.remove(worker)),
                _ if oracle.0.contains(&worker) => {}
                _ => {
                    sleepers.push(worker);
                    oracle.0.push(worker);
                }
            }
        }
        let rest: Vec<usize> = std::iter::from_fn(|| sleepers.pop()).collect();
        oracle.0.reverse();
        assert_eq!(rest, oracle.0);
    }

    #[test]
    fn only_the_last_sleepers_are_looked_at() {
        for (worker, taken) in [(1, Some(1)), (0, None)] {
            let mut sleepers = Sleepers::default();
            (0..=LOOKED_AT).for_each(|worker| sleepers.push(worker));
            assert_eq!(sleepers.pop_where(|sleeper| sleeper == worker), taken);
        }
    }
}
