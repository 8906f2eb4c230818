//! Sleep and wake, stage 2: a token in front of the lock.

use filch_models::{Bound, beside, beside_both};
use filch_sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use filch_sync::{Arc, Condvar, Mutex, lock};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 2: `unpark` notifies without having taken the lock.
    NotifiesWithoutLock,
    /// Exercise 2: `unpark` does nothing if a token is there.
    LooksFirst,
    /// `park` looks for a token, and then announces its sleep by a store.
    AnnouncesByStore,
    /// A store withdraws the announcement when the time is up.
    WithdrawsByStore,
}

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

#[derive(Default)]
struct Parker {
    bug: Bug,
    state: AtomicU32,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Parker {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            ..Self::default()
        })
    }

    // ANCHOR: park
    /// Takes the token, or sleeps until there is one.
    fn park(&self) {
        if self.take() {
            return; // without the lock
        }
        let mut guard = lock(&self.lock);
        if self.announce() {
            return;
        }
        while !self.take() {
            guard = self.condvar.wait(guard).unwrap();
        }
    }

    fn unpark(&self) {
        // ANCHOR_END: park
        if self.bug == Bug::LooksFirst && self.state.load(Ordering::Acquire) == NOTIFIED {
            return;
        }
        // ANCHOR: park
        if self.state.swap(NOTIFIED, Ordering::AcqRel) == PARKED {
            self.lock_and_unlock();
            self.condvar.notify_one();
        }
    }

    fn take(&self) -> bool {
        self.exchange(NOTIFIED, EMPTY)
    }

    /// Announces the sleep; returns true if a token came instead, and takes that.
    fn announce(&self) -> bool {
        // ANCHOR_END: park
        if self.bug == Bug::AnnouncesByStore {
            let took = self.take();
            if !took {
                self.state.store(PARKED, Ordering::Release);
            }
            return took;
        }
        // ANCHOR: park
        !self.exchange(EMPTY, PARKED) && self.state.swap(EMPTY, Ordering::AcqRel) == NOTIFIED
    }
    // ANCHOR_END: park

    fn exchange(&self, from: u32, to: u32) -> bool {
        let (ok, failed) = (Ordering::AcqRel, Ordering::Acquire);
        self.state.compare_exchange(from, to, ok, failed).is_ok()
    }

    fn lock_and_unlock(&self) {
        if self.bug != Bug::NotifiesWithoutLock {
            drop(lock(&self.lock));
        }
    }

    /// Sleeps with a time that is up at once; returns true if it took a token.
    fn park_shortly(&self) -> bool {
        if self.take() {
            return true;
        }
        let guard = lock(&self.lock);
        if self.announce() {
            return true;
        }
        drop(guard);
        let _guard = lock(&self.lock);
        if self.bug == Bug::WithdrawsByStore {
            let took = self.take();
            if !took {
                self.state.store(EMPTY, Ordering::Release);
            }
            return took;
        }
        self.state.swap(EMPTY, Ordering::AcqRel) == NOTIFIED
    }
}

/// Leaves one token, while the parker does something.
fn beside_a_token(bug: Bug, does: fn(&Parker)) {
    let parker = Parker::new(bug);
    let waker = beside(&parker, Parker::unpark);
    does(&parker);
    waker.join().unwrap();
}

#[test]
fn stage_2_a_token_decides_who_notifies() {
    Bound::exhaustive(12).check_and_refute(
        "sleep 2: a token, and a notification behind the lock",
        |bug| beside_a_token(bug, Parker::park),
        &[
            // The notification comes after the announcement and before the wait, and is lost.
            (Bug::NotifiesWithoutLock, "deadlock"),
            // The token comes between the look and the store, which overwrites it.
            (Bug::AnnouncesByStore, "deadlock"),
        ],
    );
}

/// One token, and a sleep whose time is up. If that took no token, a sleep without a limit.
#[test]
fn stage_2_a_timed_sleep_is_called_off_by_a_swap() {
    Bound::exhaustive(50).check_and_refute(
        "sleep 2: a sleep that is called off",
        |bug| {
            beside_a_token(bug, |parker| {
                if !parker.park_shortly() {
                    parker.park();
                }
            });
        },
        // The token comes after the last look and before the store, which overwrites it. The next
        // sleep never ends.
        &[(Bug::WithdrawsByStore, "deadlock")],
    );
}

/// A token is there. A second unparker leaves an item, and a token. The parker sleeps until it sees
/// the item.
#[test]
fn exercise_2_a_token_over_a_token_publishes() {
    Bound::exhaustive(100).check_and_refute(
        "sleep 2: an item behind a token",
        |bug| {
            let parker = Parker::new(bug);
            parker.unpark();
            let item = Arc::new(AtomicUsize::new(0));
            let waker = beside_both(&parker, &item, move |parker, item| {
                item.store(1, Ordering::Relaxed);
                parker.unpark();
            });
            while item.load(Ordering::Relaxed) == 0 {
                parker.park();
            }
            waker.join().unwrap();
        },
        // The unparker finds the token and does nothing. The parker takes the token, does not see
        // the item, and sleeps beside it.
        &[(Bug::LooksFirst, "deadlock")],
    );
}
