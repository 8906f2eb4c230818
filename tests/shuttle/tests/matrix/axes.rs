//! The three axes: each way to send, each mailbox, each moment of the receiver's life.

use std::collections::VecDeque;
use std::task::Poll;

use filch_actors::WhenFull;
use filch_actors::prelude::*;
use filch_scheduler::{Door, MailboxPolicy, SendError, Submission, Undelivered, Wait};

use super::account::{Mail, Post};
use super::sync::Mutex;

/// An enum, and the list of its variants.
macro_rules! axis {
    ($name:ident { $($variant:ident,)+ }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($variant,)+ }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)+];
        }
    };
}

axis! { Way {
    // By a thread outside.
    Send,           // Handle::send
    AsGuest,        // Handle::send_as_guest
    Route,          // from another node: HandleExt::connect there, Receiver::receive here
    Name,           // HandleExt::whereis, then send
    Broadcast,      // HandleExt::broadcast, to a group of one
    WhenRoom,       // HandleExt::send_when_room, awaited
    Forgotten,      // the same, its outcome dropped unread
    Impatient,      // Handle::send_patiently that may not wait, as to oneself
    Call,           // HandleExt::call
    CallTimeout,    // HandleExt::call_timeout
    Ask,            // HandleExt::ask
    SendAt,         // Timers::send_at
    Interval,       // Timers::interval
    // By another process.
    StepSend,       // Context::send
    StepBlocking,   // the same, in a Handle::blocking call of the step
    StepWhenRoom,   // StepOutputExt::send_when_room
    StepCall,       // StepOutputExt::call
    StepCallBy,     // StepOutputExt::call_by
    FunctionSend,   // Inbox::send, in an async function
    // No message, but a value all the same.
    Complete,       // Completion::complete: the receiver has yielded a command
    CompleteAt,     // Timers::complete_at
    Answer,         // Caller::answer: the receiver has called
    Upgrade,        // Handle::upgrade: the input of its new version
    Submit,         // Submission::submit, under its name: the first input
} }

axis! { Room {
    Unlimited,
    Refuse,
    None,           // Refuse, with room for none
    DropNewest,
    DropOldest,
    End,
    Closed,         // Submission::without_mailbox
    Own,            // a MailboxPolicy of the user's, which keeps all
} }

// Its comments say where the receiver stands still while the first letters are sent.
axis! { Moment {
    BeforeInit,     // it has a PID and a name
    InInit,
    InitRefuses,    // in an `init` that then refuses
    InStep,
    Idle,           // (it does not)
    WaitsForCommand,
    InBlockingCall,
    GivesWay,       // (it says `go_on` again and again)
    Terminated,     // in a step
    Closing,        // in `close`
    Ended,
    Joined,
    Upgrading,      // in the `init` of its new version
    Upgraded,       // in the first step of its new version
    Bound,          // in a step on a thread of its own
    Restarting,     // in the `init` of its next life, by its supervisor
    Restarted,      // the last life, whose PID the senders know, has ended
    ShuttingDown,   // in the step that was given the shutdown's cancel
    ShutDown,
    FunctionAwaits, // (an async function that awaits its inbox)
    FunctionBusy,   // an async function that awaits something else
    FunctionWithoutInbox, // an async function that has dropped its inbox
} }

/// The way in which the receiver takes messages at its moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It takes messages, and is given none.
    Open,
    /// It has ended.
    Shut,
    /// It does not stand still, so the room is uncertain.
    Flows,
}

impl Moment {
    pub(crate) fn state(self) -> State {
        match self {
            Self::Idle | Self::GivesWay => State::Flows,
            Self::FunctionAwaits | Self::FunctionWithoutInbox => State::Flows,
            Self::Closing | Self::Ended | Self::Joined => State::Shut,
            Self::Restarted | Self::ShutDown => State::Shut,
            _ => State::Open,
        }
    }

    pub(crate) fn is_function(self) -> bool {
        use Moment::{FunctionAwaits, FunctionBusy, FunctionWithoutInbox};
        matches!(self, FunctionAwaits | FunctionBusy | FunctionWithoutInbox)
    }

    pub(crate) fn is_supervised(self) -> bool {
        matches!(self, Self::Restarting | Self::Restarted)
    }
}

impl Way {
    /// Another process sends.
    pub(crate) fn is_by_process(self) -> bool {
        use Way::{FunctionSend, StepBlocking, StepCall, StepCallBy, StepSend, StepWhenRoom};
        matches!(self, StepSend | StepBlocking | StepWhenRoom)
            || matches!(self, StepCall | StepCallBy | FunctionSend)
    }

    /// Tells nobody, and hands nothing back: it drops what is refused, as documented.
    pub(crate) fn is_mute(self) -> bool {
        matches!(self, Self::SendAt | Self::Interval | Self::Forgotten)
    }

    /// Tells the sender when the receiver has read the letter, or never.
    pub(crate) fn tells_later(self) -> bool {
        matches!(self, Self::Ask | Self::StepCall | Self::StepCallBy) || self.is_mute()
    }

    /// Waits for room.
    pub(crate) fn is_patient(self) -> bool {
        matches!(self, Self::WhenRoom | Self::Forgotten | Self::StepWhenRoom)
    }

    /// Completes a command, or a call, of the receiver.
    pub(crate) fn is_reply(self) -> bool {
        matches!(self, Self::Complete | Self::CompleteAt | Self::Answer)
    }

    /// Gives the letter to no mailbox.
    pub(crate) fn is_input(self) -> bool {
        self.is_reply() || matches!(self, Self::Upgrade | Self::Submit)
    }

    /// Looks for the receiver by its name.
    pub(crate) fn is_by_name(self) -> bool {
        matches!(self, Self::Name | Self::Broadcast | Self::Submit)
    }
}

impl Room {
    pub(crate) fn limit(self) -> usize {
        if self == Self::None { 0 } else { 2 }
    }

    /// Gives the process to come this mailbox.
    pub(crate) fn of<S>(self, to: Submission<'_, Mail, S>) -> Submission<'_, Mail, S> {
        let when_full = match self {
            Self::Unlimited => return to,
            Self::Closed => return to.without_mailbox(),
            Self::Own => return to.mailbox_policy(Own::default()),
            Self::Refuse | Self::None => WhenFull::Refuse,
            Self::DropNewest => WhenFull::DropNewest,
            Self::DropOldest => WhenFull::DropOldest,
            Self::End => WhenFull::End,
        };
        to.mailbox_with(self.limit(), when_full)
    }
}

/// Keeps all messages apart from the process's queue.
#[derive(Default)]
struct Own(Mutex<VecDeque<Post>>);

impl MailboxPolicy<Mail> for Own {
    fn send(&self, to: &Door<'_, Mail>, message: Post) -> Result<(), SendError<Mail>> {
        let mut kept = self.0.lock().unwrap();
        if to.is_over() {
            return Err(to.refused(Undelivered::NoSuchProcess, message));
        }
        kept.push_back(message);
        drop(kept);
        to.announce();
        Ok(())
    }

    fn send_patiently(
        &self,
        to: &Door<'_, Mail>,
        message: Post,
        _: Option<Wait<'_, Mail>>,
    ) -> Poll<Result<(), SendError<Mail>>> {
        Poll::Ready(self.send(to, message))
    }

    fn delivered(&self, _: usize) {}

    fn fetch(&self) -> VecDeque<Post> {
        self.0.lock().unwrap().pop_front().into_iter().collect()
    }

    fn close(&self, _: &Door<'_, Mail>) {
        let left = std::mem::take(&mut *self.0.lock().unwrap());
        drop(left);
    }

    fn undelivered(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}
