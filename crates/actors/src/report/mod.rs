//! Reports for people: what a scheduler is doing, who waits for whom, and what was noted of each
//! process.

pub(crate) mod dump;
mod entry;
pub(crate) mod journal;
pub(crate) mod rings;
mod wait_graph;
