//! A call of one process by another: the answer comes as that of a command.

use std::mem;
use std::sync::Arc;

use filch_sync::panic::drop_contained;
use filch_sync::{Mutex, lock};
use filch_timers::TimerGuard;

use crate::api::caller::{Answer, PreparedAnswer, WaitingProcess};
use crate::api::command::result_of;
use crate::api::open_call::{CallEnd, OpenCall, Unanswered};
use crate::api::step_output::{CallMaker, Yielded, YieldedCall};
use crate::{CallError, Caller, CommandError, Completion, Pid, Protocol, StepOutput};

impl<P: Protocol> StepOutput<P> {
    /// Sends the process `to` a message with a [`Caller`] in it when the step is over. The answer,
    /// through `reply`, comes as that of a command: as
    /// [`Event::Completed`](crate::Event::Completed) with this `tag`, which ends a
    /// [`wait`](Self::wait). The end of the called process is an answer, too, at once. With a
    /// limit: [`call_by`](Self::call_by).
    ///
    /// `reply` gets the answer; or [`CallError::Send`], [`CallError::Abandoned`],
    /// [`CallError::ToItself`]. It runs where that comes from; if it panics, the call completes
    /// with that message. If `message` panics, nobody is called, and the call is abandoned.
    ///
    /// ```
    /// # use filch_scheduler::{Caller, Event, Protocol, Scheduler, from_fn};
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
    /// let asker = from_fn(move |_context, events, out| {
    ///     for event in events {
    ///         if let Event::Completed { tag: 7, result } = event {
    ///             out.done(result.map_err(|error| error.to_string())?);
    ///             return Ok(());
    ///         }
    ///     }
    ///     out.call(7, oracle, |caller| caller, |answer| answer.map_err(|e| e.to_string()));
    ///     out.wait();
    ///     Ok(())
    /// });
    /// assert_eq!(scheduler.execute(asker, "run", ())?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call<R: Send + 'static>(
        &mut self,
        tag: u64,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message + Send + 'static,
        reply: impl FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        self.call_with(
            tag,
            to,
            message,
            reply,
            None::<fn(Arc<dyn Expires>) -> TimerGuard>,
        );
    }

    /// The same. If there is a `limit`, that has what it is given expire at the deadline.
    pub(crate) fn call_with<R: Send + 'static>(
        &mut self,
        tag: u64,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message + Send + 'static,
        reply: impl FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
        limit: Option<impl FnOnce(Arc<dyn Expires>) -> TimerGuard + Send + 'static>,
    ) {
        let yielded = Yielding { to, message, limit };
        let call = Call::Yielded(yielded, reply);
        self.push(tag, Yielded::Call(Arc::new(Waiting(Mutex::new(call)))));
    }
}

/// A call that ends at its deadline, if it has not ended before.
pub(crate) trait Expires: Send + Sync {
    fn expire(&self);
}

/// A process that waits for an answer: until that comes, the one that was asked ends, or the
/// deadline. The first of these takes the call.
struct Waiting<P: Protocol, R, M, F, L>(Mutex<Call<P, R, M, F, L>>);

/// A call, from the step that yields it to its end: all in one allocation.
enum Call<P: Protocol, R, M, F, L> {
    /// Until the step is over.
    Yielded(Yielding<M, L>, F),
    Waits {
        completion: Completion<P>,
        reply: F,
        limit: Option<TimerGuard>,
        /// From the step that gives it to the end of that turn.
        answer: Option<R>,
    },
    Over,
}

/// What a call begins with.
struct Yielding<M, L> {
    to: Pid,
    message: M,
    limit: Option<L>,
}

impl<P: Protocol, R, M, F, L> Call<P, R, M, F, L> {
    /// Takes it, if it has not ended yet: it has, from now on.
    fn take(&mut self) -> Self {
        mem::replace(self, Self::Over)
    }
}

impl<P, R, M, F, L> Waiting<P, R, M, F, L>
where
    P: Protocol,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error>,
{
    fn limit(&self, guard: TimerGuard) {
        // If the deadline has come already, the guard goes, outside of the lock.
        let mut guard = Some(guard);
        if let Call::Waits { limit, .. } = &mut *lock(&self.0) {
            *limit = guard.take();
        }
    }

    /// Completes the call, if nothing has before.
    fn end(&self, result: Result<R, CallError<P>>) {
        let call = lock(&self.0).take();
        call.complete(result);
    }
}

