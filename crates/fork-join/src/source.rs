//! The jobs as a pool of processors sees them.

use filch_processors::{Piece, Source};
use filch_sync::Arc;

use crate::current;
use crate::shared::Shared;
use crate::worker::Worker;

/// What a pool of processors sees of the jobs.
pub(crate) struct Jobs(pub(crate) Arc<Shared<Worker>>);

impl Source for Jobs {
    fn take(&self) -> Option<Piece> {
        let found = current::with_worker(&self.0, Worker::find)??;
        let run = match found.is_isolated {
            true => current::run_isolated,
            false => current::run,
        };
        // SAFETY: it was taken out of its queue, so it is run once.
        Some(unsafe { Piece::new(found.job.into_raw(), run) })
    }

    fn is_empty(&self) -> bool {
        !self.0.has_work()
    }
}
