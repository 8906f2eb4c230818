//! The two ends, the one that waits and the one that wakes, and what they share.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use std::sync::{Arc as StdArc, PoisonError};
use std::task::Wake;
use std::time::{Duration, Instant};

use filch_sync::{Arc, Condvar, Mutex, MutexGuard, wait_until};

use crate::token::Token;

/// The end that waits. It belongs to one thread, which may hand it on but not share it.
///
/// There is at most one token. [`Unparker::unpark`] leaves it; [`park`](Self::park) takes it, or
/// sleeps until it comes.
pub struct Parker {
    shared: Arc<Shared>,
    /// Two threads that park on one token would take each other's wake-ups: Send, but not Sync.
    not_sync: PhantomData<Cell<()>>,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared::new()),
            not_sync: PhantomData,
        }
    }

    /// Takes the token; blocks until there is one. It never returns without a token.
    ///
    /// Everything before the [`unpark`](Unparker::unpark) that left the token happens before the
    /// return. The same holds for every `unpark` since the last `park`, even one that found a
    /// token.
    ///
    /// With a token: one read-modify-write, no lock, no system call. Without: blocking.
    pub fn park(&self) {
        self.shared.park(None);
    }

    /// Takes the token; blocks until there is one, for at most `timeout`. Returns whether it took
    /// one: then it synchronizes as [`park`](Self::park) does.
    ///
    /// The system may let it block longer than `timeout`. Without a token it never returns earlier.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        // A deadline that no clock can show never comes.
        self.shared.park(Instant::now().checked_add(timeout))
    }

    /// Takes the token; blocks until there is one, or until `deadline`. Returns whether it took
    /// one: then it synchronizes as [`park`](Self::park) does.
    ///
    /// A loop that parks again until a condition holds can keep one deadline, and need not compute
    /// the remaining time.
    pub fn park_deadline(&self, deadline: Instant) -> bool {
        self.shared.park(Some(deadline))
    }

    /// Another end that wakes this one.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            shared: Arc::clone(&self.shared),
        }
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

/// The end that wakes. Any number of threads may hold a clone of it, and it may outlive its
/// [`Parker`].
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

impl Unparker {
    /// Leaves the token, so that the current or the next `park` returns. Returns whether it woke
    /// the parker: of several calls during one sleep, exactly one returns true.
    ///
    /// After `true`, the `park` that was asleep returns with the token, even if its time is up at
    /// the same moment.
    ///
    /// Everything before this call happens before the return of the `park` that takes the token,
    /// even if a token was there already.
    ///
    /// Wait-free if the parker is awake: one swap. If it sleeps, or is about to, one system call,
    /// and the call blocks for the few instructions during which the parker holds the lock.
    pub fn unpark(&self) -> bool {
        self.shared.unpark()
    }
}

/// A [`Waker`](std::task::Waker) that unparks: `Waker::from(Arc::new(parker.unparker()))`.
impl Wake for Unparker {
    fn wake(self: StdArc<Self>) {
        self.unpark();
    }

    fn wake_by_ref(self: &StdArc<Self>) {
        self.unpark();
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unparker").finish_non_exhaustive()
    }
}

/// The token, and the lock and condition variable of the sleep.
///
/// | field | who touches it, and when |
/// |---|---|
/// | `token` | both ends; it alone decides who sleeps and who wakes |
/// | `lock` | guards no data. The parker holds it from announcing its sleep until it waits; an unparker passes through it before it notifies |
/// | `condvar` | the parker waits on it; the unparker whose token ended a sleep notifies it |
struct Shared {
    token: Token,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Shared {
    /// Makes the state without a token, nobody asleep.
    fn new() -> Self {
        Self {
            token: Token::new(),
            lock: Mutex::new(()),
            condvar: Condvar::new(),
        }
    }

    /// Takes the token, or waits for it until `deadline`, if any. Returns whether it took one.
    fn park(&self, deadline: Option<Instant>) -> bool {
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
    fn unpark(&self) -> bool {
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
