//! The links between processes: news of ends, and signals that a worker obeys.

pub(crate) mod exit_reason;
pub(crate) mod signal;
pub(crate) mod watch;
