//! The sandbox of an action: name spaces of its own, made by a launcher.
//!
//! ```text
//! worker ──socket──▶ launcher ──socket──▶ init, the first process of ──▶ the action's program
//!                    stops being root     its space: mounts /proc,      has no rights, and no
//!                    makes the spaces     leaves the old root, drops    files open but its two
//!                    makes a new root     its rights, buries the dead   outputs
//! ```
//!
//! The launcher and the init are a program of their own, `filch-sandbox`, because a process makes
//! such spaces while it has one thread, and a small program starts sooner. Both read what they are
//! to do from a socket, their standard input, and write their reports there.
//!
//! A sandbox takes some milliseconds to make, most of them waits for the system. So a [`Pool`]
//! makes it before there is an action: all of it then waits for the name of the program.
//!
//! **Nothing outlives its action or the worker.** When the action's program has ended, the init
//! kills all other processes of its space, and reports; only then the result is taken. While the
//! action is wanted, the worker keeps its end of the socket open. When it closes before the report,
//! because the worker has died or gives the action up, the launcher kills the init; if the launcher
//! itself is killed, the system kills the init. With the init the system kills all processes of its
//! space, and it is not over before they are.

mod cgroup;
#[cfg(target_os = "linux")]
mod launcher;
mod message;
mod pool;
#[cfg(target_os = "linux")]
mod root;

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{self, Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, io};

use clap::Args;
use prost::Message;
use rustix::net::{Shutdown, shutdown};
use rustix::process::geteuid;
use tempfile::TempDir;
use thiserror::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task;

use self::cgroup::{Cgroup, Cgroups};
use self::message::{Order, Report, Setup, frame};
pub(super) use self::pool::{Pool, Room};
use super::error::RunError;
use super::process::{self, Ended, Streams, spawn};
use super::runner::Limits;
use crate::options::defaults;

/// The program that makes sandboxes, beside the worker's.
const LAUNCHER: &str = "filch-sandbox";

/// The most memory of a sandbox in which nothing is run.
const TRIAL: u64 = 256 << 20;

/// The user of actions, if the worker is root: nobody.
const NOBODY: u32 = 65534;

/// The exit code of a killed program.
const KILLED: i32 = 128 + 9;

/// The settings of the sandbox of actions.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct SandboxOptions {
    /// Run actions without a sandbox: they may then do what the user of this program may. Systems
    /// other than Linux have no other way
    #[arg(long = "no-sandbox")]
    pub off: bool,
    /// A path that actions may read, as /opt; they see /usr and little of /etc by themselves. May
    /// be repeated
    #[arg(long = "sandbox-path", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The program that makes sandboxes: `filch-sandbox` in the folder of this one, if none.
    #[arg(skip)]
    pub launcher: Option<PathBuf>,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        defaults()
    }
}

impl SandboxOptions {
    /// Makes a sandbox for a trial, unless they are off.
    ///
    /// Actions see nothing in `folder`, where their own folders are, and none of the files
    /// `secrets`.
    ///
    /// # Errors
    /// If the system refuses a part of the sandbox.
    pub async fn open(
        &self,
        folder: &Path,
        secrets: &[&Path],
    ) -> Result<Option<Sandbox>, NoSandbox> {
        if self.off {
            return Ok(None);
        }
        let sandbox = self.find(folder, secrets);
        let mut sandbox = sandbox.map_err(|error| RunError::machine("find a path", error))?;
        sandbox.check().await?;
        Ok(Some(sandbox))
    }

    fn find(&self, folder: &Path, secrets: &[&Path]) -> io::Result<Sandbox> {
        let hidden = [folder].into_iter().chain(secrets.iter().copied());
        let beside = || Ok::<_, io::Error>(env::current_exe()?.with_file_name(LAUNCHER));
        Ok(Sandbox {
            launcher: self.launcher.clone().map_or_else(beside, Ok)?,
            visible: self
                .paths
                .iter()
                .map(path::absolute)
                .collect::<Result<_, _>>()?,
            hidden: hidden.map(Path::canonicalize).collect::<Result<_, _>>()?,
            cgroups: Cgroups::find(folder),
            gives: false,
        })
    }
}

