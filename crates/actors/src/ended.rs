//! A future that awaits the end of a process.

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

/// Cancels the exit callback when nobody waits any more.
struct CancelOnDrop(Option<EndCall>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call.cancel();
        }
    }
}
