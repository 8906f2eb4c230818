//! What a user says of a supervisor and its children: data, and what follows from it at once.

pub(crate) mod backoff;
pub(crate) mod intensity;
pub(crate) mod restart;
pub(crate) mod shutdown;
pub(crate) mod strategy;
