use std::error::Error;
use std::fmt;
use std::io;
use std::thread::available_parallelism;

use filch_deque::Worker;
use filch_injector::Injector;
use filch_parker::Parker;
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, CachePadded, Mutex};

use crate::current;
use crate::idle::Idle;
use crate::machine::{Machine, Machines};
use crate::processor::Processor;
use crate::stats::{Counters, ProcessorStats};

/// What running a task means.
pub trait Runner<T>: Send + Sync + 'static {
    /// What a processor keeps from task to task; made on its own thread, and never leaves it.
    type Scratch;

    /// The scratch for the processor of that number. It must not panic: the processor would be without a thread.
    fn scratch(&self, processor: usize) -> Self::Scratch;

    /// Runs one task. A panic is contained and counted; the task is gone.
    fn run(&self, task: T, scratch: &mut Self::Scratch);
}

/// How many processors.
#[derive(Debug, Clone, Copy, Default)]
pub struct Config {
    processors: Option<usize>,
}

impl Config {
    /// The number of processors, each with one thread. Default: the parallelism that the system reports.
    #[must_use]
    pub fn processors(mut self, count: usize) -> Self {
        self.processors = Some(count);
        self
    }
}

/// Why a pool could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A pool of no processors could never run anything.
    NoProcessors,
    /// More processors than the idle list can name.
    TooManyProcessors {
        /// What was asked for.
        asked: usize,
        /// What is possible.
        most: usize,
    },
    /// The pool runs already.
    AlreadyStarted,
    /// The system refused a thread.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcessors => f.write_str("0 workers can run nothing: ask for at least 1"),
            Self::TooManyProcessors { asked, most } => {
                write!(
                    f,
                    "{asked} workers are more than the {most} that are possible: ask for fewer"
                )
            }
            Self::AlreadyStarted => f.write_str("the workers have been started already"),
            Self::Thread(error) => {
                write!(
                    f,
                    "the system refused a thread ({error}): ask for fewer workers, or raise its limit"
                )
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            Self::NoProcessors | Self::TooManyProcessors { .. } | Self::AlreadyStarted => None,
        }
    }
}

/// What only a processor's own thread may use: one entry per processor.
type Owners<T> = Vec<(Worker<T>, Parker)>;

/// N processors that run tasks of type `T`: their deques, the global queue, and who is idle.
pub struct Processors<T> {
    pub(crate) processors: Box<[Processor<T>]>,
    pub(crate) injector: Injector<T>,
    pub(crate) idle: Idle,
    stopping: CachePadded<AtomicBool>,
    /// The owners' ends, until `start` gives them to the threads. Locked by `start` alone.
    owners: Mutex<Option<Owners<T>>>,
}

impl<T: Send + 'static> Processors<T> {
    /// Makes the processors. Tasks can be scheduled from now on; they run once
    /// [`start`](Self::start) has been called.
    ///
    /// # Errors
    /// [`StartError::NoProcessors`], [`StartError::TooManyProcessors`].
    pub fn new(config: Config) -> Result<Arc<Self>, StartError> {
        let count = match config.processors {
            None => available_parallelism()
                .map_or(1, usize::from)
                .min(Idle::MOST),
            Some(0) => return Err(StartError::NoProcessors),
            Some(asked) if asked > Idle::MOST => {
                return Err(StartError::TooManyProcessors {
                    asked,
                    most: Idle::MOST,
                });
            }
            Some(asked) => asked,
        };
        let owners: Owners<T> = (0..count).map(|_| (Worker::new(), Parker::new())).collect();
        let processors = owners
            .iter()
            .map(|(worker, parker)| Processor {
                stealer: worker.stealer(),
                unparker: parker.unparker(),
                counters: CachePadded::new(Counters::default()),
            })
            .collect();
        Ok(Arc::new(Self {
            processors,
            injector: Injector::new(),
            idle: Idle::new(count),
            stopping: CachePadded::new(AtomicBool::new(false)),
            owners: Mutex::new(Some(owners)),
        }))
    }

    /// Starts a thread for each processor of `pool`.
    ///
    /// # Errors
    /// [`StartError::AlreadyStarted`]; [`StartError::Thread`], after which the pool is stopped and the threads that had been
    /// started leave.
    pub fn start<R: Runner<T>>(pool: &Arc<Self>, runner: Arc<R>) -> Result<Machines, StartError> {
        let owners = match pool.owners.lock() {
            Ok(mut owners) => owners.take(),
            Err(poisoned) => poisoned.into_inner().take(),
        };
        let mut machines = Machines::new();
        for (own, (worker, parker)) in owners
            .ok_or(StartError::AlreadyStarted)?
            .into_iter()
            .enumerate()
        {
            let machine = Machine {
                pool: Arc::clone(pool),
                runner: Arc::clone(&runner),
                own,
                worker,
                parker,
            };
            match machine.spawn() {
                Ok(thread) => machines.push(thread),
                Err(error) => {
                    pool.stop();
                    machines.join();
                    return Err(StartError::Thread(error));
                }
            }
        }
        Ok(machines)
    }

    /// Makes `task` runnable. On one of the pool's own threads it goes to that thread's deque, to be run next, else to
    /// the end of the global queue. Lock-free.
    ///
    /// What the caller did before happens before the task runs.
    pub fn schedule(&self, task: T) {
        let mut task = Some(task);
        let scheduled = current::with_current(self, |current| {
            if let Some(task) = task.take() {
                current.worker.push(task);
                current.counters.scheduled.add(1);
                // With one processor there is nobody to wake: it runs already, being the caller.
                if self.processors.len() > 1 {
                    self.wake_one();
                }
            }
        });
        if let (None, Some(task)) = (scheduled, task) {
            self.injector.push(task);
            self.wake_one();
        }
    }

    /// Makes `task` runnable, after everything that is in the global queue. Lock-free.
    ///
    /// What the caller did before happens before the task runs.
    pub fn inject(&self, task: T) {
        self.injector.push(task);
        self.wake_one();
    }

    /// Lets the threads leave, once no work remains. A task that is scheduled when they have left stays where it is.
    pub fn stop(&self) {
        // ORDERING: Release, partner of the Acquire in `is_stopping`.
        self.stopping.store(true, Ordering::Release);
        // Everybody gets a token, asleep or not; a park that takes it sees the flag.
        for processor in &self.processors {
            processor.unparker.unpark();
        }
    }

    /// The number of processors.
    pub fn count(&self) -> usize {
        self.processors.len()
    }

    /// Whether the calling thread is one of the pool's.
    pub fn is_machine(&self) -> bool {
        current::is_current(self)
    }

    /// What each processor has done so far.
    pub fn stats(&self) -> Vec<ProcessorStats> {
        self.processors
            .iter()
            .map(|processor| processor.counters.snapshot())
            .collect()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        // ORDERING: Acquire: see `stop`.
        self.stopping.load(Ordering::Acquire)
    }

    /// Whether any queue holds a task. Whoever asks has registered as idle before.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty()
            || self
                .processors
                .iter()
                .any(|processor| !processor.stealer.is_empty())
    }

    /// Work was published: wakes a processor for it, if one is idle and none is searching.
    pub(crate) fn wake_one(&self) {
        if let Some(processor) = self.idle.processor_to_wake() {
            self.processors[processor].unparker.unpark();
        }
    }
}

impl<T> fmt::Debug for Processors<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processors")
            .field("processors", &self.processors)
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}
