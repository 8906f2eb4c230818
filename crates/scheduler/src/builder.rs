//! The builder of a scheduler.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant};

use filch_processors::{Config, PoolError, Processors};
use filch_promise::promise;
use filch_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use filch_sync::{Arc, CachePadded, Mutex};

use crate::handle::handle::{Extensions, Shared};
use crate::process::command::CommandHandler;
use crate::process::context;
use crate::protocol::debug_fields;
use crate::table::Admission;
use crate::table::slot::Task;
use crate::table::table::Table;
use crate::turn::budget::Budget;
use crate::turn::driver::Driver;
use crate::{Completion, Handle, LifeCycle, Node, Observer, Protocol, RunningCall, Scheduler};

/// The configuration of a [`Scheduler`]; from [`Scheduler::builder`].
#[must_use = "nothing is started before `build` is called"]
pub struct Builder<P: Protocol> {
    processors: Config,
    limit: Option<usize>,
    pub(crate) budget: Budget,
    handler: Option<Box<CommandHandler<P>>>,
    node: Node,
    hooks: Option<Box<dyn LifeCycle<P>>>,
    observer: Option<Box<dyn Observer>>,
    watchdog: Option<Watchdog>,
}

/// The limit of a step, and the call for those that last longer.
type Watchdog = (Duration, Box<dyn Fn(&RunningCall) + Send>);

// Here, as a scheduler must not know how it is built.
impl<P: Protocol> Scheduler<P> {
    /// Begins to configure a scheduler.
    pub fn builder() -> Builder<P> {
        Builder {
            processors: Config::default(),
            limit: None,
            budget: Budget::default(),
            handler: None,
            node: Node::default(),
            hooks: None,
            observer: None,
            watchdog: None,
        }
    }
}

impl<P: Protocol> Builder<P> {
    /// Sets the number of workers, each with a thread. Default: the parallelism the system reports.
    #[doc(alias = "worker_threads")]
    #[doc(alias = "GOMAXPROCS")]
    pub fn workers(mut self, workers: usize) -> Self {
        self.processors = self.processors.processors(workers);
        self
    }

    /// Sets more of the workers' threads, by [`filch_processors::Config`], whose processors are the
    /// workers: the largest number of both, names and stacks; how soon an idle worker helps a busy
    /// one; and whether [guests](filch_processors::Config::guests) may run processes, threads that
    /// wait in `execute`, `call` or [`join`](crate::ProcessHandle::join) while a worker is idle.
    /// Say no if steps need a worker's stack, priority or thread-local values.
    pub fn threads(mut self, set: impl FnOnce(Config) -> Config) -> Self {
        self.processors = set(self.processors);
        self
    }

    /// Sets the clock by which workers know when another process comes first, by turns and by
    /// [slices](Self::slice): for tests. While it stands still, no slice ends. Called between two
    /// steps, on any worker; it must not panic. Timers have a clock of their own. Default:
    /// [`Instant::now`].
    pub fn clock(mut self, now: fn() -> Instant) -> Self {
        self.processors = self.processors.clock(now);
        self.budget.clock = now;
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
        self.budget.events = u32::try_from(events).unwrap_or(u32::MAX);
        self
    }

    /// Sets how long a process with more events than a step is given goes on, step after step,
    /// before others run. Its steps are timed, and each is given as many events as have so far
    /// taken a quarter of this. A step cannot be interrupted: it lasts longer with one event that
    /// takes longer than the slice, with up to 32 events of a process that never had more, or with
    /// events that suddenly cost more than before.
    ///
    /// Shorter: others come sooner, but its senders get further ahead of it. Zero: steps are not
    /// timed; each is given as many events as allowed, and then others run. Default: 4 ms.
    pub fn slice(mut self, slice: Duration) -> Self {
        self.budget.slice = slice;
        self
    }

    /// Sets the handler, which does the commands that processes yield. Without one they complete
    /// with [`CommandError::NoHandler`].
    ///
    /// Called on the worker that ran the step, right after it. Complete a short command on the
    /// spot; pass a long one on with its [`Completion`], and complete it from elsewhere. A handler
    /// that blocks keeps the worker from running processes. If it panics, the command completes
    /// with [`CommandError::Panicked`], unless it was completed before.
    ///
    /// The last worker that leaves drops the handler: before [`shutdown`](Scheduler::shutdown)
    /// returns, if that waits for the workers.
    ///
    /// [`CommandError::NoHandler`]: crate::CommandError::NoHandler
    /// [`CommandError::Panicked`]: crate::CommandError::Panicked
    pub fn handler<F>(mut self, handler: F) -> Self
    where
        F: Fn(P::Command, Completion<P>) + Send + Sync + 'static,
    {
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
        self.observer = Some(Box::new(observer));
        self
    }

    /// Calls `call` once for each step that has lasted longer than `limit`, or a millisecond, while
    /// it still does: on a thread of its own, `filch-watchdog`, up to half a limit late. A panic in
    /// it is contained, and a shutdown waits for it as for a worker. Steps pay nothing.
    ///
    /// A step in a [blocking](Handle::blocking) call keeps no worker, and begins anew when it is
    /// back. Other user code that a worker runs for a process is reported, too. The
    /// [type](RunningCall::type_name) is known if there is an [observer](Self::observer).
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
        if self.budget.events == 0 {
            return Err(BuildError::ZeroEventsPerStep);
        }
        self.start().map_err(BuildError::Processors)
    }

    fn start(self) -> Result<Scheduler<P>, PoolError> {
        filch_timers::never_wait_on(crate::handle::threads::is_ours);
        let processors = Processors::with_prefetch(self.processors, Task::prefetch)?;
        let workers = processors.max_count();
        let counters = (0..workers).map(|_| CachePadded::default()).collect();
        let handle = Handle::new(Shared {
            owners: AtomicUsize::new(1),
            processors,
            table: Table::new(self.node),
            extensions: Extensions::default(),
            elsewhere: Mutex::new(Some(None)),
            waker_functions: context::functions::<P>(),
            looking: Mutex::new(()),
            admission: Admission::new(self.limit.and_then(NonZeroUsize::new), workers),
            hooks: self.hooks,
            observer: self.observer,
            first_allowance: self.budget.first_allowance(),
            counters,
            aborting: AtomicBool::new(false),
            aborted: AtomicUsize::new(0),
            calls: Arc::default(),
            dropped: AtomicU64::new(0),
        });
        let (tell, left) = promise();
        let driver = Driver {
            handle: handle.clone(),
            handler: self.handler,
            budget: self.budget,
            left: Some(tell),
        };
        let machines = Processors::start(&handle.shared().processors, StdArc::new(driver))?;
        // Shut down, if the system refuses the other thread.
        let running = Some((handle, machines, left));
        let scheduler = Scheduler { running };
        if let Some((limit, call)) = self.watchdog {
            let handle = scheduler.handle();
            let tell = move |task| call(&handle.call_of(task));
            Processors::watch_tasks(&scheduler.shared().processors, limit, tell)
                .map_err(PoolError::Thread)?;
        }
        Ok(scheduler)
    }
}

debug_fields!(Builder<P>, "Builder", processors, limit, budget, node);

/// The reason why a scheduler could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The processors refused the number of workers, or the system the threads.
    Processors(PoolError),
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
