//! Being told of the end of a process without being one.

use crate::api::end_call::EndCall;
use crate::table::Watcher;
use crate::table::item::Signal;
use crate::{ExitReason, Handle, Pid, Protocol};

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
