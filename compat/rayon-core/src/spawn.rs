//! Jobs that nobody waits for, also those that begin oldest first.

use filch_fork_join::{Pool, Worker};

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

/// As [`spawn`], but of the jobs that one thread spawns by this, the oldest begins first.
///
/// # Panics
/// As there.
pub fn spawn_fifo<F>(job: F)
where
    F: FnOnce() + Send + 'static,
{
    Worker::current(|worker| match worker {
        Some(worker) => worker.spawn_in_order(|_| job()),
        None => global::pool().spawn(|_| job()),
    });
}

/// As [`spawn_fifo`], into that pool.
pub(crate) fn spawn_fifo_into(pool: &Pool, job: impl FnOnce() + Send + 'static) {
    Worker::current(|worker| match worker {
        Some(worker) if pool.has(worker) => worker.spawn_in_order(|_| job()),
        // The queue for jobs from outside has that order.
        _ => pool.spawn(|_| job()),
    });
}
