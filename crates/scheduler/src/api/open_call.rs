//! A call of another process, for a test to make by hand.

use crate::{CommandError, Event, Pid, Protocol, SendError};

/// A call that a [step](crate::StepOutput::call) has asked for, and that nobody has made. Answer or
/// drop the [`Caller`](crate::Caller) in the message, and the [`reply`](Self::reply) is the event
/// that the process is told of it with.
///
/// Or a message that is [sent when there is room](crate::StepOutput::send_when_room). It has no
/// caller: it is [over](CallReply::over), and sent, when the test says so, or
/// [refused](CallReply::refused).
pub struct OpenCall<P: Protocol> {
    /// The tag that the completion has.
    pub tag: u64,
    /// The process that is called.
    pub to: Pid,
    /// What it is sent.
    pub message: P::Message,
    /// What comes of the call.
    pub reply: CallReply<P>,
}

crate::protocol::debug_fields!(OpenCall<P>, "OpenCall", tag, to);

/// What comes of an [`OpenCall`]: one event for its process.
#[must_use = "the process waits for it"]
pub struct CallReply<P: Protocol> {
    tag: u64,
    call: Box<dyn Unanswered<P>>,
}

crate::protocol::debug_fields!(CallReply<P>, "CallReply", tag);

/// A call without its message.
pub(crate) trait Unanswered<P: Protocol>: Send {
    fn is_over(&self) -> bool;

    /// What the call completes with if it ends so.
    fn end(self: Box<Self>, end: CallEnd<P>) -> Result<P::Reply, CommandError<P>>;
}

/// How a call ends.
pub(crate) enum CallEnd<P: Protocol> {
    /// Its caller was answered, or dropped.
    Over,
    NotYet,
    Refused(SendError<P>),
    ToItself(P::Message),
}

impl<P: Protocol> OpenCall<P> {
    pub(crate) fn new(
        tag: u64,
        to: Pid,
        message: P::Message,
        call: Box<dyn Unanswered<P>>,
    ) -> Self {
        Self {
            tag,
            to,
            message,
            reply: CallReply { tag, call },
        }
    }
}

impl<P: Protocol> CallReply<P> {
    /// The call is over: its caller was answered, or dropped.
    ///
    /// # Errors
    /// This reply, if neither is so yet.
    pub fn over(self) -> Result<Event<P>, Self> {
        if self.call.is_over() {
            Ok(self.end(CallEnd::Over))
        } else {
            Err(self)
        }
    }

    /// The [deadline](crate::StepOutput::call_by) of the call came before the answer.
    pub fn not_yet(self) -> Event<P> {
        self.end(CallEnd::NotYet)
    }

    /// The message was not delivered, and comes back.
    pub fn refused(self, error: SendError<P>) -> Event<P> {
        self.end(CallEnd::Refused(error))
    }

    /// The process has called itself; the message comes back.
    pub fn called_itself(self, message: P::Message) -> Event<P> {
        self.end(CallEnd::ToItself(message))
    }

    fn end(self, end: CallEnd<P>) -> Event<P> {
        Event::Completed {
            tag: self.tag,
            result: self.call.end(end),
        }
    }
}
