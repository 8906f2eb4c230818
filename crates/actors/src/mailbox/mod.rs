//! Mailboxes with a limit.

pub(crate) mod counted;
pub(crate) mod drop_oldest;
pub(crate) mod sending;
