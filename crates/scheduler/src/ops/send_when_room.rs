//! Messages whose senders wait for room.
//!
//! One that is too many goes into the queue all the same, with what tells its sender: see
//! [`Late`](crate::table::late::Late).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};
use std::time::{Duration, Instant};

use filch_parker::poll_until;
use filch_promise::{Answer, promise};

use crate::api::open_call::{CallEnd, OpenCall, Unanswered};
use crate::api::outstanding::{Outstanding, result_of};
use crate::protocol::error_by_display;
use crate::table::item::{Item, Signal};
use crate::table::late::{Late, TellSender};
use crate::{
    CalledFromInside, CommandError, Context, Handle, Pid, Protocol, SendError, StepOutput,
    Undelivered,
};

impl<P: Protocol> Handle<P> {
    /// Sends the process `to` a message here and now. If its [mailbox](crate::Submission::mailbox)
    /// is full, the message waits in its place, whatever the mailbox [says](crate::WhenFull). The
    /// future is ready when a step is given the message, or an async function reads it, or as soon
    /// as there is room for it. Futures and [async functions](Self::spawn_with) await it, a thread
    /// outside [waits](Sending::wait) for it, and a process yields it
    /// [as a command](StepOutput::send_when_room).
    ///
    /// Its output is what [`send`](Self::send) returns: an error, with the message, if the process
    /// has ended, or ends before a worker comes to the message. `Ok` means no more than there. If
    /// the future is dropped, the message goes on waiting. There is no waiting for room on another
    /// node, nor for the [backlog](Undelivered::Backlog) on the way there: the message comes back.
    ///
    /// An async function that awaits this for its own full mailbox waits for ever, and so do two
    /// that await room in each other's, and nothing else.
    pub fn send_when_room(&self, to: Pid, message: P::Message) -> Sending<P> {
        match self.send_patiently(to, message) {
            Err(error) if self.may_wait(&error) => {
                let (resolver, sent) = promise();
                self.send_late(to, error.message, Box::new(|sent| resolver.resolve(sent)));
                Sending {
                    sent: sent.into(),
                    scheduler: Some(self.clone()),
                }
            }
            sent => Sending {
                sent: Answer::ready(sent),
                scheduler: None,
            },
        }
    }

    /// As [`send`](Self::send), but a message that is one too many always comes back.
    fn send_patiently(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        match self.table().find(to) {
            Some(slot) if slot.mailbox.is_limited() => {
                self.send_limited(to, message, |slot| self.enqueue(slot), true)
            }
            _ => self.send(to, message),
        }
    }

    /// Puts a message into a queue that has no room for it. The sender is told what becomes of it.
    fn send_late(&self, to: Pid, message: P::Message, tell: TellSender<P>) {
        // Dropped, it tells the sender that the process has ended.
        let late = Late::new(to, message, tell);
        let Some(process) = self.table().pin(to) else {
            return;
        };
        let slot = process.slot();
        slot.mailbox.exceed();
        let late = Signal::Late(Box::new(late));
        let reason = late.wakes();
        if slot.events.push(Item::Signal(late)).is_ok() {
            self.wake(slot, reason);
        }
    }

    /// Whether the message waits, instead of coming back: not for room on another node.
    fn may_wait(&self, error: &SendError<P>) -> bool {
        let is_full = matches!(error.reason, Undelivered::Full { .. });
        is_full && error.to.node() == self.table().node()
    }
}

