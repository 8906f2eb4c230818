//! Mailboxes with a limit.

pub(crate) mod counted;
pub(crate) mod latest;
pub(crate) mod sending;
pub(crate) mod when_full;
