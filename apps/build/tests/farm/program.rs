//! Processes that serve until they are dropped.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

/// A process that is killed, with those that it started, when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Child,
    /// Its files.
    _folder: TempDir,
}

impl Server {
    /// Starts a process; `command` gets a folder for its files.
    pub(crate) fn start(command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = command(folder.path());
        // Its own group: ctrl-c is for the test, which then ends it.
        command.stdin(Stdio::null()).process_group(0);
        let process = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self {
            process,
            _folder: folder,
        }
    }
}

impl Server {
    /// Returns the address that a coordinator prints on its piped output.
    pub(crate) fn address(&mut self) -> String {
        let mut line = String::new();
        let output = self.process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap_or_default();
        assert!(
            address.starts_with("127.0.0.1:"),
            "the coordinator says {line:?}"
        );
        address.to_owned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.process);
        kill_process(id, signal).expect("a process that runs");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
    }
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Looks until there is something, for at most a minute. Other programs give no sign that could be
/// waited for.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
