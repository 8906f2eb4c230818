//! Runs actions, within limits.

use std::future::Future;
use std::path::{self, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::task;

use super::access::{Access, read_message};
use super::command::{Command, has_network, time_limit};
use super::error::RunError;
use super::folder::Folder;
use super::inputs::Inputs;
use super::outputs::Search;
use super::sandbox::{Pool, Room, Sandbox};
use super::{keep, process};
use crate::digest::Digest;
use crate::options::{defaults, seconds, size};
use crate::reapi::{Action, ActionResult, ExecutedActionMetadata, now};

/// The limits of an action.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Limits {
    /// The most seconds that an action may run; one that asks for more is refused
    #[arg(long = "time-limit", value_name = "SECONDS", default_value = "3600")]
    #[arg(value_parser = seconds)]
    pub time: Duration,
    /// The most memory that an action may use, as 500M or 8G, its files in /tmp with it
    #[arg(id = "memory-limit", long, value_name = "SIZE", value_parser = size)]
    #[arg(default_value = "8G")]
    pub memory: u64,
    /// The most processes and threads that an action may have at a time
    #[arg(long = "process-limit", value_name = "COUNT", default_value = "4096")]
    pub processes: u64,
    /// The most bytes of a file that an action writes, as 500M or 4G
    #[arg(long = "file-limit", value_name = "SIZE", default_value = "4G", value_parser = size)]
    pub file: u64,
    /// The most files that a process of an action may have open at a time
    #[arg(
        long = "open-file-limit",
        value_name = "COUNT",
        default_value = "16384"
    )]
    pub open_files: u64,
    /// The most bytes of its standard output, and of its standard error: 16 MiB by default.
    #[arg(skip = 16_u64 << 20)]
    pub stream: u64,
    /// The most files, folders and symbolic links among its inputs.
    #[arg(skip = 1_000_000_usize)]
    pub input_nodes: usize,
    /// The most bytes of its inputs: 16 GiB by default.
    #[arg(skip = 16_u64 << 30)]
    pub input_bytes: u64,
    /// The most files, folders and symbolic links among its outputs.
    #[arg(skip = 100_000_usize)]
    pub output_nodes: usize,
    /// The most bytes of its outputs: 4 GiB by default.
    #[arg(skip = 4_u64 << 30)]
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        defaults()
    }
}

/// Runs actions, each in a folder of its own. It may run many at a time.
#[derive(Debug, Clone)]
pub struct Runner {
    name: String,
    folder: PathBuf,
    limits: Limits,
    sandboxes: Option<Arc<Pool>>,
}

impl Runner {
    /// Makes a runner for a worker of that name; actions get their folders in `folder`, and a
    /// sandbox, if one is given: see [`SandboxOptions::open`](super::SandboxOptions::open).
    pub fn new(
        name: impl Into<String>,
        folder: impl Into<PathBuf>,
        limits: Limits,
        sandbox: Option<Sandbox>,
    ) -> Self {
        let folder = path::absolute(folder.into()).unwrap_or_default();
        let pool = |sandbox| Arc::new(Pool::new(sandbox, folder.clone(), limits.clone()));
        Self {
            name: name.into(),
            sandboxes: sandbox.map(pool),
            folder,
            limits,
        }
    }

    /// Runs the action with this digest of its `Action` message, until it ends, its time is over or
    /// `cancel` is ready. On return, all of its processes have been killed, its outputs kept, and
    /// its folder is being removed. Dropping the future cancels too. The caller decides whether the
    /// result may be cached (`do_not_cache`) and whether the worker suits the action's platform.
    ///
    /// # Errors
    /// If the action cannot be run, or not to its end.
    pub async fn run(
        &self,
        action: Digest,
        access: &impl Access,
        cancel: impl Future<Output = ()> + Send,
    ) -> Result<ActionResult, RunError> {
        let mut metadata = ExecutedActionMetadata {
            worker: self.name.clone(),
            worker_start_timestamp: now(),
            ..ExecutedActionMetadata::default()
        };
        let (room, folder) = match &self.sandboxes {
            Some(pool) => {
                let (room, folder) = pool.take().await?;
                (Some((pool, room)), folder)
            }
            None => (None, Folder::new(&self.folder)?),
        };
        let result = tokio::select! {
            result = self.run_in(&folder, room, action, access, &mut metadata) => result,
            () = cancel => Err(RunError::Cancelled),
        };
        folder.remove().await;
        let mut result = result?;
        metadata.worker_completed_timestamp = now();
        result.execution_metadata = Some(metadata);
        Ok(result)
    }

    async fn run_in(
        &self,
        folder: &Folder,
        room: Option<(&Arc<Pool>, Room)>,
        action: Digest,
        access: &impl Access,
        metadata: &mut ExecutedActionMetadata,
    ) -> Result<ActionResult, RunError> {
        metadata.input_fetch_start_timestamp = now();
        let action: Action = read_message(action, "Action", access).await?;
        let time_limit = time_limit(&action, self.limits.time)?;
        let command = Digest::of_field(action.command_digest.as_ref(), "the command")?;
        let command = read_message(command, "Command", access).await?;
        let has_network = has_network(&action, &command);
        let command = Command::new(command)?;
        let root = Digest::of_field(action.input_root_digest.as_ref(), "the input root")?;
        let inputs = Inputs::read(root, access, &self.limits).await?;
        let folders = command.folders(&inputs)?;
        folder.fill(inputs, folders, access).await?;
        metadata.input_fetch_completed_timestamp = now();

        metadata.execution_start_timestamp = now();
        let ended = match room {
            Some((pool, room)) => {
                let run = pool.run(room, folder, &command, has_network, time_limit);
                run.await?
            }
            None => {
                let limit = self.limits.stream;
                process::run(folder.path(), &command, time_limit, limit).await?
            }
        };
        metadata.execution_completed_timestamp = now();

        metadata.output_upload_start_timestamp = now();
        let (stdout_raw, stdout) = keep::stream(ended.stdout, access).await?;
        let (stderr_raw, stderr) = keep::stream(ended.stderr, access).await?;
        let mut result = ActionResult {
            exit_code: ended.exit_code,
            stdout_raw,
            stdout_digest: stdout.map(Into::into),
            stderr_raw,
            stderr_digest: stderr.map(Into::into),
            ..ActionResult::default()
        };
        let search = Search::new(folder.path(), self.limits.clone());
        let find = move || (search.find(&command), command);
        let (outputs, command) = task::spawn_blocking(find).await.expect("it does not panic");
        keep::outputs(&outputs?, &command, access, &mut result).await?;
        metadata.output_upload_completed_timestamp = now();
        Ok(result)
    }
}
