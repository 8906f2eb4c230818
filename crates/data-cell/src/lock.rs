//! The lock of one piece of data: an atomic word, and nothing that it guards.

use core::fmt;

use filch_sync::atomic::{AtomicU32, Ordering};

use crate::word::{LockError, Word};

/// The way in which a caller wants the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Beside other readers.
    Read,
    /// Alone.
    Write,
}

/// Readers or one writer, in one atomic word. No method waits.
///
/// ```text
///                unlock (Read)          unlock (Write)
///   n readers ◄───────────────► FREE ◄────────────────► WRITER
///                try_lock (Read) ▲ │    try_lock (Write)  │ ▲
///                   clear_poison │ │ to end               │ │
///                                │ └──────────────────────┼─┤ end
///                                │        poison          │ │
///                            POISONED ◄───────────────────┘ ├────► ENDED
///                                └──────────────────────────┘
///                                           to end
/// ```
///
/// A lock is part of a [`DataCell`](crate::DataCell), or of a [`Lockable`](crate::Lockable) type of
/// yours. If it is leaked, it stays locked.
///
/// **Waiting** is the caller's business. A thread that is refused notes where it can be woken, and
/// then sets the waiter's bit: [`announce_waiter`](Self::announce_waiter). The next unlock tells
/// its caller of the bit, and that one wakes those that it finds noted.
#[derive(Default)]
pub struct DataLock {
    word: AtomicU32,
}

/// A value that has a [`DataLock`], whatever the lock guards.
///
/// # Safety
/// [`lock`](Self::lock) always returns the same lock, which stays in its place until the value is
/// dropped or moved.
pub unsafe trait Lockable {
    /// The lock.
    fn lock(&self) -> &DataLock;
}

impl DataLock {
    /// Makes a free lock.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks, or returns at once the reason why it cannot.
    ///
    /// Everything that earlier writers did before they unlocked happens before the return; for a
    /// writer, everything that earlier readers did, too.
    ///
    /// Lock-free: a compare-exchange that fails only if another thread has changed the word, or
    /// once if a waiter's bit was left over; to read, a load before it.
    ///
    /// # Errors
    /// See [`LockError`]. A lock with 2²⁸ − 1 readers is held.
    #[inline]
    pub fn try_lock(&self, access: Access) -> Result<(), LockError> {
        match access {
            Access::Read => self.try_lock_to_read(),
            Access::Write => self.exclude(false),
        }
    }

    #[inline]
    fn try_lock_to_read(&self) -> Result<(), LockError> {
        // ORDERING: Relaxed: a guess, which the compare-exchange checks.
        let mut bits = self.word.load(Ordering::Relaxed);
        // A reader must not add itself before it looks: a writer would see it, and both would be
        // refused.
        loop {
            let word = Word::of(bits);
            let with_reader = word.with_reader().ok_or(LockError::of(word))?;
            // ORDERING: Acquire pairs with the Release of a writer's `unlock`: without it the
            // reader could see data half written. It may read a word that readers wrote since;
            // those are read-modify-writes, and so in its release sequence. Failure Relaxed:
            // nothing is locked, nothing is looked at.
            match self.word.compare_exchange_weak(
                bits,
                with_reader.bits(),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(current) => bits = current,
            }
        }
    }

    /// Makes the caller the writer, if nobody holds the lock. Poisoned it may be to take the data
    /// away. The bit of a waiter that was left over goes.
    #[inline]
    pub(crate) fn exclude(&self, may_be_poisoned: bool) -> Result<(), LockError> {
        match self.become_writer(Word::FREE) {
            Ok(()) => Ok(()),
            Err(current) => self.exclude_from(current, may_be_poisoned),
        }
    }

    /// As [`exclude`](Self::exclude), if the word was not that of a free lock.
    #[cold]
    fn exclude_from(&self, mut from: Word, may_be_poisoned: bool) -> Result<(), LockError> {
        // Between two rounds another thread may clear a poison, or poison a free lock.
        while from.is_free() || may_be_poisoned && from == Word::POISONED {
            match self.become_writer(from) {
                Ok(()) => return Ok(()),
                Err(current) => from = current,
            }
        }
        Err(LockError::of(from))
    }

