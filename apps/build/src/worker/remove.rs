//! Removes the folders of actions, whatever they contain.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmodat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

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
