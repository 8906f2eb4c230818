//! The processes of an action.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{self, Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use tokio::{task, time};

use super::command::Command;
use super::error::RunError;
use super::orphans;

/// The default search path for programs: the worker's own `PATH` is not used.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The most tries to start a process.
const TRIES: usize = 1000;

/// The results of a process that ended, apart from its files.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exit_code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs the command in the folder `root`, until its first process ends. Then the rest of its
/// process group is killed, and those that left the group, as [`orphans`] says.
pub(super) async fn run(
    command: &Command,
    root: &Path,
    time_limit: Duration,
    stream_limit: u64,
) -> Result<Ended, RunError> {
    let machine = |error| RunError::machine("run a process", error);
    let (stdout, mut out) = Stream::new("standard output", stream_limit).map_err(machine)?;
    let (stderr, mut err) = Stream::new("standard error", stream_limit).map_err(machine)?;
    let mut leader = Leader::start(command, root, stdout, stderr).await?;
    let pid = leader.pid;
    let streams = async { tokio::try_join!(out.fill(), err.fill()) };
    let ended = tokio::select! {
        ended = ended(pid) => ended.map_err(machine),
        // When both streams have ended, the process has not yet.
        Err(error) = streams => Err(error),
        () = time::sleep(time_limit) => Err(RunError::TooLong(time_limit)),
        never = orphans::watch() => match never {},
    };
    ended?;
    let status = leader.end().map_err(machine)?;
    out.drain()?;
    err.drain()?;
    Ok(Ended {
        exit_code: exit_code(status),
        stdout: out.bytes,
        stderr: err.bytes,
    })
}

/// Waits until the process has ended, without reaping it: its id stays reserved, so no other
/// process group can have it.
async fn ended(pid: Pid) -> io::Result<()> {
    task::spawn_blocking(move || orphans::wait_unreaped(pid))
        .await
        .map_err(io::Error::other)?
}

/// Returns the exit code as shells do: 128 plus the signal.
fn exit_code(status: ExitStatus) -> i32 {
    let signal = || 128 + status.signal().unwrap_or_default();
    status.code().unwrap_or_else(signal)
}

/// The first process of an action, which leads a process group. Dropping it kills the whole group.
#[derive(Debug)]
struct Leader {
    child: Child,
    pid: Pid,
    has_ended: bool,
}

impl Leader {
    async fn start(
        command: &Command,
        root: &Path,
        stdout: Stdio,
        stderr: Stdio,
    ) -> Result<Self, RunError> {
        let directory = root.join(&command.directory);
        let name = &command.arguments[0];
        let not_started = |error| RunError::NotStarted {
            program: name.clone(),
            error,
        };
        // As a path: the worker need not search for the program in a fork of itself.
        let program = find(command, &directory).map_err(not_started)?;
        let mut process = process::Command::new(program);
        process
            .arg0(name)
            .args(&command.arguments[1..])
            .env_clear()
            .envs(command.environment.iter().cloned())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0);
        let child = spawn(&mut process).await.map_err(not_started)?;
        Ok(Self {
            pid: Pid::from_child(&child),
            child,
            has_ended: false,
        })
    }

    /// Kills the whole group, frees their id, and kills the orphans that the action leaves.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.has_ended = true;
        // The first process keeps its id until it is reaped. The only possible error is that all
        // have ended.
        let _ = kill_process_group(self.pid, Signal::KILL);
        // It may have joined another group.
        let _ = self.child.kill();
        orphans::end(&mut self.child)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.has_ended {
            // Nobody is left to be told of an error.
            let _ = self.end();
        }
    }
}

/// Starts a process. A starting process has, for a moment, copies of all open files of the worker,
/// even of an executable that is being written, which cannot be executed meanwhile ("text file
/// busy"). So starts are one at a time, and are tried again while the last one has such a copy.
async fn spawn(process: &mut process::Command) -> io::Result<Child> {
    static STARTS: Mutex<()> = Mutex::const_new(());
    let _alone = STARTS.lock().await;
    let mut tries = 0;
    loop {
        match orphans::start(process) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TRIES => {
                tries += 1;
                time::sleep(Duration::from_millis(1)).await;
            }
            spawned => return spawned,
        }
    }
}

/// Returns the program's path: a name without a slash is looked up in `PATH`.
fn find(command: &Command, directory: &Path) -> io::Result<PathBuf> {
    let name = &command.arguments[0];
    if name.contains('/') {
        return Ok(directory.join(name));
    }
    let mut variables = command.environment.iter();
    let path = variables.find(|(name, _)| name == "PATH");
    let path = path.map_or(PATH, |(_, value)| value);
    let candidates = path
        .split(':')
        .map(|folder| directory.join(folder).join(name));
    let files: Vec<_> = candidates.filter(|path| path.is_file()).collect();
    // As `execvp`: one that may not be run is taken for its error, if there is no other.
    let may_run = |path: &&PathBuf| access(*path, Access::EXEC_OK).is_ok();
    let found = files.iter().find(may_run).or(files.first());
    let not_found = || io::Error::new(io::ErrorKind::NotFound, format!("it is not in {path}"));
    found.cloned().ok_or_else(not_found)
}

/// One of the streams that a process writes.
#[derive(Debug)]
struct Stream {
    name: &'static str,
    pipe: pipe::Receiver,
    bytes: Vec<u8>,
    limit: u64,
}

impl Stream {
    /// Makes the end for the process, and the stream.
    fn new(name: &'static str, limit: u64) -> io::Result<(Stdio, Self)> {
        let (sender, pipe) = pipe::pipe()?;
        let stream = Self {
            name,
            pipe,
            bytes: Vec::new(),
            limit,
        };
        Ok((sender.into_blocking_fd()?.into(), stream))
    }

    /// Reads until all processes have closed it.
    async fn fill(&mut self) -> Result<(), RunError> {
        while self.pipe.read_buf(&mut self.bytes).await.map_err(unread)? != 0 {
            self.check()?;
        }
        Ok(())
    }

    /// Reads what is there, without waiting for a process that left its group with the stream.
    fn drain(&mut self) -> Result<(), RunError> {
        let mut buffer = [0; 8192];
        loop {
            match rustix::io::read(&self.pipe, &mut buffer) {
                Ok(0) | Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(unread(error.into())),
            }
            self.check()?;
        }
    }

    fn check(&self) -> Result<(), RunError> {
        if self.bytes.len() as u64 > self.limit {
            let what = format!("its {} has more than {} bytes", self.name, self.limit);
            return Err(RunError::TooMuch(what));
        }
        Ok(())
    }
}

fn unread(error: io::Error) -> RunError {
    RunError::machine("read what a process writes", error)
}
