//! The pool: [`Processors`](processors::Processors), its [`Runner`](runner::Runner), and the link
//! from a thread to its pool.

pub(crate) mod config;
pub(crate) mod current;
pub(crate) mod processors;
pub(crate) mod runner;
pub(crate) mod threads;