/// The reason that there is no sandbox.
#[derive(Debug, Error)]
#[error(
    "actions cannot get a sandbox: {0}. It takes Linux 5.12, where this user may make user name \
    spaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, \
    kernel.apparmor_restrict_unprivileged_userns; in Docker, --security-opt seccomp=unconfined \
    --security-opt systempaths=unconfined). With --no-sandbox actions run without one, and may do \
    what this user may"
)]
pub struct NoSandbox(#[from] RunError);

/// Makes sandboxes.
#[derive(Debug, Clone)]
pub struct Sandbox {
    launcher: PathBuf,
    visible: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    cgroups: Option<Arc<Cgroups>>,
    /// True if this process is root, and there are other users: then actions are nobody's.
    gives: bool,
}

impl Sandbox {
    /// Makes one for an action whose folder is `folder`, and which is not known yet.
    async fn make(
        &self,
        folder: &Path,
        limits: &Limits,
        has_network: bool,
    ) -> Result<Launched, RunError> {
        let machine = |error| RunError::machine("prepare a sandbox", error);
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let cgroup = self.cgroups.as_ref();
        let cgroup = cgroup.map(|groups| groups.next(limits.memory));
        let cgroup = cgroup.transpose().map_err(machine)?;
        let setup = Setup {
            folder: bytes(folder),
            visible: self.visible.iter().map(|path| bytes(path)).collect(),
            hidden: self.hidden.iter().map(|path| bytes(path)).collect(),
            cgroup: cgroup.as_ref().map(|it| bytes(&it.folder)),
            gives: self.gives,
            has_network,
            memory: limits.memory,
            data: cgroup.is_none().then_some(limits.memory),
            processes: limits.processes,
            file_size: limits.file,
            open_files: limits.open_files,
        };
        let (stdout, stderr, streams) = Streams::new(limits.stream).map_err(machine)?;
        let (socket, its) = UnixStream::pair().map_err(machine)?;
        socket.set_nonblocking(true).map_err(machine)?;
        let mut process = Command::new(&self.launcher);
        process.env_clear().current_dir("/").process_group(0);
        process
            .stdin(OwnedFd::from(its))
            .stdout(stdout)
            .stderr(stderr);
        let started = spawn(&mut process).await;
        // It has the other ends of the socket and of the streams.
        drop(process);
        let mut launcher = Launcher {
            process: started.map_err(|error| RunError::machine("start filch-sandbox", error))?,
            socket: tokio::net::UnixStream::from_std(socket).map_err(machine)?,
            _cgroup: cgroup,
        };
        launcher.send(&setup).await;
        Ok(Launched { launcher, streams })
    }

    /// Makes a sandbox in which nothing is run.
    async fn check(&mut self) -> Result<(), RunError> {
        let machine = |error| RunError::machine("make a sandbox", error);
        let trial = TempDir::new().map_err(machine)?;
        self.gives = geteuid().is_root() && give(trial.path()).map_err(machine)?;
        let limits = Limits {
            memory: TRIAL,
            ..Limits::default()
        };
        let launched = self.make(trial.path(), &limits, false).await?;
        let nothing = Order::default();
        match launched.run(nothing, Duration::from_secs(60)).await {
            Err(RunError::NotStarted { .. }) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => {
                let launcher = self.launcher.display();
                Err(machine(io::Error::other(format!("{launcher} makes none"))))
            }
        }
    }
}

/// Gives a folder, with all that is in it, to the user of actions; returns false if there are no
/// other users here. A file with more names is also elsewhere, so it stays root's.
fn give(node: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(node)?;
    if found.is_dir() {
        for entry in fs::read_dir(node)? {
            give(&entry?.path())?;
        }
    } else if found.nlink() > 1 {
        return Ok(true);
    }
    match lchown(node, Some(NOBODY), Some(NOBODY)) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
        given => given.map(|()| true),
    }
}

/// A sandbox. Dropping it kills the action in it, if any, and waits until that is gone.
#[derive(Debug)]
struct Launched {
    launcher: Launcher,
    streams: Streams,
}

impl Launched {
    /// Runs a program, until no process is left.
    async fn run(mut self, order: Order, time_limit: Duration) -> Result<Ended, RunError> {
        let program = order.arguments.first().cloned().unwrap_or_default();
        self.launcher.send(&order).await;
        process::watch(self.launcher.ended(program), self.streams, time_limit).await
    }
}

#[derive(Debug)]
struct Launcher {
    process: Child,
    socket: tokio::net::UnixStream,
    _cgroup: Option<Cgroup>,
}

impl Launcher {
    async fn send(&mut self, message: &impl Message) {
        // If it has ended before, its report says why.
        let _ = self.socket.write_all(&frame(message)).await;
    }

    /// Waits until no process of the action is left; returns its exit code. What remains of the
    /// sandbox goes in the background.
    async fn ended(mut self, program: String) -> Result<i32, RunError> {
        let report = self.report().await;
        task::spawn_blocking(|| drop(self));
        let machine = |error| RunError::machine("make a sandbox", error);
        let Report {
            exit_code,
            step,
            error,
        } = report.map_err(machine)?;
        if let Some(code) = exit_code {
            return Ok(code);
        }
        Err(match step {
            Some(step) => machine(io::Error::other(format!("it cannot {step}: {error}"))),
            None => RunError::NotStarted {
                program,
                error: io::Error::other(error),
            },
        })
    }

    async fn report(&mut self) -> io::Result<Report> {
        let mut length = [0; size_of::<usize>()];
        match self.socket.read_exact(&mut length).await {
            // The whole control group was killed: it had no memory.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Ok(Report::ended(KILLED));
            }
            read => read?,
        };
        let mut bytes = vec![0; usize::from_ne_bytes(length)];
        self.socket.read_exact(&mut bytes).await?;
        Ok(Report::decode(&bytes[..])?)
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // It ends with its socket. Nobody is left to be told of an error.
        let _ = shutdown(&self.socket, Shutdown::Both);
        let _ = self.process.wait();
    }
}

/// Makes the sandbox of an action, if a worker has started this process for that: the program
/// `filch-sandbox`.
pub fn launch() -> ExitCode {
    #[cfg(target_os = "linux")]
    let ended = launcher::run(env::args().len() > 1);
    #[cfg(not(target_os = "linux"))]
    let ended = Err(io::ErrorKind::Unsupported.into());
    if let Err(error) = ended {
        // When the worker has gone, nobody reads it.
        let what = "filch-sandbox: it is a part of filch-build, which starts it";
        let _ = writeln!(io::stderr(), "{what}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
