//! The course of an action, from its request to its end.

use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use filch_build_scheduler::{Job, Rank};
use tokio::time::sleep;
use tonic::Code;

use super::action::prepare;
use super::builds::End;
use super::coordinator::Shared;
use super::failure::{Failure, contained};
use super::run::{Outcome, Run, Work};
use super::snapshot::Failed;
use crate::digest::Digest;
use crate::reapi::{Action, ActionResult};
use crate::storage::{Range, StoredResult};

/// The bytes of an action's standard error that are kept for people: the last ones.
const TAIL: usize = 2000;

/// The number of the largest inputs that make a worker near.
const MOST_NEAR: usize = 32;

impl Shared {
    /// Brings the run to its end.
    pub(super) async fn drive(self: Arc<Self>, run: Arc<Run>, action: Action, message: Bytes) {
        let do_not_cache = action.do_not_cache;
        let outcome = contained(self.outcome(&run, action, message)).await;
        let outcome = outcome.unwrap_or_else(|defect| {
            run.cancel();
            Err(Failure::new(Code::Internal, defect))
        });
        if let Ok(result) = &outcome
            && result.exit_code == 0
            && !do_not_cache
        {
            self.remember(run.action, result).await;
        }
        self.note(&run, &outcome).await;
        self.builds.count(End::from(&outcome));
        run.complete(&self.builds, outcome);
        self.runs().forget(&run);
        // A client that lost its connection just now may ask for it. A coordinator that ends
        // meanwhile does not keep its storage for that.
        let (later, shared) = (self.config.abandoned_after, Arc::downgrade(&self));
        drop(self);
        sleep(later).await;
        if let Some(shared) = shared.upgrade() {
            shared.runs().named.remove(&run.name);
        }
    }

    /// Notes, for people, the times of an action, and that it failed, if so.
    async fn note(&self, run: &Run, outcome: &Outcome) {
        let (last, ended) = (run.last(), SystemTime::now());
        if let Some((_, running)) = &last {
            let seconds = |from, to: SystemTime| {
                let time = to.duration_since(from).unwrap_or_default();
                time.as_secs_f64()
            };
            let times = &self.builds.times;
            times.waited.observe(seconds(run.asked, running.since));
            times.ran.observe(seconds(running.since, ended));
        }
        let (why, stderr) = match outcome {
            Ok(result) if result.exit_code == 0 => return,
            Ok(result) => {
                let why = format!("exit code {}", result.exit_code);
                (why, self.stderr(result).await)
            }
            Err(failure) => (failure.message.clone(), String::new()),
        };
        self.builds.failed(Failed {
            action: run.action,
            target: run.invocation.target.clone(),
            run: last,
            asked: run.asked,
            ended,
            why,
            stderr,
        });
    }

    /// Reads the end of the standard error of an action.
    async fn stderr(&self, result: &ActionResult) -> String {
        let mut text = result.stderr_raw.clone();
        if let Some(Ok(blob)) = result.stderr_digest.as_ref().map(Digest::try_from) {
            let range = Range {
                from: blob.size().saturating_sub(TAIL as u64),
                length: None,
            };
            if let Ok(mut reader) = self.storage.blobs.open(blob, range).await {
                while let Ok(Some(piece)) = reader.next().await {
                    text.extend_from_slice(&piece);
                }
            }
        }
        let tail = &text[text.len().saturating_sub(TAIL)..];
        String::from_utf8_lossy(tail).into_owned()
    }

    /// Puts the result into the cache. If that fails, clients get the result all the same.
    async fn remember(&self, action: Digest, result: &ActionResult) {
        let stored = match StoredResult::try_from(result) {
            Ok(result) => self.storage.results.put(action.hash(), result).await,
            // The session has checked that it is a result.
            Err(_) => return,
        };
        if let Err(error) = stored {
            tracing::warn!("the result of {action} is not in the cache: {error}");
        }
    }

    async fn outcome(&self, run: &Arc<Run>, action: Action, message: Bytes) -> Outcome {
        let mut outcome = pin!(self.schedule(run, action, message));
        loop {
            tokio::select! {
                biased;
                outcome = &mut outcome => return outcome,
                () = run.abandoned(self.config.abandoned_after) => {}
            }
            if self.abandon(run) {
                let why = "the action was cancelled: nobody waited for it";
                return Err(Failure::new(Code::Cancelled, why));
            }
        }
    }

    async fn schedule(&self, run: &Arc<Run>, action: Action, message: Bytes) -> Outcome {
        let prepared = prepare(&self.storage.blobs, &self.folders, action, message).await?;
        let needs = Arc::clone(&prepared.needs);
        // It is worth waiting for a worker that has one of the largest inputs.
        let large = |file: &&Digest| file.size() >= self.config.near_size;
        let large = prepared.files.iter().take_while(large).take(MOST_NEAR);
        let near: Vec<Digest> = large.copied().collect();
        let prepared = Arc::new(prepared);
        let mut priority = run.priority.subscribe();
        loop {
            let rank = Rank {
                priority: *priority.borrow_and_update(),
                needs: Arc::clone(&needs),
                invocation: Arc::clone(&run.invocation.group),
            };
            let job = run.new_job();
            let (pool, _place) = tokio::select! {
                biased;
                entered = self.queue.enter(rank, run, job) => entered?,
                Ok(()) = priority.changed() => continue,
            };
            let work = Work {
                run: Arc::clone(run),
                job,
                prepared: Arc::clone(&prepared),
            };
            let work = Job::with_dependencies(job, near.iter().copied(), work);
            let mut outcome = pool.scheduler.schedule_job(work);
            let outcome = loop {
                tokio::select! {
                    outcome = &mut outcome => break outcome.ok(),
                    Ok(()) = priority.changed() => if run.recall() {
                        break None;
                    }
                }
            };
            // Otherwise it is recalled, or a worker sends it back, or the pool's last one has gone.
            if let Some(outcome) = outcome {
                return Outcome::clone(&outcome);
            }
        }
    }

    /// Forgets a run that nobody waits for. Returns false if somebody does, or if it is over.
    fn abandon(&self, run: &Arc<Run>) -> bool {
        let mut runs = self.runs();
        if *run.waiting.borrow() > 0 {
            return false;
        }
        let ended = run.cancel();
        if ended {
            runs.forget(run);
        }
        ended
    }
}
