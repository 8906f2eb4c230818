//! Mistakes in the bit of those that wait for a lock.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

const WAITED: u32 = 1;
const WRITER: u32 = 2;

/// The mistake of the broken lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// The writer looks for the bit, and unlocks by a store.
    UnlockByStore,
    /// A waiter sets the bit without a look at the rest of the word.
    BitOfAFreeLock,
    /// A waiter sets the bit, and then notes where it can be woken.
    NoteBehindTheBit,
    /// A waiter that finds the bit set leaves it so.
    NoExchange,
}

/// A writer's lock with the bit of those that wait, and where they can be woken.
struct Toy {
    bug: Bug,
    word: AtomicU32,
    noted: AtomicU32,
    woken: AtomicU32,
}

impl Toy {
    fn try_lock(&self) -> bool {
        let lock = |from| {
            let locked =
                self.word
                    .compare_exchange(from, WRITER, Ordering::Acquire, Ordering::Relaxed);
            locked.is_ok()
        };
        lock(0) || lock(WAITED)
    }

    fn unlock(&self) {
        let before = if self.bug == Bug::UnlockByStore {
            let before = self.word.load(Ordering::Acquire);
            self.word.store(0, Ordering::Release);
            before
        } else {
            self.word.fetch_sub(WRITER, Ordering::AcqRel)
        };
        if before & WAITED != 0 {
            let noted = self.noted.load(Ordering::Relaxed);
            self.woken.fetch_or(noted, Ordering::Relaxed);
        }
    }

    /// Returns whether the caller may sleep.
    fn announce_waiter(&self) -> bool {
        if self.bug == Bug::BitOfAFreeLock {
            self.word.fetch_or(WAITED, Ordering::Release);
            return true;
        }
        let mut word = self.word.load(Ordering::Relaxed);
        while word & WRITER != 0 {
            if self.bug == Bug::NoExchange && word & WAITED != 0 {
                return true;
            }
            let awaited = word | WAITED;
            match self
                .word
                .compare_exchange(word, awaited, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(current) => word = current,
            }
        }
        false
    }

    /// Locks and unlocks; or returns its bit, if it sleeps instead.
    fn lock_or_wait(&self, bit: u32) -> u32 {
        if self.try_lock() {
            self.unlock();
            return 0;
        }
        let note = || self.noted.fetch_or(bit, Ordering::Relaxed);
        if self.bug != Bug::NoteBehindTheBit {
            note();
        }
        let asleep = if self.announce_waiter() { bit } else { 0 };
        if self.bug == Bug::NoteBehindTheBit {
            note();
        }
        asleep
    }
}

/// The lock is held, and unlocked beside two that want it.
#[test]
fn two_wait() {
    Bound::exhaustive(1_000).check_and_refute(
        "an unlock finds all that wait",
        |bug| {
            let toy = Arc::new(Toy {
                bug,
                word: AtomicU32::new(WRITER),
                noted: AtomicU32::new(0),
                woken: AtomicU32::new(0),
            });
            let waiters = [1, 2].map(|bit| beside(&toy, move |toy| toy.lock_or_wait(bit)));
            toy.unlock();
            let asleep = waiters.map(|waiter| waiter.join().unwrap());
            let asleep = asleep[0] | asleep[1];
            let woken = toy.woken.load(Ordering::Relaxed);
            assert_eq!(asleep & !woken, 0, "sleeps for ever");
        },
        &[
            // A waiter comes between the look and the store, which erases its bit.
            (Bug::UnlockByStore, "sleeps for ever"),
            // The unlock was before: nobody looks at the bit.
            (Bug::BitOfAFreeLock, "sleeps for ever"),
            // The unlock sees the bit, and looks before the note is there.
            (Bug::NoteBehindTheBit, "sleeps for ever"),
            // The unlock sees the bit of the other waiter, and need not see this one's note.
            (Bug::NoExchange, "sleeps for ever"),
        ],
    );
}
