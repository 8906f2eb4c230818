//! Shared by the commands: running programs, counting results, reading the workspace.

pub(crate) mod code;
pub(crate) mod explore;
pub(crate) mod metadata;
pub(crate) mod parallel;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod stages;
pub(crate) mod table;
pub(crate) mod tally;

/// An error is one that stopped the command, not a test that failed.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
