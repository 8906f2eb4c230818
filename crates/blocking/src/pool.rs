//! The pool: a queue of work under a lock, and the threads that serve it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use filch_sync::panic::{catch_panic, drop_all_contained};
use filch_sync::thread::Builder;
use filch_sync::{Condvar, Mutex, MutexGuard, wait_until};

/// Threads for calls that block.
///
/// Dropping it drops the work that has not begun, and waits for the rest, unless the dropping
/// thread is one that [`new`](Self::new) was told of, or one of any such pool. Blocking.
pub struct BlockingPool {
    shared: Arc<Shared>,
    /// Whether the calling thread must not wait for these threads to end.
    detach_if: fn() -> bool,
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

filch_sync::thread_local! {
    /// Set on a thread of any pool.
    static SERVES: Cell<bool> = Cell::new(false)
}

/// Whether the calling thread is one of a [`BlockingPool`].
///
/// What it runs may drop whatever it owns. A destructor that waits for threads asks here first:
/// those threads may be waiting for this one.
pub fn is_blocking_thread() -> bool {
    SERVES.with(Cell::get)
}

impl BlockingPool {
    /// At most `limit` threads; none is started before there is work. Where `detach_if` says so, a
    /// drop does not wait for them.
    pub fn new(limit: NonZeroUsize, detach_if: fn() -> bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                limit,
                state: Mutex::default(),
                work: Condvar::new(),
                left: Condvar::new(),
            }),
            detach_if,
        }
    }

    /// Runs `work` on one of the threads. If the system refuses the very first thread, `work` runs
    /// here. Takes a lock for a moment.
    ///
    /// What the caller did before happens before `work`.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        state.queue.push_back(Box::new(work));
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

    /// How many threads there are just now.
    pub fn threads(&self) -> usize {
        self.shared.lock().threads
    }
}

impl Shared {
    /// Ignores poison: no critical section here panics half-way, as user code runs without the
    /// lock.
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread's life.
    fn serve(&self) {
        SERVES.with(|serves| serves.set(true));
        let mut state = self.lock();
        loop {
            if let Some(work) = state.queue.pop_front() {
                drop(state);
                // Nobody is told of a panic.
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

impl Drop for BlockingPool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.shared.work.notify_all();
        drop_all_contained(queue);
        if is_blocking_thread() || (self.detach_if)() {
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

impl fmt::Debug for BlockingPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("BlockingPool")
            .field("limit", &self.shared.limit)
            .field("threads", &state.threads)
            .field("queued", &state.queue.len())
            .finish_non_exhaustive()
    }
}
