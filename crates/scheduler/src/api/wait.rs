//! A thread that waits for what a waker tells.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use filch_parker::Parker;

/// Polls on this thread, which sleeps between two polls, until `deadline` if there is one. `None`
/// if that came first.
pub(crate) fn poll_until<T>(
    deadline: Option<Instant>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    let parker = Parker::new();
    let waker = Waker::from(Arc::new(parker.unparker()));
    let mut context = Context::from_waker(&waker);
    let mut over = false;
    loop {
        if let Poll::Ready(value) = poll(&mut context) {
            return Some(value);
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
