//! The commands of filch's developers; `cargo xtask --help` lists them.
//!
//! One file per command. Nothing here needs more than cargo and the pinned toolchain; a command
//! that does says so before it starts.

mod commands;
mod support;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{
    arm, bench, book, ci, docs, lint, litmus, loom, mutants, mutants::orderings, ordered, package,
    rayon, refused, road, sanitize, shuttle, test, weigh,
};
use support::tally::Tally;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about, version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything a contributor must pass: unit, property, integration and doc tests, examples, and
    /// the models at quick bounds.
    Test(test::Options),
    /// Runs what CI does: `test` with the models' own bounds, format, clippy, docs, house rules,
    /// the book, the packages.
    Ci(ci::Options),
    /// The models, each in a process of its own, with a table of what was explored.
    Loom(loom::Options),
    /// The house rules that rustc and clippy cannot check: layers, circles, notes, links, ledgers.
    Lint,
    /// Kernels of the lock-free protocols, and their weakenings, judged by memory models (needs
    /// herd7; without it, the verdicts that are kept).
    Litmus(litmus::Options),
    /// Builds the book with mdbook, which it installs.
    Book,
    /// Writes into the pages what is made from the code: examples, and the tests of each row.
    Docs,
    /// Comparisons with other crates, interleaved in one process; stored runs of them, compared and
    /// published. Most arguments go to `filch-benches`.
    Bench(bench::Passed),
    /// Packs what would be published, and runs the tests of each package by itself.
    Package,
    /// The tests of the published rayon, fetched by cargo, on our rayon-core.
    Rayon,
    /// Weakens one ordering at a time and runs the models against it.
    Orderings(orderings::Options),
    /// Makes one condition, effect or order of the primitives wrong at a time, and runs the tests
    /// and models that reach it.
    Mutants(mutants::Options),
    /// Whole pools and schedulers under shuttle's randomised schedules, with a table of what was
    /// run.
    Shuttle(shuttle::Options),
    /// A command in a process that may pass no heavy fences: the kernel refuses `membarrier` to it,
    /// by a seccomp filter.
    Refused(refused::Options),
    /// The stress tests under a sanitizer (needs a nightly toolchain).
    Sanitize(sanitize::Options),
    /// The tests of the libraries on Arm and on 32-bit x86 (needs qemu and cross compilers).
    Arm(arm::Options),
    /// Writes docs/ordered.md: the instructions for Arm that order memory, by operation.
    Ordered,
    /// Schedulers under faults of all kinds, for as long as asked, with accounts of everything.
    Soak(bench::Passed),
    /// The source files that an operation executes, in their order (needs valgrind).
    Road(road::Options),
    /// The lines of each room, and the most that it may have.
    Weigh(weigh::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Test(options) => test::run(&options),
        Command::Ci(options) => ci::run(&options),
        Command::Loom(options) => loom::explore(&options).and_then(Tally::report),
        Command::Lint => lint::check().and_then(Tally::report),
        Command::Litmus(options) => litmus::run(&options),
        Command::Book => book::check().and_then(Tally::report),
        Command::Docs => docs::run(),
        Command::Bench(options) => bench::run(&options),
        Command::Package => package::run(),
        Command::Rayon => rayon::run(),
        Command::Orderings(options) => orderings::run(&options),
        Command::Mutants(options) => mutants::run(&options),
        Command::Shuttle(options) => shuttle::explore(&options).and_then(Tally::report),
        Command::Refused(options) => refused::run(&options),
        Command::Sanitize(options) => sanitize::run(&options),
        Command::Arm(options) => arm::run(&options),
        Command::Ordered => ordered::run(),
        Command::Soak(options) => bench::soak(&options),
        Command::Road(options) => road::run(&options),
        Command::Weigh(options) => weigh::run(&options),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
