//! Calls that block: in a step, and on threads made for them.

use std::borrow::Cow;

use filch_blocking::Calls;

use crate::api::running_call::CommandLabel;
use crate::{Completion, Handle, Protocol};

impl<P: Protocol> Handle<P> {
    /// Runs `call`, which may block, in the middle of a step: the worker's other processes go on
    /// meanwhile, on another thread, and the step does afterwards. Elsewhere it just runs `call`.
    /// Blocking.
    ///
    /// Beyond the [limit of threads](crate::Builder::thread_limit), and while the
    /// scheduler shuts down, `call` runs with the worker kept. Therefore it must not wait for
    /// another process of the same scheduler. Worth it from some ten microseconds on. A panic in
    /// `call` goes on through the step.
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        self.shared.processors.blocking(call)
    }
}

impl<P: Protocol> Completion<P> {
    /// Lists what does the command on the calling thread, until the result is dropped: a shutdown waits
    /// for it, and reports show it, with that label. To be called before it is asked whether the command
    /// [is wanted](Self::is_wanted): a shutdown that has seen the process end, and then no call, knows
    /// that none begins.
    pub fn begin_call(&self, label: Option<Cow<'static, str>>) -> impl Sized + use<P> {
        let (process, tag) = (self.pid(), self.tag());
        Calls::begin(
            &self.handle().shared.calls,
            CommandLabel {
                process,
                tag,
                label,
            },
        )
    }
}
