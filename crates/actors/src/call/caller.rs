//! The two ends of a call: the caller, as the process knows it, and the answer, for which it waits.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use filch_parker::poll_until;
use filch_promise::{Prepared, Promised, Resolver, promise};
use filch_sync::panic::drop_contained;

/// A caller that waits for an answer of type `R`: what a [call](crate::HandleExt::call) puts into a
/// message. A process [answers](crate::StepOutputExt::answer) it, in this step or a later one.
///
/// Dropping it fails the call at once with [`CallError::Abandoned`](crate::CallError::Abandoned):
/// so nobody waits for a process that has ended, whatever it kept, or for a message that is not
/// read. It may go to another process, in a message, and be answered there.
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
pub struct Caller<R: 'static> {
    /// Until it is answered.
    waits: Option<Waits<R>>,
}

/// What waits for the answer.
enum Waits<R: 'static> {
    /// A thread, or a future.
    Promise(Resolver<Result<R, NoAnswer>>),
    /// A process, as for a command.
    Process(WaitingProcess<R>),
}

/// A process that waits for an answer as for a command. Dropping it says that there will be none.
pub(crate) struct WaitingProcess<R: 'static> {
    call: *const (),
    ways: &'static Ways<R>,
}

/// What can be done with the call of a [`WaitingProcess`], whose type these know.
pub(crate) struct Ways<R: 'static> {
    /// Puts the answer in its place.
    pub(crate) prepare: unsafe fn(*const (), R) -> Prepared,
    /// There will be no answer.
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
    fn prepare(self, answer: R) -> Prepared {
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

/// The answer to a call, which may come: the other end of a [`Caller`].
#[must_use = "the answer is lost unless it is waited for"]
pub struct Answer<R>(Promised<Result<R, NoAnswer>>);

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The caller was dropped.
    Abandoned,
    /// It was not to wait any longer.
    NotYet,
}

impl<R> Caller<R> {
    /// A thread or a future that waits, for a message that is sent by other means than a call.
    pub fn new() -> (Self, Answer<R>) {
        let (resolver, promised) = promise();
        let waits = Some(Waits::Promise(resolver));
        (Self { waits }, Answer(promised))
    }

    /// A process that waits.
    #[inline]
    pub(crate) fn process(process: WaitingProcess<R>) -> Self {
        let waits = Some(Waits::Process(process));
        Self { waits }
    }
}

impl<R: Send + 'static> Caller<R> {
    /// Answers at once: for an async function, and where the process itself has passed the caller
    /// on to what knows the answer. In a step,
    /// [`StepOutputExt::answer`](crate::StepOutputExt::answer) does it when the step is over.
    pub fn answer(self, answer: R) {
        // An answer whose caller has gone is dropped there: that is user code.
        drop_contained(self.prepare(answer));
    }

    /// Leaves the answer in its place. The caller gets it when the result is dropped.
    pub(crate) fn prepare(mut self, answer: R) -> Prepared {
        match self.waits.take() {
            Some(Waits::Promise(resolver)) => resolver.prepare(Ok(answer)),
            Some(Waits::Process(process)) => process.prepare(answer),
            None => unreachable!("an answer uses it up"),
        }
    }
}

impl<R> Drop for Caller<R> {
    fn drop(&mut self) {
        if let Some(Waits::Promise(resolver)) = self.waits.take() {
            resolver.resolve(Err(NoAnswer::Abandoned));
        }
    }
}

impl<R> Answer<R> {
    /// Whether the wait is over.
    pub fn is_there(&self) -> bool {
        self.0.is_resolved()
    }

    /// Waits, until `deadline` if there is one. Blocking. What the process did before it answered,
    /// and in the rest of that step, happens before the return.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub fn wait(self, deadline: Option<Instant>) -> Result<R, NoAnswer> {
        poll_until(deadline, self.0).unwrap_or(Err(NoAnswer::NotYet))
    }
}

impl<R> Future for Answer<R> {
    type Output = Result<R, NoAnswer>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<R> fmt::Debug for Answer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Abandoned => "the caller was dropped without an answer",
            Self::NotYet => "the process has not answered yet",
        })
    }
}

impl std::error::Error for NoAnswer {}

impl<R> fmt::Debug for Caller<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}
