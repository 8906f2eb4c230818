//! Mailboxes with a limit.

use filch_process_table::{Excess, Mailbox};

use crate::{Protocol, Submission};

/// What becomes of a message for which a [mailbox](Submission::mailbox_with) has no room.
///
/// That is for whoever sends it by [`send`](crate::Handle::send). A process that would rather wait
/// for room says [`send_when_room`](crate::StepOutput::send_when_room), whatever the mailbox says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It comes back to the sender, with [`Undelivered::Full`](crate::Undelivered::Full).
    #[default]
    Refuse,
    /// It is dropped, and the sender is told that it was sent.
    DropNewest,
    /// It takes the place of the oldest one, which is dropped. These mailboxes have a lock: each
    /// sender takes it for some instructions, and so does a worker that takes the messages out: all
    /// at once, so a step may be given more than [it should](crate::Builder::events_per_step). What
    /// a worker has taken counts no more, except with an async function that has not read it.
    DropOldest,
    /// It comes back as with `Refuse`, and the process ends with
    /// [`ProcessError::MailboxFull`](crate::ProcessError::MailboxFull).
    End,
}

impl<P: Protocol, S> Submission<'_, P, S> {
    /// How many messages it may have been sent that no step has been given yet: one more is refused
    /// with [`Undelivered::Full`](crate::Undelivered::Full), exactly. Other events are always
    /// accepted. Default: no limit. It costs senders a pin and a contended RMW more.
    pub fn mailbox(self, messages: usize) -> Self {
        self.mailbox_with(messages, WhenFull::Refuse)
    }

    /// The same, and says what becomes of one more. [`Stats::dropped`](crate::Stats::dropped)
    /// counts those that are dropped for want of room.
    ///
    /// ```
    /// # enum Prices {}
    /// # impl filch_scheduler::Protocol for Prices {
    /// #     type Input = (); type Message = u64; type Command = (); type Reply = ();
    /// #     type Output = u64; type Error = String;
    /// # }
    /// # use filch_scheduler::{Event, Scheduler, WhenFull, from_fn};
    /// # let scheduler = Scheduler::<Prices>::builder().workers(1).build()?;
    /// // A display that is slower than the prices change leaves some out, but not the last one.
    /// let display = from_fn(|_, events, out| {
    ///     for event in events {
    ///         if let Event::Message(price @ 99) = event {
    ///             out.done(price);
    ///         }
    ///     }
    ///     Ok(())
    /// });
    /// let display = scheduler
    ///     .submission(display, "show", ())
    ///     .mailbox_with(1, WhenFull::DropOldest)
    ///     .submit()?;
    /// for price in 0..100 {
    ///     scheduler.send(display.pid(), price)?;
    /// }
    /// assert_eq!(display.join()?, 99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mailbox_with(mut self, messages: usize, when_full: WhenFull) -> Self {
        self.options.latest = None;
        self.options.placement.mailbox = match when_full {
            WhenFull::Refuse => Mailbox::Limited(messages, Excess::Refuse),
            WhenFull::DropNewest => Mailbox::Limited(messages, Excess::Drop),
            WhenFull::End => Mailbox::Limited(messages, Excess::End),
            WhenFull::DropOldest => {
                self.options.latest = Some(messages);
                // Until it is given a place for them.
                Mailbox::Closed
            }
        };
        self
    }
}
