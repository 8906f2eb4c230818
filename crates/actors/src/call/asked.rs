//! A call by a future: the answer is awaited.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use filch_scheduler::{Protocol, SendError};

use crate::CallError;
use crate::call::caller::Answer;

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
