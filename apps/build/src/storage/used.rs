//! Which files were used, until that is noted on the disk.

use std::fs::File;
use std::mem;
use std::time::SystemTime;

/// So many files are open for that.
const MAX: usize = 64;

/// Files that were used. When this is dropped, the disk knows.
///
/// To note a use may wait for the disk, which a read of what is in memory does not.
#[derive(Debug, Default)]
pub(super) struct Used(Vec<(File, SystemTime)>);

impl Used {
    /// Now that one was used. Returns those that were so far if they are many.
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

/// So that the order of use outlives this process. It is no harm if it does not.
pub(super) fn note_use(file: &File, when: SystemTime) {
    let _ = file.set_modified(when);
}
