//! The pool's threads, as jobs know them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;

use filch_parker::AdaptiveSpinner;
use filch_processors::{AnyPool, PoolHandle};
use filch_sync::panic::discard;
use filch_sync::{Arc, asymmetric};

use crate::api::config::OnPanic;
use crate::job::Payload;
use crate::shared::{Host, Shared};

/// Rounds of looking for work between which a thread that waits pauses.
const PAUSING_ROUNDS: u32 = 12;
/// Rounds after those, between which it gives its core to others.
const YIELDING_ROUNDS: u32 = 20;

/// The threads of a pool, as its jobs see them.
pub(crate) struct PoolHost {
    pub(crate) threads: HostThreads,
    pub(crate) on_panic: Option<OnPanic>,
}

/// The threads that run the jobs.
pub(crate) enum HostThreads {
    /// The caller is the only one.
    None,
    /// The pool's.
    Own(PoolHandle),
    /// Another scheduler's, which keeps this host, and has to run other things beside jobs.
    Lent(Weak<dyn AnyPool>),
}

impl PoolHost {
    fn with<R>(&self, with: impl FnOnce(&PoolHandle) -> R) -> Option<R> {
        match &self.threads {
            HostThreads::None => None,
            HostThreads::Own(threads) => Some(with(threads)),
            HostThreads::Lent(threads) => threads.upgrade().as_ref().map(with),
        }
    }
}

impl Host for PoolHost {
    fn notify(&self) {
        self.with(|threads| threads.notify());
    }

    fn nudge_threads(&self) {
        self.with(|threads| threads.nudge_threads());
    }

    fn block(&self, call: &mut dyn FnMut()) {
        let blocked = self.with(|threads| threads.blocking(call));
        if blocked.is_none() {
            call();
        }
    }

    fn rest(&self, sleep: &mut dyn FnMut()) {
        match self.threads {
            HostThreads::Lent(_) => self.block(sleep),
            HostThreads::None | HostThreads::Own(_) => sleep(),
        }
    }

    fn yield_if_requested(&self) {
        self.with(|threads| threads.yield_if_requested());
    }

    fn is_ending(&self) -> bool {
        match &self.threads {
            HostThreads::Lent(_) => self.with(|threads| threads.is_ending()) != Some(false),
            HostThreads::None | HostThreads::Own(_) => false,
        }
    }

    fn tell_panic(&self, payload: Payload) {
        let told = catch_unwind(AssertUnwindSafe(|| match &self.on_panic {
            Some(tell) => tell(payload),
            None => discard(payload),
        }));
        if let Err(payload) = told {
            discard(payload);
        }
    }
}

/// Makes the state that the workers of a pool with this host share.
pub(crate) fn shared(host: &Arc<dyn Host>, nested_jobs: Option<u32>) -> Arc<Shared> {
    asymmetric::register_aside();
    let patience = AdaptiveSpinner::with_rounds(PAUSING_ROUNDS, YIELDING_ROUNDS);
    let nested_jobs = nested_jobs.unwrap_or(u32::MAX);
    Arc::new(Shared::new(Arc::downgrade(host), patience, nested_jobs))
}
