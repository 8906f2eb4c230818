//! Where a spawned future lives, and its output waits.

use core::fmt;
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};

use filch_sync::atomic::{AtomicU32, Ordering};
use filch_sync::cell::UnsafeCell;

/// A future, which stays here while it lives, and then its output, for the one that takes it.
///
/// | thread | touches the content |
/// |---|---|
/// | the one that runs the future, the *runner* | until it has [given the future up](Self::give_up) |
/// | the one that takes the output, the *taker* | once it has acquired that, until it has [let go](Output::let_go) |
/// | of these two, the one that leaves last | drops what is left, at once: others, which have the future's waker, may keep the stage for long |
///
/// What runs the future tells the taker that it is given up, and hands the future from thread to
/// thread: the stage has no word for that, only for who has left.
pub struct Stage<F: Future> {
    content: UnsafeCell<Content<F>>,
    left: AtomicU32,
}

const RUNNER: u32 = 1;
const TAKER: u32 = 2;

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
        Self {
            content: UnsafeCell::new(Content::Pending(future)),
            left: AtomicU32::new(0),
        }
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
        self.content.with_mut(|stage| {
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

    /// Drops the future, if it is not ready; and its output, if nobody will take it.
    ///
    /// # Safety
    /// As for `poll`; and the caller neither polls it nor calls this again.
    pub unsafe fn give_up(&self) {
        self.content.with_mut(|stage| {
            // SAFETY: the caller's.
            let stage = unsafe { &mut *stage };
            if let Content::Pending(_) = stage {
                *stage = Content::Over;
            }
        });
        self.leave(RUNNER, TAKER);
    }

    /// Whether the taker has not let go. A guess, unless the caller has acquired that.
    pub fn has_taker(&self) -> bool {
        // ORDERING: Relaxed: for `waker_clones`, whose fence is before this load.
        self.left.load(Ordering::Relaxed) & TAKER == 0
    }

    /// One of the two leaves. If the other one has left, what is here is dropped.
    fn leave(&self, who: u32, other: u32) {
        // ORDERING: Acquire, partner of the Release below in the other one: it does not touch the
        // content any more. The load spares the last one an RMW.
        let is_last = self.left.load(Ordering::Acquire) & other != 0
            // ORDERING: AcqRel, partner of itself, and of the load above, in the other one.
            || self.left.fetch_or(who, Ordering::AcqRel) & other != 0;
        if is_last {
            // SAFETY: the other one has left, which was acquired, and this one touches the content
            // for the last time. What is pending was given up before.
            self.content
                .with_mut(|stage| unsafe { *stage = Content::Over });
        }
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

    /// Nobody takes it any more. Drops it, if it is left over and the runner has left.
    ///
    /// # Safety
    /// The caller is the one that could [take](Self::take) it, and calls neither again.
    unsafe fn let_go(&self);
}

impl<F: Future + Send> Output<F::Output> for Stage<F>
where
    F::Output: Send,
{
    unsafe fn take(&self) -> Option<F::Output> {
        self.content.with_mut(|stage| {
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

    unsafe fn let_go(&self) {
        self.leave(TAKER, RUNNER);
    }
}

impl<F: Future> fmt::Debug for Stage<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}
