//! The builder of a scheduler.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use filch_processors::{Config, Processors, StartError};
use filch_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use filch_sync::{Arc, CachePadded, Mutex};

use crate::handle::handle::{Extensions, Shared};
use crate::observe::running::OnLongStep;
use crate::process::context;
use crate::table::Admission;
use crate::table::body::Task;
use crate::table::stats::Counters;
use crate::table::table::Table;
use crate::turn::budget::{Budget, Clock};
use crate::turn::driver::Driver;
use crate::{
    CommandHandler, Completion, Handle, LifeCycle, Node, Observer, Protocol, RunningCall, Scheduler,
};

/// The configuration of a [`Scheduler`]; from [`Scheduler::builder`].
#[must_use = "nothing is started before `build` is called"]
pub struct Builder<P: Protocol> {
    processors: Config,
    limit: Option<usize>,
    events_per_step: usize,
    slice: Duration,
    /// The clock that times the slices.
    pub(crate) clock: Clock,
    handler: Option<Box<dyn CommandHandler<P>>>,
    node: Node,
    hooks: Option<Box<dyn LifeCycle<P>>>,
    journal: Option<Box<dyn Observer>>,
    watchdog: Option<(Duration, OnLongStep)>,
}

/// The defaults of the builder.
const EVENTS_PER_STEP: usize = 1024;
const SLICE: Duration = Duration::from_millis(4);

// Here, as a scheduler must not know how it is built.
impl<P: Protocol> Scheduler<P> {
    /// Begins to configure a scheduler.
    pub fn builder() -> Builder<P> {
        Builder {
            processors: Config::default(),
            limit: None,
            events_per_step: EVENTS_PER_STEP,
            slice: SLICE,
            clock: filch_sync::time::now,
            handler: None,
            node: Node::default(),
            hooks: None,
            journal: None,
            watchdog: None,
        }
    }
}

impl<P: Protocol> Builder<P> {
    /// Sets the number of workers, each with a thread. Default: the parallelism the system reports.
    pub fn workers(mut self, workers: usize) -> Self {
        self.processors = self.processors.processors(workers);
        self
    }

    /// Sets the largest number of threads, for workers and for [calls that
    /// block](crate::Handle::blocking) together, as
    /// [`Config::thread_limit`](filch_processors::Config::thread_limit) counts them. Beyond it a
    /// call that blocks keeps its worker until it returns, and runnable processes wait for it.
    /// Default: 512, and one per worker that there can be.
    pub fn thread_limit(mut self, threads: usize) -> Self {
        self.processors = self.processors.thread_limit(threads);
        self
    }

    /// Sets the largest number of workers for [`Handle::set_workers`]. Default: four times the
    /// parallelism that the system reports, or the initial number, if that is more.
    pub fn max_workers(mut self, workers: usize) -> Self {
        self.processors = self.processors.max_processors(workers);
        self
    }

    /// Names the workers' threads: `name`, a dash and a number. Default: `filch`. It must not
    /// contain a NUL byte.
    pub fn thread_name(mut self, name: &'static str) -> Self {
        self.processors = self.processors.thread_name(name);
        self
    }

