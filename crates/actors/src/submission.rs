//! The options that this crate adds to a process that is about to be submitted.

use std::time::Instant;

use filch_scheduler::{Protocol, Submission};

use crate::future::async_fn;
use crate::future::async_fn::{Function, SpawnError};
use crate::future::join_handle::JoinHandle;
use crate::mailbox::counted::Counted;
use crate::mailbox::drop_oldest::DropOldestMailbox;
use crate::mailbox::sending::WhenFull;
use crate::registry;
use crate::timers::{EndByError, Timers, terminate_at};

/// The options that this crate adds to a [`Submission`]: names, deadlines, mailboxes with a limit,
/// and async functions.
pub trait SubmissionExt<'a, P: Protocol, S>: Into<Submission<'a, P, S>> {
    /// Limits its mailbox to so many messages that were sent and not given to a step, exactly; one
    /// more is refused with [`Undelivered::Full`](filch_scheduler::Undelivered::Full). Other events
    /// are always accepted. Default: no limit. Senders pay a pin and a contended RMW more.
    #[doc(alias = "bounded")]
    fn mailbox(self, messages: usize) -> Submission<'a, P, S> {
        self.mailbox_with(messages, WhenFull::Refuse)
    }

    /// Gives it a name, before its `init` runs: see
    /// [`HandleExt::register`](crate::HandleExt::register). If a live process has that name, the
    /// submission is refused.
    #[doc(alias = "register")]
    fn name(self, name: &'a str) -> Submission<'a, P, S> {
        let condition =
            move |scheduler: &_, pid| registry::register(scheduler, name, pid).map_err(Into::into);
        self.into().condition(condition)
    }

    /// Terminates it at the deadline, if it has not ended by then. If the deadline has passed, or
    /// the timers are shut down, the submission is refused, with that [`EndByError`].
    fn deadline(self, at: Instant, timers: &'a Timers) -> Submission<'a, P, S> {
        self.into().condition(move |scheduler, pid| {
            if timers.now() >= at {
                return Err(EndByError::Passed.into());
            }
            Ok(terminate_at(timers, at, scheduler, pid)?)
        })
    }

    /// Limits its mailbox as [`mailbox`](Self::mailbox) does; `when_full` decides on one more.
    fn mailbox_with(self, messages: usize, when_full: WhenFull) -> Submission<'a, P, S> {
        match when_full {
            WhenFull::DropOldest => self.into().mailbox_policy(DropOldestMailbox::new(messages)),
            _ => self
                .into()
                .mailbox_policy(Counted::new(messages, when_full)),
        }
    }

    /// Submits an async function that was
    /// [prepared](crate::HandleExt::submission_with). See
    /// [`HandleExt::spawn_with`](crate::HandleExt::spawn_with).
    ///
    /// # Errors
    /// As [`HandleExt::spawn_with`](crate::HandleExt::spawn_with); and
    /// [`NotAdmitted::Condition`](filch_scheduler::NotAdmitted::Condition) if the name is taken, or
    /// the deadline has passed.
    ///
    /// # Panics
    /// As [`HandleExt::spawn_with`](crate::HandleExt::spawn_with).
    fn spawn(self) -> Result<JoinHandle<P, S::Output>, SpawnError<P, S::Function>>
    where
        S: Function<P>,
    {
        async_fn::spawn_with(self.into())
    }
}

impl<'a, P: Protocol, S> SubmissionExt<'a, P, S> for Submission<'a, P, S> {}
