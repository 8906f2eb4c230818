//! Builds of graphs in one process.

mod builds;
mod failures;
mod files;
#[path = "../common/leaver.rs"]
mod leaver;
mod program;
mod project;
