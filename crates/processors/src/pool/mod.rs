//! What a pool is: [`Processors`](processors::Processors), its [`Runner`](runner::Runner), and how
//! a thread knows that it is one of its machines.

pub(crate) mod attach;
pub(crate) mod config;
#[expect(
    unsafe_code,
    reason = "a thread finds its machine through a pointer that it keeps itself"
)]
pub(crate) mod current;
pub(crate) mod processors;
pub(crate) mod progress;
pub(crate) mod runner;
pub(crate) mod threads;
pub(crate) mod visit;
