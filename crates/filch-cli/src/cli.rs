//! Arguments, exit codes, and what goes to which stream.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::count::{self, CountError, Report, Settings};

/// Counts the words of text files on filch's process scheduler.
///
/// Without a command, counts the folder it is run in. A word is a maximal run of alphanumeric
/// characters and underscores, in lower case.
///
/// Folders are searched to the bottom, except hidden ones (.git) and those marked as caches by a
/// CACHEDIR.TAG file (cargo's target). Symbolic links inside are not followed. Files that cannot be
/// read, or are not UTF-8 text, are skipped; standard error says which and why.
#[derive(Debug, Parser)]
#[command(
    name = "filch",
    version,
    after_help = "Exit codes: 0 counted (whatever was skipped), 1 failed, 2 wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Counts the words of a folder, or of one file.
    Count {
        /// The folder or file. It is taken as it is, even if it is hidden, a cache or a link.
        path: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Options {
    /// Workers of the scheduler, each with a thread. [default: one per core]
    #[arg(long, value_name = "N", global = true)]
    workers: Option<usize>,
    /// How many of the most frequent words to print.
    #[arg(long, value_name = "N", global = true, default_value_t = 20)]
    top: usize,
}

/// How many skipped files are named.
const NAMED_SKIPS: usize = 20;

pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let root = match cli.command {
        Some(Command::Count { path }) => path,
        None => PathBuf::from("."),
    };
    let settings = Settings {
        workers: cli.options.workers,
        ..Settings::default()
    };
    match count::run(&root, &settings) {
        Ok(report) => print(&report, cli.options.top),
        Err(error) => {
            complain(format_args!("filch: {error}"));
            ExitCode::from(exit_code(&error))
        }
    }
}

fn exit_code(error: &CountError) -> u8 {
    if error.is_usage() { 2 } else { 1 }
}

fn print(report: &Report, top: usize) -> ExitCode {
    for skip in report.skipped.iter().take(NAMED_SKIPS) {
        complain(format_args!("skipped {skip}"));
    }
    let unnamed = report.skipped.len().saturating_sub(NAMED_SKIPS);
    if unnamed > 0 {
        complain(format_args!("skipped {unnamed} more"));
    }
    let mut stdout = io::stdout().lock();
    let written = write!(stdout, "{}", report.table(top)).and_then(|()| stdout.flush());
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has read enough: `filch | head`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("filch: cannot write the result: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to standard error. If that is closed, no one can be told.
fn complain(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
