//! Sending a message and waiting for its answer, as one act.

use std::fmt;
use std::time::{Duration, Instant};

use filch_scheduler::{CalledFromInside, Handle, Pid, Protocol, SendError};

use crate::ask::Asked;
use crate::caller::{Caller, NoAnswer};

/// Calls, from threads outside and from futures.
pub trait Calls<P: Protocol> {
    /// Sends the process `to` a message with a [`Caller`] in it, and waits until that is
    /// [answered](crate::StepCalls::answer). Blocking: for threads outside.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use filch_actors::{Caller, Calls, StepCalls};
    /// use filch_scheduler::{
    ///     Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput,
    /// };
    ///
    /// enum Words {}
    ///
    /// enum Message {
    ///     Put(String, u64),
    ///     Get(String, Caller<Option<u64>>),
    /// }
    /// # impl Protocol for Words {
    /// #     type Input = ();
    /// #     type Message = Message;
    /// #     type Command = ();
    /// #     type Reply = ();
    /// #     type Output = ();
    /// #     type Error = String;
    /// # }
    ///
    /// #[derive(Default)]
    /// struct Store(HashMap<String, u64>);
    ///
    /// impl Process<Words> for Store {
    /// #   fn init(
    /// #       &mut self,
    /// #       _: &Context<'_, Words>,
    /// #       _: &str,
    /// #       (): (),
    /// #   ) -> Result<(), InitError<Words>> {
    /// #       Ok(())
    /// #   }
    ///     fn step(
    ///         &mut self,
    ///         _: &Context<'_, Words>,
    ///         events: Events<'_, Words>,
    ///         out: &mut StepOutput<Words>,
    ///     ) -> Result<(), String> {
    ///         for event in events {
    ///             match event {
    ///                 Event::Message(Message::Put(word, count)) => {
    ///                     self.0.insert(word, count);
    ///                 }
    ///                 Event::Message(Message::Get(word, caller)) => {
    ///                     out.answer(caller, self.0.get(&word).copied());
    ///                 }
    ///                 _ => out.done(()),
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let scheduler = Scheduler::<Words>::builder().workers(2).build()?;
    /// let store = scheduler.submit(Store::default(), "run", ())?.pid();
    /// scheduler.send(store, Message::Put("filch".into(), 3))?;
    /// let count = scheduler.call(store, |caller| Message::Get("filch".into(), caller))?;
    /// assert_eq!(count, Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the process waits for a message, and a worker is idle, none is woken: the calling thread
    /// takes the step that gets the message itself, on its own stack and beside its thread-local
    /// values, as in [`execute`](Handle::execute). Further steps are left to the workers, and so is a
    /// process with [idle priority](filch_scheduler::Submission::idle_priority), or on a
    /// [thread of its own](filch_scheduler::BoundThread).
    ///
    /// The caller waits until the step that answers is over, and what belongs to it. So its locks
    /// do no harm here that they would not do if a worker took the step, with one exception: see
    /// [`answer`](crate::StepCalls::answer).
    ///
    /// What the thread did before happens before the step that sees the message, and what the
    /// process did in the step that answers, and before, happens before the return.
    ///
    /// # Errors
    /// [`CallError`]. None leaves the caller waiting: neither the end of the process, however it
    /// comes, nor that of the scheduler.
    fn call<R: Send + 'static>(
        &self,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>>;

    /// As [`call`](Self::call), for at most that long. Takes no steps: they might last longer. An
    /// answer that comes later is dropped.
    ///
    /// # Errors
    /// [`CallError::NotYet`] if there was no answer by then; else as [`call`](Self::call).
    fn call_timeout<R: Send + 'static>(
        &self,
        to: Pid,
        timeout: Duration,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>>;

    /// Sends the process `to` a message with a [`Caller`] in it, here and now; the future awaits
    /// the answer. For futures and async functions, or threads that have an executor of their own.
    /// A process [calls](crate::StepCalls::call) in its step.
    ///
    /// What the process did in the step that answers, and before, happens before the future is
    /// ready.
    fn ask<R: Send + 'static>(
        &self,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Asked<P, R>;
}

impl<P: Protocol> Calls<P> for Handle<P> {
    fn call<R: Send + 'static>(
        &self,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>> {
        call_until(self, to, None, message)
    }

    fn call_timeout<R: Send + 'static>(
        &self,
        to: Pid,
        timeout: Duration,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>> {
        // A deadline that the clock cannot express never comes.
        call_until(self, to, Instant::now().checked_add(timeout), message)
    }

    fn ask<R: Send + 'static>(
        &self,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Asked<P, R> {
        let (caller, answer) = Caller::new();
        Asked::new(self.send(to, message(caller)).err(), answer)
    }
}

fn call_until<P: Protocol, R: Send + 'static>(
    scheduler: &Handle<P>,
    to: Pid,
    deadline: Option<Instant>,
    message: impl FnOnce(Caller<R>) -> P::Message,
) -> Result<R, CallError<P>> {
    let (caller, answer) = Caller::new();
    let message = message(caller);
    if scheduler.is_worker() {
        return Err(CallError::CalledFromInside(message));
    }
    let sent = match deadline {
        // A guest's step may take longer than the caller would wait.
        Some(_) => scheduler.send(to, message),
        None => scheduler.send_as_guest(to, message, || answer.is_there()),
    };
    sent.map_err(CallError::Send)?;
    answer.wait(deadline).map_err(CallError::from)
}

impl<P: Protocol> From<NoAnswer> for CallError<P> {
    fn from(missing: NoAnswer) -> Self {
        match missing {
            NoAnswer::Abandoned => Self::Abandoned,
            NoAnswer::NotYet => Self::NotYet,
        }
    }
}

/// Why a [call](Calls::call) has no answer.
#[non_exhaustive]
pub enum CallError<P: Protocol> {
    /// The message was not delivered, and comes back. Its [`Caller`] is nobody any more.
    Send(SendError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself. The message, which
    /// was not sent, comes back.
    CalledFromInside(P::Message),
    /// The [`Caller`] was dropped without an answer: the process has ended, or forgot it.
    Abandoned,
    /// There is no answer, and the call was not to wait any longer.
    NotYet,
    /// A process has [called](crate::StepCalls::call) itself, and might have waited for ever. The
    /// message, which was not sent, comes back.
    ToItself(P::Message),
}

impl<P: Protocol> fmt::Display for CallError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
            Self::Abandoned => f.write_str(
                "the caller was dropped without an answer: the process has ended, or forgot it",
            ),
            Self::NotYet => f.write_str("the process has not answered yet"),
            Self::ToItself(_) => f.write_str(
                "the process has called itself, and would wait for its own answer: send it a \
                 message instead",
            ),
        }
    }
}

impl<P: Protocol> fmt::Debug for CallError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallError({self})")
    }
}

impl<P: Protocol> std::error::Error for CallError<P> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Send(error) => Some(error),
            _ => None,
        }
    }
}
