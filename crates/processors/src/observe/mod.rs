//! Observations of a pool: for people, and for the threads that look after long tasks.

pub(crate) mod dump;
pub(crate) mod lengths;
pub(crate) mod look;
pub(crate) mod running;
