//! What processes are told of each other: ends, and signals that a worker heeds.

pub(crate) mod exit_reason;
pub(crate) mod signal;
pub(crate) mod watch;
