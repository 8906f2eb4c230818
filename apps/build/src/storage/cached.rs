//! Reads that never wait for the disk.

use std::fs::File;
use std::path::Path;

/// Reads a file if it has that size and the kernel has all of it in memory. Systems other than
/// Linux have no way to ask for that.
#[cfg(target_os = "linux")]
pub(super) fn read(path: &Path, size: usize) -> Option<(File, Vec<u8>)> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::{ReadWriteFlags, preadv2};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
    // One byte more: the name may be another file's by now, which must not be read in part.
    let mut bytes = vec![0; size + 1];
    let into = &mut [std::io::IoSliceMut::new(&mut bytes)];
    let read = preadv2(&file, into, 0, ReadWriteFlags::NOWAIT).ok()?;
    bytes.truncate(size);
    (read == size).then(|| (file.into(), bytes))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &Path, _: usize) -> Option<(File, Vec<u8>)> {
    None
}
