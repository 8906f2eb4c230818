//! Jobs: closures that wait to be run, on the stack of the thread that forked them or in a box.
//!
//! All that is unsafe about them is in this folder. Outside of it a job is a [`JobRef`]: a value
//! that is run once, and cannot be copied.

mod content;
#[cfg(not(loom))] // where nothing is spawned without a scope
pub(crate) mod detached;
pub(crate) mod forked;
mod forks;
mod heap;
pub(crate) mod installed;
mod job_ref;
mod lent;
mod name;
mod piece;
mod runs;
pub(crate) mod scoped;
mod stack;

pub(crate) use forks::{Entry, Forks, ForksStealer};
pub(crate) use job_ref::{JobRef, Payload};
pub(crate) use name::{Name, NameCell};
pub(crate) use piece::RunsPieces;
pub(crate) use runs::Runs;
