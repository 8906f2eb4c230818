//! Reads that wait for nothing.

use std::fs::File;
use std::path::Path;

/// The bytes of a file, if there are that many, and the kernel has all of them in memory. Elsewhere
/// than on Linux there is no way to ask for that.
#[cfg(target_os = "linux")]
pub(super) fn read(path: &Path, size: usize) -> Option<(File, Vec<u8>)> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::{ReadWriteFlags, preadv2};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
    // One byte more: another file may have the name by now, and is not read in part.
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
