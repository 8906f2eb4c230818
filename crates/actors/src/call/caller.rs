//! The two ends of a call: the caller, which the process answers, and the answer it waits for.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use filch_promise::{DeferredWake, Reply, answer};
use filch_scheduler::{Protocol, SendError};
use filch_sync::panic::drop_contained;

use crate::CallError;

/// A caller that waits for an answer of type `R`; a [call](crate::HandleExt::call) puts it into its
/// message. A process [answers](crate::StepOutputExt::answer) it, in this step or a later one.
///
/// Dropping it fails the call at once with [`CallError::Abandoned`](crate::CallError::Abandoned):
/// so a call ends if the process ends, or if its message is never read. It may go to another
/// process, in a message, and be answered there.
///
/// It cannot be answered twice:
///
/// ```compile_fail,E0382
/// use filch_actors::{Caller, prelude::*};
/// use filch_scheduler::{Protocol, StepOutput};
///
/// fn twice<P: Protocol>(caller: Caller<u64>, out: &mut StepOutput<P>) {
///     out.answer(caller, 1);
///     out.answer(caller, 2);
/// }
/// ```
#[must_use = "dropping it fails the call"]
#[doc(alias = "oneshot")]
pub struct Caller<R: 'static>(Waits<R>);

/// The waiter for the answer.
enum Waits<R: 'static> {
    /// A thread, or a future.
    Promise(Reply<R, NoAnswer, NoAnswer>),
    /// A process, as for a command.
    Process(WaitingProcess<R>),
}

/// A process that waits for an answer as for a command. Dropping this tells it that none will come.
pub(crate) struct WaitingProcess<R: 'static> {
    call: *const (),
    ways: &'static Ways<R>,
}

/// The functions for the call of a [`WaitingProcess`], which know its type.
pub(crate) struct Ways<R: 'static> {
    /// Puts the answer in its place.
    pub(crate) prepare: unsafe fn(*const (), R) -> DeferredWake,
    /// Tells the process that there will be no answer.
    pub(crate) abandon: unsafe fn(*const ()),
}

// SAFETY: whoever makes one says so (contract of `new`).
unsafe impl<R> Send for WaitingProcess<R> {}
// SAFETY: nothing can be done by a reference.
unsafe impl<R> Sync for WaitingProcess<R> {}

impl<R> WaitingProcess<R> {
    /// # Safety
    /// One of the `ways` may be gone with the `call`, once, on any thread.
    #[inline]
    pub(crate) unsafe fn new(call: *const (), ways: &'static Ways<R>) -> Self {
        Self { call, ways }
    }

    #[inline]
    fn prepare(self, answer: R) -> DeferredWake {
        let this = ManuallyDrop::new(self);
        // SAFETY: once, as this is used up.
        unsafe { (this.ways.prepare)(this.call, answer) }
    }
}

impl<R> Drop for WaitingProcess<R> {
    fn drop(&mut self) {
        // SAFETY: once, as this is dropped.
        unsafe { (self.ways.abandon)(self.call) };
    }
}

/// The answer to a call, if it comes: the other end of a [`Caller`]. All acts of a step
/// that [answers](crate::StepOutputExt::answer) happen before the answer is seen.
pub type Answer<R> = filch_promise::Answer<R, NoAnswer>;

/// The reason why there is no answer: the caller was dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoAnswer;

impl<R> Caller<R> {
    /// Makes both ends for a thread or a future, whose message is sent by other means than a call.
    pub fn new() -> (Self, Answer<R>) {
        let (reply, answer) = answer();
        (Self(Waits::Promise(reply)), answer)
    }

    /// Makes the caller's end for a process that waits.
    #[inline]
    pub(crate) fn process(process: WaitingProcess<R>) -> Self {
        Self(Waits::Process(process))
    }
}

impl<R: Send + 'static> Caller<R> {
    /// Answers at once: for an async function, or for code outside the processes that was handed
    /// the caller. In a step, use [`StepOutputExt::answer`](crate::StepOutputExt::answer), which
    /// answers when the step is over.
    ///
    /// All acts of this thread before happen before the return of a [call](crate::HandleExt::call),
    /// before an [`Answer`] is seen, and before the step of a process that called.
    #[doc(alias = "reply")]
    pub fn answer(self, answer: R) {
        // An answer whose caller has gone is dropped there: that is user code.
        drop_contained(self.prepare(answer));
    }

    /// Puts the answer in its place. Dropping the result gives it to the caller.
    pub(crate) fn prepare(self, answer: R) -> DeferredWake {
        match self.0 {
            Waits::Promise(reply) => reply.prepare(Ok(answer)),
            Waits::Process(process) => process.prepare(answer),
        }
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the caller was dropped without an answer")
    }
}

impl std::error::Error for NoAnswer {}

impl<R> fmt::Debug for Caller<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

/// The answer to a call, to be awaited; from [`HandleExt::ask`](crate::HandleExt::ask). It is
/// [`CallError::Send`] at once if the message was refused, and [`CallError::Abandoned`] as soon as
/// the called process has ended. Dropping this drops an answer that comes later.
#[must_use = "the message is sent, and the answer lost unless it is awaited"]
pub struct Asked<P: Protocol, R> {
    refused: Option<SendError<P>>,
    answer: Answer<R>,
}

impl<P: Protocol, R> Asked<P, R> {
    pub(crate) fn new(refused: Option<SendError<P>>, answer: Answer<R>) -> Self {
        Self { refused, answer }
    }
}

// Nothing in it is pinned: what it awaits is behind a pointer.
impl<P: Protocol, R> Unpin for Asked<P, R> {}

impl<P: Protocol, R> Future for Asked<P, R> {
    type Output = Result<R, CallError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(refused) = self.refused.take() {
            return Poll::Ready(Err(CallError::Send(refused)));
        }
        let answer = Pin::new(&mut self.answer).poll(context);
        answer.map(|answer| answer.map_err(CallError::from))
    }
}

impl<P: Protocol, R> fmt::Debug for Asked<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked")
            .field("refused", &self.refused)
            .finish_non_exhaustive()
    }
}
