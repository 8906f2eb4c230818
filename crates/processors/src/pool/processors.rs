//! A pool of processors, and how tasks get into it.

use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};
use std::{fmt, io};

use filch_injector::AllocateError;
use filch_parker::Unparker;
use filch_sync::{Mutex, MutexGuard, lock};

use crate::pool::config::{Config, PoolError};
use crate::pool::current::{self, Current};
use crate::pool::runner::{Awaited, CallerRuns};
use crate::pool::threads::Handles;
use crate::protocol::threads::ThreadStats;
use crate::protocol::{Coordinator, LongTurns, Permit};
use crate::queues::bound_tasks::BoundTasks;
use crate::queues::source::Source;
use crate::queues::task_queues::{Shared, TaskQueues};
use crate::stats::{ProcessorStats, Progress};

/// N processors that run tasks of type `T`: their deques, the global queue, and the threads that
/// run on them. All that a thread did before it made a task runnable happens before the task runs.
#[doc(alias = "ThreadPool")]
pub struct Processors<T> {
    pub(crate) shared: Shared<T>,
    pub(crate) config: Config,
    pub(crate) runner: RunnerSlot<T>,
    pub(crate) handles: Arc<Handles>,
    /// The counters that the last dump saw.
    pub(crate) progress: Mutex<Progress>,
    /// The unparker of the thread that reports long tasks, if there is one.
    pub(crate) watchdog: OnceLock<Unparker>,
}

/// A runner with its pool at hand, of whatever type it is.
pub(crate) trait AnyRunner<T>: Send + Sync {
    /// Asks the system for the thread of a machine.
    fn start_thread(&self, machine: usize) -> io::Result<()>;

    /// Runs the task for a guest: see [`CallerRuns::run`].
    fn caller_runs(&self, visit: CallerRuns, task: T, awaited: &dyn Awaited<T>);

    /// Returns what the runner calls a task, for a [`Dump`](crate::Dump).
    fn label(&self, task: &T) -> Option<NonZeroU64>;

    /// Returns what a person should read for that.
    fn describe(&self, label: NonZeroU64) -> String;
}

/// The runner of a pool, from the start until the last thread has exited.
pub(crate) type RunnerSlot<T> = Arc<Mutex<Option<Arc<dyn AnyRunner<T>>>>>;

