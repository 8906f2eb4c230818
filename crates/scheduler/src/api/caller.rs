//! The two ends of a call: the caller, as the process knows it, and the answer, for which it waits.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use filch_promise::{Prepared, Promised, Resolver, promise};

use crate::api::wait::poll_until;

/// A caller that waits for an answer of type `R`: what [`Handle::call`](crate::Handle::call) puts
/// into a message. A process [answers](crate::StepOutput::answer) it, in this step or a later one.
///
/// Dropping it fails the call at once with [`CallError::Abandoned`](crate::CallError::Abandoned):
/// so nobody waits for a process that has ended, whatever it kept, or for a message that is not
/// read. It may go to another process, in a message, and be answered there.
///
/// It cannot be answered twice:
///
/// ```compile_fail,E0382
/// use filch_scheduler::{Caller, Protocol, StepOutput};
///
/// fn twice<P: Protocol>(caller: Caller<u64>, out: &mut StepOutput<P>) {
///     out.answer(caller, 1);
///     out.answer(caller, 2);
/// }
/// ```
#[must_use = "dropping it fails the call"]
pub struct Caller<R> {
    /// Until it is answered.
    resolver: Option<Resolver<Result<R, NoAnswer>>>,
}

/// The answer to a call, which may come.
pub(crate) struct Answer<R>(Promised<Result<R, NoAnswer>>);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The caller was dropped.
    Abandoned,
    /// It was not to wait any longer.
    NotYet,
}

impl<R> Caller<R> {
    pub(crate) fn new() -> (Self, Answer<R>) {
        let (resolver, promised) = promise();
        let resolver = Some(resolver);
        (Self { resolver }, Answer(promised))
    }
}

impl<R: Send + 'static> Caller<R> {
    /// Leaves the answer in its place. The caller gets it when the result is dropped.
    pub(crate) fn prepare(mut self, answer: R) -> Prepared {
        match self.resolver.take() {
            Some(resolver) => resolver.prepare(Ok(answer)),
            None => unreachable!("an answer uses it up"),
        }
    }
}

impl<R> Drop for Caller<R> {
    fn drop(&mut self) {
        if let Some(resolver) = self.resolver.take() {
            resolver.resolve(Err(NoAnswer::Abandoned));
        }
    }
}

impl<R> Answer<R> {
    /// Whether the wait is over.
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_resolved()
    }

    /// Waits, until `deadline` if there is one. Blocking. What the process did before it answered,
    /// and in the rest of that step, happens before the return.
    pub(crate) fn wait(mut self, deadline: Option<Instant>) -> Result<R, NoAnswer> {
        let mut poll = |context: &mut Context<'_>| Pin::new(&mut self.0).poll(context);
        // Mostly a guest's, which has it already.
        if let Poll::Ready(answer) = poll(&mut Context::from_waker(Waker::noop())) {
            return answer;
        }
        poll_until(deadline, poll).unwrap_or(Err(NoAnswer::NotYet))
    }
}

impl<R> fmt::Debug for Caller<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}
