//! Observations of a pool: for people, and for the thread that looks after long turns.

pub(crate) mod dump;
pub(crate) mod look;
