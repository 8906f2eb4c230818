//! A call at the end of a process, for those that are no processes.

use std::fmt;

use filch_promise::{Rival, rivals};
use filch_sync::panic::catch_panic;

use crate::link::watch::Watcher;
use crate::table::body::Signal;
use crate::{ExitReason, Handle, Pid, Protocol};

type Call = Box<dyn FnOnce(&ExitReason) + Send>;

/// A call that comes at the end of a process; from [`Handle::at_end`](crate::Handle::at_end).
/// Dropping this leaves it as it is.
#[must_use = "dropping it is fine, but says that the call is never cancelled"]
pub struct EndCall(Rival<Call>);

impl EndCall {
    /// With what the process keeps.
    pub(crate) fn new(call: impl FnOnce(&ExitReason) + Send + 'static) -> (Self, PendingCall) {
        let call: Call = Box::new(call);
        let (call, pending) = rivals(call);
        (Self(call), PendingCall(Some(pending)))
    }

    /// Has it not come, and drops what it would have called. Whether this was in time. Wait-free,
    /// except for what is dropped.
    pub fn cancel(self) -> bool {
        self.0.take().is_some()
    }
}

impl fmt::Debug for EndCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndCall").finish_non_exhaustive()
    }
}

/// What the process keeps of a call. If it is dropped, be it unread in the queue of a process that
/// has ended, the call comes then.
pub(crate) struct PendingCall(Option<Rival<Call>>);

impl PendingCall {
    /// Calls, unless that was cancelled. A panic is contained.
    pub(crate) fn run(mut self, reason: &ExitReason) {
        self.take_and_call(reason);
    }

    /// Whether it is still to come.
    pub(crate) fn is_pending(&self) -> bool {
        self.0.as_ref().is_some_and(|call| !call.is_taken())
    }

    fn take_and_call(&mut self, reason: &ExitReason) {
        if let Some(call) = self.0.take().and_then(Rival::take) {
            let _ = catch_panic(|| call(reason));
        }
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.take_and_call(&ExitReason::NoSuchProcess);
    }
}

impl<P: Protocol> Handle<P> {
    /// Has `call` called when the process `pid` has ended, exactly once, unless it is
    /// [cancelled](EndCall::cancel) before: on the worker that ends the process, where it should be
    /// short, and a panic is lost. Lock-free, except for memory. A process uses
    /// [`monitor`](Self::monitor).
    ///
    /// If the process has ended, or never was, it is called here, with
    /// [`ExitReason::NoSuchProcess`]. What the process did happens before the call.
    pub fn at_end(&self, pid: Pid, call: impl FnOnce(&ExitReason) + Send + 'static) -> EndCall {
        let (end_call, pending) = EndCall::new(call);
        // What comes back, or is found by nobody, calls when it is dropped.
        let _ = self.signal(pid, Signal::Attach(Watcher::Call(pending)));
        end_call
    }
}
