//! The command `filch`: counts words on the process scheduler, draws the Mandelbrot set by
//! fork/join, and simulates boids on the engine. See `filch --help`.
//!
//! Read `count/mod.rs` first: it is the reference example of how a job uses the scheduler.
//! `mandelbrot/mod.rs` is that of a recursion, `simulate/mod.rs` that of a game.
#![forbid(unsafe_code)]

mod build;
mod cli;
mod count;
mod mandelbrot;
mod png;
mod random;
mod simulate;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
