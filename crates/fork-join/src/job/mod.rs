//! Jobs: closures that wait to be run, on the stack of the thread that forked them or in a box.
//!
//! All that is unsafe about them is in this folder. Outside of it a job is a [`JobRef`]: a value
//! that is run once, and cannot be copied.

mod content;
pub(crate) mod forked;
mod forks;
pub(crate) mod heap;
pub(crate) mod installed;
mod job_ref;
mod lent;
mod piece;
mod runs;
pub(crate) mod scoped;
mod stack;

pub(crate) use forks::{Forks, ForksStealer};
pub(crate) use job_ref::{JobRef, Payload};
pub(crate) use piece::RunsPieces;
pub(crate) use runs::Runs;
