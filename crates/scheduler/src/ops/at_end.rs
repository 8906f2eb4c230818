//! Being told of the end of a process without being one.

use std::future::Future;

use filch_promise::promise;

use crate::api::end_call::EndCall;
use crate::table::item::Signal;
use crate::{Completion, ExitReason, Handle, Pid, Protocol};

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
        let _ = self.signal(pid, Signal::AtEnd(pending));
        end_call
    }

    /// A future that waits until the process `pid` has ended, and says how:
    /// [`ExitReason::NoSuchProcess`] if that was before this call, or it never was. What the
    /// process did happens before that.
    pub fn ended(&self, pid: Pid) -> impl Future<Output = ExitReason> + Send + use<P> {
        let (resolver, promised) = promise();
        let call = self.at_end(pid, |reason| resolver.resolve(reason.clone()));
        let cancel = CancelOnDrop(Some(call));
        async move {
            let _cancel = cancel;
            promised.await
        }
    }
}

/// Nobody waits any more: the process does not keep the call.
struct CancelOnDrop(Option<EndCall>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call.cancel();
        }
    }
}

impl<P: Protocol> Completion<P> {
    /// Has `call` called when the process that yielded the command has ended, and nobody waits for
    /// its answer any more: to give up a request, a timer, a place in a line. See
    /// [`Handle::at_end`].
    pub fn at_end(&self, call: impl FnOnce(&ExitReason) + Send + 'static) -> EndCall {
        self.handle().at_end(self.pid(), call)
    }
}
