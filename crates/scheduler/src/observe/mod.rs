//! Reports of one process, of all, and of a standstill.

pub(crate) mod info;
pub(crate) mod running;
pub(crate) mod standstill;
pub(crate) mod stats;
