//! The folder of an action.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt};
use tokio::task;

use super::access::Access;
use super::error::RunError;
use super::inputs::{AT_A_TIME, Inputs};
use super::remove::remove;

/// The folder of an action. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes a new, empty folder in `parent`.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            // ORDERING: Relaxed; only the number matters.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                // It is that of an earlier process with this id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(parent)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the inputs in it, and makes the folders `parents`, which may be among the inputs.
    pub(super) async fn fill(
        &self,
        inputs: Inputs,
        parents: Vec<String>,
        access: &impl Access,
    ) -> Result<(), RunError> {
        let Inputs {
            folders,
            files,
            links,
            ..
        } = inputs;
        let root = self.path.clone();
        let make = move || {
            for folder in &folders {
                fs::create_dir(root.join(folder))?;
            }
            for link in &links {
                symlink(&link.target, root.join(&link.path))?;
            }
            for parent in &parents {
                fs::create_dir_all(root.join(parent))?;
            }
            Ok::<_, io::Error>(())
        };
        let made = task::spawn_blocking(make).await.expect("it does not panic");
        made.map_err(|error| RunError::machine("make a folder", error))?;
        let place = files.into_iter().map(|file| {
            let path = self.path.join(&file.path);
            async move { access.place(file.blob, &path, file.executable).await }.boxed()
        });
        let mut placed = stream::iter(place).buffer_unordered(AT_A_TIME);
        while let Some(placed) = placed.next().await {
            placed?;
        }
        Ok(())
    }

    /// Removes it.
    pub(super) async fn remove(self) {
        // The drop does what is left to do.
        drop(task::spawn_blocking(move || drop(self)).await);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            let folder = self.path.display();
            tracing::warn!(%folder, %error, "the folder of an action cannot be removed");
        }
    }
}
