//! A call of one process by another: the answer comes as that of a command.

use std::sync::Arc;

use filch_promise::TakeCell;
use filch_sync::cell::UnsafeCell;
use filch_sync::panic::drop_contained;
use filch_timers::TimerGuard;

use crate::api::caller::{Answer, PreparedAnswer, WaitingProcess};
use crate::api::open_call::{CallEnd, OpenCall, Unanswered};
use crate::api::outstanding::{Outstanding, result_of};
use crate::api::step_output::{CallMaker, Yielded, YieldedCall};
use crate::{CallError, Caller, CommandError, Pid, Protocol, StepOutput};

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
        let yielded = Yielding {
            to,
            message,
            reply,
            limit,
        };
        self.push(tag, Yielded::Call(Arc::new(Waiting::new(yielded))));
    }
}

/// A call that ends at its deadline, if it has not ended before.
pub(crate) trait Expires: Send + Sync {
    fn expire(&self);
}

/// What is done with the answer.
trait Reply<P: Protocol, R>:
    FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static
{
}

impl<P: Protocol, R, F> Reply<P, R> for F where
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static
{
}

/// A process that waits for an answer, from the step that yields the call to the call's end: all in
/// one allocation. The answer, its caller's end and the deadline race for the call.
struct Waiting<P: Protocol, R, M, F, L> {
    /// Until the call is made.
    yielded: Option<Yielding<M, F, L>>,
    call: TakeCell<Call<P, F>>,
    /// The caller's, of which there is one: from the step that gives the answer to the end of that
    /// turn.
    answer: UnsafeCell<Option<R>>,
}

// SAFETY: what is yielded is taken by one that has the whole, the call goes by its cell, and only
// the caller, which is Send, touches the answer.
unsafe impl<P, R, M, F, L> Sync for Waiting<P, R, M, F, L>
where
    P: Protocol,
    R: Send,
    M: Send,
    F: Send,
    L: Send,
{
}

/// What a call begins with.
struct Yielding<M, F, L> {
    to: Pid,
    message: M,
    reply: F,
    limit: Option<L>,
}

/// A call that is under way.
struct Call<P: Protocol, F> {
    outstanding: Outstanding<P>,
    reply: F,
    limit: Option<TimerGuard>,
}

impl<P: Protocol, F> Call<P, F> {
    fn complete<R>(self, result: Result<R, CallError<P>>)
    where
        F: Reply<P, R>,
    {
        let Self {
            outstanding,
            reply,
            limit,
        } = self;
        drop(limit);
        outstanding.answer_by(|| reply(result));
    }
}

impl<P: Protocol, R, M, F: Reply<P, R>, L> Waiting<P, R, M, F, L> {
    fn new(yielded: Yielding<M, F, L>) -> Self {
        Self {
            yielded: Some(yielded),
            call: TakeCell::empty(),
            answer: UnsafeCell::new(None),
        }
    }

    /// Completes the call, if nothing has before.
    fn end(&self, result: Result<R, CallError<P>>) {
        match self.call.take() {
            Some(call) => call.complete(result),
            // An answer that nobody wants any more: its destructor is user code.
            None => drop_contained(result),
        }
    }
}

impl<P, R, M, F, L> YieldedCall<P> for Waiting<P, R, M, F, L>
where
    P: Protocol,
    R: Send + 'static,
    M: FnOnce(Caller<R>) -> P::Message + Send + 'static,
    F: Reply<P, R>,
    L: FnOnce(Arc<dyn Expires>) -> TimerGuard + Send + 'static,
{
    fn make(mut self: Arc<Self>, maker: CallMaker<'_, P>) {
        let Some(waiting) = Arc::get_mut(&mut self) else {
            unreachable!("only the step's output has a call that is not made");
        };
        let Some(yielded) = waiting.yielded.take() else {
            unreachable!("a call is made once");
        };
        let Yielding {
            to,
            message,
            reply,
            limit,
        } = yielded;
        let (process, tag, handle) = match maker {
            CallMaker::Worker(process, tag, handle) => (process, tag, handle),
            CallMaker::Test(tag, open) => {
                let (caller, answer) = Caller::new();
                let call = Box::new(ByHand { answer, reply });
                return open.push(OpenCall::new(tag, to, message(caller), call));
            }
        };
        let own = process.pid();
        let outstanding = Outstanding::new(process, tag);
        outstanding.note_call(to, limit.is_some());
        match limit {
            None => waiting.call.fill(Call {
                outstanding,
                reply,
                limit: None,
            }),
            Some(limit) => {
                // Before the answer can come, which cancels it.
                let guard = limit(Arc::clone(&self) as Arc<dyn Expires>);
                let call = Call {
                    outstanding,
                    reply,
                    limit: Some(guard),
                };
                // SAFETY: the cell was made empty, and this is done once.
                if let Err(call) = unsafe { self.call.put(call) } {
                    // The deadline has come already: nobody is called.
                    return call.complete(Err(CallError::NotYet));
                }
            }
        }
        let waiting = Arc::clone(&self) as Arc<dyn WaitingProcess<R>>;
        // SAFETY: a call is made once.
        let message = message(unsafe { Caller::process(waiting) });
        if to == own {
            return self.end(Err(CallError::ToItself(message)));
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
    F: Reply<P, R>,
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
    F: Reply<P, R>,
    L: Send,
{
    unsafe fn put(&self, answer: R) {
        // SAFETY: the answer's place is the caller's (contract).
        self.answer
            .with_mut(|place| unsafe { *place = Some(answer) });
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
    F: Reply<P, R>,
    L: Send,
{
    unsafe fn give(&self) {
        // SAFETY: it is that of the one that has put it there (contract).
        let answer = self.answer.with_mut(|place| unsafe { (*place).take() });
        if let Some(answer) = answer {
            self.end(Ok(answer));
        }
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
    F: Reply<P, R>,
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