impl<T: Send + 'static> Processors<T> {
    /// Makes the processors. Tasks can be scheduled from now on; they run once
    /// [`start`](Self::start) has been called.
    ///
    /// A task schedules others by the pointer that [`Runner::run`](crate::Runner::run) gives it. A
    /// copy in some structure beside a word that tasks write shares a cache line with that word:
    /// this has been seen to double the cost of a task.
    ///
    /// # Errors
    /// [`PoolError::NoProcessors`], [`PoolError::TooManyProcessors`],
    /// [`PoolError::TooFewThreads`].
    pub fn new(config: Config) -> Result<Arc<Self>, PoolError> {
        Self::with_prefetch(config, |_| ())
    }

    /// Makes a pool as [`new`](Self::new) does, for tasks that stand for memory that another thread
    /// has written. A processor takes several short tasks from outside at once, and calls
    /// `prefetch` with those that do not run at once, to ask the cache for their lines together
    /// instead of one by one. `prefetch` must be short, not panic, and not call the pool.
    ///
    /// # Errors
    /// As `new`.
    pub fn with_prefetch(config: Config, prefetch: fn(&T)) -> Result<Arc<Self>, PoolError> {
        let (processors, places, threads) = config.resolve()?;
        // Each part is made where it stays: moved there, it would leave its size on the caller's
        // stack.
        let pool = Arc::new(Self {
            shared: Shared {
                queues: TaskQueues::new(processors, places, (config.clock)()),
                coordinator: Coordinator::new(places, processors, threads, config.spare_threads),
                bound_tasks: BoundTasks::new(),
                long_turns: LongTurns::new(places),
                watch_interval: config.watch_interval,
                clock: config.clock,
                prefetch,
            },
            config,
            runner: RunnerSlot::default(),
            handles: Arc::default(),
            progress: Mutex::default(),
            watchdog: OnceLock::new(),
        });
        let runner = Arc::clone(&pool.runner);
        pool.shared.coordinator.set_launcher(move |machine| {
            let runner = lock(&runner).clone();
            let ended = || io::Error::other("the pool does not run");
            runner.ok_or_else(ended)?.start_thread(machine)
        });
        Ok(pool)
    }

    /// Makes `task` runnable. On one of the pool's own threads it goes to the deque of the
    /// processor, to be run next, else to the end of the global queue. Lock-free.
    #[inline]
    pub fn schedule(&self, task: T) {
        if let Some(task) = self.push_here(task) {
            self.inject(task);
        }
    }

    /// [`schedule`](Self::schedule) for a task that was woken: one that has run before, or for
    /// which a thread waits.
    /// From outside it does not go behind all that are new: the global queue has a lane for each
    /// of the two kinds, and they leave it by turns while there are some of both.
    #[inline]
    pub fn wake(&self, task: T) {
        if let Some(task) = self.push_here(task) {
            self.inject_woken(task);
        }
    }

    /// Puts the task into the deque of the caller's processor. A caller without one gets it back.
    #[inline]
    fn push_here(&self, task: T) -> Option<T> {
        let (queues, coordinator) = (&self.shared.queues, &self.shared.coordinator);
        let mut task = Some(task);
        let push = |permit: &Permit| {
            if let Some(task) = task.take() {
                let local = queues.local(permit);
                // If there is no memory for a larger deque, it goes into the global queue, whose
                // blocks are small.
                if let Err(task) = local.deque.try_push(task) {
                    queues.global.new.push(task);
                }
                queues.counters(permit.processor()).scheduled.add(1);
                // With one processor there is none to wake: it runs already, being the caller's,
                // unless that one is surplus.
                let control = coordinator.control_word();
                if control.active() > 1 || control.is_surplus(permit.processor()) {
                    coordinator.wake_one_for_deque(permit.processor(), || local.has_one());
                }
            }
        };
        // In a blocking call the thread has none.
        // SAFETY: to push and to wake runs no task.
        current::with_current(&self.shared, |current| unsafe { current.with_permit(push) });
        task
    }

    /// Sees to it that there is memory for a task that is about to be made runnable, by
    /// [`schedule_idle`](Self::schedule_idle) if it is for `idle`: one more block, for whichever
    /// task comes first. A task that finds no memory ends the program: ask before what cannot be
    /// undone. Wait-free, except for memory.
    ///
    /// # Errors
    /// [`AllocateError::NoMemory`].
    #[inline]
    pub fn reserve_room(&self, idle: bool) -> Result<(), AllocateError> {
        let queues = &self.shared.queues;
        match idle {
            true => queues.idle_priority.reserve_block(),
            false => queues.global.new.reserve_block(),
        }
    }

    /// Makes `task` runnable, after everything new that is in the global queue. Lock-free.
    #[inline(never)]
    pub fn inject(&self, task: T) {
        self.shared.queues.global.new.push(task);
        self.shared.coordinator.wake_one();
    }

    /// [`inject`](Self::inject) for the other lane.
    #[inline(never)]
    fn inject_woken(&self, task: T) {
        self.shared.queues.global.woken.push(task);
        self.shared.coordinator.wake_one();
    }

    /// Makes `task` runnable, after all that is runnable now: for a task that has more to do and
    /// lets others go first. A processor takes such a task when its own deque and the global queue
    /// are empty; besides, while others are always runnable, one every 400 µs or when the running
    /// task ends, whichever is later, unless turns are long and tasks of the global queue are
    /// older. First in, first out among its like. Lock-free.
    pub fn give_way(&self, task: T) {
        self.shared.queues.yielded.push(task);
        self.shared.coordinator.wake_one();
    }

    /// [`give_way`](Self::give_way), as the last thing that a task does in its turn. If nothing
    /// else is runnable, the processor keeps `task` and runs it next: no other one is woken for it.
    pub fn give_way_at_end(&self, task: T) {
        let queues = &self.shared.queues;
        let mut task = Some(task);
        // A processor that takes something else first after all wakes another one for this.
        let keep = |permit: &Permit| {
            let local = queues.local(permit);
            if local.deque.is_empty()
                && queues.global.is_empty()
                && queues.yielded.is_empty()
                && let Some(lone) = task.take()
            {
                task = local.deque.try_push(lone).err();
            }
        };
        // SAFETY: to push runs no task.
        current::with_current(&self.shared, |current| unsafe { current.with_permit(keep) });
        if let Some(task) = task {
            self.give_way(task);
        }
    }

    /// Makes `task` runnable when there is nothing else to do: after everything that is in the
    /// other queues, whenever that comes. While every processor is busy it waits; a processor that
    /// has searched everywhere in vain takes it. First in, first out among its like. Lock-free.
    pub fn schedule_idle(&self, task: T) {
        self.shared.queues.idle_priority.push(task);
        self.shared.coordinator.wake_one();
    }

    /// The number of processors. Just after a [`resize`](Self::resize) some more may still be
    /// running their last task.
    #[inline]
    pub fn count(&self) -> usize {
        self.shared.coordinator.control_word().active()
    }

    /// The largest number of processors that there can be: their numbers are less.
    pub fn max_count(&self) -> usize {
        self.shared.queues.places
    }

    /// Returns whether the calling thread is one of the pool's.
    pub fn is_machine(&self) -> bool {
        current::with_current(&self.shared, |_| ()).is_some()
    }

    /// The number of the processor that the calling thread runs on, if it is one of the pool's and
    /// not in a blocking call. It may be another one after each [`blocking`](Self::blocking) call.
    #[inline]
    pub fn current(&self) -> Option<usize> {
        let number = |current: &Current<'_>| current.processor();
        current::with_current(&self.shared, number).flatten()
    }

    /// The [label](crate::Runner::label) of the task that the calling thread is in the middle of,
    /// if it is one of the pool's, or a guest, and the task has one: also in a
    /// [`blocking`](Self::blocking) call.
    pub fn current_label(&self) -> Option<NonZeroU64> {
        let coordinator = &self.shared.coordinator;
        current::with_current(&self.shared, |current| current.label(coordinator)).flatten()
    }

    /// Returns what each processor has done so far, those included that have been given up.
    pub fn stats(&self) -> Vec<ProcessorStats> {
        let processors = self.shared.queues.in_reach();
        let counters = processors.map(|processor| processor.counters.snapshot());
        counters.collect()
    }

    /// Returns how many threads there are, and what they do. Takes a lock for a moment.
    pub fn threads(&self) -> ThreadStats {
        self.shared.coordinator.thread_stats()
    }

    /// Keeps starts, reservations and resizes from each other, and the caller's threads from one
    /// that joins all.
    ///
    /// # Errors
    /// The pool has not been started, or it has been stopped.
    pub(crate) fn lock_running(&self) -> Result<MutexGuard<'_, ()>, PoolError> {
        let guard = lock(&self.handles.resizing);
        // In this order: if there is no runner because the pool is over, it has been stopped.
        let has_runner = lock(&self.runner).is_some();
        match (self.is_ending(), has_runner) {
            (true, _) => Err(PoolError::Stopped),
            (_, false) => Err(PoolError::NotRunning),
            (_, true) => Ok(guard),
        }
    }
}

