//! The decisions of a supervisor, a sequential state machine: no threads, no scheduler, no clock.

pub(crate) mod child;
pub(crate) mod event;
pub(crate) mod machine;
#[cfg(test)]
mod tests;
