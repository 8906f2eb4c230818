//! Broken parkers, each with a tempting mistake that the models must catch. Each model is there
//! twice: it must hold for the parker without a mistake.

use filch_sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use filch_sync::{Arc, Mutex};
use loom_tests::{Bound, beside, beside_both};

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// The mistake of the broken parker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// `unpark` notifies without having taken the lock.
    NotifyWithoutLock,
    /// `unpark` does nothing if a token is there.
    LookBeforeLeaving,
    /// `park` looks for a token, and then announces its sleep by a store.
    AnnounceByStore,
    /// A store withdraws the announcement when the time is up.
    WithdrawByStore,
}

/// The real parker, except for `bug`. Its condition variable is a flag, and its sleep is a return:
/// a real deadlock makes loom abort the process, and a test could not tell what it caught. A parker
/// that sleeps at the end without a notification sleeps for ever.
struct Toy {
    bug: Bug,
    state: AtomicU32,
    lock: Mutex<()>,
    /// 1 while the parker waits for a notification.
    waiting: AtomicU32,
}

impl Toy {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            state: AtomicU32::new(EMPTY),
            lock: Mutex::new(()),
            waiting: AtomicU32::new(0),
        })
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    fn take(&self) -> bool {
        self.state
            .compare_exchange(NOTIFIED, EMPTY, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Announces the sleep; returns true if there was a token instead.
    fn announce(&self) -> bool {
        if self.has(Bug::AnnounceByStore) {
            if self.take() {
                return true;
            }
            self.state.store(PARKED, Ordering::Release);
            return false;
        }
        self.state
            .compare_exchange(EMPTY, PARKED, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
            && self.state.swap(EMPTY, Ordering::AcqRel) == NOTIFIED
    }

    /// Withdraws the announcement; returns true if a token came meanwhile.
    fn withdraw(&self) -> bool {
        if self.has(Bug::WithdrawByStore) {
            let took = self.take();
            if !took {
                self.state.store(EMPTY, Ordering::Release);
            }
            return took;
        }
        self.state.swap(EMPTY, Ordering::AcqRel) == NOTIFIED
    }

    /// Returns true if it took a token; else it sleeps.
    fn park(&self) -> bool {
        if self.take() {
            return true;
        }
        let _guard = self.lock.lock().unwrap();
        if self.announce() {
            return true;
        }
        // The wait begins and releases the lock, in one step.
        self.waiting.store(1, Ordering::Relaxed);
        false
    }

    /// Sleeps with a time that is up at once; returns true if it took a token.
    fn park_shortly(&self) -> bool {
        if self.take() {
            return true;
        }
        let guard = self.lock.lock().unwrap();
        if self.announce() {
            return true;
        }
        drop(guard);
        let _guard = self.lock.lock().unwrap();
        self.withdraw()
    }

    fn unpark(&self) {
        if self.has(Bug::LookBeforeLeaving) && self.state.load(Ordering::Acquire) == NOTIFIED {
            return;
        }
        if self.state.swap(NOTIFIED, Ordering::AcqRel) == PARKED {
            if !self.has(Bug::NotifyWithoutLock) {
                drop(self.lock.lock().unwrap());
            }
            // Wakes a parker that waits now, and remembers nothing.
            self.waiting.swap(0, Ordering::AcqRel);
        }
    }

    /// Checks, when all other threads have ended, that no sleeper is left without a notification.
    fn assert_awake(&self) {
        let waiting = self.waiting.load(Ordering::Relaxed);
        assert_eq!(waiting, 0, "nobody wakes the sleeper");
    }
}

/// Leaves one token, while the parker does something.
fn beside_a_token(bug: Bug, parker: impl FnOnce(&Toy)) {
    let toy = Toy::new(bug);
    let waker = beside(&toy, Toy::unpark);
    parker(&toy);
    waker.join().unwrap();
    toy.assert_awake();
}

/// One sleep, one token.
#[test]
fn one_token() {
    Bound::exhaustive(12).check_and_refute(
        "unpark notifies under the lock, park announces by an exchange",
        |bug| beside_a_token(bug, |toy| _ = toy.park()),
        &[
            // The notification comes after the announcement and before the wait, and is lost.
            (Bug::NotifyWithoutLock, "nobody wakes the sleeper"),
            // The token comes between the look and the store, which overwrites it.
            (Bug::AnnounceByStore, "nobody wakes the sleeper"),
        ],
    );
}

/// One token, and a sleep whose time is up. If that took no token, a sleep without a limit.
#[test]
fn one_token_for_two_sleeps() {
    Bound::exhaustive(50).check_and_refute(
        "a timed sleep is called off by a swap",
        |bug| {
            beside_a_token(bug, |toy| {
                if !toy.park_shortly() {
                    toy.park();
                }
            });
        },
        // The token comes after the last look and before the store, which overwrites it. The next
        // sleep never ends.
        &[(Bug::WithdrawByStore, "nobody wakes the sleeper")],
    );
}

/// A token is there. A second unparker leaves an item, and a token. The parker sleeps until it sees
/// the item.
#[test]
fn an_item_behind_a_token() {
    Bound::exhaustive(100).check_and_refute(
        "unpark leaves a token beside a token",
        |bug| {
            let toy = Toy::new(bug);
            toy.unpark();
            let item = Arc::new(AtomicUsize::new(0));
            let waker = beside_both(&toy, &item, move |toy, item| {
                item.store(1, Ordering::Relaxed);
                toy.unpark();
            });
            while item.load(Ordering::Relaxed) == 0 && toy.park() {}
            waker.join().unwrap();
            toy.assert_awake();
        },
        // The unparker finds the token and does nothing. The parker takes the token, does not see
        // the item, and sleeps beside it.
        &[(Bug::LookBeforeLeaving, "nobody wakes the sleeper")],
    );
}
