//! The plan of a phase: what its threads do, and how everybody misbehaves. A seed decides it.

pub(crate) mod deed;
pub(crate) mod phase;
pub(crate) mod role;
