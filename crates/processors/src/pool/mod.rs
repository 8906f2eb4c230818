//! The pool: [`Processors`](processors::Processors), its [`Runner`](runner::Runner), and the link
//! from a thread to its pool.

pub(crate) mod attach;
pub(crate) mod config;
#[expect(
    unsafe_code,
    reason = "a thread finds its machine through a pointer that it keeps itself"
)]
pub(crate) mod current;
pub(crate) mod processors;
pub(crate) mod runner;
pub(crate) mod threads;
