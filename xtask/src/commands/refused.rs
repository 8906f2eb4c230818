//! `cargo xtask refused`: a command in a process that may pass no heavy fences.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use clap::{Args, ValueEnum};

use crate::support::error::Result;

#[derive(Args)]
pub(crate) struct Options {
    /// The error that the kernel answers with.
    #[arg(long, value_enum, default_value_t = Errno::Eperm)]
    errno: Errno,

    /// The program, and what it is to do.
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// The answers of a filter, as container runtimes have them, and of a kernel without the call.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Errno {
    Eperm,
    Enosys,
}

impl Errno {
    /// The command, to be run in a process to which the kernel answers so.
    pub(crate) fn refusing(self, command: &Command) -> Result<Command> {
        let mut refused = Command::new(env::current_exe()?);
        let name = self.to_possible_value().ok_or("it has a name")?;
        refused.args(["refused", "--errno", name.get_name(), "--"]);
        refused.arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            refused.current_dir(folder);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => refused.env(name, value),
                None => refused.env_remove(name),
            };
        }
        Ok(refused)
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    /// `membarrier`, by architecture.
    const CALL: i64 = if cfg!(target_arch = "x86_64") {
        324
    } else {
        283
    };

    let errno = match options.errno {
        Errno::Eperm => 1,
        Errno::Enosys => 38,
    };
    let filter: BpfProgram = SeccompFilter::new(
        [(CALL, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    apply_filter(&filter)?;
    let (program, arguments) = options.command.split_first().ok_or("no command")?;
    // It returns only if that fails.
    Err(Command::new(program).args(arguments).exec().into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &Options) -> Result<ExitCode> {
    Err("only Linux has seccomp filters".into())
}
