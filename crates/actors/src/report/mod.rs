//! Reports for people: the state of a scheduler, the processes that wait for each other, and the
//! notes of each process.

pub(crate) mod dump;
pub(crate) mod journal;
pub(crate) mod rings;
mod wait_graph;
