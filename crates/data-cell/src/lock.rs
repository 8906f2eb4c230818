//! The lock of one piece of data: an atomic word, and nothing that it guards.

use core::error::Error;
use core::fmt;

use filch_sync::atomic::{AtomicU32, Ordering};

use crate::word::Word;

/// The way in which a caller wants the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Beside other readers.
    Read,
    /// Alone.
    Write,
}

/// The reason why a caller did not get the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockError {
    /// Others hold it in a way that excludes this. Try later.
    Held,
    /// A writer panicked in the middle of its work. Nobody gets the lock before it is
    /// [cleared](DataLock::clear_poison).
    Poisoned,
    /// The owner has taken the data away. Nobody gets the lock again.
    Ended,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "others hold the data",
            Self::Poisoned => "a writer of the data panicked",
            Self::Ended => "the owner of the data has taken it away",
        })
    }
}

impl Error for LockError {}

impl LockError {
    /// Returns the reason why a lock in this state was refused.
    const fn of(word: Word) -> Self {
        match word {
            Word::POISONED => Self::Poisoned,
            Word::ENDED => Self::Ended,
            _ => Self::Held,
        }
    }
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
        Self {
            word: AtomicU32::new(Word::FREE.bits()),
        }
    }

    /// Locks, or returns at once the reason why it cannot.
    ///
    /// Everything that earlier writers did before they unlocked happens before the return; for a
    /// writer, everything that earlier readers did, too.
    ///
    /// To write: wait-free, one compare-exchange. To read: lock-free, a load and a compare-exchange
    /// that fails only if another thread has changed the word.
    ///
    /// # Errors
    /// See [`LockError`]. A lock with 2²⁹ − 1 readers is held.
    #[inline]
    pub fn try_lock(&self, access: Access) -> Result<(), LockError> {
        match access {
            Access::Read => self.try_lock_to_read(),
            Access::Write => self.try_lock_to_write(),
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
            // ORDERING: Acquire pairs with the Release stores of `unlock_from_writing` and
            // `poison`: without it the reader could see data half written. It may read a word that
            // readers wrote since; those are read-modify-writes, and so in the store's release
            // sequence. Failure Relaxed: nothing is locked, nothing is looked at.
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

    #[inline]
    fn try_lock_to_write(&self) -> Result<(), LockError> {
        self.exclude(Word::FREE)
            .map_err(|current| LockError::of(Word::of(current)))
    }

    /// Locks to take the data away: as a writer, even if it is poisoned. Lock-free.
    ///
    /// Everything that others did before they unlocked or poisoned happens before the return.
    pub(crate) fn try_lock_to_end(&self) -> Result<(), LockError> {
        let mut from = Word::FREE;
        while let Err(current) = self.exclude(from) {
            from = Word::of(current);
            // Between two rounds another thread may clear a poison, or poison a free lock.
            if from != Word::FREE && from != Word::POISONED {
                return Err(LockError::of(from));
            }
        }
        Ok(())
    }

    /// Makes the caller the writer of a lock in the state `from`, where nobody holds it.
    #[inline]
    fn exclude(&self, from: Word) -> Result<(), u32> {
        // ORDERING: Acquire pairs with the Release of every way to unlock: without it the data of
        // the last writer could be unseen, and a reader could still be reading. Of several readers
        // each has released by an RMW, so the last of them is in the release sequences of all.
        // Failure Relaxed: nothing is locked, nothing is looked at.
        self.word
            .compare_exchange(
                from.bits(),
                Word::WRITER.bits(),
                Ordering::Acquire,
                Ordering::Relaxed,
            )
            .map(drop)
    }

    /// Unlocks. Everything that the caller did before happens before the next return of
    /// [`try_lock`](Self::try_lock) that this makes possible. Wait-free.
    ///
    /// # Safety
    /// The caller holds the lock with this access, and gives it up: it uses nothing any more that
    /// the lock gave it.
    #[inline]
    pub unsafe fn unlock(&self, access: Access) {
        match access {
            // ORDERING: Release pairs with the Acquire in `exclude`: without it a writer could
            // change what this thread still reads. A subtraction, since other readers come and go.
            Access::Read => drop(self.word.fetch_sub(Word::READER, Ordering::Release)),
            // ORDERING: Release pairs with the Acquire of every `try_lock`: it publishes what was
            // written. A store, since nobody else changes the word of a writer.
            Access::Write => self.word.store(Word::FREE.bits(), Ordering::Release),
        }
    }

    /// Unlocks, and poisons: the writer has left the data half changed. Everything that the caller
    /// did before happens before a thread gets the [cleared](Self::clear_poison) lock, or takes the
    /// data. Wait-free.
    ///
    /// # Safety
    /// The caller holds the lock to write, and gives it up, as with [`unlock`](Self::unlock).
    pub unsafe fn poison(&self) {
        // ORDERING: Release pairs with the Acquire in `exclude` when the data is ended, and, over
        // the RMW of `clear_poison`, with that of each `try_lock`. A store, as in `unlock`.
        self.word.store(Word::POISONED.bits(), Ordering::Release);
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
        // ORDERING: Relaxed: nobody gets the lock again, so there is nobody to publish to. A later
        // compare-exchange cannot miss it, since that reads the latest word.
        self.word.store(Word::ENDED.bits(), Ordering::Relaxed);
    }

    fn word(&self) -> Word {
        // ORDERING: Relaxed: an answer that may be old; nobody may touch the data because of it.
        Word::of(self.word.load(Ordering::Relaxed))
    }
}

impl Default for DataLock {
    fn default() -> Self {
        Self::new()
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

    use super::{Access, DataLock, LockError};
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
            word: Word::MAX_READERS.into(),
        };
        assert_eq!(refusals(&lock), [Some(LockError::Held); 2]);
        assert_eq!(lock.try_lock_to_end(), Err(LockError::Held));
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

    #[test]
    fn an_end_is_for_ever() {
        let lock = DataLock::new();
        assert_eq!(lock.try_lock(Access::Read), Ok(()));
        assert_eq!(lock.try_lock_to_end(), Err(LockError::Held));
        // SAFETY: locked above.
        unsafe { lock.unlock(Access::Read) };
        assert_eq!(lock.try_lock_to_end(), Ok(()));
        assert_eq!(refusals(&lock), [Some(LockError::Held); 2]);
        // SAFETY: locked above; there is no data.
        unsafe { lock.end() };
        assert!(lock.is_ended() && !lock.is_poisoned());
        assert_eq!(refusals(&lock), [Some(LockError::Ended); 2]);
        assert_eq!(lock.try_lock_to_end(), Err(LockError::Ended));
        assert!(!lock.clear_poison());
    }

    #[test]
    fn poison_does_not_keep_the_owner_from_ending() {
        let lock = DataLock {
            word: Word::POISONED.bits().into(),
        };
        assert_eq!(lock.try_lock_to_end(), Ok(()));
        assert_eq!(lock.word(), Word::WRITER);
    }

    #[test]
    fn what_it_says() {
        assert_eq!(format!("{:?}", DataLock::new()), "DataLock(free)");
        let said = [LockError::Held, LockError::Poisoned, LockError::Ended].map(|error| {
            assert!(!error.to_string().is_empty());
            error.to_string()
        });
        assert!(said[0] != said[1] && said[1] != said[2]);
    }
}
