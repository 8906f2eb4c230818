//! A pool of threads for fork/join.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::sync::Arc as StdArc;

use filch_parker::{AdaptiveSpinner, Parker, Spin, Unparker};
use filch_processors::{Machines, PoolError, PoolHandle, Processors};
use filch_sync::{Arc, asymmetric::heavy_fences};

use crate::api::config::{Config, StartError};
use crate::api::threads::{HostThreads, PoolHost, Thread, Threads, shared, usual_stack_size};
use crate::current;
use crate::job::{Awaited, MAX_SLOTS};
use crate::scope::{OpenJobs, Scope, install};
use crate::search::Jobs;
use crate::shared::{Host, Shared};
use crate::stack::ThreadReport;
use crate::worker::Worker;

type Started = Result<Machines, PoolError>;

/// A pool of threads that run jobs.
///
/// Dropped, it lets its threads go: what has been spawned runs, then they exit.
#[doc(alias = "ThreadPool")]
pub struct Pool {
    pub(crate) shared: Arc<Shared>,
    /// Kept for those that come from outside.
    host: StdArc<dyn Host>,
    /// `None` if the caller is the only thread, or the threads are another scheduler's.
    processors: Option<StdArc<Processors<Infallible>>>,
    machines: Option<Machines>,
    takes_caller: bool,
    lent_by: Option<PoolHandle>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(processors) = &self.processors {
            processors.stop();
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("processors", &self.processors)
            .field("threads", &self.report())
            .field("heavy_fences", &heavy_fences())
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// The most threads that a pool can have, a [caller](Config::with_caller) who is one among
    /// them.
    pub const MAX_THREADS: usize = MAX_SLOTS;

    /// Makes a pool of `threads` threads, with the defaults of [`Config`].
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn new(threads: usize) -> Result<Self, StartError> {
        Self::start(Config::default().threads(threads))
    }

    /// Starts a pool as `config` says. Blocking, while the system makes the threads. It does not
    /// wait for what they do first, which is [`on_start`](Config::on_start).
    ///
    /// # Errors
    /// [`StartError`]: there are to be no threads, or too many; the system refuses one; or the
    /// caller cannot be one.
    pub fn start(mut config: Config) -> Result<Self, StartError> {
        config.stack_size.get_or_insert_with(usual_stack_size);
        config.allow_guests();
        Self::start_by(config, Processors::start_all)
    }

    /// Starts a pool as `config` says, of threads that `spawn` makes: it says why there is no such
    /// thread, or sees to it that the thread [runs](Thread::run), at once or at any time later. It
    /// is called for one after the other, and not after the return. When the pool is dropped, they
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
        start: impl FnOnce(&StdArc<Processors<Infallible>>, StdArc<Threads>) -> Started,
    ) -> Result<Self, StartError> {
        let takes_caller = config.takes_caller;
        let count = config.thread_count()? - usize::from(takes_caller);
        let processors = match count {
            0 => None,
            count => Some(Processors::new(config.processors(count))?),
        };
        let kept: StdArc<dyn Host> = StdArc::new(PoolHost {
            threads: match &processors {
                None => HostThreads::None,
                Some(processors) => HostThreads::Own(StdArc::clone(processors)),
            },
            on_panic: config.on_panic.take(),
        });
        let shared = shared(&kept, config.nested_jobs);
        let mut pool = Self {
            shared: Arc::clone(&shared),
            host: StdArc::clone(&kept),
            processors,
            machines: None,
            takes_caller,
            lent_by: None,
        };
        if takes_caller {
            // First, so that it has the first slot.
            current::with_worker(&shared, |_| ()).ok_or(StartError::CallerIsTaken)?;
        }
        if let Some(processors) = &pool.processors {
            let attached = processors.attach(StdArc::new(Jobs::new(&shared)));
            assert!(attached.is_ok(), "the processors are new");
            let started = start(
                processors,
                StdArc::new(Threads::new(shared, kept, count, config)),
            );
            pool.machines = Some(started?);
        }
        Ok(pool)
    }

    /// Returns the number of threads that run jobs at a time.
    pub fn threads(&self) -> usize {
        let own = self.processors.as_ref().map_or(0, |all| all.count());
        let lent = self.lent_by.as_ref().map_or(0, |lent| lent.count());
        own + lent + usize::from(self.takes_caller)
    }