impl<P: Protocol> StepOutput<P> {
    /// Sends the process `to` a message here and now, and waits for room, if its
    /// [mailbox](crate::Submission::mailbox) is full, whatever that [says](crate::WhenFull). What
    /// has become of it comes through `reply` as the completion of a command does, with this `tag`:
    /// a process that says [`wait`](Self::wait) is not run before. The `context` is that of the
    /// step.
    ///
    /// What `reply` gets, and when, is said at [`Handle::send_when_room`]. A message to the
    /// process itself is not waited for, and refused if there is no room. Two processes
    /// that wait for room in each other's mailboxes, and for nothing else, wait for ever: a
    /// [journal](crate::Builder::journal) shows that.
    ///
    /// ```
    /// # use filch_scheduler::{Event, Protocol, Scheduler, from_fn};
    /// # enum Numbers {}
    /// # impl Protocol for Numbers {
    /// #     type Input = (); type Message = u64; type Command = (); type Reply = ();
    /// #     type Output = u64; type Error = String;
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
    /// let (to, mut left) = (adder.pid(), 1..=100);
    /// // It is not faster than the adder, and none of its numbers is refused.
    /// let sender = from_fn(move |context, _, out| {
    ///     match left.next() {
    ///         Some(number) => {
    ///             out.send_when_room(context, 0, to, number, |sent| {
    ///                 sent.map_err(|error| error.to_string())
    ///             });
    ///             out.wait();
    ///         }
    ///         None => out.done(100),
    ///     }
    ///     Ok(())
    /// });
    /// scheduler.execute(sender, "send", ())?;
    /// scheduler.cancel(to, "these were all")?;
    /// assert_eq!(adder.join()?, 5050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send_when_room(
        &mut self,
        context: &Context<'_, P>,
        tag: u64,
        to: Pid,
        message: P::Message,
        reply: impl FnOnce(Result<(), SendError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        if let Some(calls) = self.one_more_call() {
            return calls.push(OpenCall::new(tag, to, message, Box::new(ByHand(reply))));
        }
        let outstanding = Outstanding::new(context.pin(), tag);
        let scheduler = context.handle();
        match scheduler.send_patiently(to, message) {
            Err(error) if scheduler.may_wait(&error) && to != context.pid() => {
                outstanding.note_call(to, false);
                let tell = move |sent| outstanding.answer_by(|| reply(sent));
                scheduler.send_late(to, error.message, Box::new(tell));
            }
            sent => outstanding.answer_by(|| reply(sent)),
        }
    }
}

/// What becomes of a message that may have to wait; from [`Handle::send_when_room`].
#[must_use = "the message is on its way, and may come back"]
pub struct Sending<P: Protocol> {
    sent: Answer<(), SendError<P>>,
    /// The process's, if the message had to wait.
    scheduler: Option<Handle<P>>,
}

impl<P: Protocol> Sending<P> {
    /// Waits until it is known what becomes of the message. Blocking: for threads outside.
    ///
    /// ```
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
    /// [`SendingError::CalledFromInside`], with this, on a worker of the same scheduler when that
    /// is not known yet. Neither the end of the process nor that of the scheduler leaves the thread
    /// waiting.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn wait(self) -> Result<(), SendingError<P>> {
        self.wait_until(None)
    }

    /// As [`wait`](Self::wait), for at most that long.
    ///
    /// # Errors
    /// [`SendingError::NotYet`], with this, if it was not known by then: the message goes on
    /// waiting in its place. Else as [`wait`](Self::wait).
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

/// Why a thread that [waited](Sending::wait) does not say that a message was sent.
#[non_exhaustive]
pub enum SendingError<P: Protocol> {
    /// The message was not delivered, and comes back.
    Send(SendError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself.
    CalledFromInside(Sending<P>),
    /// It is not known, and the call was not to wait any longer.
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

error_by_display!(SendingError<P: Protocol>, Self::Send(error) => error);

/// A message that a test sends.
struct ByHand<F>(F);

impl<P, F> Unanswered<P> for ByHand<F>
where
    P: Protocol,
    F: FnOnce(Result<(), SendError<P>>) -> Result<P::Reply, P::Error> + Send,
{
    /// It is sent whenever the test says so.
    fn is_over(&self) -> bool {
        true
    }

    fn end(self: Box<Self>, end: CallEnd<P>) -> Result<P::Reply, CommandError<P>> {
        let Self(reply) = *self;
        match end {
            CallEnd::Over => result_of(|| reply(Ok(()))),
            CallEnd::Refused(error) => result_of(|| reply(Err(error))),
            // It has no deadline, and one to itself is refused.
            CallEnd::NotYet | CallEnd::ToItself(_) => Err(CommandError::Abandoned),
        }
    }
}
