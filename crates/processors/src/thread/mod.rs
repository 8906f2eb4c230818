//! The threads of a pool: what each runs, and what surrounds it. `main_loop` is built on `search`,
//! `bound` and `watch`, which are built on `machine`.

pub(crate) mod beginning;
mod bound;
#[expect(
    unsafe_code,
    reason = "a thread finds its machine through a pointer that it keeps itself"
)]
pub(crate) mod current;
pub(crate) mod guest;
pub(crate) mod handles;
pub(crate) mod hooks;
mod machine;
pub(crate) mod main_loop;
mod search;
mod watch;
