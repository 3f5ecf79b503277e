//! Requests to stop, such as Ctrl-C. While something is measured, the results so far are kept after the first, and the
//! program ends at once after the second; before and afterwards it does so after the first. (Two that are handled at
//! the same moment, by two threads, count as one.)

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag, low_level,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Tells whether the program was asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    /// The number of the signal, or none.
    signal: Arc<AtomicUsize>,
    /// Whether the next signal ends the program at once.
    again: Arc<AtomicBool>,
}

impl Interrupt {
    /// Handles signals from now on. If the system does not allow that, they end the program as usual.
    pub fn listen(&self) {
        for signal in [SIGINT, SIGTERM] {
            // In this order, because the first signal must not see the flag that it sets.
            let _ = flag::register_conditional_default(signal, Arc::clone(&self.again));
            let _ = flag::register(signal, Arc::clone(&self.again));
            let _ = flag::register_usize(signal, Arc::clone(&self.signal), signal as usize);
        }
    }

    /// From now on the first signal ends the program at once: nothing more is measured that could be kept.
    pub fn let_go(&self) {
        // Relaxed: it publishes nothing else.
        self.again.store(true, Ordering::Relaxed);
    }

    /// Whether the program was asked to stop.
    pub fn came(&self) -> bool {
        // Relaxed: it publishes nothing else.
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// As if a signal had come.
    #[cfg(test)]
    pub(crate) fn come(&self) {
        self.signal.store(SIGINT as usize, Ordering::Relaxed);
    }

    /// Ends the program as the signal would have, so that a script that called it ends, too. Returns if none came.
    pub fn obey(&self) {
        let signal = self.signal.load(Ordering::Relaxed);
        if signal != 0 {
            let _ = low_level::emulate_default_handler(signal as i32);
        }
    }
}
