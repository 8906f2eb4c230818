//! What a user of the crate calls: [`Processors`](processors::Processors), and each operation on it
//! in a file with the errors that it returns.

pub(crate) mod attach;
mod blocking;
pub(crate) mod config;
pub(crate) mod dump;
mod guests;
#[cfg(not(all(loom, feature = "loom")))] // whose `Arc` cannot forget a type
pub(crate) mod handle;
pub(crate) mod lengths;
mod long_turns;
pub(crate) mod processors;
mod progress;
mod quiescence;
pub(crate) mod reserve;
pub(crate) mod resize;
pub(crate) mod runner;
pub(crate) mod running;
mod shutdown;
mod sighting;
mod start;
mod watchdog;
