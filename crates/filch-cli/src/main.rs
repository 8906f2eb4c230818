//! The command `filch`: counts words on the process scheduler, and draws the Mandelbrot set by
//! fork/join. See `filch --help`.
//!
//! Read `count/mod.rs` first: it is the reference example of how a job uses the scheduler.
//! `mandelbrot/mod.rs` is that of a recursion.
#![forbid(unsafe_code)]

mod cli;
mod count;
mod mandelbrot;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
