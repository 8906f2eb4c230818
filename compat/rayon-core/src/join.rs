//! `join`: two closures, perhaps at the same time.

use std::marker::PhantomData;

use filch_fork_join::Worker;

use crate::global;

/// Runs both closures, perhaps at the same time, and returns their results. Called outside of a
/// pool, it runs both on the global one.
///
/// `a` runs at once; `b` on any idle thread of the pool, or after `a`. Everything that the caller
/// did before happens before both, and both happen before the return. On a thread of a pool it
/// allocates nothing.
///
/// ```
/// fn sum(numbers: &[u64]) -> u64 {
///     match numbers {
///         [] => 0,
///         [one] => *one,
///         _ => {
///             let (a, b) = numbers.split_at(numbers.len() / 2);
///             let (a, b) = rayon_core::join(|| sum(a), || sum(b));
///             a + b
///         }
///     }
/// }
/// assert_eq!(sum(&[1, 2, 3, 4, 5]), 15);
/// ```
///
/// # Panics
/// If one of them panics, after both have ended; if both do, with the panic of `a`.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    global::on_worker(|worker| worker.join(|_| a(), |_| b()))
}

/// As [`join`], with closures that are told whether they run on another thread.
///
/// # Panics
/// As there.
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    Worker::current(|worker| match worker {
        Some(worker) => join_on(worker, false, a, b),
        None => global::on_global(|worker| join_on(worker, true, a, b)),
    })
}

#[inline(always)]
fn join_on<A, B, RA, RB>(worker: &Worker, migrated: bool, a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA,
    B: FnOnce(FnContext) -> RB + Send,
    RB: Send,
{
    let forker = worker.index();
    worker.join(
        |_| a(FnContext::new(migrated)),
        |worker| b(FnContext::new(migrated || worker.index() != forker)),
    )
}

/// The argument of the closures of [`join_context`].
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Keeps it on its thread.
    thread: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        Self {
            migrated,
            thread: PhantomData,
        }
    }

    /// Returns whether the closure runs on another thread than the caller of [`join_context`].
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}
