//! The processes of an action.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{self, Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{Access, Mode, access};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, umask, waitid};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use tokio::{task, time};

use super::command::Command;
use super::error::RunError;

/// The default search path for programs: the worker's own `PATH` is not used.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The most tries to start a process.
pub(super) const TRIES: usize = 1000;

/// The results of a process that ended, apart from its files.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exit_code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs the action whose folder is `root`, without a sandbox, until its first process ends. Then
/// the rest of its process group is killed.
pub(super) async fn run(
    root: &Path,
    command: &Command,
    time_limit: Duration,
    stream_limit: u64,
) -> Result<Ended, RunError> {
    let directory = root.join(&command.directory);
    let name = &command.arguments[0];
    let not_started = |error| RunError::NotStarted {
        program: name.clone(),
        error,
    };
    let mut variables = command.environment.iter();
    let path = variables.find(|(name, _)| name == "PATH");
    // As a path: the worker need not search for the program in a fork of itself.
    let program = find(name, path.map(|(_, path)| path.as_str()), &directory);
    let mut process = process::Command::new(program.map_err(not_started)?);
    let streams = Streams::new(stream_limit);
    let streams = streams.map_err(|error| RunError::machine("make a pipe", error));
    let (stdout, stderr, streams) = streams?;
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
    // It has the other ends of the pipes.
    drop(process);
    let leader = Leader {
        child,
        has_ended: false,
    };
    watch(leader.ended(), streams, time_limit).await
}

/// Waits until an action has ended, with this exit code; and no longer than it may run.
pub(super) async fn watch(
    ended: impl Future<Output = Result<i32, RunError>>,
    mut streams: Streams,
    time_limit: Duration,
) -> Result<Ended, RunError> {
    let Streams([out, err]) = &mut streams;
    let filled = async { tokio::try_join!(out.fill(), err.fill()) };
    let exit_code = tokio::select! {
        ended = ended => ended?,
        // When both streams have ended, the process has not yet.
        Err(error) = filled => return Err(error),
        () = time::sleep(time_limit) => return Err(RunError::TooLong(time_limit)),
    };
    out.drain()?;
    err.drain()?;
    let [stdout, stderr] = streams.0.map(|stream| stream.bytes);
    Ok(Ended {
        exit_code,
        stdout,
        stderr,
    })
}

/// Waits until a child has ended, without reaping it: its id stays reserved, so no other process
/// group can have it.
fn wait_unreaped(pid: Pid) -> io::Result<()> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options))?;
    Ok(())
}

/// Returns the exit code as shells do: 128 plus the signal.
fn exit_code(status: ExitStatus) -> i32 {
    let signal = || 128 + status.signal().unwrap_or_default();
    status.code().unwrap_or_else(signal)
}

/// The first process of an action, which leads a process group. Dropping it kills the group.
#[derive(Debug)]
struct Leader {
    child: Child,
    has_ended: bool,
}

impl Leader {
    /// Waits until it has ended, and kills the rest of the group; returns its exit code.
    async fn ended(mut self) -> Result<i32, RunError> {
        let pid = Pid::from_child(&self.child);
        let waited = task::spawn_blocking(move || wait_unreaped(pid)).await;
        let waited = waited.map_err(io::Error::other).flatten();
        let ended = waited.and_then(|()| self.end());
        let status = ended.map_err(|error| RunError::machine("wait for a process", error))?;
        Ok(exit_code(status))
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        self.has_ended = true;
        // The first process keeps its id until it is reaped. The only possible error is that all
        // have ended.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // It may have joined another group.
        let _ = self.child.kill();
        self.child.wait()
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
pub(super) async fn spawn(process: &mut process::Command) -> io::Result<Child> {
    static STARTS: Mutex<()> = Mutex::const_new(());
    let _alone = STARTS.lock().await;
    let mut tries = 0;
    loop {
        match process.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TRIES => {
                tries += 1;
                time::sleep(Duration::from_millis(1)).await;
            }
            spawned => return spawned,
        }
    }
}

/// Returns the path of a program: a name without a slash is looked up in `path`, the action's
/// `PATH`.
pub(super) fn find(name: &str, path: Option<&str>, directory: &Path) -> io::Result<PathBuf> {
    if name.contains('/') {
        return Ok(directory.join(name));
    }
    let path = path.unwrap_or(PATH);
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

/// The streams that a process writes.
#[derive(Debug)]
pub(super) struct Streams([Stream; 2]);

impl Streams {
    /// Makes the ends for the process, and the streams.
    pub(super) fn new(limit: u64) -> io::Result<(Stdio, Stdio, Self)> {
        let (stdout, out) = Stream::new("standard output", limit)?;
        let (stderr, err) = Stream::new("standard error", limit)?;
        Ok((stdout, stderr, Self([out, err])))
    }
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

/// Keeps actions from inheriting what this process inherited itself: open files, and the mask of
/// permissions. A program that runs actions calls it first.
pub fn keep_from_actions() {
    close_fds::set_fds_cloexec(3, &[]);
    // So that everyone may read what actions make.
    umask(Mode::WGRP | Mode::WOTH);
}

fn unread(error: io::Error) -> RunError {
    RunError::machine("read what a process writes", error)
}
