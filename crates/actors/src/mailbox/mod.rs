//! Mailboxes with a limit.

pub(crate) mod latest;
pub(crate) mod send_when_room;
pub(crate) mod when_full;
