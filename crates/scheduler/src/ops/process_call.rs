//! A call of one process by another: the answer comes as that of a command.

use std::sync::Arc;

use filch_sync::{Mutex, lock};
use filch_timers::TimerGuard;

use crate::api::caller::{Answer, PreparedAnswer, WaitingProcess};
use crate::api::command::result_of;
use crate::api::open_call::{CallEnd, OpenCall, Unanswered};
use crate::api::step_output::{CallMaker, Yielded};
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
    /// with that message.
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
        self.call_with(tag, to, message, reply, None::<fn(Expire) -> TimerGuard>);
    }

    /// The same. If there is a `limit`, that has what it is given called at the deadline.
    pub(crate) fn call_with<R: Send + 'static>(
        &mut self,
        tag: u64,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message + Send + 'static,
        reply: impl FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
        limit: Option<impl FnOnce(Expire) -> TimerGuard + Send + 'static>,
    ) {
        let call = move |maker: CallMaker<'_, P>| {
            let completion = match maker {
                CallMaker::Worker(completion) => completion,
                CallMaker::Test(tag, open) => {
                    let (caller, answer) = Caller::new();
                    let call = Box::new(ByHand { answer, reply });
                    return open.push(OpenCall::new(tag, to, message(caller), call));
                }
            };
            let (handle, own) = (completion.handle().clone(), completion.pid());
            completion.note_call(to, limit.is_some());
            let waiting = Waiting::new(completion, reply);
            let message = message(Caller::process(waiting.clone()));
            if to == own {
                return waiting.end(Err(CallError::ToItself(message)));
            }
            // Before the answer can come, which cancels it.
            if let Some(limit) = limit {
                let expired = Arc::clone(&waiting);
                let expire = move || expired.end(Err(CallError::NotYet));
                waiting.limit(limit(Box::new(expire)));
            }
            if let Err(error) = handle.send(to, message) {
                waiting.end(Err(CallError::Send(error)));
            }
        };
        self.push(tag, Yielded::Call(Box::new(call)));
    }
}

/// What ends a call at its deadline.
pub(crate) type Expire = Box<dyn FnOnce() + Send>;

/// A process that waits for an answer: until that comes, the one that was asked ends, or the
/// deadline. The first of these takes the call.
struct Waiting<P: Protocol, R, F>(Mutex<State<P, R, F>>);

struct State<P: Protocol, R, F> {
    call: Option<Call<P, F>>,
    /// From the step that gives it to the end of that turn.
    answer: Option<R>,
}

/// What an answer completes.
struct Call<P: Protocol, F> {
    completion: Completion<P>,
    reply: F,
    limit: Option<TimerGuard>,
}

impl<P, R, F> Waiting<P, R, F>
where
    P: Protocol,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error>,
{
    fn new(completion: Completion<P>, reply: F) -> Arc<Self> {
        let call = Some(Call {
            completion,
            reply,
            limit: None,
        });
        let answer = None;
        Arc::new(Self(Mutex::new(State { call, answer })))
    }

    fn limit(&self, guard: TimerGuard) {
        // If the deadline has come already, the guard goes, outside of the lock.
        let mut guard = Some(guard);
        if let Some(call) = &mut lock(&self.0).call {
            call.limit = guard.take();
        }
    }

    /// Completes the call, if nothing has before.
    fn end(&self, result: Result<R, CallError<P>>) {
        let call = lock(&self.0).call.take();
        if let Some(Call {
            completion,
            reply,
            limit,
        }) = call
        {
            drop(limit);
            completion.answer_by(|| reply(result));
        }
    }
}

impl<P, R, F> WaitingProcess<R> for Waiting<P, R, F>
where
    P: Protocol,
    R: Send,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send,
{
    fn put(&self, answer: R) {
        lock(&self.0).answer = Some(answer);
    }

    fn abandon(&self) {
        self.end(Err(CallError::Abandoned));
    }
}

impl<P, R, F> PreparedAnswer for Waiting<P, R, F>
where
    P: Protocol,
    R: Send,
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send,
{
    fn give(&self) {
        let answer = lock(&self.0).answer.take();
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
