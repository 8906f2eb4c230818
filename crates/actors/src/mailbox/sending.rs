//! Messages that find their mailbox full: the choices, and senders that wait for room.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};
use std::time::{Duration, Instant};

use filch_parker::poll_until;
use filch_promise::{Answer, promise};
use filch_scheduler::{
    CalledFromInside, Context, Handle, Pid, Protocol, SendError, StepOutput, TellSender,
};

/// See [`StepOutputExt::send_when_room`](crate::StepOutputExt::send_when_room).
pub(crate) fn send_in_step<P: Protocol>(
    out: &mut StepOutput<P>,
    context: &Context<'_, P>,
    tag: u64,
    to: Pid,
    message: P::Message,
    reply: impl FnOnce(Result<(), SendError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
) {
    let command = out.open_command(context, tag);
    // It would wait for itself.
    let may_wait = to != context.pid();
    if may_wait {
        command.note_call(to, false);
    }
    let mut tell = Some(|sent| command.answer_by(|| reply(sent)));
    let mut wait = || -> TellSender<P> { Box::new(tell.take().expect("a sender waits once")) };
    let wait = may_wait.then_some(&mut wait as _);
    let sent = context.handle().send_patiently(to, message, wait);
    if let (Poll::Ready(sent), Some(tell)) = (sent, tell) {
        tell(sent);
    }
}

/// The outcome of a message that may have to wait; from
/// [`HandleExt::send_when_room`](crate::HandleExt::send_when_room).
#[must_use = "the message is on its way, and may come back"]
pub struct Sending<P: Protocol> {
    sent: Answer<(), SendError<P>>,
    /// `None` if the outcome was known at once.
    scheduler: Option<Handle<P>>,
}

impl<P: Protocol> Sending<P> {
    /// See [`HandleExt::send_when_room`](crate::HandleExt::send_when_room).
    pub(crate) fn begin(scheduler: &Handle<P>, to: Pid, message: P::Message) -> Self {
        let mut promised = None;
        let mut wait = || -> TellSender<P> {
            let (resolver, sent) = promise();
            promised = Some(sent);
            Box::new(|sent| resolver.resolve(sent))
        };
        let sent = match scheduler.send_patiently(to, message, Some(&mut wait)) {
            Poll::Ready(sent) => Answer::ready(sent),
            Poll::Pending => promised.expect("it waits").into(),
        };
        let scheduler = (!sent.is_ready()).then(|| scheduler.clone());
        Self { sent, scheduler }
    }

    /// Blocks until the message is delivered or refused. For threads outside.
    ///
    /// ```
    /// # use filch_actors::prelude::*;
    /// # use filch_scheduler::{Event, Protocol, Scheduler};
    /// # enum Numbers {}
    /// # impl Protocol for Numbers {
    /// #     type Input = (); type Message = u64; type Command = (); type Reply = ();
    /// #     type Output = (); type Error = String;
    /// # }
    /// # let scheduler = Scheduler::<Numbers>::builder().workers(2).build()?;
    /// let adder = scheduler
    ///     .submission_with(|mut inbox| async move {
    ///         let mut sum = 0;
    ///         while let Event::Message(number) = inbox.next().await {
    ///             sum += number;
    ///         }
    ///         sum
    ///     })
    ///     .mailbox(3)
    ///     .spawn()?;
    /// // This thread is not faster than the adder, and none of its numbers is refused.
    /// for number in 1..=100 {
    ///     scheduler.send_when_room(adder.pid(), number).wait()?;
    /// }
    /// scheduler.cancel(adder.pid(), "these were all")?;
    /// assert_eq!(adder.join()?, 5050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SendingError::Send`], with the message, if it was not delivered;
    /// [`SendingError::CalledFromInside`], with this, on a worker of the same scheduler when the
    /// outcome is not known yet. The wait ends when the process or the scheduler ends.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn wait(self) -> Result<(), SendingError<P>> {
        self.wait_until(None)
    }

    /// As [`wait`](Self::wait), for at most `timeout`.
    ///
    /// # Errors
    /// [`SendingError::NotYet`], with this, if the outcome was not known by then: the message goes
    /// on waiting in order. Else as [`wait`](Self::wait).
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    pub fn wait_timeout(self, timeout: Duration) -> Result<(), SendingError<P>> {
        // A deadline that the clock cannot express never comes.
        self.wait_until(Instant::now().checked_add(timeout))
    }

    fn wait_until(mut self, deadline: Option<Instant>) -> Result<(), SendingError<P>> {
        let is_inside = self.scheduler.as_ref().is_some_and(Handle::is_worker);
        if is_inside && !self.sent.is_ready() {
            return Err(SendingError::CalledFromInside(self));
        }
        match poll_until(deadline, &mut self.sent) {
            Some(sent) => sent.map_err(SendingError::Send),
            None => Err(SendingError::NotYet(self)),
        }
    }
}

impl<P: Protocol> Future for Sending<P> {
    type Output = Result<(), SendError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.sent).poll(context)
    }
}

impl<P: Protocol> fmt::Debug for Sending<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending")
            .field("ready", &self.sent.is_ready())
            .finish_non_exhaustive()
    }
}

/// The reason why a thread that [waited](Sending::wait) cannot tell that the message was sent.
#[non_exhaustive]
pub enum SendingError<P: Protocol> {
    /// The message was not delivered, and comes back.
    Send(SendError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself.
    CalledFromInside(Sending<P>),
    /// The outcome is not known within the time limit.
    NotYet(Sending<P>),
}

impl<P: Protocol> fmt::Display for SendingError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
            Self::NotYet(_) => f.write_str("there has been no room for the message yet"),
        }
    }
}

impl<P: Protocol> fmt::Debug for SendingError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SendingError({self})")
    }
}

impl<P: Protocol> Error for SendingError<P> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Send(error) => Some(error),
            _ => None,
        }
    }
}

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
