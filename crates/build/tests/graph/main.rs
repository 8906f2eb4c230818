//! Builds of graphs in one process.

mod builds;
mod failures;
mod files;
mod program;
mod project;
