//! The command `filch`: counts words on the process scheduler, draws the Mandelbrot set by
//! fork/join, simulates boids on the engine, and a build farm. See `filch --help`.
//!
//! Read `count/mod.rs` first: it is the reference example of how a job uses the scheduler.
//! `mandelbrot/mod.rs` is that of a recursion, `simulate/mod.rs` that of a game;
//! `build/simulate/mod.rs` drives the planner of the build scheduler.
#![forbid(unsafe_code)]

mod build;
mod cli;
mod columns;
mod count;
mod mandelbrot;
mod png;
mod progress;
mod random;
mod simulate;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
