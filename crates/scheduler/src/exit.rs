use std::fmt;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use filch_sync::{Arc, Condvar, Mutex, MutexGuard, wait_until};

use crate::contain::contain;
use crate::{Handle, JoinError, Pid, ProcessError, Protocol};

/// How a process ended, once it has. Without an output if it was a future: that has an output of its own type, and a place of
/// its own for it.
pub(crate) type Exit<P> = Result<Option<<P as Protocol>::Output>, ProcessError<P>>;

/// The exit of a process that is no future.
fn with_output<P: Protocol>(exit: Exit<P>) -> Result<P::Output, ProcessError<P>> {
    exit.map(|output| output.unwrap_or_else(|| unreachable!("a future has another handle")))
}

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
    /// Nobody will: this is called instead.
    Watched(Box<dyn FnOnce(Exit<P>) + Send>),
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
        let mut state = self.lock();
        match std::mem::replace(&mut *state, Joining::Unawaited) {
            Joining::Watched(watcher) => {
                drop(state);
                // A panic in it has nobody to be told to: see `ProcessHandle::on_exit`.
                let _ = contain(|| watcher(exit));
            }
            before => {
                *state = Joining::Ended(exit);
                drop(state);
                if matches!(before, Joining::Awaited) {
                    // std's condition variable makes a system call whether or not anybody waits.
                    self.ended.notify_one();
                }
            }
        }
    }

    /// Waits for the exit, until `deadline` if there is one.
    fn wait(&self, deadline: Option<Instant>) -> Option<Exit<P>> {
        let mut state = self.lock();
        let mut over = false;
        loop {
            if let Joining::Ended(exit) = std::mem::replace(&mut *state, Joining::Awaited) {
                return Some(exit);
            }
            if over {
                *state = Joining::Unawaited;
                return None;
            }
            (state, over) = match deadline {
                Some(deadline) => wait_until(&self.ended, &self.state, state, deadline),
                None => {
                    let woken = self.ended.wait(state);
                    (woken.unwrap_or_else(PoisonError::into_inner), false)
                }
            };
        }
    }

    /// Has `watcher` called at the end: on the worker that ends the process, or here, if it has ended.
    pub(crate) fn watch(&self, watcher: impl FnOnce(Exit<P>) + Send + 'static) {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, Joining::Unawaited) {
            Joining::Ended(exit) => {
                drop(state);
                watcher(exit);
            }
            _ => *state = Joining::Watched(Box::new(watcher)),
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
    /// A process that wants to know how another one ends has it told by [`on_exit`](Self::on_exit), or yields a command that
    /// is completed by it: see [`Completion::execute`](crate::Completion::execute).
    pub fn join(self) -> Result<P::Output, JoinError<P>> {
        self.join_until(None)
    }

    /// As [`join`](Self::join), if the process has ended. Never waits.
    ///
    /// # Errors
    /// [`JoinError::NotYet`], with the handle, if it has not; [`JoinError::Process`] if it did not end well.
    pub fn try_join(self) -> Result<P::Output, JoinError<P>> {
        if self.has_ended() {
            self.join_until(None)
        } else {
            Err(JoinError::NotYet(self))
        }
    }

    /// As [`join`](Self::join), for at most that long.
    ///
    /// # Errors
    /// [`JoinError::NotYet`], with the handle, if the process had not ended by then; else as [`join`](Self::join).
    pub fn join_timeout(self, timeout: Duration) -> Result<P::Output, JoinError<P>> {
        // What the clock cannot express is for ever.
        self.join_until(Instant::now().checked_add(timeout))
    }

    /// As [`join`](Self::join), until the `deadline` at most.
    ///
    /// # Errors
    /// As [`join_timeout`](Self::join_timeout).
    pub fn join_deadline(self, deadline: Instant) -> Result<P::Output, JoinError<P>> {
        self.join_until(Some(deadline))
    }

    /// Has `call` called with the exit, once, when the process has ended: on the worker that ends it, or here and now, if it
    /// has ended already. Something short: the worker runs no process meanwhile. A panic in it is contained there, and lost.
    ///
    /// What the process did happens before the call.
    pub fn on_exit(self, call: impl FnOnce(Result<P::Output, ProcessError<P>>) + Send + 'static) {
        self.exit.watch(|exit| call(with_output(exit)));
    }

    /// [`on_exit`](Self::on_exit), for the process of a future too.
    pub(crate) fn watch(self, watcher: impl FnOnce(Exit<P>) + Send + 'static) {
        self.exit.watch(watcher);
    }

    fn join_until(self, deadline: Option<Instant>) -> Result<P::Output, JoinError<P>> {
        if self.scheduler.is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        match self.exit.wait(deadline) {
            Some(exit) => with_output(exit).map_err(JoinError::Process),
            None => Err(JoinError::NotYet(self)),
        }
    }
}

impl<P: Protocol> fmt::Debug for ProcessHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
