//! The command `filch`: counts words on the process scheduler, and simulates a build farm. See
//! `filch --help`.
//!
//! Read `count/mod.rs` first: it is the reference example of how a job uses the scheduler.
//! `build/simulate/mod.rs` drives the planner of the build scheduler.
#![forbid(unsafe_code)]

mod build;
mod cli;
mod columns;
mod count;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
