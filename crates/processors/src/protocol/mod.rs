//! Processors changing hands: the operations on `state`, each an `impl Coordinator`.

mod bound;
mod going_idle;
mod handoff;
pub(crate) mod quiescence;
mod resize;
mod starting;
pub(crate) mod state;
pub(crate) mod threads;

pub use bound::AfterBound;
pub use state::coordinator::{ControlWord, Coordinator, Work};
pub use state::grant::{Grant, Permit};
pub use state::idle::Idle;
pub use state::long_turns::LongTurns;
