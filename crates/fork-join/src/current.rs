//! The worker of the calling thread.

use std::cell::{Cell, OnceCell};
use std::ptr::{self, NonNull};

use filch_sync::Arc;

use crate::job::JobRef;
use crate::shared::Shared;
use crate::worker::Worker;

thread_local! {
    /// Has no destructor, so it is reached without a look at whether that has run.
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
    static SEATED: Seated = const { Seated(OnceCell::new()) };
}

/// The thread's worker, until the thread exits.
struct Seated(OnceCell<Worker>);

impl Drop for Seated {
    fn drop(&mut self) {
        CURRENT.set(ptr::null());
        if let Some(worker) = self.0.take() {
            worker.stand_up();
        }
    }
}

/// Calls `with` with the thread's worker, if it has one.
#[inline(always)]
pub(crate) fn with<R>(with: impl FnOnce(Option<&Worker>) -> R) -> R {
    // SAFETY: it is the worker in `SEATED`, which does not move, and takes this down before it
    // goes.
    with(unsafe { CURRENT.get().as_ref() })
}

/// Calls `with` with the thread's worker in that pool, in which it takes a seat if it has none.
/// `None` if it is seated in another one, or there is no seat left, or the thread exits.
pub(crate) fn with_worker<R>(
    shared: &Arc<Shared<Worker>>,
    with: impl FnOnce(&Worker) -> R,
) -> Option<R> {
    SEATED
        .try_with(|seated| {
            if seated.0.get().is_none() {
                let (seat, owner) = shared.sit_down()?;
                let worker = Worker::new(Arc::clone(shared), seat, owner);
                let worker = seated.0.get_or_init(|| worker);
                CURRENT.set(worker);
            }
            let worker = seated.0.get()?;
            Arc::ptr_eq(worker.shared(), shared).then(|| with(worker))
        })
        .ok()
        .flatten()
}

/// Runs a job that was taken out of its queue, on a thread that has a worker.
///
/// # Safety
/// It was made of a [`JobRef<Worker>`], and is run once.
pub(crate) unsafe fn run(job: NonNull<()>) {
    with(|worker| match worker {
        // SAFETY: the caller's.
        Some(worker) => unsafe { JobRef::from_raw(job).run(worker) },
        None => unreachable!("the thread that took the job has a worker"),
    });
}
