//! The folder of an action, and its removal, whatever is in it.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io, process};

use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmodat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;
use tokio::task;

use super::access::Access;
use super::error::RunError;
use super::inputs::{AT_A_TIME, Inputs};

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

/// The most tries: a process that was just killed may still make files.
const TRIES: usize = 8;

/// Removes a folder and all that it contains, however deep, and whatever permissions its folders
/// have. A missing folder is no error.
///
/// The folders in a subfolder are moved to the top before they are looked at. So nothing is
/// recursive, no path is long, and few folders are open at a time. Links are not followed.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    let mut tries = 1;
    loop {
        match try_to_remove(folder) {
            Err(_) if tries < TRIES => tries += 1,
            ended => return Ok(ended?),
        }
    }
}

fn try_to_remove(folder: &Path) -> Result<(), Errno> {
    match remove_file(CWD, folder) {
        Ok(false) => {}
        Ok(true) | Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error),
    }
    loop {
        let top = open(CWD, folder)?;
        let mut has_moved = false;
        for entry in Dir::read_from(&top)? {
            let entry = entry?;
            let name = entry.file_name();
            if !is_itself(name) && !remove_file(&top, name)? {
                has_moved |= empty(&open(&top, name)?, &top)?;
                unlinkat(&top, name, AtFlags::REMOVEDIR)?;
            }
        }
        match unlinkat(CWD, folder, AtFlags::REMOVEDIR) {
            // The listing may have missed what was moved in meanwhile.
            Err(Errno::NOTEMPTY) if has_moved => {}
            ended => return ended,
        }
    }
}

/// Removes the files in a folder, and moves its folders to `top`. Returns true if it moved any.
fn empty(folder: &OwnedFd, top: &OwnedFd) -> Result<bool, Errno> {
    let mut has_moved = false;
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !is_itself(name) && !remove_file(folder, name)? {
            unlock(folder, name);
            renameat(folder, name, top, uuid::Uuid::new_v4().to_string())?;
            has_moved = true;
        }
    }
    Ok(has_moved)
}

/// Removes the node, unless it is a folder: then returns false.
fn remove_file(folder: impl AsFd, name: impl Arg) -> Result<bool, Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) => Ok(true),
        // POSIX prescribes the second one.
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(error) => Err(error),
    }
}

fn open(folder: impl AsFd, name: impl Arg + Copy) -> Result<OwnedFd, Errno> {
    unlock(&folder, name);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

/// Lets its owner list and change the folder.
fn unlock(folder: impl AsFd, name: impl Arg) {
    // A failure shows in the next step.
    let _ = chmodat(folder, name, Mode::RWXU, AtFlags::empty());
}

fn is_itself(name: &std::ffi::CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
