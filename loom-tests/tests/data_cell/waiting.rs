//! Threads that are refused a lock, and wait. A sleep is an answer here: who sleeps must be found
//! by whoever unlocks.

use filch_data_cell::{Access, DataCell, DataLock, Lockable};
use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

/// A lock, and where those that are refused can be woken.
struct Waited {
    lock: DataLock,
    /// A bit for each that waits. Relaxed, and read by plain loads: the lock alone must pass it on.
    noted: AtomicU32,
    /// A bit for each that an unlock has woken.
    woken: AtomicU32,
}

impl Waited {
    /// Makes one that this thread holds.
    fn held(access: Access) -> Arc<Self> {
        let lock = DataLock::new();
        assert_eq!(lock.try_lock(access), Ok(()));
        Arc::new(Self {
            lock,
            noted: AtomicU32::new(0),
            woken: AtomicU32::new(0),
        })
    }

    fn unlock(&self, access: Access) -> bool {
        // SAFETY: the caller holds it with this access.
        let is_awaited = unsafe { self.lock.unlock(access) };
        if is_awaited {
            let noted = self.noted.load(Ordering::Relaxed);
            self.woken.fetch_or(noted, Ordering::Relaxed);
        }
        is_awaited
    }

    /// Locks and unlocks; or returns its bit, if it sleeps instead.
    fn lock_or_wait(&self, access: Access, bit: u32) -> u32 {
        if self.lock.try_lock(access).is_ok() {
            self.unlock(access);
            return 0;
        }
        self.noted.fetch_or(bit, Ordering::Relaxed);
        match self.lock.announce_waiter(access) {
            true => bit,
            false => 0,
        }
    }

    /// Checks that whoever sleeps has been woken.
    fn assert_awake(&self, asleep: u32) {
        let woken = self.woken.load(Ordering::Relaxed);
        assert_eq!(asleep & !woken, 0, "sleeps for ever");
    }
}

/// Two threads: one holds the lock to write, and unlocks; the other wants it. Failure: it sleeps,
/// and the unlock was not told; or was told, and does not see the note.
#[test]
fn a_waiter_beside_an_unlock() {
    Bound::exhaustive(5)
        .outcomes("a waiter races an unlock", || {
            let waited = Waited::held(Access::Write);
            let waiter = beside(&waited, |waited| waited.lock_or_wait(Access::Read, 1));
            let is_told = waited.unlock(Access::Write);
            let asleep = waiter.join().unwrap();
            waited.assert_awake(asleep);
            (asleep, is_told)
        })
        .assert_exactly([(0, false), (1, true)]);
}

/// Three threads: one holds the lock to write, the others want it, and may be refused by each
/// other, too. Failure: as above.
#[test]
fn two_waiters_beside_an_unlock() {
    Bound::exhaustive(1_000)
        .outcomes("two waiters race an unlock", || {
            let waited = Waited::held(Access::Write);
            let waiters = [1, 2].map(|bit| {
                beside(&waited, move |waited| {
                    waited.lock_or_wait(Access::Write, bit)
                })
            });
            waited.unlock(Access::Write);
            let asleep = waiters.map(|waiter| waiter.join().unwrap());
            waited.assert_awake(asleep[0] | asleep[1]);
            asleep
        })
        .assert_exactly([[0, 0], [1, 0], [0, 2], [1, 2]]);
}

/// Three threads: two read, a writer waits. Each of the readers may be the last. Failure: as above.
#[test]
fn a_waiter_beside_two_readers() {
    Bound::exhaustive(100)
        .outcomes("a writer waits for two readers", || {
            let waited = Waited::held(Access::Read);
            assert_eq!(waited.lock.try_lock(Access::Read), Ok(()));
            let reader = beside(&waited, |waited| waited.unlock(Access::Read));
            let waiter = beside(&waited, |waited| waited.lock_or_wait(Access::Write, 1));
            waited.unlock(Access::Read);
            reader.join().unwrap();
            let asleep = waiter.join().unwrap();
            waited.assert_awake(asleep);
            asleep
        })
        .assert_exactly([0, 1]);
}

/// Two threads: one holds the lock to write, and poisons; the other wants it. Failure: as above.
#[test]
fn a_waiter_beside_poison() {
    Bound::exhaustive(5)
        .outcomes("a waiter races a panic", || {
            let waited = Waited::held(Access::Write);
            let waiter = beside(&waited, |waited| waited.lock_or_wait(Access::Read, 1));
            // SAFETY: held above.
            if unsafe { waited.lock.poison() } {
                let noted = waited.noted.load(Ordering::Relaxed);
                waited.woken.store(noted, Ordering::Relaxed);
            }
            let asleep = waiter.join().unwrap();
            waited.assert_awake(asleep);
            asleep
        })
        .assert_exactly([0, 1]);
}

/// Two threads: one takes the data, and then looks for those that wait; the other may be refused
/// meanwhile. Failure: it sleeps, and its note is not seen.
#[test]
fn a_waiter_beside_the_end() {
    Bound::exhaustive(5)
        .outcomes("a waiter races the end", || {
            let cell = Arc::new((DataCell::new(7), AtomicU32::new(0)));
            let waiter = beside(&cell, |(cell, noted)| {
                if cell.try_read(|_| ()).is_ok() || cell.is_ended() {
                    return 0;
                }
                noted.fetch_or(1, Ordering::Relaxed);
                u32::from(cell.lock().announce_waiter(Access::Read))
            });
            let is_taken = cell.0.try_end().is_ok();
            let noted = cell.1.load(Ordering::Relaxed);
            let asleep = waiter.join().unwrap();
            if is_taken {
                assert_eq!(asleep & !noted, 0, "sleeps for ever");
            }
            (asleep, is_taken)
        })
        .assert_exactly([(0, true), (0, false), (1, true)]);
}
