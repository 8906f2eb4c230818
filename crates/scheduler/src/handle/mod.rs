//! The handles that users hold, and their verbs: submit, send, join; hooks and policies.

#[expect(clippy::module_inception, reason = "the noun that a reader looks for")]
#[expect(unsafe_code, reason = "counts the owners, and frees what they leave")]
pub(crate) mod handle;
pub(crate) mod life_cycle;
#[expect(unsafe_code, reason = "has a policy under a pin")]
pub(crate) mod policy;
#[expect(unsafe_code, reason = "has the handle's right to the exit")]
pub(crate) mod process_handle;
pub(crate) mod receiver;
pub(crate) mod send;
pub(crate) mod submission;
#[expect(unsafe_code, reason = "fills the slot of the process to come")]
pub(crate) mod submit;
pub(crate) mod threads;
