//! State that both ends share: the token, and the lock and condition variable of the sleep.

use std::sync::PoisonError;
use std::time::Instant;

use filch_sync::{Condvar, Mutex, MutexGuard, wait_until};

use crate::token::Token;

/// | field | who touches it, and when |
/// |---|---|
/// | `token` | both ends; it alone decides who sleeps and who wakes |
/// | `lock` | guards no data. The parker holds it from announcing its sleep until it waits; an unparker passes through it before it notifies |
/// | `condvar` | the parker waits on it; the unparker whose token ended a sleep notifies it |
pub(crate) struct Shared {
    pub(crate) token: Token,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Shared {
    /// Makes the state without a token, nobody asleep.
    pub(crate) fn new() -> Self {
        Self {
            token: Token::new(),
            lock: Mutex::new(()),
            condvar: Condvar::new(),
        }
    }

    /// Takes the token, or waits for it until `deadline`, if any. Returns whether it took one.
    pub(crate) fn park(&self, deadline: Option<Instant>) -> bool {
        if self.token.take() {
            return true;
        }
        let mut guard = self.locked();
        if self.token.announce() {
            return true;
        }
        loop {
            let passed;
            (guard, passed) = wait_until(&self.condvar, &self.lock, guard, deadline);
            if passed {
                // The token may have come together with the deadline: then take it.
                return self.token.withdraw();
            }
            if self.token.take() {
                return true;
            }
            // A spurious wake-up: the sleep is still announced, so wait on.
        }
    }

    /// Leaves a token and wakes the parker if it sleeps. Returns whether it did.
    pub(crate) fn unpark(&self) -> bool {
        if !self.token.leave() {
            return false;
        }
        // The parker holds the lock from its announcement until it waits. Passing through the lock
        // awaits that; else the notification could come in between and wake nobody. Unlocked before
        // the notification, so that the woken parker does not block on it.
        drop(self.locked());
        self.condvar.notify_one();
        true
    }

    /// Locks, ignoring poison: no critical section here panics half-way.
    fn locked(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::Shared;

    /// loom's condition variable has no spurious wake-ups, so this shows them: a stray notification
    /// reaches the sleeper, over and over, and `park` does not return before the token.
    #[test]
    fn a_sleeper_that_is_woken_for_no_reason_sleeps_on() {
        let shared = Arc::new(Shared::new());
        let token = Arc::new(AtomicBool::new(false));
        let sleeper = thread::spawn({
            let (shared, token) = (Arc::clone(&shared), Arc::clone(&token));
            move || {
                assert!(shared.park(None));
                assert!(token.load(Ordering::Relaxed), "returned without a token");
            }
        });
        for _ in 0..1_000 {
            drop(shared.locked());
            shared.condvar.notify_all();
            thread::yield_now();
        }
        token.store(true, Ordering::Relaxed);
        let _ = shared.unpark();
        sleeper.join().unwrap();
    }
}
