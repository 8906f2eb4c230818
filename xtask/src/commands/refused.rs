//! `cargo xtask refused`: a command in a process that may pass no heavy fences.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::support::Result;

#[derive(Args)]
pub(crate) struct Options {
    /// The error that the kernel answers with: that of a filter, as container runtimes have them,
    /// or of a kernel without the call.
    #[arg(long, default_value = "eperm", value_parser = ERRORS)]
    errno: String,

    /// The program, and what it is to do.
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

pub(crate) const ERRORS: [&str; 2] = ["eperm", "enosys"];

#[cfg(target_os = "linux")]
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    use std::env::consts::ARCH;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    /// `membarrier`, by architecture.
    const CALL: i64 = [283, 324][cfg!(target_arch = "x86_64") as usize];

    let errno = if options.errno == "eperm" { 1 } else { 38 };
    let filter: BpfProgram = SeccompFilter::new(
        [(CALL, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        ARCH.try_into()?,
    )?
    .try_into()?;
    apply_filter(&filter)?;
    if filch_sync::asymmetric::register() {
        return Err("the filter refuses nothing".into());
    }
    let (program, arguments) = options.command.split_first().ok_or("no command")?;
    // It returns only if that fails.
    Err(Command::new(program).args(arguments).exec().into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &Options) -> Result<ExitCode> {
    Err("only Linux has seccomp filters".into())
}
