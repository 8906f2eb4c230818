//! The methods that this crate adds to a step's output.

use std::borrow::BorrowMut;
use std::time::Instant;

use filch_scheduler::{Context, Pid, Protocol, SendError, StepOutput};

use crate::call::caller::Caller;
use crate::call::errors::CallError;
use crate::call::process_call;
use crate::mailbox::sending;
use crate::timers::Timers;

/// The methods that this crate adds to a [`StepOutput`]: calls, answers, sends that wait for room.
pub trait StepOutputExt<P: Protocol>: BorrowMut<StepOutput<P>> {
    /// Sends the process `to` a message with a [`Caller`] in it at once. The answer comes through
    /// `reply` as a command's does: as [`Event::Completed`](filch_scheduler::Event::Completed) with
    /// this `tag`, which ends a [`wait`](StepOutput::wait). If the called process ends, the call
    /// completes at once. The `context` is that of the step. With a limit:
    /// [`call_by`](Self::call_by).
    ///
    /// `reply` gets the answer; or [`CallError::Send`], [`CallError::Abandoned`],
    /// [`CallError::ToItself`]. It runs where that arises; if it panics, the call completes with
    /// that message. A panic of `message` is one of the step.
    ///
    /// ```
    /// # use filch_actors::{Caller, prelude::*};
    /// # use filch_scheduler::{Event, Protocol, Scheduler, from_fn};
    /// # enum Sums {}
    /// # impl Protocol for Sums {
    /// #     type Input = (); type Message = Caller<u64>; type Command = (); type Reply = u64;
    /// #     type Output = u64; type Error = String;
    /// # }
    /// # let scheduler = Scheduler::<Sums>::builder().workers(2).build()?;
    /// # let oracle = scheduler.spawn_with(|mut inbox| async move {
    /// #     while let Event::Message(caller) = inbox.next().await { caller.answer(42) }
    /// # })?;
    /// # let oracle = oracle.pid();
    /// let asker = from_fn(move |context, events, out| {
    ///     for event in events {
    ///         if let Event::Completed { tag: 7, result } = event {
    ///             out.done(result.map_err(|error| error.to_string())?);
    ///             return Ok(());
    ///         }
    ///     }
    ///     let message = |caller| caller;
    ///     out.call(context, 7, oracle, message, |answer| answer.map_err(|e| e.to_string()));
    ///     out.wait();
    ///     Ok(())
    /// });
    /// assert_eq!(scheduler.execute(asker, "run", ())?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn call<R: Send + 'static>(
        &mut self,
        context: &Context<'_, P>,
        tag: u64,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
        reply: impl FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        process_call::call(self.borrow_mut(), context, tag, to, message, reply);
    }

    /// As [`call`](Self::call), until the `deadline`: if there is no answer by then, `reply` gets
    /// [`CallError::NotYet`], and an answer that comes later is dropped. The message may be sent
    /// even if the deadline has passed already. With timers that are shut down it is not, and comes
    /// back with [`CallError::TimersClosed`].
    fn call_by<R: Send + 'static>(
        &mut self,
        context: &Context<'_, P>,
        tag: u64,
        limit: (Instant, &Timers),
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
        reply: impl FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        process_call::call_by(self.borrow_mut(), context, tag, limit, to, message, reply);
    }

    /// Answers a [call](crate::HandleExt::call). The caller gets the answer when the turn is over:
    /// see [`StepOutput::give_after_turn`]. All acts of the step happen before the caller sees it.
    ///
    /// So the caller, which perhaps holds a lock, waits for all that the step waits for, even if
    /// its own thread takes the step. An answer that was given before the step failed or panicked
    /// is still an answer.
    ///
    /// One case remains: a step that passes the [`Caller`] to another process, or drops it, ends
    /// the call while the step goes on. If the caller's thread takes this step, and the step then
    /// waits for something that the caller keeps until the call returns, a lock for instance, it
    /// waits for ever.
    #[doc(alias = "reply")]
    fn answer<R: Send + 'static>(&mut self, caller: Caller<R>, answer: R) {
        self.borrow_mut().give_after_turn(caller.prepare(answer));
    }

    /// Sends the process `to` a message at once, and waits for room if its
    /// [mailbox](crate::SubmissionExt::mailbox) is full, whatever its [policy](crate::WhenFull).
    /// The outcome comes through `reply` as the completion of a command, with this `tag`: a process
    /// that says [`wait`](StepOutput::wait) is not run before. The `context` is that of the step.
    ///
    /// [`HandleExt::send_when_room`](crate::HandleExt::send_when_room) says when `reply` runs, and
    /// with which results. A message to the process itself does not wait: without room it is
    /// refused. Two processes that wait for room in each other's mailboxes, and for nothing else,
    /// wait for ever: a [journal](crate::Journal) shows that.
    ///
    /// ```
    /// # use filch_actors::prelude::*;
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
    fn send_when_room(
        &mut self,
        context: &Context<'_, P>,
        tag: u64,
        to: Pid,
        message: P::Message,
        reply: impl FnOnce(Result<(), SendError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        sending::send_in_step(self.borrow_mut(), context, tag, to, message, reply);
    }
}

impl<P: Protocol> StepOutputExt<P> for StepOutput<P> {}
