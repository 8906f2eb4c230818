//! Whether a thread that was started can run tasks.

use std::sync::PoisonError;

use filch_sync::{Condvar, Mutex, lock};

/// What a new thread tells the thread that started it, once: that it has its scratch, or what the
/// panic said that kept it from one.
#[derive(Default)]
pub(crate) struct Beginning {
    outcome: Mutex<Option<Result<(), String>>>,
    told: Condvar,
}

impl Beginning {
    /// Tells it. What came before happens before the return of [`wait`](Self::wait).
    pub(crate) fn tell(&self, outcome: Result<(), String>) {
        *lock(&self.outcome) = Some(outcome);
        self.told.notify_one();
    }

    /// Blocks until it is told.
    ///
    /// # Errors
    /// What the panic said.
    pub(crate) fn wait(&self) -> Result<(), String> {
        let mut outcome = lock(&self.outcome);
        loop {
            if let Some(outcome) = outcome.take() {
                return outcome;
            }
            let woken = self.told.wait(outcome);
            outcome = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}
