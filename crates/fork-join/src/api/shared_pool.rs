//! A pool on the threads of another scheduler.

use std::sync::Arc as StdArc;

use filch_processors::PoolHandle;
use filch_sync::Arc;

use crate::api::config::{Config, StartError};
use crate::api::pool::Pool;
use crate::api::threads::{HostThreads, PoolHost, shared};
use crate::search::Jobs;
use crate::shared::Host;

impl Pool {
    /// Returns the pool on the threads of a scheduler, which run jobs beside what they run anyway:
    /// behind it, but not never. Code that runs on these threads finds this pool by itself: a
    /// process may call [`join`](crate::join()). Each scheduler has one such pool: a second call
    /// returns another reference to it.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use std::sync::Arc;
    /// use filch_fork_join::Pool;
    /// use filch_processors::{Config, PoolHandle, Processors, Runner};
    ///
    /// # struct NoTasks;
    /// # impl Runner<Infallible> for NoTasks {
    /// #     type Scratch = ();
    /// #     fn scratch(&self, _thread: usize) {}
    /// #     fn run(&self, task: Infallible, _: &Arc<Processors<Infallible>>, (): &mut ()) {
    /// #         match task {}
    /// #     }
    /// # }
    /// # let runner = Arc::new(NoTasks);
    /// let processors = Processors::new(Config::default().processors(2))?;
    /// let threads = Processors::start(&processors, runner)?;
    /// let pool = Pool::on(&(processors.clone() as PoolHandle))?;
    /// assert_eq!(pool.install(|worker| worker.join(|_| 3, |_| 4)), (3, 4));
    /// processors.stop();
    /// threads.join();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// * While a thread sleeps in the middle of a job, because a branch of it was stolen, another
    ///   one runs what waits, as in a [`blocking`](crate::Worker::blocking) call.
    /// * A job that has run for long while others wait makes way for them at its next fork or join:
    ///   see [`yield_if_requested`](filch_processors::Processors::yield_if_requested). The
    ///   scheduler gets a thread for that, which sleeps while there are no jobs.
    /// * Threads take their slots, and get an [index](crate::Worker::index), when they first find a
    ///   job or fork one. A [`broadcast`](Self::broadcast) runs on those that have one, and waits
    ///   for those of them that are in a call that blocks.
    /// * Dropped, it leaves the threads as they are, and what was spawned runs. So does
    ///   [`finish`](Self::finish), which waits for nothing.
    /// * The scheduler ends when no jobs are left. Once its last process has ended, what is
    ///   installed or spawned from outside runs at once, on the calling thread.
    /// * A panic of a job that nobody waits for is dropped; the panic hook has shown it.
    ///
    /// [`start_on`](Self::start_on) does it with another [`Config`].
    ///
    /// # Errors
    /// [`StartError::Taken`]: the threads run the work of something else already.
    /// [`StartError::Thread`]: there is no thread that looks after long jobs.
    pub fn on(threads: &PoolHandle) -> Result<Self, StartError> {
        if threads.source::<Jobs>().is_none() {
            match Self::start_on(Config::default(), threads) {
                // If another thread was first, its pool it is; or the work of something else.
                Err(StartError::Taken) => {}
                started => return started,
            }
        }
        Self::found_on(threads)
    }

    /// Returns the pool on the threads of a scheduler, as [`on`](Self::on) has it, if there is none
    /// yet, and as `config` says: the limit of nested jobs, and the receiver of panics. It says
    /// nothing of threads.
    ///
    /// # Errors
    /// [`StartError::ThreadsAreMade`]: it does. [`StartError::Taken`]: there is such a pool, or the
    /// threads run the work of something else. [`StartError::Thread`]: there is no thread that
    /// looks after long jobs.
    pub fn start_on(config: Config, threads: &PoolHandle) -> Result<Self, StartError> {
        if config.says_threads {
            return Err(StartError::ThreadsAreMade);
        }
        let host: StdArc<dyn Host> = StdArc::new(PoolHost {
            threads: HostThreads::Lent(StdArc::downgrade(threads)),
            on_panic: config.on_panic,
        });
        let jobs = Jobs::new(&shared(&host, config.nested_jobs));
        let host = Some(host);
        let attached = threads.attach(StdArc::new(Jobs { host, ..jobs }));
        attached.map_err(|_| StartError::Taken)?;
        Self::found_on(threads)
    }

    /// Returns the pool that is on these threads.
    fn found_on(threads: &PoolHandle) -> Result<Self, StartError> {
        let jobs = threads.source::<Jobs>().ok_or(StartError::Taken)?;
        let host = jobs.host.as_ref().ok_or(StartError::Taken)?;
        StdArc::clone(threads)
            .watch_long_turns()
            .map_err(StartError::Thread)?;
        let shared = Arc::clone(&jobs.shared);
        Ok(Self::lent(shared, StdArc::clone(host), threads.clone()))
    }
}
