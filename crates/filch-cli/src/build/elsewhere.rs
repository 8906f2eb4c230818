//! The commands of the program `filch-build`, which is a package of its own.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

/// The name of the program.
const NAME: &str = "filch-build";

/// The reason why it could not be started.
#[derive(Debug)]
pub(crate) struct NotStarted(io::Error);

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME} cannot be started: {}", self.0)?;
        if self.0.kind() == io::ErrorKind::NotFound {
            write!(f, " (`cargo install {NAME}` brings it)")?;
        }
        Ok(())
    }
}

impl std::error::Error for NotStarted {}

/// Runs the program with these arguments: the one beside this program, or else the one in `PATH`. A
/// terminal's signals reach both; on Unix the other program replaces this one.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitStatus, NotStarted> {
    let beside = std::env::current_exe().map(|own| own.with_file_name(NAME));
    let program = beside.ok().filter(|path| path.is_file());
    let mut command = Command::new(program.unwrap_or_else(|| PathBuf::from(NAME)));
    command.args(arguments);
    start(&mut command).map_err(NotStarted)
}

#[cfg(unix)]
fn start(command: &mut Command) -> io::Result<ExitStatus> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> io::Result<ExitStatus> {
    command.status()
}