    /// Sets the number of threads that run jobs at a time, without a [caller](Config::with_caller)
    /// who is one, and returns the number before. Threads that are too many end what they run
    /// first. Blocking, while threads are started.
    ///
    /// # Errors
    /// [`PoolError`]; the pool goes on with the number that it says. A pool whose only thread is
    /// the caller has none to resize: [`PoolError::Stopped`].
    pub fn resize(&self, threads: usize) -> Result<usize, PoolError> {
        match (&self.processors, &self.lent_by) {
            (Some(processors), _) => processors.resize(threads),
            (None, Some(lender)) => lender.resize(threads),
            (None, None) => Err(PoolError::Stopped),
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
    /// one. A thread of another pool runs jobs of its own pool meanwhile. Any other thread takes
    /// the place of a thread that sleeps, and wakes none: `work` runs here with the worker of that
    /// one, on this stack and beside this thread's thread-local values; and so do other jobs, where
    /// it waits. If none sleeps, or [`start_with`](Self::start_with) made the threads, or the
    /// [`Config`] has settings of their stacks, their begin or end, or further ones, this thread
    /// sleeps meanwhile.
    ///
    /// # Panics
    /// If `work` does.
    pub fn install<R: Send>(&self, work: impl FnOnce(&Worker) -> R + Send) -> R {
        current::with_attached(|worker| match worker {
            Some(worker) if worker.is_of(&self.shared) => work(worker),
            _ if self.host.is_ending() => current::with_slot(&self.shared, work),
            other => with_unparker(other, |unparker, wait| {
                let (processors, first) = (self.processors.as_deref(), self.takes_caller.into());
                let put = |job| current::visit(&self.shared, processors, first, job);
                install(&self.shared, work, unparker, put, wait)
            }),
        })
    }

    /// Opens a scope on any thread, as [`Worker::scope`] does: the body runs here, and the jobs in
    /// the pool. If this is a thread of the pool, it runs jobs, too; one of another pool runs those
    /// of its own pool meanwhile.
    ///
    /// # Panics
    /// As there.
    pub fn scope<'scope, R>(&self, body: impl FnOnce(&Scope<'scope>) -> R) -> R {
        current::with_attached(|worker| match worker {
            Some(worker) if worker.is_of(&self.shared) => worker.scope(body),
            _ if self.host.is_ending() => {
                current::with_slot(&self.shared, |worker| worker.scope(body))
            }
            other => with_unparker(other, |unparker, wait| {
                Scope::run(&self.shared, None, Some(unparker), body, wait)
            }),
        })
    }

    /// Returns whether `worker` is that of one of its threads. Wait-free.
    pub fn has(&self, worker: &Worker) -> bool {
        worker.is_of(&self.shared)
    }

    /// Makes a pool whose threads are another scheduler's.
    pub(crate) fn lent(shared: Arc<Shared>, host: StdArc<dyn Host>, by: PoolHandle) -> Self {
        Self {
            shared,
            host,
            processors: None,
            machines: None,
            takes_caller: false,
            lent_by: Some(by),
        }
    }

    /// Reports what each thread of the pool does that has begun. It stops no thread that works, so
    /// one that begins or ends jobs meanwhile may be shown in between; what hangs is shown as it
    /// is. Blocking for a moment beside a thread that begins or exits.
    ///
    /// ```
    /// use filch_fork_join::{Doing, Pool};
    ///
    /// let pool = Pool::new(1)?;
    /// let report = pool.install(|_| pool.report());
    /// assert_eq!(report[0].doing, Doing::Runs);
    /// assert!(report[0].jobs[0].contains("main"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> Vec<ThreadReport> {
        self.shared.report()
    }
}

/// Looks of a thread from outside before it sleeps, with 127 pauses between them: some 2 to 7 µs,
/// in which a worker that is awake has run a short job, and need not wake it. It does not yield
/// meanwhile: beside a busy program that cost it a time slice for each job (30 times as long).
const LOOKS_BEFORE_SLEEP: u32 = 7;

/// Calls `call` with what wakes the calling thread, a worker of another pool or of none, and with
/// how it waits.
fn with_unparker<R>(
    worker: Option<&Worker>,
    call: impl FnOnce(Unparker, &dyn Fn(&OpenJobs)) -> R,
) -> R {
    if let Some(worker) = worker {
        let unparker = worker.shared.slot(worker.index()).unparker.clone();
        return call(unparker, &|open| worker.wait_for(open));
    }
    let parker = Parker::new();
    call(parker.unparker(), &|open| {
        let mut spinner = AdaptiveSpinner::with_rounds(LOOKS_BEFORE_SLEEP, 0);
        while !open.is_done() {
            if spinner.spin() == Spin::Block && open.sleep(0) {
                parker.park();
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::Pool;

    /// By the counters of the processor: no thread is woken, and none goes to sleep.
    #[test]
    fn an_install_into_a_sleeping_pool_wakes_nobody() {
        let pool = Pool::new(1).unwrap();
        let processors = pool.processors.as_ref().unwrap();
        let caller = thread::current().id();
        let is_guest = || pool.install(|_| thread::current().id()) == caller;
        while !is_guest() {}
        processors.wait_quiescent(None).unwrap();
        let counts = || {
            let stats = processors.stats()[0];
            (stats.wake_ups, stats.parks, stats.visits)
        };
        let (wake_ups, parks, visits) = counts();
        assert!((0..100).all(|_| is_guest()));
        assert_eq!(counts(), (wake_ups, parks, visits + 100));
    }
}
