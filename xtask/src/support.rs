//! Shared by the commands: running programs, counting results, reading the workspace.

pub(crate) mod code;
pub(crate) mod copies;
pub(crate) mod error;
pub(crate) mod explore;
pub(crate) mod metadata;
pub(crate) mod parallel;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod stages;
pub(crate) mod table;
pub(crate) mod tally;
