//! A pool of threads for fork/join.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_parker::{AdaptiveSpinner, Parker, Unparker};
use filch_processors::{Machines, Processors, ResizeError};
use filch_sync::Arc;
use filch_sync::panic::discard;

use crate::api::config::{Config, OnPanic, OnReentry, StartError};
use crate::api::threads::{Thread, Threads};
use crate::current;
use crate::job::Payload;
use crate::job::installed::install;
use crate::latch::{Awaited, MAX_SEATS};
use crate::reentry::Reentry;
use crate::report::ThreadReport;
use crate::scope::Scope;
use crate::shared::{Host, NESTED_JOBS, Shared};
use crate::source::Jobs;
use crate::worker::Worker;

/// Rounds of looking for work between which a thread that waits pauses.
const PAUSING_ROUNDS: u32 = 12;
/// Rounds after those, between which it gives its core to others.
const YIELDING_ROUNDS: u32 = 20;

/// A pool of threads that run jobs.
///
/// Dropped, it lets its threads go: what has been spawned runs, then they exit.
pub struct Pool {
    shared: Arc<Shared<Worker>>,
    host: Arc<PoolHost>,
    machines: Option<Machines>,
    takes_caller: bool,
}

/// The threads of a pool, as its jobs see them.
struct PoolHost {
    /// None, if the caller is the only thread.
    processors: Option<Arc<Processors<Infallible>>>,
    on_panic: Option<OnPanic>,
    on_reentry: Option<OnReentry>,
}

impl Host for PoolHost {
    fn notify(&self) {
        if let Some(processors) = &self.processors {
            processors.notify_behind_fence();
        }
    }

    fn nudge_threads(&self) {
        if let Some(processors) = &self.processors {
            processors.nudge_threads();
        }
    }

    fn block(&self, call: &mut dyn FnMut()) {
        match &self.processors {
            Some(processors) => processors.blocking(call),
            None => call(),
        }
    }

    fn tell_panic(&self, payload: Payload) {
        let told = catch_unwind(AssertUnwindSafe(|| match &self.on_panic {
            Some(tell) => tell(payload),
            None => discard(payload),
        }));
        told.unwrap_or_else(discard);
    }

    fn hears_reentries(&self) -> bool {
        self.on_reentry.is_some()
    }

