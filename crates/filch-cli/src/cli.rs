//! Arguments, exit codes, and the two output streams.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, value_parser};

use crate::build;
use crate::count::{self, Source};

/// Jobs on filch's schedulers: counts the words of text files, or simulates a build farm.
///
/// Without a command, counts the folder it is run in: see `filch count --help`.
#[derive(Debug, Parser)]
#[command(
    name = "filch",
    version,
    args_conflicts_with_subcommands = true,
    after_help = EXIT_CODES
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    counting: Counting,
}

const EXIT_CODES: &str = "Exit codes: 0 done (whatever was skipped in folders), 1 failed, or not \
    all that was named is counted, 2 wrong usage.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Counts the words of files, folders, pipes and standard input, on the process scheduler.
    ///
    /// A word is a maximal run of alphanumeric characters and underscores, in lower case.
    ///
    /// Folders are searched to the bottom, except hidden ones (.git) and those marked as caches by
    /// a CACHEDIR.TAG file (cargo's target). Only regular files in them are read, and symbolic
    /// links are not followed. Files that cannot be read, or are not text (UTF-8 without NUL), are
    /// skipped; standard error says which and why.
    ///
    /// A named path is counted as it is, even if it is hidden, a cache, a link or a pipe. If it
    /// cannot be counted, that is an error; all others are counted. A path named twice is counted
    /// twice.
    ///
    /// A file is read to its end, whatever its stated size. Bytes appended after the end was seen
    /// are not counted. Pipes and standard input are read until they end, or until they are not
    /// text; what came before that is counted.
    #[command(after_help = EXIT_CODES)]
    Count {
        /// Folders, files and pipes; `-` is standard input. [default: -]
        #[arg(value_name = "PATH")]
        paths: Vec<OsString>,
        #[command(flatten)]
        counting: Counting,
    },
    /// Build farms: a simulation of the ways to spread jobs over workers.
    #[command(subcommand)]
    Build(build::Command),
}

#[derive(Debug, Args)]
struct Counting {
    /// Workers of the scheduler, each with a thread. [default: one per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    workers: Option<u16>,
    /// The number of most frequent words to print.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Reports the workers' activity on standard error.
    #[arg(long)]
    stats: bool,
    /// Does not name files skipped in folders. Errors, and the output of --stats, appear all the
    /// same.
    #[arg(long, short)]
    quiet: bool,
}

/// The number of skipped files that are named.
const NAMED_SKIPS: usize = 20;

pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {
        None => count(&[Source::Named(".".into())], &cli.counting),
        Some(Command::Count { paths, counting }) => {
            let mut roots: Vec<Source> = paths.into_iter().map(Source::from).collect();
            if roots.is_empty() {
                roots.push(Source::Input);
            }
            count(&roots, &counting)
        }
        Some(Command::Build(build::Command::Simulate(arguments))) => {
            match build::simulate::run(&arguments) {
                Ok(report) => print(report),
                Err(error) => fail(error, 2),
            }
        }
    }
}

fn count(roots: &[Source], counting: &Counting) -> ExitCode {
    let is_quiet = counting.quiet;
    let is_typed = roots.contains(&Source::Input) && io::stdin().is_terminal();
    if is_typed && !is_quiet && io::stderr().is_terminal() {
        complain("filch: counts what is typed; ctrl-D ends it");
    }
    let settings = count::Settings {
        workers: counting.workers.map(usize::from),
        ..count::Settings::default()
    };
    let report = match count::run(roots, &settings) {
        Ok(report) => report,
        Err(error) => return fail(error, 1),
    };
    report.failures().for_each(complain);
    if report.is_void() {
        return ExitCode::FAILURE;
    }
    if !is_quiet {
        for skip in report.passed_by().take(NAMED_SKIPS) {
            complain(skip);
        }
        let unnamed = report.passed_by().count().saturating_sub(NAMED_SKIPS);
        if unnamed > 0 {
            complain(format_args!("skipped {unnamed} more"));
        }
    }
    let printed = print(report.table(counting.top));
    if counting.stats {
        complain(format_args!("\n{}", report.statistics()));
    }
    match report.failures().next() {
        Some(_) => ExitCode::FAILURE,
        None => printed,
    }
}

/// Says why there is no result.
fn fail(error: impl Display, code: u8) -> ExitCode {
    complain(format_args!("filch: {error}"));
    ExitCode::from(code)
}

fn print(report: impl Display) -> ExitCode {
    let mut stdout = io::stdout().lock();
    let written = write!(stdout, "{report}").and_then(|()| stdout.flush());
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

/// Writes a line to standard error. If that is closed, nobody can be told.
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
