//! Calls that block: in a step, and on threads made for them.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::Arc;

use filch_blocking::{BlockingPool, Calls};

use crate::api::running_call::CommandLabel;
use crate::{Completion, Context, Handle, Protocol};

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

impl<P: Protocol> Context<'_, P> {
    /// Runs `call`, which may block. See [`Handle::blocking`].
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        self.handle().blocking(call)
    }
}

/// Threads for commands that block: a [`BlockingPool`] for the command handler, which hands it the
/// closure and the completion and returns at once.
///
/// Work whose process has ended meanwhile is dropped instead of run. Dropping the last clone drops
/// the work that has not begun, whose commands complete as
/// [abandoned](crate::CommandError::Abandoned), and waits for nothing:
/// [`shutdown`](crate::Scheduler::shutdown) waits for the work that has begun, and reports what
/// does not return. A process whose command must not outlast it interrupts the command in its
/// [`close`](crate::Process::close): see the example `sockets` of this crate. Clones share the
/// threads.
#[derive(Debug, Clone)]
pub struct BlockingThreads(Arc<BlockingPool>);

impl BlockingThreads {
    /// At most `limit` threads; none is started before there is work.
    pub fn new(limit: NonZeroUsize) -> Self {
        Self(Arc::new(BlockingPool::new(limit)))
    }

    /// Runs `work` on one of the threads, and completes the command with what it returns, or with
    /// [`CommandError::Panicked`](crate::CommandError::Panicked). If the system refuses the very
    /// first thread, `work` runs here.
    ///
    /// While it runs, [`Handle::dump`] and [`Handle::running`] show it.
    pub fn run<P: Protocol>(
        &self,
        completion: Completion<P>,
        work: impl FnOnce() -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        self.enqueue(None, completion, work);
    }

    /// As [`run`](Self::run), with a label for people: which file, which peer.
    pub fn run_labelled<P: Protocol>(
        &self,
        label: impl Into<Cow<'static, str>>,
        completion: Completion<P>,
        work: impl FnOnce() -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        self.enqueue(Some(label.into()), completion, work);
    }

    fn enqueue<P: Protocol>(
        &self,
        label: Option<Cow<'static, str>>,
        completion: Completion<P>,
        work: impl FnOnce() -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        self.0.run(move || {
            let calls = &completion.handle().shared.calls;
            let (process, tag) = (completion.pid(), completion.tag());
            // Listed before it asks whether the process lives: a shutdown that has seen it end, and
            // then no call, knows that none begins.
            let call = Calls::begin(
                calls,
                CommandLabel {
                    process,
                    tag,
                    label,
                },
            );
            if completion.is_wanted() {
                completion.answer_by(work);
            } else {
                drop((completion, work));
            }
            drop(call);
        });
    }

    /// How many threads there are just now.
    pub fn threads(&self) -> usize {
        self.0.threads()
    }
}
