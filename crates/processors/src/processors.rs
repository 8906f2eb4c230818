use std::fmt;
use std::num::NonZeroU64;

use filch_sync::{Arc, Mutex};

use crate::bond::BoundId;
use crate::bound::BoundQueues;
use crate::config::{Config, StartError};
use crate::crew::Crew;
use crate::current;
use crate::hold::Hold;
use crate::machine::{Machines, Starter};
use crate::processor::Queues;
use crate::stats::ProcessorStats;
use crate::throttle::{Start, Threads};
use crate::watch::Watch;

/// What running a task means.
pub trait Runner<T>: Send + Sync + 'static {
    /// What a thread keeps from task to task; made on it, and never leaves it.
    type Scratch;

    /// The scratch for the thread of that number. Threads come and go, so many at a time as
    /// [`Config::thread_limit`] says, and numbers are used again. It must not panic: the thread
    /// would be lost, and a processor with it.
    fn scratch(&self, machine: usize) -> Self::Scratch;

    /// The thread that the task is bound to, if it is: see [`Processors::reserve_thread`]. Asked of
    /// every task that is about to run, by the thread that has found it. The default answers
    /// "none", and costs nothing. It must not panic: the thread would be lost, and a processor with
    /// it.
    #[inline]
    fn bound_to(&self, _task: &T) -> Option<BoundId> {
        None
    }

    /// A number by which a [`Dump`](crate::Dump) can name the task while it runs, blocks or waits
    /// for its thread. The default answers "none", and costs nothing; a label costs two stores a
    /// task. It must neither panic nor call the pool.
    #[inline]
    fn label(&self, _task: &T) -> Option<NonZeroU64> {
        None
    }

    /// What a person should read for that number. It must not call the pool.
    fn describe(&self, label: NonZeroU64) -> String {
        format!("task {label}")
    }

    /// The number of the processor that the task which comes next begins on: see
    /// [`Processors::current`], which costs more. The default does nothing, and costs nothing. It
    /// must not panic: the thread would be lost, and a processor with it.
    #[inline]
    fn on_processor(&self, _processor: usize, _scratch: &mut Self::Scratch) {}

    /// Runs one task. A panic is contained and counted; the task is gone.
    fn run(&self, task: T, scratch: &mut Self::Scratch);
}

/// N processors that run tasks of type `T`: their deques, the global queue, and the threads that
/// hold them.
pub struct Processors<T> {
    pub(crate) queues: Queues<T>,
    pub(crate) crew: Crew,
    config: Config,
    pub(crate) bound: BoundQueues<T>,
    /// From the start until the last thread has left.
    pub(crate) starter: Mutex<Option<Box<dyn Start<T>>>>,
    pub(crate) threads: Arc<Threads>,
    /// What the last dump saw.
    pub(crate) watch: Mutex<Watch>,
}

