#![doc = include_str!("../../GRAPH.md")]

mod arguments;
mod bring;
mod build;
mod file;
mod job;
mod sources;
mod tree;

pub use arguments::{Bar, RunArguments};
pub use build::{Build, Watch};
pub use file::{Graph, GraphError};
pub use job::{Job, JobError, Outcome, Summary};
