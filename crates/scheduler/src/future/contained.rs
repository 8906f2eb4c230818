//! An output that may be dropped on any thread: a panic of its destructor ends there.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use filch_sync::panic::drop_contained;

/// A value of the user's. Whichever thread is left with it drops it, and a panic in there is
/// contained: it is not that thread's.
pub(crate) struct Contained<T>(Option<T>);

impl<T> Contained<T> {
    /// The value, for the thread that wants it.
    pub(crate) fn into_inner(mut self) -> T {
        match self.0.take() {
            Some(value) => value,
            None => unreachable!("it is taken out by value, so once"),
        }
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_contained(value);
        }
    }
}

/// A future with a [contained](Contained) output. Its own destructor is not contained: the process
/// ends by a panic in there.
pub(crate) struct WithContained<F>(pub(crate) F);

impl<F: Future> Future for WithContained<F> {
    type Output = Contained<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as the whole is: nothing here moves it out, there is no
        // destructor, and `WithContained` is Unpin only if `F` is.
        let future = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        future.poll(context).map(|output| Contained(Some(output)))
    }
}
