//! A call of one process by another: the answer comes as that of a command.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::time::Instant;

use filch_promise::{DeferredWake, TakeOnce, take_once_with};
use filch_sync::cell::UnsafeCell;
use filch_sync::panic::drop_contained;
use filch_timers::Bounded;

use filch_scheduler::{Context, OpenCommand, Pid, Protocol, StepOutput};

use crate::CallError;
use crate::call::caller::{Caller, WaitingProcess, Ways};
use crate::timers::Timers;

/// See [`StepOutputExt::call`](crate::StepOutputExt::call).
pub(crate) fn call<P: Protocol, R: Send + 'static>(
    out: &mut StepOutput<P>,
    context: &Context<'_, P>,
    tag: u64,
    to: Pid,
    message: impl FnOnce(Caller<R>) -> P::Message,
    reply: impl FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
) {
    let outstanding = out.open_command(context, tag);
    outstanding.note_call(to, false);
    make(context, to, message, Call { outstanding, reply }, true);
}

/// See [`StepOutputExt::call_by`](crate::StepOutputExt::call_by).
pub(crate) fn call_by<P: Protocol, R: Send + 'static>(
    out: &mut StepOutput<P>,
    context: &Context<'_, P>,
    tag: u64,
    (deadline, timers): (Instant, &Timers),
    to: Pid,
    message: impl FnOnce(Caller<R>) -> P::Message,
    reply: impl FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static,
) {
    let outstanding = out.open_command(context, tag);
    outstanding.note_call(to, true);
    let call = Limited(Some(Call { outstanding, reply }), PhantomData);
    let timers = timers.on_behalf_of(context.number());
    match timers.bound(deadline, call, drop) {
        Ok(bounded) => make(context, to, message, bounded, true),
        Err(refused) => make(context, to, message, refused.into_inner().0, false),
    }
}

/// The function that turns the answer into the command's result.
pub(crate) trait Reply<P: Protocol, R>:
    FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static
{
}

impl<P: Protocol, R, F> Reply<P, R> for F where
    F: FnOnce(Result<R, CallError<P>>) -> Result<P::Reply, P::Error> + Send + 'static
{
}

/// A call that is under way.
trait Ends<P: Protocol, R>: Send + 'static {
    /// Completes the call, unless it is complete.
    fn end(self, result: Result<R, CallError<P>>);
}

/// A call without a limit.
struct Call<P: Protocol, F> {
    outstanding: OpenCommand<P>,
    reply: F,
}

impl<P: Protocol, R: Send + 'static, F: Reply<P, R>> Ends<P, R> for Call<P, F> {
    #[inline]
    fn end(self, result: Result<R, CallError<P>>) {
        let Self { outstanding, reply } = self;
        outstanding.answer_by(|| reply(result));
    }
}

/// A call with a deadline; dropping it completes the call with [`CallError::NotYet`].
pub(crate) struct Limited<P: Protocol, R: Send + 'static, F: Reply<P, R>>(
    Option<Call<P, F>>,
    PhantomData<fn(R)>,
);

impl<P: Protocol, R: Send + 'static, F: Reply<P, R>> Drop for Limited<P, R, F> {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call.end(Err(CallError::NotYet));
        }
    }
}

impl<P: Protocol, R: Send + 'static, F: Reply<P, R>> Ends<P, R> for Limited<P, R, F> {
    fn end(mut self, result: Result<R, CallError<P>>) {
        if let Some(call) = self.0.take() {
            call.end(result);
        }
    }
}

impl<P: Protocol, R: Send + 'static, F: Reply<P, R>> Ends<P, R> for Bounded<Limited<P, R, F>> {
    fn end(self, result: Result<R, CallError<P>>) {
        match self.take() {
            Some(call) => call.end(result),
            // An answer that nobody wants any more: its destructor is user code.
            None => drop_contained(result),
        }
    }
}

/// Makes the call, unless it cannot be limited. Its process shares it with the caller, to complete
/// it if the message is refused.
fn make<P: Protocol, R: Send + 'static, C: Ends<P, R>>(
    context: &Context<'_, P>,
    to: Pid,
    message: impl FnOnce(Caller<R>) -> P::Message,
    call: C,
    is_made: bool,
) {
    let (own, callers) = take_once_with(call, Place::<R>::new());
    // SAFETY: the ways are those of an owner of this type, which they take over.
    let waiting = unsafe { WaitingProcess::new(callers.into_raw(), &ByType::<P, R, C>::WAYS) };
    let message = message(Caller::process(waiting));
    let error = if to == context.pid() {
        CallError::ToItself(message)
    } else if !is_made {
        CallError::TimersClosed(message)
    } else {
        match context.send(to, message) {
            Ok(()) => return,
            Err(error) => CallError::Send(error),
        }
    };
    match own.take() {
        Some(call) => call.end(Err(error)),
        None => drop_contained(error),
    }
}

/// The place where a caller puts its answer, from the step that gives it to the end of that turn.
struct Place<R>(UnsafeCell<MaybeUninit<R>>);

// SAFETY: a call has one caller, which is Send, and nobody else touches the place.
unsafe impl<R: Send> Sync for Place<R> {}

impl<R> Place<R> {
    fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// The [`Ways`] of a [`WaitingProcess`] whose call is of this type.
struct ByType<P, R, C>(PhantomData<(P, R, C)>);

impl<P: Protocol, R: Send + 'static, C: Ends<P, R>> ByType<P, R, C> {
    const WAYS: Ways<R> = Ways {
        prepare: Self::prepare,
        abandon: Self::abandon,
    };

    /// # Safety
    /// The address is that of the caller's `TakeOnce<C, Place<R>>`, which this takes over.
    unsafe fn prepare(call: *const (), answer: R) -> DeferredWake {
        // SAFETY: the caller's.
        let owner = unsafe { TakeOnce::<C, Place<R>>::from_raw(call) };
        let place = &owner.shared().0;
        // SAFETY: the place is the caller's.
        place.with_mut(|place| unsafe { (*place).write(answer) });
        // SAFETY: the answer is in its place, and the address the caller's again.
        unsafe { DeferredWake::from_raw(owner.into_raw(), Self::give) }
    }

    /// # Safety
    /// As of `prepare`, which has put the answer there.
    unsafe fn give(call: *const ()) {
        // SAFETY: the caller's.
        let owner = unsafe { TakeOnce::<C, Place<R>>::from_raw(call) };
        let place = &owner.shared().0;
        // SAFETY: the answer is there, and read once.
        let answer = place.with(|place| unsafe { (*place).assume_init_read() });
        Self::end(owner, Ok(answer));
    }

    /// # Safety
    /// As of `prepare`.
    unsafe fn abandon(call: *const ()) {
        // SAFETY: the caller's.
        Self::end(
            unsafe { TakeOnce::from_raw(call) },
            Err(CallError::Abandoned),
        );
    }

    #[inline]
    fn end(owner: TakeOnce<C, Place<R>>, result: Result<R, CallError<P>>) {
        match owner.take() {
            Some(call) => call.end(result),
            // Its message has come back.
            None => drop_contained(result),
        }
    }
}
