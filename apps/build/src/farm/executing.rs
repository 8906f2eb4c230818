//! A client's wait for an action.

use std::sync::Arc;

use tokio::sync::watch;

use super::run::{Outcome, Run, Stage};
use crate::digest::Digest;

/// A client's wait for an action. To go away, drop it.
#[derive(Debug)]
pub struct Executing {
    pub(super) run: Arc<Run>,
    stages: watch::Receiver<Stage>,
    cached: bool,
    begun: bool,
}

impl Executing {
    pub(super) fn new(run: Arc<Run>, cached: bool) -> Self {
        run.waiting.send_modify(|count| *count += 1);
        Self {
            stages: run.stage.subscribe(),
            run,
            cached,
            begun: false,
        }
    }

    /// The action.
    pub fn action(&self) -> Digest {
        self.run.action
    }

    /// The name of the operation.
    pub fn name(&self) -> &str {
        &self.run.name
    }

    /// Returns true if the result was in the cache.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// Returns the current stage at the first call; later calls wait until it has changed.
    pub async fn stage(&mut self) -> Stage {
        if self.begun {
            // The run has the other end, so it is not closed.
            let _ = self.stages.changed().await;
        }
        self.begun = true;
        self.stages.borrow_and_update().clone()
    }

    /// Waits for the outcome.
    pub async fn outcome(&mut self) -> Outcome {
        loop {
            if let Stage::Completed(outcome) = self.stage().await {
                return outcome;
            }
        }
    }
}

impl Drop for Executing {
    fn drop(&mut self) {
        self.run.waiting.send_modify(|count| *count -= 1);
    }
}
