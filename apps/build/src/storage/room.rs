//! The space that entries take, and the room for others.
//!
//! Entries go when all take more than the limit, and before the file system has less than the
//! reserve. A write is refused only if nothing is left that could go.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::sync::{MutexGuard, PoisonError};

use filch_sync::lock;
use rustix::fs::statvfs;
use tempfile::{Builder, TempPath};

use super::disk::Files;
use super::index::{Index, space};
use super::name::Name;

/// The most entries that are taken out at once: others wait meanwhile.
const AT_ONCE: usize = 64;

/// Returns true if the disk is full, or the quota of the user is used up.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

impl Files {
    /// Makes room for that many bytes beside the reserve, if there is too little.
    ///
    /// # Errors
    /// If what could go is too little as well: then nothing goes.
    pub(super) fn make_room(&self, bytes: u64) -> io::Result<()> {
        let _turn = lock(&self.making_room);
        loop {
            let found = statvfs(&self.root)?;
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let lacking = self.reserve.saturating_add(bytes).saturating_sub(free);
            if lacking > 0 {
                self.forget(lacking)?;
            } else if found.f_files > 0 && found.f_favail == 0 {
                // It has space, but no room for another file.
                self.forget(1)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Writes to a temporary file. Others may fill the disk meanwhile, so this may take room twice.
    pub(super) fn write(&self, mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
        self.make_room(bytes.len() as u64)?;
        while !bytes.is_empty() {
            match file.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_full(&error) => self.forget(bytes.len() as u64)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes room below the limit for an entry.
    pub(super) fn with_entry_room(&self, bytes: u64) -> MutexGuard<'_, Index> {
        loop {
            let (index, gone) = self.take_out(|index, _| index.excess(bytes) > 0);
            if gone.is_empty() {
                return index;
            }
            // Removing a large file takes time, so it is done without the lock.
            drop(index);
        }
    }

    /// Removes a few entries, which have that many bytes, or fewer if that is not yet all.
    ///
    /// # Errors
    /// If all have fewer.
    fn forget(&self, bytes: u64) -> io::Result<()> {
        let is_enough = |index: &Index| index.learns() || index.used() >= bytes;
        let is_reason = |index: &Index, taken| taken < bytes && (taken > 0 || is_enough(index));
        let (index, gone) = self.take_out(is_reason);
        drop(index);
        if gone.is_empty() {
            return Err(ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// Takes out a few of the least recently used entries, as long as there is a reason, which may
    /// depend on the bytes of those that were taken. Dropping them removes them. While the index
    /// learns, waits for the first one that may go.
    ///
    /// An entry that cannot be moved stays; the next reason is one to try again.
    fn take_out(
        &self,
        is_reason: impl Fn(&Index, u64) -> bool,
    ) -> (MutexGuard<'_, Index>, Vec<Gone>) {
        let mut index = self.index();
        let (mut gone, mut bytes) = (Vec::new(), 0);
        while gone.len() < AT_ONCE && is_reason(&index, bytes) {
            let Some((name, size)) = index.pop() else {
                if !index.learns() || !gone.is_empty() {
                    break;
                }
                let woken = self.learnt.wait(index);
                index = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            match self.hide(&name) {
                Ok(hidden) => gone.push(hidden),
                Err(error) => {
                    let path = self.path(&name);
                    tracing::warn!(path = %path.display(), %error, "the cache cannot forget");
                    index.insert(name, size);
                    break;
                }
            }
            bytes += space(size);
        }
        (index, gone)
    }

    /// Moves an entry out of its name.
    fn hide(&self, name: &Name) -> io::Result<Gone> {
        let path = self.path(name);
        let folder = self.temporary_folder(name);
        match Builder::new().make_in(folder, |hidden| fs::rename(&path, hidden)) {
            Ok(hidden) => Ok(Some(hidden.into_temp_path())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // There is no room for another name. This takes longer, but needs none.
            Err(error) if is_full(&error) => fs::remove_file(&path).map(|()| None),
            Err(error) => Err(error),
        }
    }
}

/// An entry that was taken out; none if it is removed already. Dropping this removes it.
type Gone = Option<TempPath>;
