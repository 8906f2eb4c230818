//! Threads for commands that block.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::Arc;

use filch_blocking::{BlockingPool, Refused};
use filch_promise::take_once;
use filch_scheduler::{CommandError, Completion, Protocol};

/// Threads for commands that block: a [`BlockingPool`] for the command handler, which hands it the
/// closure and the completion and returns at once.
///
/// Work whose process has ended meanwhile is dropped instead of run. Dropping the last clone drops
/// the work that has not begun, whose commands complete as
/// [abandoned](filch_scheduler::CommandError::Abandoned), and waits for nothing:
/// [`shutdown`](filch_scheduler::Scheduler::shutdown) waits for the work that has begun, and
/// reports what does not return. A process whose command must not outlast it interrupts the command
/// in its [`close`](filch_scheduler::Process::close): see the example `sockets` of this crate.
/// Clones share the threads.
#[derive(Debug, Clone)]
#[doc(alias = "spawn_blocking")]
pub struct BlockingThreads(Arc<BlockingPool>);

impl BlockingThreads {
    /// Makes a pool of at most `limit` threads; none is started before there is work.
    pub fn new(limit: NonZeroUsize) -> Self {
        Self(Arc::new(BlockingPool::new(limit)))
    }

    /// Runs `work` on one of the threads, and completes the command with what it returns, or with
    /// [`CommandError::Panicked`]. If all threads are busy, and the system refuses one more, drops
    /// `work`, and completes the command with [`CommandError::NoThread`].
    ///
    /// While it runs, [`HandleExt::dump`](crate::HandleExt::dump) and
    /// [`Handle::running`](filch_scheduler::Handle::running) show it.
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
        let (here, there) = take_once(completion);
        let refused = self.0.run(move || {
            let Some(completion) = there.take() else {
                return;
            };
            let call = completion.begin_call(label);
            if completion.is_wanted() {
                completion.answer_by(work);
            } else {
                drop((completion, work));
            }
            drop(call);
        });
        if let Err(Refused { error, .. }) = refused
            && let Some(completion) = here.take()
        {
            completion.answer(Err(CommandError::NoThread(error)));
        }
    }

    /// Returns the number of threads there are now.
    pub fn threads(&self) -> usize {
        self.0.threads()
    }
}
