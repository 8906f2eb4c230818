//! What a caller gets: a value that comes when the scheduler has it.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use filch_parker::Parker;
use filch_promise::{Promised, Resolver, promise};
use filch_sync::panic::catch_panic;

use crate::error::{JobError, Stopped};

/// The scheduler's answer: await it in a task, or [wait](Self::wait) for it in a thread.
///
/// What was asked for happens whether or not the answer is awaited. Dropping it loses the answer
/// alone.
#[must_use = "what was asked for may have been refused"]
pub struct Answer<T, E = Stopped>(Inner<Result<T, E>>);

enum Inner<T> {
    /// It was there when the call returned. `None` once it was seen.
    Ready(Option<T>),
    /// It comes, or has come, from the thread that is at the scheduler.
    Promised(Promised<T>),
}

/// A job that was scheduled: its result, when it has one.
pub type Pending<R> = Answer<Arc<R>, JobError>;

impl<T, E> Answer<T, E> {
    /// One that is there.
    pub(crate) const fn ready(answer: Result<T, E>) -> Self {
        Self(Inner::Ready(Some(answer)))
    }

    /// Whether it is there. Wait-free.
    pub fn is_ready(&self) -> bool {
        match &self.0 {
            Inner::Ready(_) => true,
            Inner::Promised(promised) => promised.is_resolved(),
        }
    }

    /// Waits for it. Blocking; not to be called by a waker that the scheduler calls.
    ///
    /// # Errors
    /// What the call that asked for it says.
    pub fn wait(self) -> Result<T, E> {
        block_on(self)
    }
}

impl<T, E: From<Stopped>> Answer<T, E> {
    /// The two ends.
    pub(crate) fn new() -> (Reply<T, E>, Self) {
        let (resolver, promised) = promise();
        let reply = Reply {
            resolver: Some(resolver),
        };
        (reply, Self(Inner::Promised(promised)))
    }
}

// What is ready is not pinned: no reference to it is ever given out.
impl<T, E> Unpin for Answer<T, E> {}

impl<T, E> Future for Answer<T, E> {
    type Output = Result<T, E>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Ready(answer) => Poll::Ready(answer.take().expect(SEEN)),
            Inner::Promised(promised) => Pin::new(promised).poll(context),
        }
    }
}

/// Why a poll panics.
pub(crate) const SEEN: &str = "polled again after it was ready";

impl<T, E> fmt::Debug for Answer<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("ready", &self.is_ready())
            .finish_non_exhaustive()
    }
}

/// The scheduler's end of an answer. If it is dropped without one, the scheduler was stopped.
pub(crate) struct Reply<T, E: From<Stopped>> {
    resolver: Option<Resolver<Result<T, E>>>,
}

impl<T, E: From<Stopped>> Reply<T, E> {
    /// Gives the answer. A panic of the waker ends here.
    pub(crate) fn tell(mut self, answer: Result<T, E>) {
        self.resolve(answer);
    }

    fn resolve(&mut self, answer: Result<T, E>) {
        if let Some(resolver) = self.resolver.take() {
            // The promise has its value before it wakes. The message of the panic is lost.
            let _ = catch_panic(|| resolver.resolve(answer));
        }
    }
}

impl<T, E: From<Stopped>> Drop for Reply<T, E> {
    fn drop(&mut self) {
        self.resolve(Err(Stopped.into()));
    }
}

/// Polls the future on this thread, which sleeps while there is nothing to poll it for.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    if let Poll::Ready(output) = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        return output;
    }
    let parker = Parker::new();
    let waker = Waker::from(Arc::new(parker.unparker()));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        parker.park();
    }
}
