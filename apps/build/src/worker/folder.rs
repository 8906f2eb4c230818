//! The folder of an action, and its removal, whatever is in it.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io, process};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmodat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;
use tokio::sync::Semaphore;
use tokio::task;

use super::access::Access;
use super::error::RunError;
use super::inputs::{File, Inputs};
use super::names::ways;
use crate::storage::{NewFile, make_folder};

/// The folders that may be removed at a time. While there are as many, an action waits for the
/// removal of its own to begin, so that they do not pile up.
const MOST_REMOVALS: u32 = 8;
static REMOVALS: Semaphore = Semaphore::const_new(MOST_REMOVALS as usize);

/// The folder of an action. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes a new, empty folder in `parent`.
    pub(super) fn new(parent: &Path) -> Result<Self, RunError> {
        Self::make(parent).map_err(|error| RunError::machine("make a folder", error))
    }

    fn make(parent: &Path) -> io::Result<Self> {
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
            // Never the root: if that is gone, the action is.
            for folder in parents.iter().flat_map(|parent| ways(parent)) {
                make_folder(&root.join(folder))?;
            }
            Ok::<_, io::Error>(())
        };
        let made = task::spawn_blocking(make).await.expect("it does not panic");
        made.map_err(|error| RunError::machine("make a folder", error))?;
        let place = |file: File| NewFile {
            blob: file.blob,
            path: self.path.join(file.path),
            executable: file.executable,
        };
        Ok(access.place(files.into_iter().map(place).collect()).await?)
    }

    /// Removes it, without a wait for the end of that. What is left when this process ends is the
    /// next one's to remove.
    pub(super) async fn remove(mut self) {
        // Nothing is made any more in a folder that has another name.
        let gone = self.path.with_extension("gone");
        if fs::rename(&self.path, &gone).is_ok() {
            self.path = gone;
        }
        let turn = REMOVALS.acquire().await;
        task::spawn_blocking(move || drop((self, turn)));
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
        Ok(true) => return Ok(()),
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
        Ok(()) | Err(Errno::NOENT) => Ok(true),
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::pin::pin;

    use futures_util::future::poll_immediate;

    use super::{Folder, MOST_REMOVALS, REMOVALS};

    #[tokio::test]
    async fn a_folder_goes_at_once_and_its_files_in_their_turn() {
        let parent = tempfile::tempdir().unwrap();
        let others = REMOVALS.acquire_many(MOST_REMOVALS).await.unwrap();
        let folder = Folder::new(parent.path()).unwrap();
        let path = folder.path().to_owned();
        fs::create_dir(path.join("below")).unwrap();
        let mut removal = pin!(folder.remove());
        assert!(
            poll_immediate(&mut removal).await.is_none(),
            "too many at a time"
        );
        // Nothing gets into it any more.
        fs::create_dir(path.join("below/late")).unwrap_err();
        assert!(path.with_extension("gone").join("below").exists());
        drop(others);
        removal.await;
        let _ended = REMOVALS.acquire_many(MOST_REMOVALS).await.unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
