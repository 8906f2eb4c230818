//! A lock like that of a data cell, with a value and a mistake.

use filch_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use filch_sync::cell::UnsafeCell;

pub(crate) const FREE: u32 = 0;
const WRITER: u32 = 1 << 29;
pub(crate) const POISONED: u32 = 1 << 30;

/// The mistake of the broken lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bug {
    #[default]
    None,
    /// A writer unlocks by a Relaxed store.
    WriterPublishesNothing,
    /// A reader unlocks by a Relaxed subtraction.
    ReaderLeavesUnseen,
    /// A reader adds itself, looks, and takes itself back if there is a writer. A writer unlocks by
    /// taking its bit back.
    ReaderAddsFirst,
    /// The same, and a writer unlocks by a store.
    ReaderAddsFirstBesideAStore,
    /// The owner looks whether the lock is free, and takes it by a store.
    EndByStore,
    /// Poison is a flag beside the word, raised once the writer has unlocked.
    PoisonBesideTheWord,
    /// Poison is cleared by a store.
    ClearedByStore,
}

/// The real lock, except for `bug`, and a value.
pub(crate) struct Toy {
    bug: Bug,
    pub(crate) word: AtomicU32,
    /// Used only with [`Bug::PoisonBesideTheWord`].
    poison: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is touched under the lock; where a bug lets two threads in, loom says so.
unsafe impl Sync for Toy {}

impl Toy {
    pub(crate) fn new(bug: Bug) -> Self {
        Self {
            bug,
            word: AtomicU32::new(FREE),
            poison: AtomicBool::new(false),
            value: UnsafeCell::new(0),
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    /// Exchanges the word, or returns its other value.
    fn exchange(&self, from: u32, to: u32) -> Result<u32, u32> {
        self.word
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed)
    }

    pub(crate) fn try_lock_to_read(&self) -> bool {
        if self.has(Bug::ReaderAddsFirst) || self.has(Bug::ReaderAddsFirstBesideAStore) {
            let is_in = self.word.fetch_add(1, Ordering::Acquire) < WRITER;
            if !is_in {
                self.word.fetch_sub(1, Ordering::Relaxed);
            }
            return is_in;
        }
        let mut word = self.word.load(Ordering::Relaxed);
        while word < WRITER {
            match self.exchange(word, word + 1) {
                Ok(_) => return true,
                Err(current) => word = current,
            }
        }
        false
    }

    pub(crate) fn unlock_from_reading(&self) {
        let ordering = if self.has(Bug::ReaderLeavesUnseen) {
            Ordering::Relaxed
        } else {
            Ordering::Release
        };
        self.word.fetch_sub(1, ordering);
    }

    pub(crate) fn try_lock_to_write(&self) -> bool {
        self.exchange(FREE, WRITER).is_ok() && !self.poison.load(Ordering::Acquire)
    }

    pub(crate) fn unlock_from_writing(&self) {
        match self.bug {
            Bug::WriterPublishesNothing => self.word.store(FREE, Ordering::Relaxed),
            Bug::ReaderAddsFirst => {
                self.word.fetch_sub(WRITER, Ordering::Release);
            }
            _ => self.word.store(FREE, Ordering::Release),
        }
    }

    pub(crate) fn poison(&self) {
        if self.has(Bug::PoisonBesideTheWord) {
            self.word.store(FREE, Ordering::Release);
            self.poison.store(true, Ordering::Release);
        } else {
            self.word.store(POISONED, Ordering::Release);
        }
    }

    pub(crate) fn clear_poison(&self) {
        if !self.has(Bug::ClearedByStore) {
            let _ = self.exchange(POISONED, FREE);
        } else if self.word.load(Ordering::Relaxed) == POISONED {
            self.word.store(FREE, Ordering::Relaxed);
        }
    }

    pub(crate) fn try_lock_to_end(&self) -> bool {
        if self.has(Bug::EndByStore) {
            let is_free = self.word.load(Ordering::Acquire) == FREE;
            if is_free {
                self.word.store(WRITER, Ordering::Relaxed);
            }
            return is_free;
        }
        self.try_lock_to_write()
    }

    pub(crate) fn get(&self) -> u32 {
        // SAFETY: the caller believes that it has locked this to read.
        self.value.with(|value| unsafe { *value })
    }

    pub(crate) fn set(&self, to: u32) {
        // SAFETY: the caller believes that it has locked this to write.
        self.value.with_mut(|value| unsafe { *value = to });
    }

    /// Returns the value, if it is let in.
    pub(crate) fn read(&self) -> Option<u32> {
        self.try_lock_to_read().then(|| {
            let value = self.get();
            self.unlock_from_reading();
            value
        })
    }

    /// Writes, if it is let in; returns whether it was.
    pub(crate) fn write(&self, to: u32) -> bool {
        let is_in = self.try_lock_to_write();
        if is_in {
            self.set(to);
            self.unlock_from_writing();
        }
        is_in
    }
}
