//! Calls that block: in a step, and on threads made for them.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use filch_sync::thread::Builder;
use filch_sync::{Condvar, Mutex, MutexGuard, wait_until};

use crate::api::command::Completion;
use crate::api::context::Context;
use crate::api::handle::Handle;
use crate::protocol::Protocol;
use crate::services::service_threads;
use filch_sync::panic::{catch_panic, drop_contained};

impl<P: Protocol> Handle<P> {
    /// Runs `call`, which may block, in the middle of a step: the worker's other processes go on
    /// meanwhile, on another thread, and the step does afterwards. Elsewhere it just runs `call`.
    /// Blocking.
    ///
    /// At most as many threads block at once as the pool may have
    /// ([`ThreadLimit`](filch_processors::Config::thread_limit)); beyond that, and while the
    /// scheduler shuts down, `call` runs with the worker kept. Therefore it must not wait for
    /// another process of the same scheduler, and [`join`](crate::ProcessHandle::join) refuses in
    /// here as in any step.
    ///
    /// Worth it from some ten microseconds on. A panic in `call` goes on through the step.
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

/// Threads for commands that block: files, locks, other people's libraries. For the command
/// handler, which hands them the closure and the completion and returns at once.
///
/// Threads are started when work finds none idle, up to a limit, and leave after ten idle seconds.
/// Work beyond the limit waits its turn, first in, first out. Work whose process has ended
/// meanwhile is dropped instead of run.
///
/// Dropping it drops the work that has not begun, whose commands complete with
/// [`CommandError::Abandoned`](crate::CommandError::Abandoned), and waits for the rest: but not on
/// one of filch's own threads, as a worker or one of these, which might be waited for in turn.
///
/// ```
/// # use filch_scheduler::{BlockingThreads, Completion, Protocol, Scheduler};
/// # enum Files {}
/// # impl Protocol for Files {
/// #     type Input = (); type Message = (); type Command = String; type Reply = String; type Output = (); type Error = std::io::Error;
/// # }
/// let threads = BlockingThreads::new(std::num::NonZeroUsize::MIN.saturating_add(7));
/// let scheduler = Scheduler::<Files>::builder()
///     .handler(move |path: String, completion: Completion<Files>| {
///         threads.run(completion, || std::fs::read_to_string(path));
///     })
///     .build()?;
/// # Ok::<(), filch_scheduler::BuildError>(())
/// ```
pub struct BlockingThreads {
    shared: Arc<Shared>,
}

struct Shared {
    limit: NonZeroUsize,
    state: Mutex<PoolState>,
    /// Idle threads sleep here.
    work: Condvar,
    /// The thread that drops the pool sleeps here until they have left.
    left: Condvar,
}

#[derive(Default)]
struct PoolState {
    queue: VecDeque<Box<dyn FnOnce() + Send>>,
    idle: usize,
    /// Idle ones included.
    threads: usize,
    closed: bool,
}

/// How long a thread without work stays.
const STAY: Duration = Duration::from_secs(10);

impl BlockingThreads {
    /// At most `limit` threads; none is started before there is work.
    pub fn new(limit: NonZeroUsize) -> Self {
        Self {
            shared: Arc::new(Shared {
                limit,
                state: Mutex::default(),
                work: Condvar::new(),
                left: Condvar::new(),
            }),
        }
    }

    /// Runs `work` on one of the threads, and completes the command with what it returns, or with
    /// [`CommandError::Panicked`](crate::CommandError::Panicked). If the system refuses the very
    /// first thread, `work` runs here.
    pub fn run<P: Protocol>(
        &self,
        completion: Completion<P>,
        work: impl FnOnce() -> Result<P::Reply, P::Error> + Send + 'static,
    ) {
        self.push(Box::new(move || {
            if completion.is_wanted() {
                completion.answer_by(work);
            }
        }));
    }

    /// How many threads there are just now.
    pub fn threads(&self) -> usize {
        self.shared.lock().threads
    }

    fn push(&self, work: Box<dyn FnOnce() + Send>) {
        let mut state = self.shared.lock();
        state.queue.push_back(work);
        if state.idle >= state.queue.len() {
            drop(state);
            self.shared.work.notify_one();
            return;
        }
        if state.threads >= self.shared.limit.get() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let thread = Builder::new().name("filch-blocking".to_owned());
        match thread.spawn(move || shared.serve()) {
            Ok(_) => state.threads += 1,
            Err(_) if state.threads > 0 => {}
            Err(_) => {
                let work = state.queue.pop_back();
                drop(state);
                if let Some(work) = work {
                    work();
                }
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // No critical section here panics half-way: user code runs without the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread's life.
    fn serve(&self) {
        service_threads::enlist();
        let mut state = self.lock();
        loop {
            if let Some(work) = state.queue.pop_front() {
                drop(state);
                // It answers for itself; what is left are destructors.
                let _ = catch_panic(work);
                state = self.lock();
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let over;
            (state, over) = wait_until(&self.work, &self.state, state, Instant::now() + STAY);
            state.idle -= 1;
            if over && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        let last = state.closed && state.threads == 0;
        drop(state);
        if last {
            self.left.notify_all();
        }
    }
}

impl Drop for BlockingThreads {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.shared.work.notify_all();
        queue.into_iter().for_each(drop_contained);
        if service_threads::is_ours() {
            // They leave by themselves.
            return;
        }
        let mut state = self.shared.lock();
        while state.threads > 0 {
            let woken = self.shared.left.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl fmt::Debug for BlockingThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("BlockingThreads")
            .field("limit", &self.shared.limit)
            .field("threads", &state.threads)
            .field("queued", &state.queue.len())
            .finish_non_exhaustive()
    }
}
