//! The files that were used, until the disk has a note of it.

use std::fs::File;
use std::mem;
use std::time::SystemTime;

/// The most files that are open for this.
const MAX: usize = 64;

/// Files that were used. Dropping this notes it on the disk.
///
/// Noting a use may wait for the disk; reading what is in memory does not.
#[derive(Debug, Default)]
pub(super) struct Used(Vec<(File, SystemTime)>);

impl Used {
    /// Adds a file that was used just now. Returns all so far if they are many.
    #[must_use]
    pub(super) fn push(&mut self, file: File) -> Option<Self> {
        self.0.push((file, SystemTime::now()));
        (self.0.len() >= MAX).then(|| mem::take(self))
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        for (file, when) in &self.0 {
            note_use(file, *when);
        }
    }
}

/// Makes the order of use outlive this process. A failure does no harm.
pub(super) fn note_use(file: &File, when: SystemTime) {
    let _ = file.set_modified(when);
}