impl<P, R, M, F, L> Call<P, R, M, F, L>
where
    P: Protocol,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error>,
{
    fn complete(self, result: Result<R, CallError<P>>) {
        if let Self::Waits {
            completion,
            reply,
            limit,
            answer: unwanted,
        } = self
        {
            drop_contained(unwanted);
            drop(limit);
            completion.answer_by(|| reply(result));
        }
    }
}

impl<P, R, M, F, L> YieldedCall<P> for Waiting<P, R, M, F, L>
where
    P: Protocol,
    R: Send + 'static,
    M: FnOnce(Caller<R>) -> P::Message + Send + 'static,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
    L: FnOnce(Arc<dyn Expires>) -> TimerGuard + Send + 'static,
{
    fn make(self: Arc<Self>, maker: CallMaker<'_, P>) {
        let mut call = lock(&self.0);
        let Call::Yielded(Yielding { to, message, limit }, reply) = call.take() else {
            unreachable!("a call is made once");
        };
        let (completion, handle) = match maker {
            CallMaker::Worker(completion, handle) => (completion, handle),
            CallMaker::Test(tag, open) => {
                drop(call);
                let (caller, answer) = Caller::new();
                let call = Box::new(ByHand { answer, reply });
                return open.push(OpenCall::new(tag, to, message(caller), call));
            }
        };
        let own = completion.pid();
        completion.note_call(to, limit.is_some());
        *call = Call::Waits {
            completion,
            reply,
            limit: None,
            answer: None,
        };
        drop(call);
        let waiting = Arc::clone(&self);
        let message = message(Caller::process(waiting));
        if to == own {
            return self.end(Err(CallError::ToItself(message)));
        }
        // Before the answer can come, which cancels it.
        if let Some(limit) = limit {
            let waiting = Arc::clone(&self);
            self.limit(limit(waiting));
        }
        if let Err(error) = handle.send(to, message) {
            self.end(Err(CallError::Send(error)));
        }
    }
}

impl<P, R, M, F, L> Expires for Waiting<P, R, M, F, L>
where
    P: Protocol,
    R: Send,
    M: Send,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send,
    L: Send,
{
    fn expire(&self) {
        self.end(Err(CallError::NotYet));
    }
}

impl<P, R, M, F, L> WaitingProcess<R> for Waiting<P, R, M, F, L>
where
    P: Protocol,
    R: Send,
    M: Send,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send,
    L: Send,
{
    fn put(&self, given: R) {
        let mut given = Some(given);
        if let Call::Waits { answer, .. } = &mut *lock(&self.0) {
            *answer = given.take();
        }
        // If the deadline has come, nobody wants it: its destructor is user code.
        drop_contained(given);
    }

    fn abandon(&self) {
        self.end(Err(CallError::Abandoned));
    }
}

impl<P, R, M, F, L> PreparedAnswer for Waiting<P, R, M, F, L>
where
    P: Protocol,
    R: Send,
    M: Send,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send,
    L: Send,
{
    fn give(&self) {
        let (call, answer) = {
            let mut call = lock(&self.0);
            let Call::Waits { answer, .. } = &mut *call else {
                return;
            };
            match answer.take() {
                Some(answer) => (call.take(), answer),
                None => return,
            }
        };
        call.complete(Ok(answer));
    }
}

/// A call that a test makes.
struct ByHand<R, F> {
    answer: Answer<R>,
    reply: F,
}

impl<P, R, F> Unanswered<P> for ByHand<R, F>
where
    P: Protocol,
    R: Send,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send,
{
    fn is_over(&self) -> bool {
        self.answer.is_there()
    }

    fn end(self: Box<Self>, end: CallEnd<P>) -> Result<P::Reply, CommandError<P>> {
        let Self { answer, reply } = *self;
        let result = match end {
            CallEnd::Over => answer.wait(None).map_err(CallError::from),
            CallEnd::NotYet => Err(CallError::NotYet),
            CallEnd::Refused(error) => Err(CallError::Send(error)),
            CallEnd::ToItself(message) => Err(CallError::ToItself(message)),
        };
        result_of(|| reply(result))
    }
}
