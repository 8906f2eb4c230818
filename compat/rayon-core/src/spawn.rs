//! Jobs that nobody waits for, also those that begin oldest first.

use std::fmt;
use std::sync::Arc;

use filch_fork_join::{Pool, Worker};
use filch_injector::Injector;

use crate::global;

/// Runs `job` at some time, on a thread of the caller's pool, or of the global pool. The caller
/// does not wait.
///
/// Everything that the caller did before happens before the job. A thread takes its own youngest
/// jobs first, and the oldest of others. A dropped pool runs its spawned jobs. It takes an
/// allocation.
///
/// A panic of it goes to the pool's [handler](crate::ThreadPoolBuilder::panic_handler), and aborts
/// the process if there is none.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send(7).unwrap());
/// assert_eq!(receiver.recv(), Ok(7));
/// ```
///
/// # Panics
/// If there is no global pool, and none can be built.
pub fn spawn<F>(job: F)
where
    F: FnOnce() + Send + 'static,
{
    Worker::current(|worker| match worker {
        Some(worker) => worker.spawn(|_| job()),
        None => global::pool().spawn(|_| job()),
    });
}

/// As [`spawn`], but of the jobs that one thread spawns by this, the oldest begins first. It takes
/// two allocations.
///
/// # Panics
/// As there.
pub fn spawn_fifo<F>(job: F)
where
    F: FnOnce() + Send + 'static,
{
    Worker::current(|worker| match worker {
        Some(worker) => spawn_fifo_on(worker, job),
        None => global::pool().spawn(|_| job()),
    });
}

/// As [`spawn_fifo`], into that pool.
pub(crate) fn spawn_fifo_into(pool: &Pool, job: impl FnOnce() + Send + 'static) {
    Worker::current(|worker| match worker {
        Some(worker) if pool.has(worker) => spawn_fifo_on(worker, job),
        // The queue for jobs from outside has that order.
        _ => pool.spawn(|_| job()),
    });
}

fn spawn_fifo_on(worker: &Worker, job: impl FnOnce() + Send + 'static) {
    thread_local! {
        static SPAWNED: Arc<Fifo<'static, ()>> = Arc::default();
    }
    match SPAWNED.try_with(Arc::clone) {
        Ok(spawned) => {
            spawned.push(|()| job());
            worker.spawn(move |_| spawned.run_oldest(&()));
        }
        // The thread exits.
        Err(_) => worker.spawn(|_| job()),
    }
}

type Job<'scope, C> = Box<dyn FnOnce(&C) + Send + 'scope>;

/// Jobs in the order in which they were spawned. For each, a worker gets a job which calls
/// [`run_oldest`](Self::run_oldest): it takes a turn, not that very job.
pub(crate) struct Fifo<'scope, C>(Injector<Job<'scope, C>>);

impl<C> Default for Fifo<'_, C> {
    fn default() -> Self {
        Self(Injector::new())
    }
}

impl<C> fmt::Debug for Fifo<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fifo").finish_non_exhaustive()
    }
}

impl<'scope, C> Fifo<'scope, C> {
    /// Adds a job. The caller then spawns a turn.
    pub(crate) fn push(&self, job: impl FnOnce(&C) + Send + 'scope) {
        self.0.push(Box::new(job));
    }

    /// Runs the job whose turn it is.
    ///
    /// # Panics
    /// If the job panics.
    pub(crate) fn run_oldest(&self, context: &C) {
        match self.0.pop() {
            Some(job) => job(context),
            // Each job was pushed before its turn was spawned.
            None => unreachable!("there are as many jobs as turns"),
        }
    }
}
