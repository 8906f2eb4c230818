//! What the process of a future, its handle and its wakers share.

use std::future::Future;
use std::sync::Arc;
use std::task::Wake;

use filch_promise::{Output, Stage};

use crate::Protocol;
use crate::api::pinned::Pinned;
use crate::future::contained::{Contained, WithContained};

/// A spawned future: where it lives, and which process it is. One allocation, of which the process,
/// the handle and each clone of the waker have a share.
pub(crate) struct FutureTask<P: Protocol, F: Future> {
    /// The handle's pin, which all of them keep.
    pub(crate) process: Pinned<P>,
    pub(crate) stage: Stage<WithContained<F>>,
}

impl<P: Protocol, F> Wake for FutureTask<P, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Running: it is polled once more. Ended: nothing happens.
    fn wake_by_ref(self: &Arc<Self>) {
        self.process.scheduler().nudge(self.process.pid());
    }
}

/// The task of a future of any type, for its handle.
pub(crate) trait Joinable<P: Protocol, T>: Send + Sync {
    fn process(&self) -> &Pinned<P>;

    /// Where the output comes.
    fn output(&self) -> &dyn Output<Contained<T>>;
}

impl<P: Protocol, F> Joinable<P, F::Output> for FutureTask<P, F>
where
    F: Future + Send,
    F::Output: Send,
{
    fn process(&self) -> &Pinned<P> {
        &self.process
    }

    fn output(&self) -> &dyn Output<Contained<F::Output>> {
        &self.stage
    }
}
