//! The messages between workers, thieves and sleepers, for the models: the shipped parts, without
//! the threads of a pool.

use filch_parker::Parker;
use filch_processors::Source;
use filch_sync::{Arc, thread};

use crate::current;
use crate::job::JobRef;
use crate::scope;
use crate::search::Jobs;
use crate::worker::Worker;

pub use crate::current::receive_guests;
pub use crate::job::{Awaited, Latch, Thief};
pub use crate::shared::{Host, Shared, Sleepers};

/// Returns the jobs as a pool of processors sees them.
pub fn source(shared: &Arc<Shared>) -> impl Source {
    Jobs::new(shared)
}

/// Registers the calling thread. `None` if there is no slot left.
pub fn register(shared: &Arc<Shared>) -> Option<Worker> {
    Worker::register(shared, None)
}

/// Runs a job of another worker's, or one from outside, if there is one.
pub fn run_one(worker: &Worker) -> bool {
    worker.run(worker.find())
}

/// Waits for the thief of the job with that latch.
pub fn wait(worker: &Worker, latch: &Latch) {
    worker.wait_for(latch);
}

/// Runs `work` on whichever worker takes it, as a thread outside of the pool has it run.
///
/// # Panics
/// If `work` does.
pub fn install<R: Send>(
    shared: &Arc<Shared>,
    parker: &Parker,
    work: impl FnOnce(&Worker) -> R + Send,
) -> R {
    let put = |job| current::inject(shared, job);
    scope::install(shared, work, parker.unparker(), put, |open| {
        while !open.is_done() {
            if open.sleep(0) {
                parker.park();
            }
        }
    })
}

/// Runs `work` here in place of the thread of that number, as soon as that is at nothing.
///
/// # Safety
/// That thread does nothing meanwhile but to [run what is its own](run_own).
pub unsafe fn visit<F>(shared: &Shared, slot: usize, number: usize, work: F)
where
    F: FnOnce(&Worker) + Send + 'static,
{
    let mut job = Some(JobRef::detached::<F>(work));
    while let Some(refused) = job {
        // SAFETY: the caller's.
        job = unsafe { current::run_in_seat(shared, slot, number, refused) };
        thread::yield_now();
    }
}

/// Runs what is for the worker's thread alone, as one does that was nudged; if there is something.
pub fn run_own(worker: &Worker) -> bool {
    worker.run_one_for_this_thread()
}
