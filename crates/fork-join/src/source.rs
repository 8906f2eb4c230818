//! The jobs as a pool of processors sees them.

use filch_processors::{Piece, Source};
use filch_sync::Arc;

use crate::current;
use crate::job::{JobRef, RunsPieces};
use crate::shared::Shared;
use crate::worker::{Found, Worker};

/// What a pool of processors sees of the jobs.
pub(crate) struct Jobs(pub(crate) Arc<Shared<Worker>>);

impl Source for Jobs {
    fn take(&self) -> Option<Piece> {
        let found = current::with_worker(&self.0, Worker::find)??;
        Some(match found.is_isolated {
            true => found.job.into_piece::<Taken<true>>(),
            false => found.job.into_piece::<Taken<false>>(),
        })
    }

    fn is_empty(&self) -> bool {
        !self.0.has_work()
    }
}

/// A job that such a pool has taken: it was forked in an isolated region, or not.
struct Taken<const IS_ISOLATED: bool>;

impl<const IS_ISOLATED: bool> RunsPieces<Worker> for Taken<IS_ISOLATED> {
    fn run(job: JobRef<Worker>) {
        current::with(|worker| match worker {
            Some(worker) => worker.run(Some(Found {
                job,
                is_isolated: IS_ISOLATED,
            })),
            None => unreachable!("the thread that took the job has a worker"),
        });
    }
}
