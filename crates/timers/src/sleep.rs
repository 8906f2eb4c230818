//! A future that is ready at its deadline.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use crate::queue::{Action, Owner, TimerKey};
use crate::service::Service;

/// A future that is ready at its deadline; from [`Timers::sleep`](crate::Timers::sleep). It returns
/// [`TimersClosed`] if the timers are shut down before. Dropping it cancels the timer.
///
/// Polling takes the timers' lock. Everything that the firing thread did before happens before the
/// poll that is ready.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep {
    service: Arc<Service>,
    deadline: Instant,
    key: Option<TimerKey>,
}

impl Sleep {
    pub(super) fn new(service: Arc<Service>, deadline: Instant) -> Self {
        Self {
            service,
            deadline,
            key: None,
        }
    }

    /// Returns the deadline.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl Future for Sleep {
    type Output = Result<(), TimersClosed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waker = context.waker().clone();
        let pending = match self.key {
            Some(key) => {
                let pending = self.service.rewake(key, waker);
                // Else there is nothing to cancel.
                self.key = self.key.filter(|_| pending);
                pending
            }
            None => {
                let deadline = self.deadline;
                let set = (self.service).register(deadline, Owner::NONE, waker, Action::Wake);
                self.key = set.as_ref().ok().map(|&(key, _)| key);
                set.is_ok_and(|(_, behind)| {
                    // If it is behind another timer, the thread fires it, late or not. Otherwise it
                    // may have passed; and a clock that is moved by hand may have been moved before
                    // this timer was in.
                    behind || self.service.now() < deadline
                })
            }
        };
        if pending {
            Poll::Pending
        } else if self.service.now() >= self.deadline {
            Poll::Ready(Ok(()))
        } else {
            Poll::Ready(Err(TimersClosed))
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.service.cancel(key);
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