    /// Sets the size of the workers' stacks, in bytes. Default: that of Rust's threads. With
    /// another size no thread outside takes steps: see [`guests`](Self::guests).
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.processors = self.processors.stack_size(bytes);
        self
    }

    /// Allows a thread that waits in `execute`, `call` or [`ProcessHandle::join`] to run the
    /// process itself, while a worker is idle, instead of waking that worker: this takes a fraction
    /// of a microsecond instead of tens. Say `false` if the steps need a worker's stack or
    /// priority, or must not see the thread-local values of just any thread. Default: allowed.
    ///
    /// [`ProcessHandle::join`]: crate::ProcessHandle::join
    pub fn guests(mut self, may_run: bool) -> Self {
        self.processors = self.processors.guests(may_run);
        self
    }

    /// Sets the pause between two looks of an idle worker at the one it watches: a busy worker that
    /// has fetched its processes as fast as a second worker could have. A process that was just
    /// made runnable may wait that long behind the step that made it so (Linux adds some 50 µs).
    /// Longer: a message passed from process to process disturbs fewer caches. Zero: no worker is
    /// watched, and such a message takes longer. At most a second. Default: 50 µs.
    pub fn watch_interval(mut self, interval: Duration) -> Self {
        self.processors = self.processors.watch_interval(interval);
        self
    }

    /// Sets the clock by which workers know when another process comes first, by turns and by
    /// [slices](Self::slice): for tests, and for figures that must not depend on the machine's
    /// speed. While it stands still, no slice ends. Called between two steps, on any worker; it
    /// must not panic. Timers have a clock of their own. Default: [`Instant::now`].
    pub fn clock(mut self, now: fn() -> Instant) -> Self {
        self.processors = self.processors.clock(now);
        self.clock = now;
        self
    }

    /// Limits the number of live processes. Default: the table's 2³² − 2.
    pub fn limit(mut self, processes: usize) -> Self {
        self.limit = Some(processes);
        self
    }

    /// Sets the most events that a step is given; the others come in further steps. A process that
    /// is behind is given fewer if they take long: see [`slice`](Self::slice). Default: 1024.
    ///
    /// An event that ends a process, or replaces it, does not wait for the events before it: see
    /// [`terminate`](Handle::terminate).
    pub fn events_per_step(mut self, events: usize) -> Self {
        self.events_per_step = events;
        self
    }

    /// Sets how long a process with more events than a step is given goes on, step after step,
    /// before others run. Its steps are timed, and each is given as many events as have so far
    /// taken a quarter of this. So the cost of an event decides how many the process gets, and not
    /// how long others wait. A step cannot be interrupted. It lasts longer with one event that
    /// takes longer than the slice, with up to 16 events of a process that never had more, or with
    /// events that suddenly cost more than before.
    ///
    /// Shorter: others come sooner, but its senders get further ahead of it, and the events have
    /// left the caches when it reads them. Zero: steps are not timed; each is given as many events
    /// as allowed, and then others run. Default: 4 ms.
    pub fn slice(mut self, slice: Duration) -> Self {
        self.slice = slice;
        self
    }

    /// Sets the closure that does the commands of processes: see [`CommandHandler::handle`].
    /// Without one they complete with [`CommandError::NoHandler`](crate::CommandError::NoHandler).
    pub fn handler<F>(self, handler: F) -> Self
    where
        F: Fn(P::Command, Completion<P>) + Send + Sync + 'static,
    {
        self.command_handler(handler)
    }

    /// As [`handler`](Self::handler), for a handler that is no closure.
    pub fn command_handler(mut self, handler: impl CommandHandler<P>) -> Self {
        self.handler = Some(Box::new(handler));
        self
    }

    /// Sets the node that the processes live on, as the [`Receiver`](crate::Receiver)s of other
    /// nodes know it. Default: node 0.
    pub fn node(mut self, node: Node) -> Self {
        self.node = node;
        self
    }

    /// Sets the hooks, which are told of the life of each process. Default: none.
    pub fn hooks(mut self, hooks: impl LifeCycle<P>) -> Self {
        self.hooks = Some(Box::new(hooks));
        self
    }

    /// Sets the observer, which is told of processes and commands, for reports. It costs a call for
    /// each process that begins or ends, two for each command, none for a message. Default: none.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.journal = Some(Box::new(observer));
        self
    }

    /// Calls `call` once for each step that has lasted longer than `limit`, or a millisecond, while
    /// it still does: on a thread of its own, `filch-watchdog`, up to half a limit late. A panic in
    /// it is contained, and a shutdown waits for it as for a worker. Steps pay nothing.
    ///
    /// A step in a [blocking](Handle::blocking) call keeps no worker, and begins anew when it is
    /// back. Other user code that a worker runs for a process is reported, too. The
    /// [type](RunningCall::type_name) is known if there is a [journal](Self::observer).
    pub fn watchdog(
        mut self,
        limit: Duration,
        call: impl Fn(&RunningCall) + Send + 'static,
    ) -> Self {
        let limit = limit.max(Duration::from_millis(1));
        self.watchdog = Some((limit, Box::new(call)));
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// See [`BuildError`]. Nothing is left running.
    pub fn build(self) -> Result<Scheduler<P>, BuildError> {
        if self.limit == Some(0) {
            return Err(BuildError::ZeroLimit);
        }
        if self.events_per_step == 0 {
            return Err(BuildError::ZeroEventsPerStep);
        }
        let budget = Budget::new(self.events_per_step, self.slice, self.clock);
        let limit = self.limit.and_then(NonZeroUsize::new);
        let processors = Processors::with_prefetch(self.processors, Task::prefetch);
        let processors = processors.map_err(BuildError::Processors)?;
        let workers = processors.max_count();
        let counters = (0..workers)
            .map(|_| CachePadded::new(Counters::default()))
            .collect();
        let table = Table::new(self.node);
        let handle = Handle::new(Shared {
            owners: AtomicUsize::new(1),
            processors,
            table,
            extensions: Extensions::default(),
            elsewhere: Mutex::new(Some(None)),
            waker_functions: context::functions::<P>(),
            looking: Mutex::new(()),
            admission: Admission::new(limit, workers),
            hooks: self.hooks,
            journal: self.journal,
            first_allowance: budget.first_allowance(),
            counters,
            aborting: AtomicBool::new(false),
            aborted: AtomicUsize::new(0),
            calls: Arc::default(),
            left_timers: Arc::default(),
            dropped: AtomicU64::new(0),
        });
        let driver = Arc::new(Driver::new(handle.clone(), self.handler, budget));
        let machines = Processors::start(&handle.shared().processors, driver)
            .map_err(BuildError::Processors)?;
        // Shut down, if the system refuses the other thread.
        let scheduler = Scheduler::running(handle, machines);
        if let Some((limit, call)) = self.watchdog {
            let thread = |error| BuildError::Processors(StartError::Thread(error));
            scheduler.watch_steps(limit, call).map_err(thread)?;
        }
        Ok(scheduler)
    }
}

impl<P: Protocol> fmt::Debug for Builder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("processors", &self.processors)
            .field("limit", &self.limit)
            .field("events_per_step", &self.events_per_step)
            .field("slice", &self.slice)
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

/// The reason why a scheduler could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The processors refused the number of workers, or the system the threads.
    Processors(StartError),
    /// A limit of zero live processes: nothing could ever be submitted.
    ZeroLimit,
    /// Steps of zero events: nothing could ever be delivered.
    ZeroEventsPerStep,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processors(error) => write!(f, "cannot start the workers: {error}"),
            Self::ZeroLimit => f.write_str(
                "a limit of 0 processes admits none: give at least 1, or no limit at all",
            ),
            Self::ZeroEventsPerStep => {
                f.write_str("a step of 0 events delivers none: give each at least 1")
            }
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Processors(error) => Some(error),
            Self::ZeroLimit | Self::ZeroEventsPerStep => None,
        }
    }
}