/// Work beside the tasks: a source of it, and the news of what is in there.
impl<T: Send + 'static> Processors<T> {
    /// Makes the pool's threads run the source's external tasks behind the tasks, for good: a
    /// processor that has found no task anywhere takes one; one that is never without tasks takes
    /// one every 100 µs, or after each second task if these are longer. Before or after
    /// [`start`](Self::start). Progress as [`notify`](Self::notify), which it ends with; blocking
    /// only beside another `attach`.
    ///
    /// An external task runs as a task does: with a processor, so that
    /// [`blocking`](Self::blocking) gives that away, and [`schedule`](Self::schedule) uses its
    /// deque; and a panic costs it alone. No hook of the [`Runner`](crate::Runner) is called for
    /// it. A pool is not [quiescent](Self::is_quiescent) while there are some; one that is told to
    /// [`stop`](Self::stop) runs them first.
    ///
    /// All that the caller did before happens before each call of the source.
    ///
    /// # Errors
    /// [`PoolError::HasSource`].
    pub fn attach<S: Source>(&self, source: Arc<S>) -> Result<(), PoolError> {
        let attached = self.shared.queues.source.attach(source);
        attached.map_err(|_| PoolError::HasSource)?;
        // To those that have seen none when they went to sleep, all that is there is new.
        self.notify();
        Ok(())
    }

    /// Wakes a processor for something that was put into the pool's source, if one is idle and none
    /// searches. On any thread. A full fence and a load; wait-free if none is to be woken, else
    /// lock-free, plus a system call. All that the caller did before happens before the look of a
    /// thread that was woken.
    #[inline]
    pub fn notify(&self) {
        self.shared.coordinator.wake_one();
        self.shared.long_turns.put();
    }

    /// Returns whether the pool has been told to [stop](Self::stop). Then what a thread outside
    /// puts into the source might come too late. One that puts something there,
    /// [notifies](Self::notify), and hears `false`, can rely on it that it will be run. Wait-free:
    /// a load.
    pub fn is_ending(&self) -> bool {
        self.shared.coordinator.control_word().is_stopping()
    }

    /// Wakes every thread of the pool that waits for a processor, or for something to do with the
    /// one it has: each calls [`nudged`](Source::nudged) of the source before it waits on. A thread
    /// that does something else calls it before it waits the next time. An unpark for each thread;
    /// lock-free, plus system calls.
    ///
    /// All that the caller did before happens before these calls.
    pub fn nudge_threads(&self) {
        self.shared.coordinator.nudge_all();
    }
}

impl<T> fmt::Debug for Processors<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processors")
            .field("coordinator", &self.shared.coordinator)
            .finish_non_exhaustive()
    }
}
