//! Broken parkers, each with a tempting mistake that the models must catch. Each model is there
//! twice: it must hold for the parker without a mistake.
#![cfg(loom)]

use filch_sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use filch_sync::{Arc, Mutex, thread};
use loom_tests::{Bound, check, refute};

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// The mistake of the broken parker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
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
    bug: Option<Bug>,
    state: AtomicU32,
    lock: Mutex<()>,
    /// 1 while the parker waits for a notification.
    waiting: AtomicU32,
}

impl Toy {
    fn new(bug: Option<Bug>) -> Arc<Self> {
        Arc::new(Self {
            bug,
            state: AtomicU32::new(EMPTY),
            lock: Mutex::new(()),
            waiting: AtomicU32::new(0),
        })
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
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
fn beside_a_token(bug: Option<Bug>, parker: impl FnOnce(&Toy)) {
    let toy = Toy::new(bug);
    let waker = thread::spawn({
        let toy = Arc::clone(&toy);
        move || toy.unpark()
    });
    parker(&toy);
    waker.join().unwrap();
    toy.assert_awake();
}

/// One sleep, one token.
fn one_token(bug: Option<Bug>) {
    beside_a_token(bug, |toy| {
        toy.park();
    });
}

/// The control: the same model, with the parker without a mistake.
#[test]
fn one_token_without_a_bug() {
    check(
        "unpark notifies under the lock, park announces by an exchange",
        Bound::exhaustive(12),
        || one_token(None),
    );
}

/// The notification comes after the announcement and before the wait, and is lost.
#[test]
fn a_notification_without_the_lock() {
    refute(
        "unpark notifies without the lock",
        "nobody wakes the sleeper",
        Bound::exhaustive(2),
        || one_token(Some(Bug::NotifyWithoutLock)),
    );
}

/// The token comes between the look and the store, which overwrites it.
#[test]
fn an_announcement_by_store() {
    refute(
        "park announces by a store",
        "nobody wakes the sleeper",
        Bound::exhaustive(2),
        || one_token(Some(Bug::AnnounceByStore)),
    );
}

/// One token, and a sleep whose time is up. If that took no token, a sleep without a limit.
fn one_token_for_two_sleeps(bug: Option<Bug>) {
    beside_a_token(bug, |toy| {
        if !toy.park_shortly() {
            toy.park();
        }
    });
}

/// The control.
#[test]
fn one_token_for_two_sleeps_without_a_bug() {
    check(
        "a timed sleep is called off by a swap",
        Bound::exhaustive(50),
        || one_token_for_two_sleeps(None),
    );
}

/// The token comes after the last look and before the store, which overwrites it. The next sleep
/// never ends.
#[test]
fn a_sleep_called_off_by_store() {
    refute(
        "a timed sleep is called off by a store",
        "nobody wakes the sleeper",
        Bound::exhaustive(2),
        || one_token_for_two_sleeps(Some(Bug::WithdrawByStore)),
    );
}

/// A token is there. A second unparker leaves an item, and a token. The parker sleeps until it sees
/// the item.
fn an_item_behind_a_token(bug: Option<Bug>) {
    let toy = Toy::new(bug);
    toy.unpark();
    let item = Arc::new(AtomicUsize::new(0));
    let waker = thread::spawn({
        let (toy, item) = (Arc::clone(&toy), Arc::clone(&item));
        move || {
            item.store(1, Ordering::Relaxed);
            toy.unpark();
        }
    });
    while item.load(Ordering::Relaxed) == 0 && toy.park() {}
    waker.join().unwrap();
    toy.assert_awake();
}

/// The control.
#[test]
fn an_item_behind_a_token_without_a_bug() {
    check(
        "unpark leaves a token beside a token",
        Bound::exhaustive(100),
        || an_item_behind_a_token(None),
    );
}

/// The unparker finds the token and does nothing. The parker takes the token, does not see the
/// item, and sleeps beside it.
#[test]
fn a_token_that_is_not_left_again() {
    refute(
        "unpark looks, and leaves a token alone",
        "nobody wakes the sleeper",
        Bound::exhaustive(2),
        || an_item_behind_a_token(Some(Bug::LookBeforeLeaving)),
    );
}
