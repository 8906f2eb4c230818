//! How processors change hands: the operations on `state`, each an `impl Coordinator`.
//!
//! An operation calls only operations of the files above it in this list: `activation`, `spares`,
//! `threads`, `lending`, `guests`, `waiters`, `resting`, `quiescence`, `shutdown`,
//! `going_idle`, then `starting`, `resize`, `handoff` and `watch`.

mod activation;
mod going_idle;
mod guests;
mod handoff;
mod lending;
pub(crate) mod quiescence;
mod resize;
mod resting;
mod shutdown;
mod spares;
mod starting;
pub(crate) mod state;
pub(crate) mod threads;
mod waiters;
mod watch;

pub use lending::AfterBound;
pub use state::control::ControlWord;
pub use state::coordinator::Coordinator;
pub use state::grant::Grant;
pub use state::idle::Idle;
pub use state::long_turns::LongTurns;
pub use state::permit::Permit;
pub use state::work::Work;
