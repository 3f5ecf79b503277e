//! draft
use crate::{
    builder::{Build, Builder, sealed::Recipe},
    crew::{Charter, Handle},
    error::BuildError,
    mailbox::Mailboxes,
    options::{Fairness, Idle, Options},
    parker::{self, DynamicThreadData, StaticParker},
    pool::{impl_futures_executor, impl_pool},
    source::mail::MailSource,
};
use std::{sync::Arc, time::Duration};

const CHARTER: Charter = Charter {
    label: "burst_pool",
    thread_name: |worker| format!("burst-pool-worker-{worker}"),
    idle: Idle::Park { spin: Duration::ZERO },
    fairness: Fairness::Counted(1024),
};

/// x
#[derive(Clone, Debug)]
pub struct ThreadPool {
    handle: Handle<MailSource<false>, StaticParker<DynamicThreadData>>,
}

impl ThreadPool {
    /// x
    pub fn builder() -> Builder<ThreadPool> {
        Builder::new(true)
    }
}
impl Builder<ThreadPool> {
    /// x
    pub fn stealing(mut self, steals: bool) -> Self {
        self.extra = steals;
        self
    }
}

impl Build for ThreadPool {}

impl Recipe for ThreadPool {
    type Extra = bool;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, steals: bool) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        let threads = options.thread_count()?;
        let source = MailSource::new(Arc::new(Mailboxes::new(threads)), steals);
        let handle = Handle::start(threads, source, parker::dynamic(), CHARTER, options)?;
        Ok(ThreadPool { handle })
    }
}
impl_pool!(ThreadPool);
impl_futures_executor!(ThreadPool);
