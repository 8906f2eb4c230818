//! The threads of a pool: as jobs know them, and what each does besides running jobs.

use std::convert::Infallible;
use std::env;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as StdArc, Weak};

use filch_parker::AdaptiveSpinner;
use filch_processors::{AnyPool, Processors, Runner};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::panic::discard;
use filch_sync::{Arc, asymmetric};

use crate::api::config::{Config, OnPanic, OnThread};
use crate::current;
use crate::job::Payload;
use crate::shared::{Host, Shared};
use crate::worker::Worker;

/// Rounds with a pause of a thread that waits: few, as the other one may need this core.
const PAUSING_ROUNDS: u32 = 4;
/// Rounds after those, between which it gives its core to others.
const YIELDING_ROUNDS: u32 = 28;

/// The threads of a pool, as its jobs see them.
pub(crate) struct PoolHost {
    pub(crate) threads: HostThreads,
    pub(crate) on_panic: Option<OnPanic>,
}

/// The threads that run the jobs.
pub(crate) enum HostThreads {
    /// The caller is the only one.
    None,
    /// The pool's.
    Own(StdArc<Processors<Infallible>>),
    /// Another scheduler's, which keeps this host, and has to run other things beside jobs.
    Lent(Weak<dyn AnyPool>),
}

impl PoolHost {
    fn with<R>(&self, with: impl FnOnce(&dyn AnyPool) -> R) -> Option<R> {
        match &self.threads {
            HostThreads::None => None,
            HostThreads::Own(threads) => Some(with(&**threads)),
            HostThreads::Lent(threads) => threads.upgrade().map(|threads| with(&*threads)),
        }
    }
}

impl Host for PoolHost {
    fn notify(&self) {
        self.with(|threads| threads.notify());
    }

    fn nudge_threads(&self) {
        self.with(|threads| threads.nudge_threads());
    }

    fn block(&self, call: &mut dyn FnMut()) {
        let blocked = self.with(|threads| threads.blocking(call));
        blocked.unwrap_or_else(call);
    }

    fn rest(&self, sleep: &mut dyn FnMut()) {
        match self.threads {
            HostThreads::Lent(_) => self.block(sleep),
            HostThreads::None | HostThreads::Own(_) => sleep(),
        }
    }

    fn yield_if_requested(&self) {
        self.with(|threads| threads.yield_if_requested());
    }

    fn is_ending(&self) -> bool {
        let is_lent = matches!(self.threads, HostThreads::Lent(_));
        is_lent && self.with(|threads| threads.is_ending()) != Some(false)
    }

    fn tell_panic(&self, payload: Payload) {
        let told = catch_unwind(AssertUnwindSafe(|| match &self.on_panic {
            Some(tell) => tell(payload),
            None => discard(payload),
        }));
        told.unwrap_or_else(discard);
    }
}

/// Makes the state that the workers of a pool with this host share.
pub(crate) fn shared(host: &StdArc<dyn Host>, nested_jobs: Option<u32>) -> Arc<Shared> {
    asymmetric::register_aside();
    let patience = AdaptiveSpinner::with_rounds(PAUSING_ROUNDS, YIELDING_ROUNDS);
    let nested_jobs = nested_jobs.unwrap_or(u32::MAX);
    Arc::new(Shared::new(StdArc::downgrade(host), patience, nested_jobs))
}

/// Processors with jobs, and without tasks.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    host: StdArc<dyn Host>,
    /// Slots of the threads that the pool is started with, by their numbers, until they have come.
    /// Others get the number after that.
    slots: Box<[AtomicUsize]>,
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

const NO_SLOT: usize = usize::MAX;

impl Threads {
    /// Makes the threads of a pool that is started with `count`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        host: StdArc<dyn Host>,
        count: usize,
        config: Config,
    ) -> Self {
        let reserve = |_| AtomicUsize::new(shared.reserve().unwrap_or(NO_SLOT));
        Self {
            slots: (0..count).map(reserve).collect(),
            stack_size: config.stack_size,
            shared,
            host,
            on_start: config.on_start,
            on_exit: config.on_exit.map(Arc::new),
        }
    }

    fn reserved(&self, number: usize) -> Option<usize> {
        // ORDERING: Relaxed: an exchange, so that one thread has it. What is in the slot was put
        // there before the threads were made.
        let slot = self.slots.get(number)?.swap(NO_SLOT, Ordering::Relaxed);
        (slot != NO_SLOT).then_some(slot)
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

/// The thread has its slot, and gives it up in the end.
pub(crate) struct Registration {
    host: StdArc<dyn Host>,
    on_exit: Option<Arc<OnThread>>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let on_exit = self.on_exit.as_deref();
        current::leave(|index| call(&*self.host, on_exit, index));
    }
}

impl Runner<Infallible> for Threads {
    type Scratch = Registration;

    fn scratch(&self, number: usize) -> Registration {
        let registered = current::register(&self.shared, self.reserved(number));
        let begin = |worker: &Worker| {
            if let Some(bytes) = self.stack_size {
                worker.has_stack(bytes);
            }
            current::receive_guests(worker, number);
            worker.index()
        };
        let Some(index) = registered.and_then(|()| current::with_worker(&self.shared, begin))
        else {
            panic!("the thread is one of a pool's already, or there are too many");
        };
        call(&*self.host, self.on_start.as_ref(), index);
        Registration {
            host: StdArc::clone(&self.host),
            on_exit: self.on_exit.clone(),
        }
    }

    fn run(&self, task: Infallible, _: &StdArc<Processors<Infallible>>, _: &mut Registration) {
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
