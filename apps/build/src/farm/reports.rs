//! The ends of runs, as a worker reports them.

use std::sync::Arc;

use tokio::time::Instant;
use tonic::Status;

use super::failure::Failure;
use super::run::Work;
use super::session::Session;
use super::workers::failure_of;
use crate::protocol::{self, Done, done};
use crate::reapi::ActionResult;
use crate::storage::StoredResult;

impl Session {
    /// Takes the end of a run.
    pub(super) async fn done(&mut self, done: Done) -> Result<(), Status> {
        let number = done.run;
        // The run stays in the map until the message is known to be good.
        let Some(work) = self.running.get(&number).cloned() else {
            let not = format!("Done for run {number}, which is not one that this worker runs");
            return Err(Status::invalid_argument(not));
        };
        let (pool, id, job) = (Arc::clone(&self.pool), self.id, work.job);
        match done.outcome {
            Some(done::Outcome::Result(bytes)) => match self.check(number, bytes).await? {
                Some(mut result) => {
                    if let Some(metadata) = &mut result.execution_metadata {
                        metadata.queued_timestamp = work.run.queued;
                        metadata.worker.clone_from(&self.name);
                    }
                    work.run.end(|| {
                        let scheduler = &pool.scheduler;
                        drop(scheduler.on_job_complete(id, job, Ok(Arc::new(result))));
                        // The artifact is the job: the worker announces its blobs itself.
                        drop(scheduler.remove_artifact(id, job));
                    });
                }
                // The storage may have lost them just now; a liar has as many attempts as others.
                None => {
                    let absent = "its result names blobs that are not in the storage";
                    self.elsewhere(&work, absent);
                }
            },
            Some(done::Outcome::Failure(failure)) if failure.elsewhere => {
                self.elsewhere(&work, &failure.message);
            }
            Some(done::Outcome::Failure(failure)) => match self.missing(failure).await? {
                Some(failure) => {
                    let tell = || drop(pool.scheduler.on_job_failed(id, job, Err(failure)));
                    work.run.end(tell);
                }
                None => self.elsewhere(&work, "it misses blobs that are in the storage"),
            },
            None => return Err(Status::invalid_argument("Done without an outcome")),
        }
        self.running.remove(&number);
        self.update(|worker| worker.running.retain(|running| running.run != number));
        Ok(())
    }

    /// Checks the failure; returns it unless the blobs that it misses are there.
    async fn missing(&self, failure: protocol::Failure) -> Result<Option<Failure>, Status> {
        let failure = failure_of(failure)?;
        if failure.missing.is_empty() {
            return Ok(Some(failure));
        }
        let missing = self.shared.storage.blobs.missing(failure.missing).await?;
        Ok((!missing.is_empty()).then(|| Failure::missing(missing)))
    }

    /// Sends the action back to the queue, for another worker, and pauses this one.
    fn elsewhere(&mut self, work: &Work, message: &str) {
        self.release();
        self.paused_until = Some(Instant::now() + self.shared.config.pause);
        let why = format!("{}: {message}", self.name);
        tracing::warn!("the worker {why}");
        if self.give_up(work, why) {
            drop(self.pool.scheduler.withdraw_job(work.job));
        }
    }

    /// Records that the worker will not finish the action; returns true if another one may.
    pub(super) fn give_up(&self, work: &Work, why: String) -> bool {
        let (scheduler, job) = (&self.pool.scheduler, work.job);
        work.run.failed(why, &self.shared.builds, |failure| {
            drop(scheduler.on_job_failed(self.id, job, Err(failure)));
        })
    }

    /// Decodes the result; returns it if all its blobs are there.
    async fn check(&self, number: u64, bytes: Vec<u8>) -> Result<Option<ActionResult>, Status> {
        let invalid =
            |what: String| Status::invalid_argument(format!("Done for run {number}: {what}"));
        let result = StoredResult::new(bytes.into());
        let result = result.map_err(|error| invalid(error.to_string()))?;
        let complete = self.shared.storage.results.is_complete(&result).await?;
        Ok(complete.then(|| result.into_message()))
    }
}
