//! What is going on: of one process, of all, and when nothing can run any more.

pub(crate) mod info;
pub(crate) mod running;
pub(crate) mod standstill;
pub(crate) mod stats;