impl<T: Send + 'static> Processors<T> {
    /// Makes the processors. Tasks can be scheduled from now on; they run once
    /// [`start`](Self::start) has been called.
    ///
    /// # Errors
    /// [`StartError::NoProcessors`], [`StartError::TooManyProcessors`],
    /// [`StartError::TooFewThreads`].
    pub fn new(config: Config) -> Result<Arc<Self>, StartError> {
        let (processors, places, threads) = config.resolve()?;
        Ok(Arc::new(Self {
            queues: Queues::new(places),
            crew: Crew::new(places, processors, threads, config.spare_threads),
            config,
            bound: BoundQueues::default(),
            starter: Mutex::new(None),
            threads: Arc::default(),
            watch: Mutex::default(),
        }))
    }

    /// Starts a thread for each processor of `pool`. None of them runs a task before all are there.
    ///
    /// # Errors
    /// [`StartError::AlreadyStarted`]; [`StartError::Stopped`]; [`StartError::Thread`], after which
    /// the pool is stopped and the threads that had been started have left.
    pub fn start<R: Runner<T>>(pool: &Arc<Self>, runner: Arc<R>) -> Result<Machines, StartError> {
        let resizing = crate::lock(&pool.threads.resizing);
        if pool.is_stopping() {
            return Err(StartError::Stopped);
        }
        {
            let mut starter = crate::lock(&pool.starter);
            if starter.is_some() {
                return Err(StartError::AlreadyStarted);
            }
            *starter = Some(Box::new(Starter {
                pool: Arc::clone(pool),
                runner,
                config: pool.config,
            }));
        }
        let machines = Machines {
            threads: Arc::clone(&pool.threads),
        };
        let count = pool.count();
        pool.queues.reach(count);
        let mut refusal = None;
        let complete = pool.crew.muster(count, |machine| {
            refusal = pool.try_start_thread(machine).err();
            refusal.is_none()
        });
        if complete {
            return Ok(machines);
        }
        drop(resizing);
        pool.stop();
        machines.join();
        // If not even one thread could be had, there was none to do that.
        pool.end_if_deserted();
        // The limit has been checked, so if it was not the system, it is somebody else who has
        // stopped the pool meanwhile.
        Err(refusal.map_or(StartError::Stopped, StartError::Thread))
    }

    /// Makes `task` runnable. On one of the pool's own threads it goes to its processor's deque, to
    /// be run next, else to the end of the global queue. Lock-free.
    ///
    /// What the caller did before happens before the task runs.
    #[inline]
    #[expect(unsafe_code, reason = "looks at the hold where it is")]
    pub fn schedule(&self, task: T) {
        let mut task = Some(task);
        let push = |hold: &Hold| {
            if let Some(task) = task.take() {
                let owner = self.queues.owners.get(hold);
                owner.push(task);
                let counters = &self.queues.processors[hold.processor()].counters;
                counters.scheduled.add(1);
                // With one processor there is nobody to wake: it runs already, being the caller's,
                // unless that one is surplus.
                let notice = self.crew.notice();
                if notice.active > 1 || notice.is_surplus(hold.processor()) {
                    self.crew.wake_one_beside(hold, || owner.has_one());
                }
            }
        };
        // In a blocking call the thread has none.
        // SAFETY: none of these knows of the cell, and none runs a task.
        current::with_current(self, |current| unsafe { current.hold.with(push) });
        if let Some(task) = task {
            self.inject(task);
        }
    }

    /// Makes `task` runnable, after everything that is in the global queue. Lock-free.
    ///
    /// What the caller did before happens before the task runs.
    #[inline(never)]
    pub fn inject(&self, task: T) {
        self.queues.injector.push(task);
        self.crew.wake_one();
    }

    /// Makes `task` runnable when there is nothing else to do: after everything that is in the
    /// other queues, whenever it comes. As long as every processor is busy it waits; one that has
    /// searched everywhere in vain takes it. First in, first out among its like. Lock-free.
    ///
    /// What the caller did before happens before the task runs.
    pub fn schedule_idle(&self, task: T) {
        self.queues.idle_priority.push(task);
        self.crew.wake_one();
    }

    /// The number of processors. Just after a [`resize`](Self::resize) some more may still be
    /// running their last task.
    #[inline]
    pub fn count(&self) -> usize {
        usize::from(self.crew.notice().active)
    }

    /// The largest number of processors that there can be: their numbers are less.
    pub fn max_count(&self) -> usize {
        self.queues.processors.len()
    }

    /// Whether the calling thread is one of the pool's.
    pub fn is_machine(&self) -> bool {
        current::is_current(self)
    }

    /// The number of the processor that the calling thread holds, if it is one of the pool's and
    /// not in a blocking call. A task may find another one after each [`blocking`](Self::blocking)
    /// call.
    #[inline]
    pub fn current(&self) -> Option<usize> {
        current::with_current(self, |current| current.hold.processor()).flatten()
    }

    /// What each processor has done so far, those included that have been given up.
    pub fn stats(&self) -> Vec<ProcessorStats> {
        let count = self.queues.in_reach().len().max(self.count());
        self.queues.processors[..count]
            .iter()
            .map(|processor| processor.counters.snapshot())
            .collect()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.crew.notice().stopping
    }
}

impl<T> fmt::Debug for Processors<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processors")
            .field("processors", &self.queues.processors)
            .field("crew", &self.crew)
            .finish_non_exhaustive()
    }
}
