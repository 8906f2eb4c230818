//! A thread that is to begin, and whether it has.

use std::fmt;
use std::io;
use std::sync::PoisonError;

use filch_sync::{Arc, Condvar, Mutex, lock};

/// Why there is no thread.
pub(crate) enum ThreadError {
    /// The system refused it.
    System(io::Error),
    /// It had no scratch, and this is what the panic said.
    Scratch(String),
}

/// What a new thread and the thread that starts it tell each other.
#[derive(Default)]
pub(crate) struct Beginning {
    stage: Mutex<Stage>,
    told: Condvar,
}

/// How far it has come.
#[derive(Default)]
enum Stage {
    #[default]
    Ordered,
    /// The thread is there, and makes its scratch.
    Begun,
    /// It can run tasks, or there is no such thread.
    Told(Result<(), ThreadError>),
}

impl Beginning {
    /// Blocks until the thread can run tasks.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn wait(&self) -> Result<(), ThreadError> {
        let mut stage = lock(&self.stage);
        loop {
            if let Stage::Told(outcome) = &mut *stage {
                return std::mem::replace(outcome, Ok(()));
            }
            let woken = self.told.wait(stage);
            stage = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Why there will be no such thread, if that is known already, and it has not begun.
    ///
    /// # Errors
    /// That.
    pub(crate) fn refusal(&self) -> Result<(), ThreadError> {
        match &mut *lock(&self.stage) {
            Stage::Told(outcome) => std::mem::replace(outcome, Ok(())),
            Stage::Ordered | Stage::Begun => Ok(()),
        }
    }

    /// The maker of the thread says that there is none: that is so, unless it has begun. What is
    /// said last is the reason.
    pub(crate) fn refuse(&self, error: io::Error) {
        let mut stage = lock(&self.stage);
        if let Stage::Ordered | Stage::Told(Err(ThreadError::System(_))) = *stage {
            *stage = Stage::Told(Err(ThreadError::System(error)));
        }
    }
}

/// The new thread's end of a [`Beginning`]. Dropped before the thread has begun, it says that there
/// will be none.
pub(crate) struct Teller(pub(crate) Arc<Beginning>);

impl Teller {
    /// The thread is there. `false`: too late, nobody expects it any more.
    pub(crate) fn begin(&self) -> bool {
        let mut stage = lock(&self.0.stage);
        let is_expected = matches!(*stage, Stage::Ordered);
        if is_expected {
            *stage = Stage::Begun;
        }
        is_expected
    }

    /// Whether it can run tasks. What came before happens before the return of
    /// [`wait`](Beginning::wait).
    pub(crate) fn tell(&self, outcome: Result<(), ThreadError>) {
        *lock(&self.0.stage) = Stage::Told(outcome);
        self.0.told.notify_one();
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.0
            .refuse(io::Error::other("the thread was dropped, and has not run"));
        self.0.told.notify_one();
    }
}

/// A thread of a pool, which its maker has to run: see
/// [`Processors::start_with`](crate::Processors::start_with).
#[must_use = "a thread that does not run is missing"]
pub struct Thread {
    number: usize,
    main: Box<dyn FnOnce() + Send>,
}

impl Thread {
    pub(crate) fn new(number: usize, main: impl FnOnce() + Send + 'static) -> Self {
        Self {
            number,
            main: Box::new(main),
        }
    }

    /// The number by which the [runner](crate::Runner::scratch) knows it.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Runs tasks on the calling thread, until the pool has been stopped and nothing is left.
    pub fn run(self) {
        (self.main)();
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
