//! Programs that run until they are dropped.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::client::soon;

/// A process that is killed, with those that it started, when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) process: Child,
    /// Its files.
    _folder: TempDir,
}

impl Program {
    /// Starts a process; `command` gets a folder for its files.
    pub(crate) fn start(command: impl FnOnce(&Path) -> Command) -> Self {
        Self::with_stdin(Stdio::null(), command)
    }

    fn with_stdin(stdin: Stdio, command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = command(folder.path());
        // Its own group: ctrl-c is for the test, which then ends it.
        command.stdin(stdin).process_group(0);
        let process = command.spawn();
        let process = process.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self {
            process,
            _folder: folder,
        }
    }

    /// Starts a worker with its cache in that folder; its actions see the folder around it.
    pub(crate) fn worker(
        to: &str,
        folder: &Path,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut command = filch_build(&["worker", "--coordinator", to]);
        command.arg("--cache").arg(folder).args(options);
        command.arg("--sandbox-path").arg(folder.parent().unwrap());
        command.envs(variables.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::start(|_| command)
    }

    /// Starts a coordinator; returns its address as well.
    pub(crate) fn coordinator(command: impl FnOnce(&Path) -> Command) -> (Self, SocketAddr) {
        Self::coordinator_with(Stdio::null(), command)
    }

    /// Starts one with this standard input.
    pub(crate) fn coordinator_with(
        stdin: Stdio,
        command: impl FnOnce(&Path) -> Command,
    ) -> (Self, SocketAddr) {
        let mut program = Self::with_stdin(stdin, |folder| {
            let mut command = command(folder);
            command.stdout(Stdio::piped());
            command
        });
        let mut line = String::new();
        let output = program.process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap_or_default().parse();
        let address = address.unwrap_or_else(|_| panic!("the coordinator says {line:?}"));
        (program, address)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.process);
        kill_process(id, signal).expect("a process that runs");
    }

    /// Waits until a server of others listens at that port of this machine.
    pub(crate) fn listens(&mut self, port: u16) {
        let what = format!("a server at port {port}");
        wait_for(&what, || {
            assert_eq!(self.process.try_wait().unwrap(), None, "it has ended");
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
    }

    /// Takes its standard error, which is piped.
    pub(crate) fn stderr(&mut self) -> ChildStderr {
        self.process.stderr.take().unwrap()
    }

    /// Waits until it has ended; returns what it wrote to its standard error as well.
    pub(crate) async fn wait(mut self) -> (ExitStatus, String) {
        let wait = spawn_blocking(move || {
            let mut said = String::new();
            if let Some(mut stderr) = self.process.stderr.take() {
                stderr.read_to_string(&mut said).unwrap();
            }
            (self.process.wait().unwrap(), said)
        });
        soon(wait).await.unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
    }
}

/// The program `filch-build`.
pub(crate) fn filch_build(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_filch-build"));
    program.args(arguments);
    program
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Writes a file; returns its path.
pub(crate) fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
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
