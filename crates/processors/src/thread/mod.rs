//! The threads of a pool: what each runs, and what surrounds it. `main_loop` is built on `search`,
//! `bound` and `watch`, which are built on `machine`.

mod bound;
#[expect(
    unsafe_code,
    reason = "a thread finds its machine through a pointer that it keeps itself"
)]
pub(crate) mod current;
pub(crate) mod guest;
pub(crate) mod handles;
mod machine;
pub(crate) mod main_loop;
mod search;
#[expect(clippy::module_inception, reason = "it is what the folder is about")]
pub(crate) mod thread;
mod watch;
