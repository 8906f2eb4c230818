//! The threads of a pool: what each does besides running jobs.

use std::convert::Infallible;
use std::env;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_processors::{Processors, Runner};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};

use crate::api::config::{Config, OnThread};
use crate::current;
use crate::shared::{Host, Shared};
use crate::worker::Worker;

/// Processors with jobs, and without tasks.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    host: Arc<dyn Host>,
    /// Seats of the threads that the pool is started with, by their numbers, until they have come.
    /// Others get the number after that.
    seats: Box<[AtomicUsize]>,
    /// The size of their stacks, if that is known.
    stack_size: Option<usize>,
    on_start: Option<OnThread>,
    on_exit: Option<Arc<OnThread>>,
}

/// The size of the stacks that the standard library gives to threads, if nobody says.
pub fn usual_stack_size() -> usize {
    let said = env::var("RUST_MIN_STACK");
    said.ok()
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or(2 << 20)
}

const NO_SEAT: usize = usize::MAX;

impl Threads {
    /// Makes the threads of a pool that is started with `count`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        host: Arc<dyn Host>,
        count: usize,
        config: Config,
    ) -> Self {
        let reserve = |_| AtomicUsize::new(shared.reserve().unwrap_or(NO_SEAT));
        Self {
            seats: (0..count).map(reserve).collect(),
            stack_size: config.stack_size,
            shared,
            host,
            on_start: config.on_start,
            on_exit: config.on_exit.map(Arc::new),
        }
    }

    fn reserved(&self, number: usize) -> Option<usize> {
        // ORDERING: Relaxed: an exchange, so that one thread has it. What is in the seat was put
        // there before the threads were made.
        let seat = self.seats.get(number)?.swap(NO_SEAT, Ordering::Relaxed);
        (seat != NO_SEAT).then_some(seat)
    }
}

/// Calls one of the user's hooks, and tells of its panic.
fn call(host: &dyn Host, hook: Option<&OnThread>, index: usize) {
    if let Some(hook) = hook
        && let Err(payload) = catch_unwind(AssertUnwindSafe(|| hook(index)))
    {
        host.tell_panic(payload);
    }
}

/// The thread has its seat, and gives it up in the end.
pub(crate) struct SeatGuard {
    host: Arc<dyn Host>,
    on_exit: Option<Arc<OnThread>>,
}

impl Drop for SeatGuard {
    fn drop(&mut self) {
        let on_exit = self.on_exit.as_deref();
        current::leave(|index| call(&*self.host, on_exit, index));
    }
}

impl Runner<Infallible> for Threads {
    type Scratch = SeatGuard;

    fn scratch(&self, number: usize) -> SeatGuard {
        let seated = current::sit_down(&self.shared, self.reserved(number));
        let begin = |worker: &Worker| {
            if let Some(bytes) = self.stack_size {
                worker.has_stack(bytes);
            }
            worker.index()
        };
        let Some(index) = seated.and_then(|()| current::with_worker(&self.shared, begin)) else {
            panic!("the thread is one of a pool's already, or there are too many");
        };
        call(&*self.host, self.on_start.as_ref(), index);
        SeatGuard {
            host: Arc::clone(&self.host),
            on_exit: self.on_exit.clone(),
        }
    }

    fn run(&self, task: Infallible, _: &Arc<Processors<Infallible>>, _: &mut SeatGuard) {
        match task {}
    }
}

/// A thread of a pool, which its maker has to run: see
/// [`Pool::start_with`](crate::Pool::start_with).
#[must_use = "a thread that does not run is missing"]
pub struct Thread {
    thread: filch_processors::Thread,
    index: usize,
}

impl Thread {
    /// Makes a thread of a pool, the first of which has the index `first`.
    pub(crate) fn new(thread: filch_processors::Thread, first: usize) -> Self {
        let index = first + thread.number();
        Self { thread, index }
    }

    /// Returns the [index](Worker::index) that its worker will have.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Runs jobs on the calling thread, until the pool has been dropped and nothing is left.
    ///
    /// # Panics
    /// On a thread of a pool. This one is missing then.
    pub fn run(self) {
        self.thread.run();
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
