//! Where a spawned future lives, and its output waits.

use core::fmt;
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};

use filch_sync::cell::UnsafeCell;

/// A future, which stays here while it lives, and then its output. It has no word for who may touch
/// it: what runs the future hands it on.
///
/// | thread | touches it |
/// |---|---|
/// | the one that runs the future | until it has [given the future up](Self::give_up) |
/// | the one that takes the output | once it has acquired that |
pub struct Stage<F: Future>(UnsafeCell<Content<F>>);

enum Content<F: Future> {
    Pending(F),
    Ready(F::Output),
    Over,
}

// SAFETY: the two threads that share it touch it one after the other, as the table at the type says
// and the unsafe methods demand. What is in it goes from thread to thread with them, and is Send.
unsafe impl<F: Future + Send> Sync for Stage<F> where F::Output: Send {}

impl<F: Future> Stage<F> {
    /// Takes the future in.
    pub fn new(future: F) -> Self {
        Self(UnsafeCell::new(Content::Pending(future)))
    }

    /// Polls the future. Ready: its output waits here.
    ///
    /// # Safety
    /// The caller runs the future, by the table at the type; and the stage lies in an
    /// [`Arc`](alloc::sync::Arc) or a box, and is never moved out of it.
    ///
    /// # Panics
    /// If it was ready before.
    pub unsafe fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        self.0.with_mut(|stage| {
            // SAFETY: the caller's.
            let stage = unsafe { &mut *stage };
            let Content::Pending(future) = stage else {
                panic!("polled again after it was ready");
            };
            // SAFETY: the stage is never moved (contract): when the future is over, it is
            // overwritten, which drops it in place.
            let future = unsafe { Pin::new_unchecked(future) };
            future
                .poll(context)
                .map(|output| *stage = Content::Ready(output))
        })
    }

    /// Drops the future, if it is not ready.
    ///
    /// # Safety
    /// As for `poll`; and the caller neither polls it nor calls this again.
    pub unsafe fn give_up(&self) {
        self.0.with_mut(|stage| {
            // SAFETY: the caller's.
            let stage = unsafe { &mut *stage };
            if let Content::Pending(_) = stage {
                *stage = Content::Over;
            }
        });
    }
}

/// Where the output of a future of any type comes.
pub trait Output<T>: Send + Sync {
    /// Takes it out, if it has come.
    ///
    /// # Safety
    /// The thread that ran the future has given it up, which the caller has acquired, and no other
    /// thread calls this.
    unsafe fn take(&self) -> Option<T>;
}

impl<F: Future + Send> Output<F::Output> for Stage<F>
where
    F::Output: Send,
{
    unsafe fn take(&self) -> Option<F::Output> {
        self.0.with_mut(|stage| {
            // SAFETY: the caller's: see the table at the type.
            let stage = unsafe { &mut *stage };
            // Not what is pending, which is pinned.
            let Content::Ready(_) = stage else {
                return None;
            };
            match mem::replace(stage, Content::Over) {
                Content::Ready(output) => Some(output),
                Content::Pending(_) | Content::Over => None,
            }
        })
    }
}

impl<F: Future> fmt::Debug for Stage<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}
