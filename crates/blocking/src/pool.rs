//! The pool: a queue of work under a lock, and the threads that serve it.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use filch_sync::panic::{catch_panic, drop_all_contained};
use filch_sync::thread::Builder;
use filch_sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait_until};

use crate::calls::{Calls, RunningCall};

/// Threads for calls that block.
///
/// Dropping it drops the work that has not begun, and waits for nothing: running calls go on, and
/// their threads exit when they return. To wait for them, and to learn which do not return, [shut
/// it down](Self::shutdown).
#[doc(alias = "spawn_blocking")]
pub struct BlockingPool {
    shared: Arc<Shared>,
}

type Label = Option<Cow<'static, str>>;

type Work = Box<dyn FnOnce() + Send>;

struct Shared {
    limit: NonZeroUsize,
    state: Mutex<PoolState>,
    /// Idle threads sleep here.
    work: Condvar,
    calls: Arc<Calls<Label>>,
}

#[derive(Default)]
struct PoolState {
    queue: VecDeque<(Label, Work)>,
    idle: usize,
    /// For each thread number, whether a thread has it, busy or idle.
    threads: Vec<bool>,
    closed: bool,
}

/// The time after which a thread without work exits.
const STAY: Duration = Duration::from_secs(10);

filch_sync::thread_local! {
    /// Set on a thread of any pool.
    static SERVES: Cell<bool> = Cell::new(false)
}

/// Returns whether the calling thread is one of a [`BlockingPool`].
///
/// The work may drop any value. A destructor that waits for threads must ask here first: those
/// threads may be waiting for this one.
pub fn is_blocking_thread() -> bool {
    SERVES.with(Cell::get)
}

impl BlockingPool {
    /// Makes a pool of at most `limit` threads; starts none before there is work.
    pub fn new(limit: NonZeroUsize) -> Self {
        Self {
            shared: Arc::new(Shared {
                limit,
                state: Mutex::default(),
                work: Condvar::new(),
                calls: Arc::default(),
            }),
        }
    }

    /// Runs `work` on one of the threads: at once, or in its turn if there are as many as there may
    /// be. Takes a lock briefly.
    ///
    /// Everything that the caller did before happens before `work`.
    ///
    /// # Errors
    /// [`Refused`], with `work`: all threads are busy, there may be more, and the system refuses
    /// one. It is not kept until one is free: what they run may wait for it.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Refused> {
        self.enqueue(None, Box::new(work))
    }

    /// As [`run`](Self::run), with a label by which [`running`](Self::running) and
    /// [`shutdown`](Self::shutdown) name the call.
    ///
    /// # Errors
    /// As there.
    pub fn run_labelled(
        &self,
        label: impl Into<Cow<'static, str>>,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), Refused> {
        self.enqueue(Some(label.into()), Box::new(work))
    }

    fn enqueue(&self, label: Label, work: Work) -> Result<(), Refused> {
        let mut state = self.shared.lock();
        let is_idle = state.idle > state.queue.len();
        if !is_idle
            && state.threads() < self.shared.limit.get()
            && let Err(error) = Shared::start_thread(&self.shared, &mut state)
        {
            return Err(Refused { work, error });
        }
        state.queue.push_back((label, work));
        drop(state);
        if is_idle {
            self.shared.work.notify_one();
        }
        Ok(())
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.shared.lock().threads()
    }

    /// Returns the running calls, with their times. Takes a lock briefly.
    pub fn running(&self) -> Vec<RunningCall> {
        self.shared.calls.running()
    }

    /// Drops the work that has not begun, and waits for at most `patience` until no call runs.
    /// Returns those that still do: their threads, which have names, exit when they return.
    /// Blocking.
    ///
    /// On one of the pool's own threads it does not wait for the call that it runs in, but returns
    /// it among the others.
    ///
    /// Everything done by the calls that have ended happens before this returns.
    pub fn shutdown(self, patience: Duration) -> Vec<RunningCall> {
        // A deadline that the clock cannot express never comes.
        let deadline = Instant::now().checked_add(patience);
        self.shared.close();
        self.shared.calls.wait(deadline);
        self.shared.calls.running()
    }
}

impl Shared {
    /// Ignores poison: no critical section here panics halfway, as user code runs without the lock.
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        lock(&self.state)
    }

    /// Starts one more thread, with the lowest free number.
    fn start_thread(shared: &Arc<Self>, state: &mut PoolState) -> io::Result<()> {
        let vacant = state.threads.iter().position(|taken| !taken);
        let number = vacant.unwrap_or(state.threads.len());
        // Linux keeps 15 bytes of a name: the number must be among them.
        let thread = Builder::new().name(format!("filch-block-{number}"));
        let served = Arc::clone(shared);
        thread.spawn(move || served.serve(number))?;
        match state.threads.get_mut(number) {
            Some(taken) => *taken = true,
            None => state.threads.push(true),
        }
        Ok(())
    }

    /// Runs the thread with this number.
    fn serve(&self, number: usize) {
        SERVES.with(|serves| serves.set(true));
        let mut state = self.lock();
        loop {
            if let Some((label, work)) = state.queue.pop_front() {
                // Under the lock: a shutdown finds it in the queue or among the calls.
                let call = Calls::begin(&self.calls, label);
                drop(state);
                // A panic is reported to nobody.
                let _ = catch_panic(work);
                drop(call);
                state = self.lock();
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let over;
            let deadline = Some(Instant::now() + STAY);
            (state, over) = wait_until(&self.work, &self.state, state, deadline);
            state.idle -= 1;
            if over && state.queue.is_empty() {
                break;
            }
        }
        state.threads[number] = false;
    }

    /// Lets no more work begin, and makes the threads exit.
    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.work.notify_all();
        drop_all_contained(queue);
    }
}

impl PoolState {
    /// Returns the number of threads.
    fn threads(&self) -> usize {
        self.threads.iter().filter(|taken| **taken).count()
    }
}

/// The system refused a thread: the work has not begun, and will not.
pub struct Refused {
    /// The work.
    pub work: Box<dyn FnOnce() + Send>,
    /// The system's error.
    pub error: io::Error,
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Refused").field(&self.error).finish()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the system refused a thread: {}", self.error)
    }
}

impl Error for Refused {}

impl Drop for BlockingPool {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl fmt::Debug for BlockingPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("BlockingPool")
            .field("limit", &self.shared.limit)
            .field("threads", &state.threads())
            .field("queued", &state.queue.len())
            .finish_non_exhaustive()
    }
}