    fn tell_reentry(&self, reentry: &Reentry) {
        if let Some(tell) = &self.on_reentry {
            let told = catch_unwind(AssertUnwindSafe(|| tell(reentry)));
            if let Err(payload) = told {
                discard(payload);
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(processors) = self.processors() {
            processors.stop();
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("processors", &self.processors())
            .field("threads", &self.report())
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// The most threads that a pool can have, a [caller](Config::with_caller) who is one among
    /// them.
    pub const MAX_THREADS: usize = MAX_SEATS;

    /// A pool of `threads` threads, with what [`Config`] has by default.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn new(threads: usize) -> Result<Self, StartError> {
        Self::start(Config::default().threads(threads))
    }

    /// A pool as `config` says. Blocking, while the system makes the threads. It does not wait for
    /// what they do first, which is [`on_start`](Config::on_start).
    ///
    /// # Errors
    /// [`StartError`]: there are to be no threads, or too many; the system refuses one; or the
    /// caller cannot be one.
    pub fn start(config: Config) -> Result<Self, StartError> {
        Self::start_by(config, Processors::start_unawaited)
    }

    /// A pool as `config` says, of threads that `spawn` makes: it says why there is no such thread,
    /// or sees to it that the thread [runs](Thread::run), at once or at any time later. It is
    /// called for one after the other, and not after the return. When the pool is dropped, they
    /// return from `run`.
    ///
    /// A thread that does not run is missing: the others do all the work, and a
    /// [broadcast](Self::broadcast) waits for it. As long as none runs, nothing does, also when the
    /// pool has been dropped: the first one that comes finds the jobs.
    ///
    /// ```
    /// use filch_fork_join::{Config, Pool};
    ///
    /// std::thread::scope(|scope| {
    ///     let pool = Pool::start_with(Config::default().threads(2), |thread| {
    ///         let name = format!("my thread {}", thread.index());
    ///         std::thread::Builder::new()
    ///             .name(name)
    ///             .spawn_scoped(scope, || thread.run())
    ///             .map(drop)
    ///     })?;
    ///     assert_eq!(pool.install(|worker| worker.join(|_| 3, |_| 4)), (3, 4));
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As `start`. A `spawn` that panics has refused the thread, and so has one that drops it
    /// before it returns.
    pub fn start_with(
        config: Config,
        mut spawn: impl FnMut(Thread) -> io::Result<()>,
    ) -> Result<Self, StartError> {
        let first = usize::from(config.takes_caller);
        Self::start_by(config, |processors, threads| {
            Processors::start_with(processors, threads, |thread| {
                spawn(Thread::new(thread, first))
            })
        })
    }

    fn start_by(
        mut config: Config,
        start: impl FnOnce(
            &Arc<Processors<Infallible>>,
            Arc<Threads>,
        ) -> Result<Machines, filch_processors::StartError>,
    ) -> Result<Self, StartError> {
        let takes_caller = config.takes_caller;
        let count = config.thread_count()? - usize::from(takes_caller);
        let processors = match count {
            0 => None,
            count => Some(Processors::new(config.processors(count))?),
        };
        let host = Arc::new(PoolHost {
            processors,
            on_panic: config.on_panic.take(),
            on_reentry: config.on_reentry.take(),
        });
        let kept: Arc<dyn Host> = Arc::<PoolHost>::clone(&host);
        let patience = AdaptiveSpinner::with_rounds(PAUSING_ROUNDS, YIELDING_ROUNDS);
        let shared = Shared::new(Arc::downgrade(&kept), patience, config.private_jobs)
            .with_nested_jobs(config.nested_jobs.unwrap_or(NESTED_JOBS));
        let shared = Arc::new(shared);
        let mut pool = Self {
            shared: Arc::clone(&shared),
            host,
            machines: None,
            takes_caller,
        };
        if takes_caller {
            // First, so that it has the first seat.
            current::with_worker(&shared, |_| ()).ok_or(StartError::CallerIsTaken)?;
        }
        if let Some(processors) = pool.processors() {
            let attached = processors.attach(Arc::new(Jobs(Arc::clone(&shared))));
            assert!(attached.is_ok(), "the processors are new");
            let started = start(
                processors,
                Arc::new(Threads::new(shared, kept, count, config)),
            );
            pool.machines = Some(started?);
        }
        Ok(pool)
    }

    /// How many threads run jobs at a time.
    pub fn threads(&self) -> usize {
        let processors = self.processors().map_or(0, |all| all.count());
        processors + usize::from(self.takes_caller)
    }

    /// From now on so many threads run jobs at a time, not counting a
    /// [caller](Config::with_caller) who is one. Threads that are too many end what they run
    /// first. Blocking, while threads are started. Returns how many it were before.
    ///
    /// # Errors
    /// [`ResizeError`]; the pool goes on with the number that it says. A pool whose only thread is
    /// the caller has none to resize: [`ResizeError::Stopped`].
    pub fn resize(&self, threads: usize) -> Result<usize, ResizeError> {
        match self.processors() {
            Some(processors) => processors.resize(threads),
            None => Err(ResizeError::Stopped),
        }
    }

    /// Waits until all that has been spawned has run, and the threads have exited; a
    /// [caller](Config::with_caller) who is one goes on, and so do threads that are the
    /// [caller's](Self::start_with). Blocking: not for a thread of the pool.
    ///
    /// # Panics
    /// On a thread of the pool, which would wait for itself.
    pub fn finish(mut self) {
        let machines = self.machines.take();
        drop(self);
        if let Some(machines) = machines {
            machines.join();
        }
    }

    /// Runs `work` on a thread of the pool, and returns what it returns: here and now if this is
    /// one. A thread of another pool runs jobs of its own pool meanwhile; any other thread sleeps.
    ///
    /// # Panics
    /// If `work` does.
    pub fn install<R: Send>(&self, work: impl FnOnce(&Worker) -> R + Send) -> R {
        current::with(|worker| match worker {
            Some(worker) if worker.is_of(&self.shared) => work(worker),
            other => with_unparker(other, |unparker, wait| {
                install(work, unparker, |job| self.shared.inject(job), wait)
            }),
        })
    }

    /// [`Worker::scope`], for any thread: the body runs here, and the jobs in the pool. If this is
    /// a thread of the pool, it runs jobs, too; one of another pool runs those of its own pool
    /// meanwhile.
    ///
    /// # Panics
    /// As there.
    pub fn scope<'scope, R>(&self, body: impl FnOnce(&Scope<'scope>) -> R) -> R {
        current::with(|worker| match worker {
            Some(worker) if worker.is_of(&self.shared) => worker.scope(body),
            other => with_unparker(other, |unparker, wait| {
                let make = |running| Scope::new(running, Arc::clone(&self.shared), Some(unparker));
                Scope::run(make, body, wait)
            }),
        })
    }

    /// Whether that is the worker of one of its threads. Wait-free.
    pub fn has(&self, worker: &Worker) -> bool {
        worker.is_of(&self.shared)
    }

    fn processors(&self) -> Option<&Arc<Processors<Infallible>>> {
        self.host.processors.as_ref()
    }

    /// What each thread of the pool does that has begun. It stops no thread that works, so one that
    /// begins or ends jobs meanwhile may be shown in between; what hangs is shown as it is.
    /// Blocking for a moment beside a thread that begins or exits.
    ///
    /// ```
    /// use filch_fork_join::{Doing, Pool};
    ///
    /// let pool = Pool::new(1)?;
    /// let report = pool.install(|_| pool.report());
    /// assert_eq!(report[0].doing(), Doing::Runs);
    /// assert!(report[0].jobs()[0].contains("main"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> Vec<ThreadReport> {
        self.shared.report()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared<Worker>> {
        &self.shared
    }
}

/// Calls `call` with what wakes the calling thread, a worker of another pool or of none, and with
/// how it waits.
fn with_unparker<R>(
    worker: Option<&Worker>,
    call: impl FnOnce(Unparker, &dyn Fn(&dyn Awaited)) -> R,
) -> R {
    if let Some(worker) = worker {
        let unparker = worker.shared().seat(worker.index()).unparker.clone();
        return call(unparker, &|awaited| worker.wait_for(awaited));
    }
    let parker = Parker::new();
    call(parker.unparker(), &|awaited| {
        while !awaited.is_done() {
            if awaited.sleep(0) {
                parker.park();
            }
        }
    })
}
