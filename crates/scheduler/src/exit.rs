use std::fmt;
use std::sync::PoisonError;

use filch_sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::{Handle, JoinError, Pid, ProcessError, Protocol};

/// How a process ended, once it has.
pub(crate) type Exit<P> = Result<<P as Protocol>::Output, ProcessError<P>>;

/// Where the worker that ends a process leaves its exit, for whoever joins it.
pub(crate) struct ExitCell<P: Protocol> {
    state: Mutex<Joining<P>>,
    ended: Condvar,
}

enum Joining<P: Protocol> {
    /// The process lives, and nobody sleeps until it does not: its end needs no system call.
    Unawaited,
    /// A thread sleeps in `wait`: one at most, since `join` consumes the handle.
    Awaited,
    Ended(Exit<P>),
}

impl<P: Protocol> ExitCell<P> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(Joining::Unawaited),
            ended: Condvar::new(),
        }
    }

    pub(crate) fn set(&self, exit: Exit<P>) {
        let before = std::mem::replace(&mut *self.lock(), Joining::Ended(exit));
        if matches!(before, Joining::Awaited) {
            // std's condition variable makes a system call whether or not anybody waits.
            self.ended.notify_one();
        }
    }

    fn wait(&self) -> Exit<P> {
        let mut state = self.lock();
        loop {
            if let Joining::Ended(exit) = std::mem::replace(&mut *state, Joining::Awaited) {
                return exit;
            }
            state = self
                .ended
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn is_set(&self) -> bool {
        matches!(*self.lock(), Joining::Ended(_))
    }

    fn lock(&self) -> MutexGuard<'_, Joining<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A submitted process, to whoever wants to know how it ends. Dropping it lets the process go on unwatched.
#[must_use = "dropping it is fine, but says that nobody will learn how the process ended"]
pub struct ProcessHandle<P: Protocol> {
    pid: Pid,
    exit: Arc<ExitCell<P>>,
    scheduler: Handle<P>,
}

impl<P: Protocol> ProcessHandle<P> {
    pub(crate) fn new(pid: Pid, exit: Arc<ExitCell<P>>, scheduler: Handle<P>) -> Self {
        Self {
            pid,
            exit,
            scheduler,
        }
    }

    /// The process's PID.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether the process has ended, so that [`join`](Self::join) would not wait.
    pub fn has_ended(&self) -> bool {
        self.exit.is_set()
    }

    /// Waits until the process has ended, and says how. Blocking.
    ///
    /// What the process did, in whatever thread, happens before the return.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the handle, on a worker of the
    /// same scheduler when the process has not [ended](Self::has_ended): the processes behind it would be kept waiting.
    pub fn join(self) -> Result<P::Output, JoinError<P>> {
        if self.scheduler.is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        self.exit.wait().map_err(JoinError::Process)
    }
}

impl<P: Protocol> fmt::Debug for ProcessHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
