//! Being told of the end of a process without being one.

use std::future::Future;

use filch_promise::promise;
use filch_scheduler::{Completion, EndCall, ExitReason, Handle, Pid, Protocol};

/// The end of a process, to be awaited.
pub trait Ends {
    /// A future that waits until the process `pid` has ended, and says how:
    /// [`ExitReason::NoSuchProcess`] if that was before this call, or it never was. What the
    /// process did happens before that.
    fn ended(&self, pid: Pid) -> impl Future<Output = ExitReason> + Send + 'static;
}

impl<P: Protocol> Ends for Handle<P> {
    fn ended(&self, pid: Pid) -> impl Future<Output = ExitReason> + Send + 'static {
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

/// The end of the process that waits for a command.
pub trait EndsOfWaiting {
    /// Has `call` called when the process that yielded the command has ended, and nobody waits for
    /// its answer any more: to give up a request, a timer, a place in a line. See
    /// [`Handle::at_end`].
    fn at_end(&self, call: impl FnOnce(&ExitReason) + Send + 'static) -> EndCall;
}

impl<P: Protocol> EndsOfWaiting for Completion<P> {
    fn at_end(&self, call: impl FnOnce(&ExitReason) + Send + 'static) -> EndCall {
        self.handle().at_end(self.pid(), call)
    }
}
