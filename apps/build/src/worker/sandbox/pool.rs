//! Sandboxes that are made before there are actions for them.

use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use filch_sync::lock;
use tokio::task;

use super::{Launched, Order, Sandbox, give};
use crate::worker::command::Command;
use crate::worker::error::RunError;
use crate::worker::folder::Folder;
use crate::worker::process::Ended;
use crate::worker::runner::Limits;

/// The most time that a sandbox waits for its action: it shows the system as it was then.
const FRESH: Duration = Duration::from_secs(60);

/// The sandboxes of a runner. For each that it hands out it makes another, so that in time as many
/// wait as actions run at a time.
#[derive(Debug)]
pub(in crate::worker) struct Pool {
    sandbox: Sandbox,
    /// The place of the folders of actions.
    folder: PathBuf,
    limits: Limits,
    waiting: Mutex<Vec<(Room, Folder)>>,
}

/// A sandbox without an action.
#[derive(Debug)]
pub(in crate::worker) struct Room {
    launched: Launched,
    made: Instant,
}

impl Pool {
    pub(in crate::worker) fn new(sandbox: Sandbox, folder: PathBuf, limits: Limits) -> Self {
        Self {
            sandbox,
            folder,
            limits,
            waiting: Mutex::default(),
        }
    }

    /// Returns a sandbox, and the folder of its action.
    pub(in crate::worker) async fn take(self: &Arc<Self>) -> Result<(Room, Folder), RunError> {
        let waiting = lock(&self.waiting).pop();
        task::spawn(self.clone().prepare());
        match waiting {
            Some((room, folder)) if room.made.elapsed() < FRESH => Ok((room, folder)),
            old => {
                task::spawn_blocking(|| drop(old));
                self.make().await
            }
        }
    }

    /// Makes a sandbox that waits, unless enough do.
    async fn prepare(self: Arc<Self>) {
        let enough = thread::available_parallelism().map_or(1, usize::from);
        if lock(&self.waiting).len() < enough
            // What fails now fails again, and is told, when an action wants it.
            && let Ok(made) = self.make().await
        {
            lock(&self.waiting).push(made);
        }
    }

    async fn make(&self) -> Result<(Room, Folder), RunError> {
        let folder = Folder::new(&self.folder)?;
        let launched = self
            .sandbox
            .make(folder.path(), &self.limits, false)
            .await?;
        let made = Instant::now();
        Ok((Room { launched, made }, folder))
    }

    /// Runs an action, whose inputs are in its folder, to its end.
    pub(in crate::worker) async fn run(
        &self,
        room: Room,
        folder: &Folder,
        command: &Command,
        has_network: bool,
        time_limit: Duration,
    ) -> Result<Ended, RunError> {
        let Room { mut launched, .. } = room;
        if has_network {
            let path = folder.path();
            let without = mem::replace(
                &mut launched,
                self.sandbox.make(path, &self.limits, true).await?,
            );
            task::spawn_blocking(|| drop(without));
        }
        if self.sandbox.gives {
            let path = folder.path().to_owned();
            let given = task::spawn_blocking(move || give(&path)).await;
            let given = given.map_err(io::Error::other).flatten();
            given.map_err(|error| RunError::machine("give the folder away", error))?;
        }
        launched.run(Order::new(command), time_limit).await
    }
}
