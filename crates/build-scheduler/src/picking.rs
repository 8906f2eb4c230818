//! A pick that is under way, and how it is cancelled.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use crate::answer::{Answer, block_on};
use crate::error::PickError;
use crate::event::{Event, Ticket};
use crate::job::{Content, Id, Job, Outcome};
use crate::planner::WorkerId;
use crate::shared::Shared;

/// A pick: await it in a task, or [wait](Self::wait) for it in a thread. Dropping it cancels the
/// pick; a job that it got and nobody has seen is given back.
#[must_use = "dropping it cancels the pick"]
pub struct Picking<I: Id, S: Content, R: Outcome> {
    shared: Weak<Shared<I, S, R>>,
    worker: WorkerId,
    ticket: Ticket,
    /// `None` once it was seen.
    answer: Option<Answer<Arc<Job<I, S>>, PickError>>,
}

impl<I: Id, S: Content, R: Outcome> Picking<I, S, R> {
    pub(crate) fn new(
        shared: Weak<Shared<I, S, R>>,
        worker: WorkerId,
        ticket: Ticket,
        answer: Answer<Arc<Job<I, S>>, PickError>,
    ) -> Self {
        Self {
            shared,
            worker,
            ticket,
            answer: Some(answer),
        }
    }

    /// What ends the pick from elsewhere.
    pub fn canceller(&self) -> Canceller {
        let (shared, ticket) = (Weak::clone(&self.shared), self.ticket);
        Canceller {
            cancel: Arc::new(move || {
                if let Some(shared) = shared.upgrade() {
                    shared.submit(Event::Cancel(ticket));
                }
            }),
        }
    }

    /// Whether the answer is there. Wait-free.
    pub fn is_ready(&self) -> bool {
        self.answer.as_ref().is_none_or(Answer::is_ready)
    }

    /// Waits for a job. Blocking; not to be called by a waker that the scheduler calls.
    ///
    /// # Errors
    /// If the pick was cancelled, there is no such worker, or the scheduler was stopped.
    pub fn wait(self) -> Result<Arc<Job<I, S>>, PickError> {
        block_on(self)
    }
}

impl<I: Id, S: Content, R: Outcome> Future for Picking<I, S, R> {
    type Output = Result<Arc<Job<I, S>>, PickError>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.answer.as_mut();
        let answer = answer.expect("polled again after it was ready");
        let polled = Pin::new(answer).poll(context);
        if polled.is_ready() {
            self.answer = None;
        }
        polled
    }
}

impl<I: Id, S: Content, R: Outcome> Drop for Picking<I, S, R> {
    fn drop(&mut self) {
        if let (Some(answer), Some(shared)) = (self.answer.take(), self.shared.upgrade()) {
            shared.submit(Event::Abandon(self.worker, self.ticket, answer));
        }
    }
}

impl<I: Id, S: Content, R: Outcome> fmt::Debug for Picking<I, S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picking")
            .field("worker", &self.worker)
            .field("ready", &self.is_ready())
            .finish_non_exhaustive()
    }
}

/// Ends a pick from elsewhere. Any number of threads may have a clone.
#[derive(Clone)]
pub struct Canceller {
    cancel: Arc<dyn Fn() + Send + Sync>,
}

impl Canceller {
    /// If the pick waits, it ends with [`PickError::Cancelled`] at once. Otherwise nothing happens:
    /// a job that it got stays got.
    ///
    /// As with every call, another thread may be at work on the scheduler: then that one does it,
    /// soon.
    pub fn cancel(&self) {
        (self.cancel)();
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
