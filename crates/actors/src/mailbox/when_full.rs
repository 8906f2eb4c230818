//! Mailboxes with a limit, and what becomes of a message that is one too many.

use std::error::Error;
use std::fmt;

/// What becomes of a message for which a [mailbox](crate::SubmissionExt::mailbox_with) has no room.
///
/// That is for whoever sends it by `send`. A process that would rather wait for room says
/// [`send_when_room`](crate::StepOutputExt::send_when_room), whatever the mailbox says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It comes back to the sender, with [`Undelivered::Full`](filch_scheduler::Undelivered::Full).
    #[default]
    Refuse,
    /// It is dropped, and the sender is told that it was sent.
    DropNewest,
    /// It takes the place of the oldest one, which is dropped. These mailboxes have a lock: each
    /// sender takes it for some instructions, and so does a worker that takes the messages out: all
    /// at once, so a step may be given more than it should.
    DropOldest,
    /// It comes back as with `Refuse`, and the process ends with [`MailboxFull`].
    End,
}

/// It was sent one message more than its mailbox holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailboxFull {
    /// How many that is.
    pub limit: usize,
}

impl fmt::Display for MailboxFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        write!(
            f,
            "mailbox full ({limit} messages); this process is configured to end on overflow"
        )
    }
}

impl Error for MailboxFull {}
