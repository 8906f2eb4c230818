//! Being told of the end of a process without being one.

use std::future::Future;

use filch_promise::promise;
use filch_scheduler::{EndCall, ExitReason, Handle, Pid, Protocol};

/// See [`HandleExt::ended`](crate::HandleExt::ended).
pub(crate) fn ended<P: Protocol>(
    scheduler: &Handle<P>,
    pid: Pid,
) -> impl Future<Output = ExitReason> + Send + use<P> {
    let (resolver, promised) = promise();
    let call = scheduler.at_end(pid, |reason| resolver.resolve(reason.clone()));
    let cancel = CancelOnDrop(Some(call));
    async move {
        let _cancel = cancel;
        promised.await
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
