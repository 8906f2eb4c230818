//! Where a spawned future lives, and its output waits.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use filch_sync::cell::UnsafeCell;

/// A future, where it stays as long as it lives, and then its output.
///
/// | thread | touches it |
/// |---|---|
/// | the worker that has the process | until it has dropped the future's process |
/// | the one that has the handle | once it has the process's exit |
pub(crate) struct StageCell<F: Future>(UnsafeCell<Stage<F>>);

enum Stage<F: Future> {
    Pending(F),
    Ready(F::Output),
    Over,
}

// SAFETY: the two that share it touch it one after the other, as the table at the type says:
// a thread that has the exit has acquired what the worker did that left it, and that one had
// dropped the process before. What is in it goes from thread to thread with them, and is Send.
unsafe impl<F: Future + Send> Sync for StageCell<F> where F::Output: Send {}

impl<F: Future> StageCell<F> {
    pub(crate) fn new(future: F) -> Self {
        Self(UnsafeCell::new(Stage::Pending(future)))
    }

    /// # Safety
    /// The caller is the one that may touch it, by the table at the type.
    pub(crate) unsafe fn poll(&self, context: &mut std::task::Context<'_>) -> Poll<()> {
        self.0.with_mut(|stage| {
            // SAFETY: the caller's.
            let stage = unsafe { &mut *stage };
            let Stage::Pending(future) = stage else {
                unreachable!("a future that is ready has taken its last step");
            };
            // SAFETY: it lies in an `Arc`, and is never moved: when it is over, it is overwritten,
            // which drops it in place.
            let future = unsafe { Pin::new_unchecked(future) };
            future
                .poll(context)
                .map(|output| *stage = Stage::Ready(output))
        })
    }

    /// Drops the future, if it is not ready.
    ///
    /// # Safety
    /// As for `poll`.
    pub(crate) unsafe fn give_up(&self) {
        self.0.with_mut(|stage| {
            // SAFETY: the caller's.
            let stage = unsafe { &mut *stage };
            if let Stage::Pending(_) = stage {
                *stage = Stage::Over;
            }
        });
    }
}

/// Where the output of a future of any type comes.
pub(crate) trait Output<T>: Send + Sync {
    /// Takes it out, if it has come.
    ///
    /// # Safety
    /// The caller has got the exit of the future's process.
    unsafe fn take(&self) -> Option<T>;
}

impl<F: Future + Send> Output<F::Output> for StageCell<F>
where
    F::Output: Send,
{
    unsafe fn take(&self) -> Option<F::Output> {
        self.0.with_mut(|stage| {
            // SAFETY: the caller's: see the table at the type.
            let stage = unsafe { &mut *stage };
            // Not what is pending, which is pinned.
            let Stage::Ready(_) = stage else { return None };
            match std::mem::replace(stage, Stage::Over) {
                Stage::Ready(output) => Some(output),
                Stage::Pending(_) | Stage::Over => None,
            }
        })
    }
}
