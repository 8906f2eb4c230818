#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod state;
mod transition;

#[cfg(all(test, not(loom)))]
mod states_table;

pub use state::{Reason, Snapshot, State};
pub use transition::{Edge, IllegalTransition, LetGo, ProcessState, Wake};

#[doc = include_str!("../STATES.md")]
pub mod states {}