    /// Makes the caller the writer of a lock in the state `from`, where nobody holds it.
    #[inline]
    fn become_writer(&self, from: Word) -> Result<(), Word> {
        // ORDERING: Acquire pairs with the Release of every way to unlock: without it the data of
        // the last writer could be unseen, and a reader could still be reading. Of several readers
        // each has released by an RMW, so the last of them is in the release sequences of all.
        // Failure Relaxed: nothing is locked, nothing is looked at.
        let locked = self.word.compare_exchange(
            from.bits(),
            Word::WRITER.bits(),
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        locked.map(drop).map_err(Word::of)
    }

    /// Sets the waiter's bit, if the lock is held in a way that excludes this access. Returns
    /// whether it is: if not, try again. Lock-free.
    ///
    /// The caller has noted before where it can be woken. Everything that it did before happens
    /// before the return of the [`unlock`](Self::unlock) that says that somebody waits. It is no
    /// place in a queue: others may lock before the caller tries again.
    pub fn announce_waiter(&self, access: Access) -> bool {
        let mut word = self.word();
        while let Some(awaited) = word.with_waiter(access) {
            // ORDERING: Release pairs with the Acquire of `unlock`, `poison` and `end`: the note
            // where to wake. An exchange even where the bit is there already: the unlock must
            // follow this one, and not only the earlier waiter's. Failure Relaxed: nothing is told.
            match self.word.compare_exchange_weak(
                word.bits(),
                awaited.bits(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(current) => word = Word::of(current),
            }
        }
        false
    }

    /// Removes the bit of a waiter from a free lock, where it is left over: those that lock and
    /// unlock would be told of a waiter again and again.
    #[cold]
    pub(crate) fn forget_waiters(&self) {
        // ORDERING: Relaxed: an RMW, so it stays in the release sequences of those that unlocked.
        // Whoever set the bit did so while the lock was held, and the unlock since then was told.
        // Failure Relaxed: it is not left over.
        let _ = self.word.compare_exchange(
            Word::LEFT_OVER.bits(),
            Word::FREE.bits(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }

    /// Unlocks. Returns whether somebody [waits](Self::announce_waiter): wake all that are noted.
    /// Everything that the caller did before happens before the next return of
    /// [`try_lock`](Self::try_lock) that this makes possible. Wait-free.
    ///
    /// # Safety
    /// The caller holds the lock with this access, and gives it up: it uses nothing any more that
    /// the lock gave it.
    #[inline]
    pub unsafe fn unlock(&self, access: Access) -> bool {
        // ORDERING: Release pairs with the Acquire of every `try_lock`: it publishes what a writer
        // wrote, and keeps the next writer from changing what this thread still reads. Acquire
        // pairs with the Release of `announce_waiter`. RMWs, since other readers come and go, and
        // waiters come: a store would erase the bit of one that comes between a look and the store.
        let before = match access {
            Access::Read => self.word.fetch_sub(Word::READER, Ordering::AcqRel),
            // ORDERING: as above.
            Access::Write => self.word.swap(Word::FREE.bits(), Ordering::AcqRel),
        };
        Word::of(before).is_awaited()
    }

    /// Unlocks, and poisons: the writer has left the data half changed. Returns whether somebody
    /// waits, as [`unlock`](Self::unlock) does. Everything that the caller
    /// did before happens before a thread gets the [cleared](Self::clear_poison) lock, or takes the
    /// data. Wait-free.
    ///
    /// # Safety
    /// The caller holds the lock to write, and gives it up, as with [`unlock`](Self::unlock).
    pub unsafe fn poison(&self) -> bool {
        // ORDERING: Release pairs with the Acquire in `exclude` when the data is ended, and, over
        // the RMW of `clear_poison`, with that of each `try_lock`. Acquire, and an RMW, as in
        // `unlock`.
        let before = self.word.swap(Word::POISONED.bits(), Ordering::AcqRel);
        Word::of(before).is_awaited()
    }

    /// Frees a poisoned lock. Returns whether it was poisoned. The data is as the panic left it:
    /// the caller finds that good enough, or the next writer repairs it. Wait-free.
    pub fn clear_poison(&self) -> bool {
        // ORDERING: Relaxed: an RMW, so it stays in the release sequence of the store in `poison`,
        // with which the next locker pairs. The caller has touched nothing that it could publish.
        // Failure Relaxed: nothing was received.
        self.word
            .compare_exchange(
                Word::POISONED.bits(),
                Word::FREE.bits(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Returns whether a writer panicked, and nobody cleared that. It orders nothing. Wait-free.
    pub fn is_poisoned(&self) -> bool {
        self.word() == Word::POISONED
    }

    /// Returns whether the data is gone, which is for ever. It orders nothing. Wait-free.
    pub fn is_ended(&self) -> bool {
        self.word() == Word::ENDED
    }

    /// Marks the data as gone.
    ///
    /// # Safety
    /// The caller holds the lock to write, and has taken the data.
    pub(crate) unsafe fn end(&self) {
        // ORDERING: Acquire pairs with the Release of `announce_waiter`: the caller wakes those
        // that are noted, as they get the lock no more. An RMW, as in `unlock`. No Release: nobody
        // gets the lock again, so there is nobody to publish to.
        self.word.swap(Word::ENDED.bits(), Ordering::Acquire);
    }

    fn word(&self) -> Word {
        // ORDERING: Relaxed: an answer that may be old; nobody may touch the data because of it.
        Word::of(self.word.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for DataLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DataLock").field(&self.word()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::{Access, DataLock, LockError, Ordering};
    use crate::word::Word;

    const BOTH: [Access; 2] = [Access::Read, Access::Write];

    fn refusals(lock: &DataLock) -> [Option<LockError>; 2] {
        BOTH.map(|access| lock.try_lock(access).err())
    }

    #[test]
    fn readers_share_and_exclude_a_writer() {
        let lock = DataLock::default();
        assert_eq!(lock.try_lock(Access::Read), Ok(()));
        assert_eq!(refusals(&lock), [None, Some(LockError::Held)]);
        for _ in 0..2 {
            // SAFETY: two readers came.
            unsafe { lock.unlock(Access::Read) };
        }
        assert_eq!(lock.try_lock(Access::Write), Ok(()));
        assert_eq!(refusals(&lock), [Some(LockError::Held); 2]);
        // SAFETY: locked two lines above.
        unsafe { lock.unlock(Access::Write) };
        assert_eq!(lock.word(), Word::FREE);
    }

    #[test]
    fn a_full_lock_is_held() {
        let lock = DataLock {
            word: (Word::MAX_READERS * Word::READER).into(),
        };
        assert_eq!(refusals(&lock), [Some(LockError::Held); 2]);
        assert_eq!(lock.exclude(true), Err(LockError::Held));
    }

    #[test]
    fn poison_refuses_all_until_it_is_cleared() {
        let lock = DataLock::new();
        assert!(!lock.clear_poison());
        assert_eq!(lock.try_lock(Access::Write), Ok(()));
        assert!(!lock.clear_poison(), "a writer is no poison");
        // SAFETY: locked above.
        unsafe { lock.poison() };
        assert!(lock.is_poisoned() && !lock.is_ended());
        assert_eq!(refusals(&lock), [Some(LockError::Poisoned); 2]);
        assert!(lock.clear_poison());
        assert!(!lock.clear_poison(), "once");
        assert_eq!(lock.word(), Word::FREE);
    }

    /// The unlock is told. A reader leaves the bit, until somebody writes or forgets it.
    #[test]
    fn who_unlocks_is_told_of_a_waiter() {
        let lock = DataLock::new();
        assert!(!lock.announce_waiter(Access::Write), "it is free");
        for holds in BOTH {
            assert_eq!(lock.try_lock(holds), Ok(()));
            assert_eq!(lock.announce_waiter(Access::Read), holds == Access::Write);
            assert!(lock.announce_waiter(Access::Write) && lock.announce_waiter(Access::Write));
            // SAFETY: locked above.
            assert!(unsafe { lock.unlock(holds) });
            assert_eq!(lock.word().is_awaited(), holds == Access::Read);
            assert!(!lock.announce_waiter(Access::Write), "it is free");
        }
        lock.word.store(Word::LEFT_OVER.bits(), Ordering::Relaxed);
        assert_eq!(lock.try_lock(Access::Write), Ok(()));
        // SAFETY: locked above.
        assert!(!unsafe { lock.unlock(Access::Write) }, "it went");
        assert_eq!(lock.try_lock(Access::Write), Ok(()));
        assert!(lock.announce_waiter(Access::Read));
        // SAFETY: locked above.
        assert!(unsafe { lock.poison() });
        assert!(lock.is_poisoned() && !lock.announce_waiter(Access::Write));
    }

    #[test]
    fn an_end_is_for_ever() {
        let lock = DataLock::new();
        assert_eq!(lock.try_lock(Access::Read), Ok(()));
        assert_eq!(lock.exclude(true), Err(LockError::Held));
        // SAFETY: locked above.
        unsafe { lock.unlock(Access::Read) };
        assert_eq!(lock.exclude(true), Ok(()));
        assert_eq!(refusals(&lock), [Some(LockError::Held); 2]);
        // SAFETY: locked above; there is no data.
        unsafe { lock.end() };
        assert!(lock.is_ended() && !lock.is_poisoned());
        assert_eq!(refusals(&lock), [Some(LockError::Ended); 2]);
        assert_eq!(lock.exclude(true), Err(LockError::Ended));
        assert!(!lock.clear_poison());
    }

    #[test]
    fn poison_does_not_keep_the_owner_from_ending() {
        let lock = DataLock {
            word: Word::POISONED.bits().into(),
        };
        assert_eq!(lock.exclude(true), Ok(()));
        assert_eq!(lock.word(), Word::WRITER);
    }

    #[test]
    fn what_it_says() {
        assert_eq!(format!("{:?}", DataLock::new()), "DataLock(free)");
        let errors = [LockError::Held, LockError::Poisoned, LockError::Ended];
        let [held, poisoned, ended] = errors.map(|error| error.to_string());
        assert!(held != poisoned && poisoned != ended);
    }
}
