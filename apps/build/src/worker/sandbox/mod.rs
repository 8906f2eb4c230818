//! The sandbox of an action: name spaces of its own, made by a launcher.
//!
//! ```text
//! worker ──socket──▶ launcher ──socket──▶ init, the first process of ──▶ the action's program
//!                    stops being root     its space: mounts /proc,      has no rights, and no
//!                    makes the spaces     leaves the old root, drops    files open but its two
//!                    makes a new root     its rights, buries the dead   outputs
//! ```
//!
//! The launcher and the init are this program, started anew, because a process makes such spaces
//! while it has one thread. Both read their orders from a socket, their standard input, and write
//! there what went wrong.
//!
//! **Nothing outlives its action or the worker.** While the action is wanted, the worker keeps its
//! end of the socket open. When it closes, because the worker has died or the action is over, the
//! launcher kills the init; if the launcher itself is killed, the system kills the init. With the
//! init the system kills all processes of its space, and it is not over before they are.

mod cgroup;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod root;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::{self, Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use prost::Message;
use tempfile::TempDir;
use thiserror::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use self::cgroup::{Cgroup, Cgroups};
use super::command as action;
use super::error::RunError;
use super::process::{self, Prepared};
use super::runner::Limits;
use crate::options::defaults;

/// The argument that makes a program a launcher.
const LAUNCHER: &str = "sandbox-launcher";

/// The most memory of a sandbox in which nothing is run.
const TRIAL: u64 = 256 << 20;

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
    /// The program that makes sandboxes, which calls [`launch_if_asked`] first: this one.
    #[arg(skip = "/proc/self/exe")]
    pub launcher: PathBuf,
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
        let sandbox = sandbox.map_err(|error| RunError::machine("find a path", error))?;
        sandbox.check().await?;
        Ok(Some(sandbox))
    }

    fn find(&self, folder: &Path, secrets: &[&Path]) -> io::Result<Sandbox> {
        let hidden = [folder].into_iter().chain(secrets.iter().copied());
        Ok(Sandbox {
            launcher: self.launcher.clone(),
            visible: self
                .paths
                .iter()
                .map(path::absolute)
                .collect::<Result<_, _>>()?,
            hidden: hidden.map(Path::canonicalize).collect::<Result<_, _>>()?,
            cgroups: Cgroups::find(folder),
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

/// Makes a sandbox for each action.
#[derive(Debug, Clone)]
pub struct Sandbox {
    launcher: PathBuf,
    visible: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    cgroups: Option<Arc<Cgroups>>,
}

impl Sandbox {
    /// Prepares the action whose folder is `root`.
    pub(super) fn prepare(
        &self,
        root: &Path,
        command: &action::Command,
        limits: &Limits,
        has_network: bool,
    ) -> Result<Prepared, RunError> {
        let variables = command.environment.iter();
        let order = Order {
            arguments: command.arguments.clone(),
            environment: variables
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            directory: command.directory.clone(),
            memory: limits.memory,
            processes: limits.processes,
            file_size: limits.file,
            open_files: limits.open_files,
            has_network,
            ..Order::default()
        };
        let launch = self.launch(root, order);
        launch.map_err(|error| RunError::machine("prepare a sandbox", error))
    }

    fn launch(&self, root: &Path, order: Order) -> io::Result<Prepared> {
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let cgroup = self
            .cgroups
            .as_ref()
            .map(|groups| groups.next(order.memory));
        let cgroup = cgroup.transpose()?;
        let name = order.arguments.first().cloned().unwrap_or_default();
        let order = Order {
            folder: bytes(root),
            visible: self.visible.iter().map(|path| bytes(path)).collect(),
            hidden: self.hidden.iter().map(|path| bytes(path)).collect(),
            data: cgroup.is_none().then_some(order.memory),
            cgroup: cgroup.as_ref().map(|it| bytes(&it.folder)),
            ..order
        };
        let (socket, its) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        let mut process = Command::new(&self.launcher);
        process.arg(LAUNCHER).env_clear().current_dir("/");
        process.stdin(OwnedFd::from(its));
        let link = Link {
            order: frame(&order),
            socket: tokio::net::UnixStream::from_std(socket)?,
            _cgroup: cgroup,
        };
        Ok(Prepared {
            process,
            name,
            link: Some(link),
        })
    }

    /// Makes a sandbox in which nothing is run.
    async fn check(&self) -> Result<(), RunError> {
        let machine = |error| RunError::machine("make a sandbox", error);
        let trial = TempDir::new().map_err(machine)?;
        let order = Order {
            memory: TRIAL,
            ..Order::default()
        };
        let launch = self.launch(trial.path(), order).map_err(machine)?;
        match process::run(launch, Duration::from_secs(60), TRIAL).await {
            Err(RunError::NotStarted { .. }) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => {
                let launcher = self.launcher.display();
                Err(machine(io::Error::other(format!("{launcher} makes none"))))
            }
        }
    }
}

/// The worker's link with a launcher, which ends with it.
#[derive(Debug)]
pub(super) struct Link {
    order: Vec<u8>,
    socket: tokio::net::UnixStream,
    _cgroup: Option<Cgroup>,
}

impl Link {
    /// Sends the order, once the launcher was started.
    pub(super) async fn order(&mut self) {
        // If it has ended before, it says why.
        let _ = self.socket.write_all(&self.order).await;
    }

    /// Reads why a launcher that has ended did not start the program of that name, if so.
    pub(super) async fn report(&mut self, program: &str) -> Result<(), RunError> {
        let machine = |error| RunError::machine("make a sandbox", error);
        let mut report = Vec::new();
        self.socket
            .read_to_end(&mut report)
            .await
            .map_err(machine)?;
        if report.is_empty() {
            return Ok(());
        }
        let report = Report::decode(&report[..]);
        let Report { step, error } = report.map_err(|error| machine(error.into()))?;
        Err(match step {
            Some(step) => machine(io::Error::other(format!("it cannot {step}: {error}"))),
            None => RunError::NotStarted {
                program: program.to_owned(),
                error: io::Error::other(error),
            },
        })
    }

    /// Lets the launcher end the action, and itself. The control group goes last.
    pub(super) fn close(self, launcher: &mut Child) -> io::Result<ExitStatus> {
        drop(self.socket);
        launcher.wait()
    }
}

/// Makes the sandbox of an action, and returns the exit code, if this process was started for that.
/// A program that runs actions calls it first, while it has one thread.
pub fn launch_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != LAUNCHER {
        return None;
    }
    #[cfg(target_os = "linux")]
    let ended = launcher::run(arguments.next().is_some());
    #[cfg(not(target_os = "linux"))]
    let ended = Err::<u8, _>(io::ErrorKind::Unsupported.into());
    // If it fails, there is nobody to be told.
    Some(ended.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The order to a launcher, and to its init.
#[derive(Clone, PartialEq, Message)]
struct Order {
    /// The action's folder.
    #[prost(bytes = "vec", tag = "1")]
    folder: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    visible: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    hidden: Vec<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "4")]
    cgroup: Option<Vec<u8>>,
    #[prost(bool, tag = "5")]
    has_network: bool,
    /// Without any, nothing is run.
    #[prost(string, repeated, tag = "6")]
    arguments: Vec<String>,
    /// As `NAME=VALUE`.
    #[prost(string, repeated, tag = "7")]
    environment: Vec<String>,
    /// Relative to the action's folder.
    #[prost(string, tag = "8")]
    directory: String,
    #[prost(uint64, tag = "9")]
    memory: u64,
    /// The most bytes that a process allocates, if there is no control group.
    #[prost(uint64, optional, tag = "10")]
    data: Option<u64>,
    #[prost(uint64, tag = "11")]
    processes: u64,
    #[prost(uint64, tag = "12")]
    file_size: u64,
    #[prost(uint64, tag = "13")]
    open_files: u64,
}

/// The report of a launcher or an init that does not go on.
#[derive(Clone, PartialEq, Message)]
struct Report {
    /// The failed step; none if it is the start of the program.
    #[prost(string, optional, tag = "1")]
    step: Option<String>,
    #[prost(string, tag = "2")]
    error: String,
}

impl Report {
    fn at<E: Into<io::Error>>(step: impl Into<String>) -> impl FnOnce(E) -> Self {
        let step = Some(step.into());
        move |error| Self {
            step,
            error: error.into().to_string(),
        }
    }
}

/// Puts its length before an order.
fn frame(order: &Order) -> Vec<u8> {
    let bytes = order.encode_to_vec();
    [&bytes.len().to_ne_bytes()[..], &bytes].concat()
}
