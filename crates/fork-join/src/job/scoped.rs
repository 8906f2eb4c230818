//! Jobs in boxes that borrow from a scope, which does not go before they have ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

use super::heap::HeapJob;
use super::job_ref::JobRef;
use super::lent::lend;
use crate::latch::Awaited;

/// What jobs are given, and borrow from. It knows how many of them have not ended.
pub(crate) trait Scoped<W>: Sync {
    /// The count is 1 from now on: for the body.
    fn begin(&self);

    /// Adds one.
    ///
    /// # Panics
    /// If the count is 0: nobody waits yet, or any more. If there are too many.
    fn add(&self);

    /// Takes one off. If it was the last one, the scope may be gone from then on, and whoever waits
    /// for it is woken, by a worker that is known if it was the end of a job. No panic comes out.
    fn end_one(&self, worker: Option<&W>);

    /// Is done when the count is 0.
    fn open(&self) -> &impl Awaited;
}

/// Runs the body of a scope, has `wait` wait for its jobs, and returns what is left of it, and what
/// the body returned or said.
pub(crate) fn run<W, S: Scoped<W>, R>(
    scope: S,
    body: impl FnOnce(&S) -> R,
    wait: impl FnOnce(&S),
) -> (S, thread::Result<R>) {
    let mut result = None;
    scope.begin();
    lend(scope.open(), || {
        result = Some(catch_unwind(AssertUnwindSafe(|| body(&scope))));
        scope.end_one(None);
        wait(&scope);
    });
    match result {
        Some(result) => (scope, result),
        None => unreachable!("the body has run"),
    }
}

/// A job of a scope whose body or one of whose jobs runs, to be put into a queue. No panic may come
/// out of it.
pub(crate) fn open<'scope, W, S: Scoped<W> + 'scope>(
    scope: &S,
    job: impl FnOnce(&W, &S) + Send + 'scope,
) -> JobRef<W> {
    // Only what `run` has begun, and waits for, can be added to.
    scope.add();
    let scope = Lent(NonNull::from(scope));
    let run = move |worker: &W| {
        // SAFETY: it lies where `run` waits until this job has ended.
        let scope = unsafe { scope.get() };
        job(worker, scope);
        scope.end_one(Some(worker));
    };
    // SAFETY: the closure is `Send`, and what it borrows lives until the scope ends, which waits
    // for it.
    unsafe { HeapJob::boxed(run) }
}

/// The scope of a job.
struct Lent<S>(NonNull<S>);

// SAFETY: a reference to it, which is `Sync`.
unsafe impl<S: Sync> Send for Lent<S> {}

impl<S> Lent<S> {
    /// # Safety
    /// It has not ended.
    unsafe fn get<'lent>(self) -> &'lent S {
        // SAFETY: the caller's.
        unsafe { self.0.as_ref() }
    }
}
