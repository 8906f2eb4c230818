//! The pool that is there without being made.

use crate::api::config::{Config, StartError};
use crate::api::once_pool::OncePool;
use crate::api::pool::Pool;
use crate::current;
use crate::scope::Scope;
use crate::worker::Worker;

static GLOBAL: OncePool = OncePool::new();

impl Pool {
    /// Returns the pool on which [`join`], [`scope`] and [`spawn`] run what is called outside of
    /// any pool. It is never dropped. It has a thread for each that the system runs at a time,
    /// unless [`set_global`](Self::set_global) came first. Blocking, the first time: one thread
    /// starts it, and others wait for that.
    ///
    /// # Errors
    /// [`StartError`], if the system refuses a thread. The next call tries again.
    pub fn global() -> Result<&'static Self, StartError> {
        GLOBAL.get_or_start(|| Self::start(Config::default()))
    }

    /// Makes this the [global](Self::global) pool.
    ///
    /// # Errors
    /// This pool, if there is one already.
    pub fn set_global(self) -> Result<(), Self> {
        GLOBAL.set(self)
    }
}

fn global() -> &'static Pool {
    match Pool::global() {
        Ok(pool) => pool,
        Err(error) => panic!("there is no global pool: {error}"),
    }
}

/// [`Worker::join`] for callers that do not have the worker at hand. Outside of a pool, both run on
/// the [global](Pool::global) one.
///
/// # Panics
/// As there; and outside of a pool, if there can be no global one.
#[inline(always)]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    current::with(|worker| match worker {
        Some(worker) => worker.join(|_| a(), |_| b()),
        None => {
            // In places of their own from here on: then those of the usual case are registers.
            let mut both = None;
            join_outside(&mut Some(a), &mut Some(b), &mut both);
            both.unwrap_or_else(|| unreachable!("it returns when both have ended"))
        }
    })
}

/// Joins on a thread that has no worker yet: with a worker of a scheduler's attached pool, if the
/// thread is that scheduler's, else on the global pool.
#[cold]
#[inline(never)]
fn join_outside<A, B, RA, RB>(a: &mut Option<A>, b: &mut Option<B>, both: &mut Option<(RA, RB)>)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let (Some(a), Some(b)) = (a.take(), b.take()) else {
        unreachable!("the caller has put them there");
    };
    *both = Some(current::with_attached(|worker| match worker {
        Some(worker) => worker.join(|_| a(), |_| b()),
        None => global().install(|worker| worker.join(|_| a(), |_| b())),
    }));
}

/// [`Worker::scope`] for callers that do not have the worker at hand; outside of a pool,
/// [`Pool::scope`] of the [global](Pool::global) one.
///
/// # Panics
/// As there; and outside of a pool, if there can be no global one.
pub fn scope<'scope, R>(body: impl FnOnce(&Scope<'scope>) -> R) -> R {
    current::with_attached(|worker| match worker {
        Some(worker) => worker.scope(body),
        None => global().scope(body),
    })
}

/// [`Worker::spawn`] for callers that do not have the worker at hand; outside of a pool,
/// [`Pool::spawn`] of the [global](Pool::global) one.
///
/// # Panics
/// Outside of a pool, if there can be no global one.
pub fn spawn(job: impl FnOnce(&Worker) + Send + 'static) {
    current::with_attached(|worker| match worker {
        Some(worker) => worker.spawn(job),
        None => global().spawn(job),
    });
}
