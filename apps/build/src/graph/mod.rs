#![doc = include_str!("../../GRAPH.md")]

mod arguments;
mod bar;
mod bring;
mod build;
mod error;
mod file;
mod job;
mod order;
mod sources;
mod summary;
mod tree;

pub use arguments::RunArguments;
pub use bar::Bar;
pub use build::{Build, Watch};
pub use error::GraphError;
pub use file::Graph;
pub use job::{Job, JobError};
pub use summary::{Outcome, Summary};
