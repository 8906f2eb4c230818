//! Builds of graphs in one process.

mod builds;
mod failures;
mod files;
#[path = "../farm/leaver.rs"]
mod leaver;
mod program;
mod project;
