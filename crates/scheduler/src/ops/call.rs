//! Sending a message and waiting for its answer, as one act.

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, Instant};

use filch_processors::Awaited;

use crate::api::caller::{Answer, NoAnswer};
use crate::protocol::error_by_display;
use crate::table::body::Task;
use crate::{CalledFromInside, Caller, Handle, Pid, Protocol, SendError};

impl<P: Protocol> Handle<P> {
    /// Sends the process `to` a message with a [`Caller`] in it, and waits until that is
    /// [answered](crate::StepOutput::answer). Blocking: for threads outside.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use filch_scheduler::{
    ///     Caller, Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput,
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
    /// values, as in [`execute`](Self::execute). Further steps are left to the workers, and so is a
    /// process with [idle priority](crate::Submission::idle_priority), or on a
    /// [thread of its own](crate::BoundThread).
    ///
    /// The caller waits until the step that answers is over, and what belongs to it. So its locks
    /// do no harm here that they would not do if a worker took the step, with one exception: see
    /// [`answer`](crate::StepOutput::answer).
    ///
    /// What the thread did before happens before the step that sees the message, and what the
    /// process did in the step that answers, and before, happens before the return.
    ///
    /// # Errors
    /// [`CallError`]. None leaves the caller waiting: neither the end of the process, however it
    /// comes, nor that of the scheduler.
    pub fn call<R: Send + 'static>(
        &self,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>> {
        self.call_until(to, None, message)
    }

    /// As [`call`](Self::call), for at most that long. Takes no steps: they might last longer. An
    /// answer that comes later is dropped.
    ///
    /// # Errors
    /// [`CallError::NotYet`] if there was no answer by then; else as [`call`](Self::call).
    pub fn call_timeout<R: Send + 'static>(
        &self,
        to: Pid,
        timeout: Duration,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>> {
        // A deadline that the clock cannot express never comes.
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.call_until(to, Some(deadline), message),
            None => self.call(to, message),
        }
    }

    fn call_until<R: Send + 'static>(
        &self,
        to: Pid,
        deadline: Option<Instant>,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>> {
        let (caller, answer) = Caller::new();
        let message = message(caller);
        if self.is_worker() {
            return Err(CallError::CalledFromInside(message));
        }
        let sent = self.send_and(to, message, |slot| {
            let is_any_workers = !slot.has_idle_priority() && slot.bound_to() == 0;
            // A guest's step may take longer than the caller would wait.
            if deadline.is_none() && is_any_workers {
                let step = AwaitedStep::of(&answer);
                self.shared.processors.run_awaited(Task::of(slot), &step);
            } else {
                self.enqueue(slot);
            }
        });
        sent.map_err(CallError::Send)?;
        answer.wait(deadline).map_err(CallError::from)
    }
}

impl<P: Protocol> From<NoAnswer> for CallError<P> {
    fn from(missing: NoAnswer) -> Self {
        match missing {
            NoAnswer::Abandoned => Self::Abandoned,
            NoAnswer::NotYet => Self::NotYet,
        }
    }
}

/// The step that gets the message, and no other: in it the process may pass the caller on, and its
/// next step may then wait for what the caller does with the answer.
struct AwaitedStep<'call, R> {
    answer: &'call Answer<R>,
    is_taken: Cell<bool>,
}

impl<'call, R> AwaitedStep<'call, R> {
    fn of(answer: &'call Answer<R>) -> Self {
        Self {
            answer,
            is_taken: Cell::new(false),
        }
    }
}

impl<T, R> Awaited<T> for AwaitedStep<'_, R> {
    fn is_over(&self) -> bool {
        self.answer.is_there()
    }

    fn is(&self, _: &T) -> bool {
        !self.is_taken.replace(true)
    }
}

/// Why a [`call`](Handle::call) has no answer.
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
    /// A process has [called](crate::StepOutput::call) itself, and might have waited for ever. The
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

error_by_display!(CallError<P: Protocol>, Self::Send(error) => error);
