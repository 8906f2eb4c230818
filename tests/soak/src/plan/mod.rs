//! The plan of a phase: the deeds of its threads, and everybody's misbehaviour. A seed decides it.

pub(crate) mod deed;
pub(crate) mod phase;
pub(crate) mod role;
