//! The stages of a phase: a burst, the rest after it, and the end, each with its checks.

pub(crate) mod burst;
pub(crate) mod end;
pub(crate) mod own;
pub(crate) mod resident;
