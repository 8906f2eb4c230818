use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use filch_sync::{Arc, Condvar, Mutex, wait_until};

use crate::Unparker;
use crate::token::Token;

/// The end that waits: one thread's, which may hand it on, but not share it.
///
/// There is one token at most. [`Unparker::unpark`] leaves it, `park` takes it, or sleeps until it
/// comes.
pub struct Parker {
    shared: Arc<Shared>,
    /// Two threads that park on one token would take each other's wake-ups: Send, but not Sync.
    not_sync: PhantomData<Cell<()>>,
}

pub(crate) struct Shared {
    token: Token,
    /// Guards nothing. Held from announcing the sleep until it is a sleep: see `unpark`.
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Parker {
    /// A parker without a token.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                token: Token::new(),
                lock: Mutex::new(()),
                condvar: Condvar::new(),
            }),
            not_sync: PhantomData,
        }
    }

    /// Takes the token; blocks until there is one. Never returns without.
    ///
    /// What came before the [`unpark`](Unparker::unpark) that left the token happens before the
    /// return. That holds for all calls of `unpark` since the last `park`, also those that found
    /// the token there already.
    ///
    /// With a token: one read-modify-write, no lock, no system call. Else blocking.
    pub fn park(&self) {
        self.shared.park(None);
    }

    /// Takes the token; blocks until there is one, for `timeout` at most. Whether it took one: then
    /// as with [`park`](Self::park).
    ///
    /// It may block longer than `timeout`, as the system likes, but not return without a token any
    /// earlier.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        // A deadline that no clock can show never comes.
        self.shared.park(Instant::now().checked_add(timeout))
    }

    /// Takes the token; blocks until there is one, or until `deadline`. Whether it took one: then
    /// as with [`park`](Self::park).
    ///
    /// A loop that parks again until something holds keeps its deadline this way, without counting
    /// what is left.
    pub fn park_deadline(&self, deadline: Instant) -> bool {
        self.shared.park(Some(deadline))
    }

    /// The other end. There may be many.
    pub fn unparker(&self) -> Unparker {
        Unparker::new(Arc::clone(&self.shared))
    }
}

impl Shared {
    /// Takes the token, or waits for it, until `deadline` if there is one; whether it took one.
    fn park(&self, deadline: Option<Instant>) -> bool {
        if self.token.take() {
            return true;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.token.announce() {
            return true;
        }
        loop {
            let passed;
            (guard, passed) = match deadline {
                Some(deadline) => wait_until(&self.condvar, &self.lock, guard, deadline),
                None => {
                    let woken = self.condvar.wait(guard);
                    (woken.unwrap_or_else(PoisonError::into_inner), false)
                }
            };
            if passed {
                // The token may have come with the deadline: then it is taken, not left behind.
                return self.token.withdraw();
            }
            if self.token.take() {
                return true;
            }
            // Woken for no reason: still announced, so wait on.
        }
    }

    /// Leaves a token; wakes the parker if it sleeps, and says whether it did.
    pub(crate) fn unpark(&self) -> bool {
        if !self.token.leave() {
            return false;
        }
        // The parker announced its sleep with the lock held, and keeps the lock until it waits. To
        // take the lock is to wait for that; without this the notification could come in between,
        // and wake nobody. Free the lock before notifying, so that the sleeper does not wake up
        // into it.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.condvar.notify_one();
        true
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parker")
            .field("token", &self.shared.token)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::{Arc, Parker, PoisonError};

    /// loom's condition variable never wakes for no reason, so this is shown here: a stray
    /// notification reaches the sleeper, over and over, and `park` does not return before the
    /// token.
    #[test]
    fn a_sleeper_that_is_woken_for_no_reason_sleeps_on() {
        let parker = Parker::new();
        let shared = Arc::clone(&parker.shared);
        let token = Arc::new(AtomicBool::new(false));
        let sleeper = thread::spawn({
            let token = Arc::clone(&token);
            move || {
                parker.park();
                assert!(token.load(Ordering::Relaxed), "returned without a token");
            }
        });
        for _ in 0..1_000 {
            drop(shared.lock.lock().unwrap_or_else(PoisonError::into_inner));
            shared.condvar.notify_all();
            thread::yield_now();
        }
        token.store(true, Ordering::Relaxed);
        let _ = shared.unpark();
        sleeper.join().unwrap();
    }
}
