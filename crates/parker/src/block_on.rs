//! A thread that waits for a future.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc as StdArc;
use std::time::Instant;

use crate::parker::Parker;

/// Polls the future on this thread, which sleeps between polls until its waker is used. Blocking.
/// (It polls twice before it sleeps, first with a waker that does nothing.)
///
/// Everything before the waker was used happens before the next poll.
///
/// # Panics
/// If the future panics.
///
/// ```
/// assert_eq!(filch_parker::block_on(async { 6 * 7 }), 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    match poll_until(None, future) {
        Some(output) => output,
        None => unreachable!("there is no deadline"),
    }
}

/// As [`block_on`], until `deadline` if there is one. Returns `None` if the deadline came first:
/// the future was polled once more after it, and is dropped.
pub fn poll_until<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    // Most futures are ready at once, and a parker is an allocation.
    let mut poll = |waker: &Waker| future.as_mut().poll(&mut Context::from_waker(waker));
    if let Poll::Ready(output) = poll(Waker::noop()) {
        return Some(output);
    }
    let parker = Parker::new();
    let waker = Waker::from(StdArc::new(parker.unparker()));
    let mut over = false;
    loop {
        if let Poll::Ready(output) = poll(&waker) {
            return Some(output);
        }
        if over {
            return None;
        }
        match deadline {
            Some(deadline) => over = !parker.park_deadline(deadline),
            None => parker.park(),
        }
    }
}
