#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod answer;
mod leftovers;
mod state;
mod transition;

#[cfg(all(test, not(loom)))]
#[path = "tests/states_table.rs"]
mod states_table;

pub use answer::{Disposal, Edge, Ending, IllegalTransition, LetGo, Wake};
pub use state::{Reason, Snapshot, State};
pub use transition::ProcessState;

#[doc = include_str!("../STATES.md")]
pub mod states {}
