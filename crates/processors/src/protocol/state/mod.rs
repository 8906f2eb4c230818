//! The state that the protocol works on: words, what the lock guards, and the
//! [`Coordinator`](coordinator::Coordinator) that holds all of it. Nothing here knows of the
//! operations.

pub(crate) mod coordinator;
pub(crate) mod grant;
pub(crate) mod idle;
pub(crate) mod long_turns;
pub(crate) mod synced;
