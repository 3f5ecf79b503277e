//! Restraint in asking the operating system for threads, after it has refused some.

/// An exponential back-off: how many requests are passed over after a refusal, before another thread is asked for.
/// None, one, three, and so on, or each job would cost a system call where threads have run out.
#[derive(Debug, Default)]
pub(super) struct Restraint {
    refusals: u32,
    passes: u32,
}

/// The most refusals in a row that make a difference: from then on one of 1024 requests is an attempt. Chosen freely:
/// with more, threads come later once the system grants them again; with less, jobs pay for more system calls that
/// fail.
const MOST_REFUSALS: u32 = 10;

impl Restraint {
    /// Whether this request is passed over.
    pub(super) fn passes_over(&mut self) -> bool {
        let passes = self.passes;
        self.passes = passes.saturating_sub(1);
        passes > 0
    }

    /// Counts one more refusal in a row.
    pub(super) fn count_refusal(&mut self) {
        self.passes = (1 << self.refusals) - 1;
        self.refusals = (self.refusals + 1).min(MOST_REFUSALS);
    }

    /// A thread was granted, or is to be asked for in any case.
    pub(super) fn end(&mut self) {
        *self = Restraint::default();
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn refused_requests_become_ever_rarer_attempts() {
        let mut restraint = Restraint::default();
        let mut attempts = |requests: usize| -> Vec<usize> {
            let is_attempt = |_: &usize| {
                let is_attempt = !restraint.passes_over();
                if is_attempt {
                    restraint.count_refusal();
                }
                is_attempt
            };
            (0..requests).filter(is_attempt).collect()
        };
        let refused = attempts(20_000);
        assert_eq!(refused[..5], [0, 1, 3, 7, 15]);
        assert_eq!(refused[refused.len() - 1] - refused[refused.len() - 2], 1024, "{refused:?}");
        restraint.end();
        assert!(!restraint.passes_over() && !restraint.passes_over());
    }
}
