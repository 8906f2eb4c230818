//! The interface of a process: its methods, its events and its output.

pub(crate) mod command;
#[expect(unsafe_code, reason = "pins the process that it is of")]
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod event;
#[expect(unsafe_code, reason = "holds values whose types it does not know")]
pub(crate) mod inline_box;
pub(crate) mod output;
#[expect(clippy::module_inception, reason = "the noun that a reader looks for")]
pub(crate) mod process;
