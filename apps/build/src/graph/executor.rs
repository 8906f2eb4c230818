//! Executors: they run the actions of a build.

use std::future::{self, Future};

use prost::Message;
use tonic::Status;

use crate::digest::Digest;
use crate::reapi::{Action, ActionResult};
use crate::storage::{Storage, StoredResult};
use crate::worker::{Access, RunError, Runner};

/// An executor of a build's actions: this process, or a farm.
pub trait Executor: Send + Sync {
    /// Runs the action whose message, inputs and command are in the build's storage, and returns
    /// once its outputs are there too. Dropping the future gives the action up.
    fn execute(&self, action: Digest) -> impl Future<Output = Result<Execution, Status>> + Send;
}

/// The result of an action.
#[derive(Debug, Clone)]
pub struct Execution {
    /// The result.
    pub result: ActionResult,
    /// True if it was known before.
    pub cached: bool,
}

/// Runs actions in this process, unless their results are in the storage.
#[derive(Debug, Clone)]
pub struct Local {
    runner: Runner,
    storage: Storage,
}

impl Local {
    /// Runs actions by this runner; keeps results in this storage.
    pub fn new(runner: Runner, storage: Storage) -> Self {
        Self { runner, storage }
    }
}

impl Executor for Local {
    async fn execute(&self, action: Digest) -> Result<Execution, Status> {
        let failed = |error: crate::storage::StorageError| Status::internal(error.to_string());
        let not_run = |error: RunError| Status::new(error.code(), error.to_string());
        if let Some(known) = self
            .storage
            .results
            .get(action.hash())
            .await
            .map_err(failed)?
        {
            let result = known.into_message();
            return Ok(Execution {
                result,
                cached: true,
            });
        }
        let blobs = &self.storage.blobs;
        let result = self
            .runner
            .run(action, blobs, future::pending())
            .await
            .map_err(not_run)?;
        let bytes = Access::read(blobs, action)
            .await
            .map_err(|error| not_run(error.into()))?;
        let may_be_kept = Action::decode(bytes).is_ok_and(|action| !action.do_not_cache);
        if result.exit_code == 0 && may_be_kept {
            let stored = StoredResult::try_from(&result);
            let stored = stored.map_err(|error| Status::internal(error.to_string()))?;
            self.storage
                .results
                .put(action.hash(), stored)
                .await
                .map_err(failed)?;
        }
        Ok(Execution {
            result,
            cached: false,
        })
    }
}
