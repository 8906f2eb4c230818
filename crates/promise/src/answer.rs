//! An answer that always comes, even if the end that gives it is dropped.

use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

use filch_parker::block_on;
use filch_sync::panic::catch_panic;

use crate::promise::{DeferredWake, Promised, Resolver, promise};

/// An answer, or the error that stands for it: await it in a task, or [wait](Self::wait) for it in
/// a thread.
///
/// Dropping it loses the answer alone: the request is carried out all the same. What the other end
/// did before it answered, or was dropped, happens before the return of [`wait`](Self::wait), of a
/// poll that is ready, and of an [`is_ready`](Self::is_ready) that is true.
#[must_use = "what was asked for may have been refused"]
pub struct Answer<T, E>(Inner<Result<T, E>>);

enum Inner<T> {
    /// It was there when the call returned. `None` once it was seen.
    Ready(Option<T>),
    /// It comes, or has come, from the other end.
    Promised(Promised<T>),
}

/// The end that gives the answer. If it is dropped without giving one, the answer is the error
/// `G::default()`, which says that this end is gone.
#[must_use = "dropping it says that nobody answers"]
pub struct Reply<T, E: From<G>, G: Default>(Option<Resolver<Result<T, E>>>, PhantomData<fn() -> G>);

/// The two ends of an answer.
pub fn answer<T, E: From<G>, G: Default>() -> (Reply<T, E, G>, Answer<T, E>) {
    let (resolver, promised) = promise();
    (Reply(Some(resolver), PhantomData), promised.into())
}

impl<T, E> Answer<T, E> {
    /// An answer that is already there.
    pub const fn ready(answer: Result<T, E>) -> Self {
        Self(Inner::Ready(Some(answer)))
    }

    /// Checks if the answer is there. Wait-free.
    pub fn is_ready(&self) -> bool {
        match &self.0 {
            Inner::Ready(_) => true,
            Inner::Promised(promised) => promised.is_resolved(),
        }
    }

    /// Blocks until the answer comes. Not for a waker that the other end calls, nor for a thread
    /// that the other end needs.
    ///
    /// # Errors
    /// The error with which the call was answered.
    pub fn wait(self) -> Result<T, E> {
        block_on(self)
    }
}

/// Awaits a promise whose resolver always gives a value.
impl<T, E> From<Promised<Result<T, E>>> for Answer<T, E> {
    fn from(promised: Promised<Result<T, E>>) -> Self {
        Self(Inner::Promised(promised))
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
            Inner::Ready(answer) => {
                Poll::Ready(answer.take().expect("polled again after it was ready"))
            }
            Inner::Promised(promised) => Pin::new(promised).poll(context),
        }
    }
}

impl<T, E: From<G>, G: Default> Reply<T, E, G> {
    /// Gives the answer. What the caller did before happens before the poll that returns it. A
    /// panic of the waker ends here. Wait-free, except for what the waker does.
    pub fn tell(mut self, answer: Result<T, E>) {
        self.resolve(|| answer);
    }

    fn resolve(&mut self, answer: impl FnOnce() -> Result<T, E>) {
        if let Some(resolver) = self.0.take() {
            // The promise has its value before it wakes. The message of the panic is lost.
            let _ = catch_panic(|| resolver.resolve(answer()));
        }
    }
}

impl<T: Send + 'static, E: From<G> + Send + 'static, G: Default> Reply<T, E, G> {
    /// Puts the answer into its place, as [`Resolver::prepare`] does.
    pub fn prepare(mut self, answer: Result<T, E>) -> DeferredWake {
        let resolver = self.0.take().expect("an answer uses it up");
        resolver.prepare(answer)
    }
}

impl<T, E: From<G>, G: Default> Drop for Reply<T, E, G> {
    fn drop(&mut self) {
        self.resolve(|| Err(G::default().into()));
    }
}

impl<T, E> fmt::Debug for Answer<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("ready", &self.is_ready())
            .finish_non_exhaustive()
    }
}

impl<T, E: From<G>, G: Default> fmt::Debug for Reply<T, E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").finish_non_exhaustive()
    }
}
