//! A pool of threads for fork/join.

use std::convert::Infallible;
use std::fmt;
use std::sync::Weak;

use filch_parker::{AdaptiveSpinner, Parker, Unparker};
use filch_processors::{Config, Processors, Runner, StartError};
use filch_sync::Arc;

use crate::current;
use crate::job;
use crate::latch::Awaited;
use crate::shared::{Host, Shared};
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
    processors: Arc<Processors<Infallible>>,
}

/// Tasks that there are none of.
struct NoTasks;

impl Runner<Infallible> for NoTasks {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, task: Infallible, (): &mut ()) {
        match task {}
    }
}

impl<T: Send + 'static> Host for Weak<Processors<T>> {
    fn notify(&self) {
        if let Some(processors) = self.upgrade() {
            processors.notify();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.processors.stop();
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("processors", &self.processors)
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool of `threads` threads.
    ///
    /// # Errors
    /// [`StartError`]: there are none, too many, or the system refuses one.
    pub fn new(threads: usize) -> Result<Self, StartError> {
        let config = Config::default()
            .processors(threads)
            .thread_limit(threads)
            .thread_name("filch-fork-join");
        let processors = Processors::new(config)?;
        // The processors have the jobs, so these must not keep them.
        let host = Arc::downgrade(&processors);
        let patience = AdaptiveSpinner::with_rounds(PAUSING_ROUNDS, YIELDING_ROUNDS);
        let shared = Arc::new(Shared::new(Box::new(host), patience));
        let attached = processors.attach(Arc::new(Jobs(Arc::clone(&shared))));
        assert!(attached.is_ok(), "the processors are new");
        Processors::start(&processors, Arc::new(NoTasks))?.detach();
        Ok(Self { shared, processors })
    }

    /// Runs `work` on a thread of the pool, and returns what it returns: here and now if this is
    /// one. A thread of another pool runs jobs of its own pool meanwhile; any other thread sleeps.
    ///
    /// # Panics
    /// If `work` does.
    pub fn install<R: Send>(&self, work: impl FnOnce(&Worker) -> R + Send) -> R {
        current::with(|worker| match worker {
            Some(worker) if worker.is_of(&self.shared) => work(worker),
            Some(other) => {
                let unparker = other.shared().seat(other.seat()).unparker.clone();
                self.run(work, unparker, |job| other.wait(job))
            }
            None => {
                thread_local! {
                    static PARKER: Parker = Parker::new();
                }
                PARKER.with(|parker| {
                    self.run(work, parker.unparker(), |job| {
                        while !job.is_done() {
                            parker.park();
                        }
                    })
                })
            }
        })
    }

    fn run<R: Send>(
        &self,
        work: impl FnOnce(&Worker) -> R + Send,
        unparker: Unparker,
        wait: impl FnOnce(&dyn Awaited),
    ) -> R {
        job::install(work, unparker, |job| self.shared.inject(job), wait)
    }
}
