use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use super::queue::Action;
use super::{TimerKey, Timers};

/// A future that is ready when its deadline has come; from [`Timers::sleep`]. Dropping it cancels
/// the timer.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep {
    timers: Timers,
    deadline: Instant,
    key: Option<TimerKey>,
}

impl Sleep {
    pub(super) fn new(timers: Timers, deadline: Instant) -> Self {
        Self {
            timers,
            deadline,
            key: None,
        }
    }

    /// When it is over.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl Future for Sleep {
    type Output = Result<(), TimersClosed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.timers.now() >= self.deadline {
            return Poll::Ready(Ok(()));
        }
        let waker = context.waker().clone();
        let pending = match self.key {
            Some(TimerKey(number)) => self.timers.service.rewake(number, waker),
            None => {
                let action = Action::Wake(waker);
                let number = self.timers.service.register(self.deadline, action);
                self.key = number.ok().map(TimerKey);
                self.key.is_some()
            }
        };
        if self.timers.now() >= self.deadline {
            // It fired between the two looks; or a clock that is moved by hand was, and looked for
            // timers before ours was in.
            Poll::Ready(Ok(()))
        } else if pending {
            Poll::Pending
        } else {
            Poll::Ready(Err(TimersClosed))
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.timers.cancel(key);
        }
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// The timers were shut down before the deadline came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimersClosed;

impl fmt::Display for TimersClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the timers were shut down before the deadline")
    }
}

impl Error for TimersClosed {}
