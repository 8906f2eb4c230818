//! A command with a deadline: one of the two answers.

use std::fmt;
use std::sync::{Arc, PoisonError};

use filch_sync::Mutex;
use filch_timers::TimerGuard;

use crate::{Completion, Pid, Protocol};

/// A [`Completion`] that fails by itself at its deadline; from
/// [`Timers::deadline`](crate::timers::Timers::deadline).
///
/// The deadline races with the thread that completes it: one of the two gets there first, and the
/// process hears of that one only.
#[must_use = "dropping it completes the command with an error"]
pub struct Bounded<P: Protocol> {
    completion: Arc<Shared<P>>,
    pid: Pid,
    limit: TimerGuard,
}

/// The side that takes the completion out decides.
pub(super) struct Shared<P: Protocol>(Mutex<Option<Completion<P>>>);

impl<P: Protocol> Shared<P> {
    pub(super) fn new(completion: Completion<P>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(completion))))
    }

    pub(super) fn take(&self) -> Option<Completion<P>> {
        let mut completion = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        completion.take()
    }
}

/// The deadline's side of it.
pub(super) struct Limit<P: Protocol> {
    shared: Arc<Shared<P>>,
    error: Option<P::Error>,
}

impl<P: Protocol> Limit<P> {
    pub(super) fn new(shared: Arc<Shared<P>>, error: P::Error) -> Self {
        let error = Some(error);
        Self { shared, error }
    }

    pub(super) fn reached(mut self) {
        if let (Some(completion), Some(error)) = (self.shared.take(), self.error.take()) {
            completion.fail(error);
        }
    }
}

impl<P: Protocol> Drop for Limit<P> {
    /// Without a timer nothing keeps the deadline: as with any other timer that is dropped, the
    /// process hears that.
    fn drop(&mut self) {
        drop(self.shared.take());
    }
}

impl<P: Protocol> Bounded<P> {
    pub(super) fn new(completion: Arc<Shared<P>>, pid: Pid, limit: TimerGuard) -> Self {
        Self {
            completion,
            pid,
            limit,
        }
    }

    /// The process that yielded the command.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The command is done, in time.
    ///
    /// # Errors
    /// The reply, if the deadline came first, or the timers were shut down.
    pub fn complete(self, reply: P::Reply) -> Result<(), P::Reply> {
        match self.completion.take() {
            Some(completion) => {
                completion.complete(reply);
                Ok(())
            }
            None => Err(reply),
        }
    }

    /// The command failed, in time.
    ///
    /// # Errors
    /// The error, if the deadline came first, or the timers were shut down.
    pub fn fail(self, error: P::Error) -> Result<(), P::Error> {
        match self.completion.take() {
            Some(completion) => {
                completion.fail(error);
                Ok(())
            }
            None => Err(error),
        }
    }
}

impl<P: Protocol> Drop for Bounded<P> {
    fn drop(&mut self) {
        // It is not answered: as with any completion that is dropped, the process hears that.
        drop(self.completion.take());
    }
}

impl<P: Protocol> fmt::Debug for Bounded<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded")
            .field("pid", &self.pid)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
