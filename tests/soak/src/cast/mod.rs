//! The cast: processes, futures, the command handler and the hooks, which misbehave as planned.

pub(crate) mod actor;
pub(crate) mod deeds;
pub(crate) mod futures;
pub(crate) mod handler;
pub(crate) mod hooks;
pub(crate) mod shelf;
pub(crate) mod submit;
pub(crate) mod vocabulary;
pub(crate) mod world;
