//! The choices for a message that finds its mailbox full.

use std::error::Error;
use std::fmt;

/// The fate of a message for which a [mailbox](crate::SubmissionExt::mailbox_with) has no room.
///
/// The crate's [table](crate#a-message-for-a-full-mailbox) says what each way to send makes of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The message comes back, with [`Undelivered::Full`](filch_scheduler::Undelivered::Full).
    #[default]
    Refuse,
    /// The message is dropped, and the sender is told that it was sent.
    DropNewest,
    /// The message replaces the oldest one whose sender does not wait, which is dropped. These
    /// mailboxes have a lock: each sender takes it for some instructions, and so does a worker that
    /// takes the messages out. It takes all at once, so a step may be given more than its budget.
    DropOldest,
    /// The message comes back as with `Refuse`, and the process ends with [`MailboxFull`].
    End,
}

/// The error of a process that was sent one message more than its mailbox holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailboxFull {
    /// The number of messages that the mailbox holds.
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
