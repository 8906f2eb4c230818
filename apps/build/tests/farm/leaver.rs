//! A process that leaves the process group of its action.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

/// A process that leaves the process group of its action, and then sleeps for long. It holds a pipe
/// open, as do its children, and everything that the action starts after it.
pub(crate) struct Leaver {
    held: String,
    left: String,
    pipe: File,
}

impl Leaver {
    /// Makes its pipes in this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let (held, left) = (pipe(folder, "held"), pipe(folder, "left"));
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = File::from(open(&held, flags, Mode::empty()).unwrap());
        Self { held, left, pipe }
    }

    /// Returns the first line of a script, which opens the pipe.
    pub(crate) fn hold(&self) -> String {
        format!("exec 9> {}\n", self.held)
    }

    /// Returns its own part: it reports that it has left the group, and sleeps.
    pub(crate) fn sleep(&self) -> String {
        format!("echo > {}; exec sleep 1000", self.left)
    }

    /// Returns a line of a script, after [`sleep`](Self::sleep), which waits until it has left.
    pub(crate) fn wait(&self) -> String {
        format!("\nread line < {}\n", self.left)
    }

    /// Returns a script that ends when one has left.
    pub(crate) fn script(&self) -> String {
        let (hold, sleep, wait) = (self.hold(), self.sleep(), self.wait());
        format!("{hold}setsid sh -c '{sleep}' &{wait}")
    }

    /// Returns true while a process has the pipe open.
    pub(crate) fn lives(&mut self) -> bool {
        match self.pipe.read_to_end(&mut Vec::new()) {
            Ok(_) => false,
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Makes a pipe with a name, through which processes wait for each other.
pub(crate) fn pipe(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    // An action may have another user.
    for (path, mode) in [(folder, 0o755), (&path, 0o666)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    path.to_str().unwrap().to_owned()
}
