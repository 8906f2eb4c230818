//! The pool that is there without being made.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::api::config::{Config, StartError};
use crate::api::pool::Pool;
use crate::current;
use crate::scope::Scope;
use crate::worker::Worker;

static GLOBAL: OncePool = OncePool::new();

impl Pool {
    /// Returns the pool on which [`join`](crate::join()), [`scope`] and [`spawn`] run what is
    /// called outside of any pool. It is never dropped. It has a thread for each that the system
    /// runs at a time, unless [`set_global`](Self::set_global) came first. Blocking, the first
    /// time: one thread starts it, and others wait for that.
    ///
    /// A child by `fork` gets one of its own. Other pools of its parent run nothing there.
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
    #[doc(alias = "build_global")]
    pub fn set_global(self) -> Result<(), Self> {
        GLOBAL.set(self)
    }
}

pub(crate) fn global() -> &'static Pool {
    Pool::global().unwrap_or_else(|error| panic!("there is no global pool: {error}"))
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

/// The forks between the process that first counts them and this one.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Makes the system count forks from now on.
#[cfg(unix)]
fn count_forks() {
    type Handler = Option<extern "C" fn()>;
    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> std::ffi::c_int;
    }
    extern "C" fn count() {
        // ORDERING: Relaxed: the child has one thread.
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    static COUNTS: std::sync::Once = std::sync::Once::new();
    // SAFETY: the handler does nothing that a child may not do.
    COUNTS.call_once(|| _ = unsafe { pthread_atfork(None, None, Some(count)) });
}

/// A place for a pool that is started once in each process, by the thread that needs it first, and
/// never dropped.
#[derive(Debug, Default)]
pub struct OncePool {
    pool: OnceLock<Pool>,
    /// Held by the thread that starts it, so that no other one does.
    starting: Mutex<()>,
    /// The place of children by `fork`, where none of the above is worth anything.
    of_child: OnceLock<Box<Self>>,
}

impl OncePool {
    /// Makes one without a pool.
    pub const fn new() -> Self {
        Self {
            pool: OnceLock::new(),
            starting: Mutex::new(()),
            of_child: OnceLock::new(),
        }
    }

    /// Returns the place of this process.
    fn here(&self) -> &Self {
        // ORDERING: Relaxed: as in `count_forks`.
        let forks = 0..FORKS.load(Ordering::Relaxed);
        forks.fold(self, |parent, _| parent.of_child.get_or_init(Box::default))
    }

    /// Returns the pool, which `start` starts if there is none. Blocking beside another thread that
    /// starts it.
    ///
    /// # Errors
    /// As `start`. The next call tries again.
    pub fn get_or_start<E>(&self, start: impl FnOnce() -> Result<Pool, E>) -> Result<&Pool, E> {
        match self.here().pool.get() {
            Some(pool) => Ok(pool),
            None => self.start(start).unwrap_or_else(|pool| Ok(pool)),
        }
    }

    /// Calls `start` to start the pool.
    ///
    /// # Errors
    /// The one that there is, if there is one.
    pub fn start<E>(
        &self,
        start: impl FnOnce() -> Result<Pool, E>,
    ) -> Result<Result<&Pool, E>, &Pool> {
        #[cfg(unix)]
        count_forks();
        let here = self.here();
        // A panic of `start` leaves no pool behind.
        let _starting = here.starting.lock().unwrap_or_else(PoisonError::into_inner);
        match here.pool.get() {
            Some(pool) => Err(pool),
            None => Ok(start().map(|pool| here.pool.get_or_init(|| pool))),
        }
    }

    /// Puts one there that has been started.
    ///
    /// # Errors
    /// That one, if there is one.
    pub fn set(&self, pool: Pool) -> Result<(), Pool> {
        let mut pool = Some(pool);
        _ = self.start(|| pool.take().ok_or(()));
        pool.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::OncePool;
    use crate::{Pool, StartError};

    #[test]
    fn one_of_many_threads_starts_it() {
        for _ in 0..20 {
            let (once, starts, together) = (OncePool::new(), AtomicUsize::new(0), Barrier::new(4));
            let start = || {
                starts.fetch_add(1, Ordering::Relaxed);
                Pool::new(1)
            };
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        together.wait();
                        let pool = once.get_or_start(start).unwrap();
                        assert_eq!(pool.install(|_| 7), 7);
                    });
                }
            });
            assert_eq!(starts.into_inner(), 1);
        }
    }

    #[test]
    fn a_start_that_failed_is_tried_again() {
        let once = OncePool::new();
        let refused = once.get_or_start(|| Pool::new(0));
        assert!(matches!(refused, Err(StartError::NoThreads)));
        assert_eq!(once.get_or_start(|| Pool::new(2)).unwrap().threads(), 2);
        assert_eq!(once.start(|| Pool::new(3)).unwrap_err().threads(), 2);
        let refused = once.set(Pool::new(3).unwrap()).unwrap_err();
        assert_eq!(refused.threads(), 3, "it is handed back");
    }
}
