//! The jobs as a pool of processors sees them.

#[cfg(not(all(loom, feature = "loom")))]
use std::sync::Arc as StdArc;

use filch_processors::{ExternalTask, Source};
use filch_sync::Arc;

use crate::current;
#[cfg(not(all(loom, feature = "loom")))]
use crate::shared::Host;
use crate::shared::Shared;
use crate::worker::Worker;

/// The jobs of a pool, as the source of a pool of processors.
pub(crate) struct Jobs {
    pub(crate) shared: Arc<Shared>,
    /// Kept here if nobody else keeps it as long as there are threads.
    #[cfg(not(all(loom, feature = "loom")))] // where models keep it
    pub(crate) host: Option<StdArc<dyn Host>>,
}

impl Jobs {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            #[cfg(not(all(loom, feature = "loom")))]
            host: None,
        }
    }
}

impl Source for Jobs {
    fn take(&self) -> Option<ExternalTask> {
        // A thread that never finds one takes no slot.
        if !current::has_worker() && !self.shared.may_have_some() {
            return None;
        }
        let find = |worker: &Worker| {
            let found = worker.find();
            if found.is_none() {
                // Others need not insist on what this thread does not have.
                worker.share();
            }
            found
        };
        let found = current::with_worker(&self.shared, find)??;
        Some(found.into_external_task())
    }

    fn is_empty(&self) -> bool {
        // The calling thread's own deque is asked, too: it may give its place to another thread,
        // and fork in the call that blocks.
        !self.shared.has_work(None)
    }

    fn may_have_some(&self) -> bool {
        self.shared.leaves_some()
    }

    fn nudged(&self) -> bool {
        let run = || current::with_worker(&self.shared, Worker::run_one_for_this_thread);
        current::has_worker() && run() == Some(true)
    }

    fn request_yield(&self) {
        self.shared.request_yield();
    }
}
