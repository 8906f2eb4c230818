//! The worker of the calling thread.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use filch_processors::{Processors, with_source};
use filch_sync::{Arc, lock, thread};

use crate::job::JobRef;
use crate::search::Jobs;
use crate::shared::Shared;
use crate::worker::Worker;

filch_sync::thread_local! {
    /// Has no destructor, so it is reached without a look at whether that has run: each `join` that
    /// is not given the worker comes this way. To follow it, in [`worker`], and to call that, is
    /// the only unsafe code that is not about jobs.
    static CURRENT: Cell<*const Worker> = Cell::new(ptr::null())
}

filch_sync::thread_local! {
    static REGISTERED: Registered = Registered(RefCell::new(None))
}

fn set_current(worker: *const Worker) {
    CURRENT.with(|current| current.set(worker));
}

/// The thread's worker, until it leaves the pool or exits. In a box: `CURRENT` points to it.
struct Registered(RefCell<Option<Box<Worker>>>);

impl Registered {
    fn unregister(&self) {
        set_current(ptr::null());
        if let Some(worker) = self.0.take() {
            worker.unregister();
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // In a model, `CURRENT` may be gone before, on a thread that has left.
        if self.0.get_mut().is_some() {
            with(|worker| worker.map(Worker::run_the_rest));
            self.unregister();
        }
    }
}

/// Takes the thread's worker from it; calls `last` with its index before.
pub(crate) fn leave(last: impl FnOnce(usize)) {
    with(|worker| {
        if let Some(worker) = worker {
            worker.stop_listening();
            last(worker.index());
        }
    });
    // If it exits already, that does it.
    let _ = REGISTERED.try_with(Registered::unregister);
}

/// Returns whether the thread has a worker.
#[inline(always)]
pub(crate) fn has_worker() -> bool {
    with(|worker| worker.is_some())
}

/// The thread's worker, if it has one.
///
/// # Safety
/// The result is not used when the calling function has returned: the thread may leave its pool.
#[inline(always)]
pub(crate) unsafe fn worker<'call>() -> Option<&'call Worker> {
    // SAFETY: it is the worker in `REGISTERED`, which does not move, and takes this down before it
    // goes: when no job runs. Or it is that of a `with_slot`, which lasts until the end of the
    // call. The caller uses it no longer (contract).
    unsafe { CURRENT.with(Cell::get).as_ref() }
}

/// Calls `with` with the thread's worker, if it has one.
#[inline(always)]
pub(crate) fn with<R>(with: impl FnOnce(Option<&Worker>) -> R) -> R {
    // SAFETY: the closure takes a reference of any lifetime, so it cannot keep it.
    with(unsafe { worker() })
}

/// Calls `with` with the worker of the calling thread, also if that is one of another scheduler's,
/// to whose threads a pool is attached, and has not run a job yet.
#[inline(always)]
pub(crate) fn with_attached<R>(with: impl FnOnce(Option<&Worker>) -> R) -> R {
    if !has_worker() {
        register_attached();
    }
    self::with(with)
}

/// Registers the thread, if it is one of a scheduler's that has a pool attached.
#[cold]
#[inline(never)]
fn register_attached() {
    with_source(|jobs: &Jobs| with_worker(&jobs.shared, |_| ()));
}

impl Worker {
    /// Calls `with` with the worker of the calling thread, if that is a thread of a pool.
    pub fn current<R>(with: impl FnOnce(Option<&Self>) -> R) -> R {
        self::with(with)
    }
}

/// Calls `with` with the thread's worker in that pool, in which it takes a slot if it has none.
/// `None` if it is registered in another one, or there is no slot left, or the thread exits.
pub(crate) fn with_worker<R>(shared: &Arc<Shared>, with: impl FnOnce(&Worker) -> R) -> Option<R> {
    if !has_worker() {
        register(shared, None)?;
    }
    self::with(|worker| Some(with(worker.filter(|worker| worker.is_of(shared))?)))
}

/// Registers the thread in that pool: in a slot that is reserved for it, or in any. `None` if it
/// has a slot, or there is none left, or the thread exits.
pub(crate) fn register(shared: &Arc<Shared>, reserved: Option<usize>) -> Option<()> {
    if has_worker() {
        return None;
    }
    let register = |registered: &Registered| {
        let mut registered = registered.0.borrow_mut();
        let worker = registered.insert(Box::new(Worker::register(shared, reserved)?));
        set_current(&raw const **worker);
        Some(())
    };
    REGISTERED.try_with(register).ok()?
}

/// Puts the job that `make` makes in reach of that pool's threads: of the calling one first, if it
/// is one of them (see [`Worker::spawn_job`]). `make` is given its worker then.
pub(crate) fn spawn_job(
    shared: &Arc<Shared>,
    make: impl FnOnce(Option<&Worker>) -> JobRef,
    is_isolated: bool,
) {
    with(|worker| match worker {
        Some(worker) if worker.is_of(shared) => worker.spawn_job(make(Some(worker)), is_isolated),
        _ => inject(shared, make(None)),
    });
}

/// Puts a job into the common queue, from a thread that is none of that pool's. If the threads are
/// about to exit, perhaps none comes for it: then it runs here, and so does all that waits beside
/// it.
pub(crate) fn inject(shared: &Arc<Shared>, job: JobRef) {
    shared.inject(job);
    if shared.is_ending() {
        with_slot(shared, |worker| while worker.run(worker.find()) {});
    }
}

/// The worker of a thread that guests may stand in for, and the thread's number in its pool.
#[derive(Default)]
pub(crate) struct Seat(Option<(usize, *const Worker)>);

// SAFETY: `run_in_seat`, which follows the pointer, answers for it.
unsafe impl Send for Seat {}

/// Lets guests stand in for the thread with that worker, which is done with it for now.
pub fn receive_guests(worker: &Worker, number: usize) {
    *lock(&worker.own_slot().seat) = Seat(Some((number, worker)));
}

/// Runs the job here, as a guest in the place of a thread that sleeps, if there is one; or
/// [injects](inject) it. The first of the threads of these processors has the slot `first`.
pub(crate) fn visit(
    shared: &Arc<Shared>,
    processors: Option<&Processors<Infallible>>,
    first: usize,
    job: JobRef,
) {
    let mut left = Some(job);
    if let Some(processors) = processors.filter(|_| !has_worker()) {
        processors.visit(|lender| {
            // SAFETY: the thread of that number has lent its processor, until the return.
            let run = |job| unsafe { run_in_seat(shared, first + lender, lender, job) };
            left = left.take().and_then(run);
        });
    }
    left.into_iter().for_each(|job| inject(shared, job));
}

/// Runs the job here with the worker of the thread of a number, which has that slot. Returns the
/// job if it has not, or runs one that is for it alone.
///
/// # Safety
/// The thread of that number is granted no processor, and not its exit, before the return.
pub(crate) unsafe fn run_in_seat(
    shared: &Shared,
    slot: usize,
    number: usize,
    job: JobRef,
) -> Option<JobRef> {
    let slot = shared.slots.get(slot as u32);
    let seat = slot.and_then(|slot| slot.seat.try_lock().ok());
    let tenant = seat.as_ref().and_then(|seat| seat.0);
    let Some((_, worker)) = tenant.filter(|tenant| tenant.0 == number) else {
        return Some(job);
    };
    // SAFETY: it is the worker in the `REGISTERED` of that thread, which takes it out of the seat
    // before it goes. Without a processor the thread uses it with the seat locked alone (contract;
    // `run_one_for_this_thread`), and so do guests.
    let worker = unsafe { &*worker };
    // The size of this stack is not known.
    let floor = worker.stack_floor.take();
    set_current(worker);
    worker.run(Some(job));
    // As a thread does that finds no more.
    worker.share();
    set_current(ptr::null());
    worker.stack_floor.set(floor);
    None
}

/// Calls `with` with a worker of that pool, which the thread has until the end of the call, and
/// which runs what it has spawned before.
#[cold]
pub(crate) fn with_slot<R>(shared: &Arc<Shared>, with: impl FnOnce(&Worker) -> R) -> R {
    /// Restores the worker that the thread had before.
    struct Restore(*const Worker);

    impl Drop for Restore {
        fn drop(&mut self) {
            set_current(self.0);
        }
    }

    let worker = loop {
        match Worker::register(shared, None) {
            Some(worker) => break worker,
            // The others are taken by threads that do the same.
            None => thread::yield_now(),
        }
    };
    let restore = Restore(CURRENT.with(|current| current.replace(&raw const worker)));
    let result = catch_unwind(AssertUnwindSafe(|| with(&worker)));
    worker.run_the_rest();
    drop(restore);
    worker.unregister();
    result.unwrap_or_else(|payload| resume_unwind(payload))
}
