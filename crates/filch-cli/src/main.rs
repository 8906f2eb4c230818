//! The command `filch`: counts words on the process scheduler. See `filch --help`.
//!
//! Read `count/mod.rs` first: it is the reference example of how a job uses the scheduler.
#![forbid(unsafe_code)]

mod cli;
mod count;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
