//! The machine: memory, threads, panics, and time that passes without progress.

pub(crate) mod heap;
pub(crate) mod panics;
pub(crate) mod system;
pub(crate) mod watchdog;
