//! What a user may choose of an elastic pool, and how it comes to be.

use super::{CHARTER, Growth, KEEP_ALIVE, Saturation, ThreadPool, handle::Handle};
use crate::{
    builder::{Build, Builder, sealed::Recipe},
    crew::Terms,
    error::{BuildError, BuildErrorKind},
    options::{MAX_THREADS, Options, Placement},
};
use std::time::Duration;

/// What only an elastic pool lets its users choose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra {
    core: Option<usize>,
    max: Option<usize>,
    keep_alive: Option<Duration>,
    growth: Growth,
    saturation: Saturation,
}

impl Extra {
    fn terms(&self, options: &Options) -> Result<Terms, BuildError> {
        let (core, max) = match (self.core, self.max, options.threads) {
            (Some(core), Some(max), _) => (core, max),
            (Some(core), None, Some(threads)) => (core, threads),
            (None, Some(max), Some(threads)) => (threads, max),
            (None, None, Some(threads)) => (threads, threads),
            (Some(core), None, None) => (core, core.saturating_mul(2).clamp(1, MAX_THREADS)),
            (None, Some(max), None) => (options.thread_count()?.min(max), max),
            (None, None, None) => {
                let core = options.thread_count()?;
                (core, core.saturating_mul(2).min(MAX_THREADS))
            }
        };
        Options { threads: Some(max), ..options.clone() }.thread_count()?;
        if core > max {
            return Err(BuildErrorKind::CoreAboveMax { core, max }.into());
        }
        let keep_alive = self.keep_alive.unwrap_or(KEEP_ALIVE);
        if keep_alive.is_zero() {
            return Err(BuildErrorKind::NoKeepAlive.into());
        }
        Ok(Terms { core, max, only_replaces: self.growth == Growth::WhenBlocked, keep_alive })
    }
}

/// What only an elastic pool has.
impl Builder<ThreadPool> {
    /// How many workers stay, once jobs have brought them. The default is `threads`, or as many as there are cores.
    pub fn core(mut self, workers: usize) -> Self {
        self.extra.core = Some(workers);
        self
    }

    /// How many workers there are at most. The default is `threads`, or twice the core.
    pub fn max(mut self, workers: usize) -> Self {
        self.extra.max = Some(workers);
        self
    }

    /// How long a worker beyond the core stays idle before it leaves. The default is [`KEEP_ALIVE`].
    pub fn keep_alive(mut self, keep_alive: Duration) -> Self {
        self.extra.keep_alive = Some(keep_alive);
        self
    }

    /// When the pool grows beyond its core. The default is [`Growth::WhenBusy`].
    pub fn growth(mut self, growth: Growth) -> Self {
        self.extra.growth = growth;
        self
    }

    /// What becomes of a job when the maximum is reached and all are busy. The default is [`Saturation::Queue`].
    pub fn when_saturated(mut self, saturation: Saturation) -> Self {
        self.extra.saturation = saturation;
        self
    }
}

impl Build for ThreadPool {}

impl Recipe for ThreadPool {
    type Extra = Extra;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(mut options: Options, extra: Extra) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        if options.placement == Placement::Auto {
            // Its jobs block, and its workers come and go: a core to each would be a core to none.
            options.placement = Placement::Floating;
        }
        let terms = extra.terms(&options)?;
        if extra.saturation == (Saturation::DiscardOldest { queue: 0 }) {
            return Err(BuildErrorKind::NothingToDiscard.into());
        }
        // A thread that cannot have its name would be noticed by its first job otherwise.
        options.thread_name(0, CHARTER.thread_name)?;
        Ok(ThreadPool { handle: Handle::new(terms, extra.saturation, options) })
    }
}
