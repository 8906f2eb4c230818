//! Arguments, exit codes, and what goes to which stream.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use console::Term;

use crate::build;
use crate::columns;
use crate::count::{self, Source};
use crate::mandelbrot::{self, Size};
use crate::simulate;

/// Jobs on filch's schedulers: counts the words of text files, draws the Mandelbrot set, simulates
/// boids, or simulates a build farm.
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
    /// What is named is taken as it is, even if it is hidden, a cache, a link or a pipe. If it
    /// cannot be counted, that is an error; all others are counted. What is named twice is counted
    /// twice.
    ///
    /// A file is read to its end, whatever size it says it has (those of /proc say 0), unless that
    /// exceeds the size by a GiB: then it is skipped, as one without an end. What is appended after
    /// the end was seen is not counted. Pipes and standard input are read until they end, or until
    /// they are not text; what was before that is counted.
    ///
    /// How far it is shows on standard error, if that is a terminal and a second has passed.
    #[command(after_help = EXIT_CODES)]
    Count {
        /// Folders, files and pipes; `-` is standard input. [default: -]
        #[arg(value_name = "PATH")]
        paths: Vec<OsString>,
        #[command(flatten)]
        counting: Counting,
    },
    /// Draws the Mandelbrot set by fork/join, and says what that brought.
    ///
    /// One thread without a pool and the workers of a pool draw the picture by turns, three times
    /// each. All pictures must be equal. The table has the best time of each.
    ///
    /// The rest of the table is about the workers' fastest picture, which is the one in the file:
    /// how many jobs each worker stole from another one, and how much of its time it spent drawing.
    Mandelbrot(Drawing),
    /// Simulates boids on the engine: four workers that share a world, in steps of equal length.
    ///
    /// A script plays, so that the same seed gives the same world, the same sound and the same
    /// picture, to the last bit: the checksums say so. It runs as fast as it can, and leaves no
    /// frame out.
    ///
    /// The table has how long frames took, and what each worker did. A worker gives way where data
    /// that it needs is locked.
    Simulate(Simulation),
    /// Build farms: a simulation of how jobs are spread over workers.
    #[command(subcommand)]
    Build(build::Command),
}

#[derive(Debug, Args)]
struct Counting {
    /// Workers of the scheduler, each with a thread. [default: one per core]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// How many of the most frequent words to print.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Prints the result as one line of JSON, in which no word is cut.
    #[arg(long)]
    json: bool,
    /// Says what the workers did: on standard error or, with --json, in the same document.
    #[arg(long)]
    stats: bool,
    /// Shows no progress, and does not say what was skipped in folders. Errors, and what --stats
    /// says, are there all the same.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
struct Drawing {
    /// The file to write, as PNG. If it is there, it is replaced.
    #[arg(value_name = "OUT.png")]
    file: PathBuf,
    /// Threads of the pool. [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Pixels of the picture.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720")]
    size: Size,
    /// Tints each tile by the worker that drew it; the table has their colours.
    #[arg(long)]
    who: bool,
}

#[derive(Debug, Args)]
struct Simulation {
    /// The file to write the last frame to, as PNG. If it is there, it is replaced.
    #[arg(value_name = "OUT.png")]
    file: Option<PathBuf>,
    /// Frames, of which a second has sixty.
    #[arg(long, value_name = "N", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// How many boids there are: 100000 at most.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    boids: u32,
    /// What the script and the first places are made of.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Schedulers beside the main thread's: one for all workers, up to one for each.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=3))]
    schedulers: u8,
}

/// How many skipped files are named.
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
        Some(Command::Mandelbrot(drawing)) => draw(drawing),
        Some(Command::Simulate(simulation)) => simulate(simulation),
        Some(Command::Build(build::Command::Simulate(arguments))) => {
            match build::simulate::run(&arguments.settings()) {
                Ok(report) => print(report.within(columns::width(&Term::stdout()))),
                Err(error) => fail(&error, error.is_usage()),
            }
        }
        Some(Command::Build(build::Command::Elsewhere(arguments))) => {
            match build::elsewhere::run(&arguments) {
                Ok(status) if status.success() => ExitCode::SUCCESS,
                Ok(_) => ExitCode::FAILURE,
                Err(error) => fail(&error, false),
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
        workers: counting.workers,
        progress: !is_quiet,
        ..count::Settings::default()
    };
    let report = match count::run(roots, &settings) {
        Ok(report) => report,
        Err(error) => return fail(&error, error.is_usage()),
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
    let printed = match counting.json {
        true => print(report.json(counting.top, counting.stats)),
        false => print(report.table(counting.top, columns::width(&Term::stdout()))),
    };
    if counting.stats && !counting.json {
        let statistics = report.statistics(columns::width(&Term::stderr()));
        complain(format_args!("\n{}", statistics.trim_end()));
    }
    match report.failures().next() {
        Some(_) => ExitCode::FAILURE,
        None => printed,
    }
}

fn draw(drawing: Drawing) -> ExitCode {
    let settings = mandelbrot::Settings {
        file: drawing.file,
        size: drawing.size,
        threads: drawing.threads,
        who: drawing.who,
    };
    match mandelbrot::run(&settings) {
        Ok(report) => print(report),
        Err(error) => fail(&error, error.is_usage()),
    }
}

fn simulate(simulation: Simulation) -> ExitCode {
    let settings = simulate::Settings {
        file: simulation.file,
        frames: simulation.frames,
        boids: simulation.boids,
        seed: simulation.seed,
        schedulers: simulation.schedulers.into(),
    };
    match simulate::run(&settings) {
        Ok(report) => print(report),
        Err(error) => fail(&error, false),
    }
}

/// Says why there is no result. `is_usage`: whether other arguments would help.
fn fail(error: &impl Display, is_usage: bool) -> ExitCode {
    complain(format_args!("filch: {error}"));
    ExitCode::from(if is_usage { 2 } else { 1 })
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
