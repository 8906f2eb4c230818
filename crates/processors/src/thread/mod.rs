//! The threads of a pool: what each runs, and the operations of [`Processors`](crate::Processors)
//! that start them, stop them, and move processors from one to another.

mod blocking;
pub(crate) mod bound;
mod guest;
pub(crate) mod handle;
mod life;
mod machine;
mod search;
