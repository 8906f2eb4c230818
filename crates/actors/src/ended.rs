//! A future that awaits the end of a process.

use std::future::Future;

use filch_promise::promise;
use filch_scheduler::{ExitReason, Handle, Pid, Protocol, Watch};

/// See [`HandleExt::ended`](crate::HandleExt::ended).
pub(crate) fn ended<P: Protocol>(
    scheduler: &Handle<P>,
    pid: Pid,
) -> impl Future<Output = ExitReason> + Send + use<P> {
    let (resolver, promised) = promise();
    let watch = scheduler.at_end(pid, |reason| resolver.resolve(reason.clone()));
    let cancel = CancelOnDrop(watch);
    async move {
        let _cancel = cancel;
        promised.await
    }
}

/// Cancels the exit callback when nobody waits any more.
struct CancelOnDrop(Watch);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
