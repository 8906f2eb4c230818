//! The word: the state of a lock, packed, and why it refuses. No atomics here.

use core::error::Error;
use core::fmt;

use crate::lock::Access;

/// The state of a lock in 32 bits.
///
/// ```text
///    31      30        29                             1       0
///   ENDED  POISONED  WRITER   the readers, 0 to MAX_READERS  WAITED
/// ```
///
/// At most one of the three upper bits is set, and then no reader counts. If all are zero, it is
/// free. Somebody waits for the holder to unlock if `WAITED` is set, which it may be beside readers
/// or a writer. On a free lock it is left over: it says nothing, and goes at the next chance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u32);

impl Word {
    /// Nobody holds the lock: the default of an atomic.
    pub(crate) const FREE: Self = Self(0);
    /// One writer holds the lock.
    pub(crate) const WRITER: Self = Self(1 << 29);
    /// A writer panicked: nobody holds the lock, and only a taking of the data can lock it.
    pub(crate) const POISONED: Self = Self(1 << 30);
    /// The data is gone, for ever.
    pub(crate) const ENDED: Self = Self(1 << 31);
    /// Nobody holds the lock; the bit of a waiter is left over.
    pub(crate) const LEFT_OVER: Self = Self(1);
    /// The bits that one reader adds.
    pub(crate) const READER: u32 = 2;
    /// The most readers at a time.
    pub(crate) const MAX_READERS: u32 = Self::WRITER.0 / Self::READER - 1;

    /// Returns the word with one more reader, unless a bit is set or there are too many readers.
    #[inline]
    pub(crate) const fn with_reader(self) -> Option<Self> {
        // The three bits lie above the count, so one comparison checks all.
        if self.0 < Self::MAX_READERS * Self::READER {
            Some(Self(self.0 + Self::READER))
        } else {
            None
        }
    }

    /// Returns whether nobody holds the lock, and it is neither poisoned nor ended.
    #[inline]
    pub(crate) const fn is_free(self) -> bool {
        self.0 <= Self::LEFT_OVER.0
    }

    /// Returns whether somebody waits, or did: see [`LEFT_OVER`](Self::LEFT_OVER).
    #[inline]
    pub(crate) const fn is_awaited(self) -> bool {
        self.0 & Self::LEFT_OVER.0 != 0
    }

    /// Returns the word with the bit of a waiter, if those that hold the lock exclude `access`.
    pub(crate) const fn with_waiter(self, access: Access) -> Option<Self> {
        let is_excluded = match access {
            Access::Read => self.with_reader().is_none(),
            Access::Write => !self.is_free(),
        };
        if is_excluded && self.0 < Self::POISONED.0 {
            Some(Self(self.0 | Self::LEFT_OVER.0))
        } else {
            None
        }
    }

    /// Makes the word of these bits.
    #[inline]
    pub(crate) const fn of(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits, as an atomic keeps them.
    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self(self.0 & !Self::LEFT_OVER.0) {
            Self::FREE => return f.write_str("free"),
            Self::WRITER => f.write_str("held by a writer")?,
            Self::POISONED => f.write_str("poisoned")?,
            Self::ENDED => f.write_str("ended")?,
            Self(readers) => write!(f, "held by {} readers", readers / Self::READER)?,
        }
        f.write_str(if self.is_awaited() { ", awaited" } else { "" })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    use super::Word;
    use crate::lock::Access;

    proptest! {
        /// The bits of a word are the word.
        #[test]
        fn a_word_survives_the_atomic(bits: u32) {
            prop_assert_eq!(Word::of(bits).bits(), bits);
            prop_assert_eq!(Word::of(Word::of(bits).bits()), Word::of(bits));
        }

        /// A reader joins readers only, and counts one.
        #[test]
        fn a_reader_is_one_more(readers in 0..Word::MAX_READERS, waiter in 0..2_u32) {
            let before = readers * Word::READER + waiter;
            let more = Word::of(before).with_reader().unwrap();
            prop_assert_eq!(more.bits(), before + Word::READER);
            prop_assert_eq!(more.is_awaited(), waiter == 1);
        }
    }

    /// Nobody waits for a lock that it could have, or that it never gets.
    #[test]
    fn a_waiter_is_one_that_is_excluded_for_a_while() {
        let full = Word::of(Word::MAX_READERS * Word::READER);
        let words = [Word::FREE, Word::LEFT_OVER, Word::of(2), full, Word::WRITER];
        let refused = [Word::POISONED, Word::ENDED];
        let may_wait = |access| {
            let words = words.iter().chain(&refused);
            words
                .map(|word| word.with_waiter(access).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            may_wait(Access::Read),
            [false, false, false, true, true, false, false]
        );
        assert_eq!(
            may_wait(Access::Write),
            [false, false, true, true, true, false, false]
        );
        let awaited = Word::WRITER.with_waiter(Access::Read).unwrap();
        assert!(awaited.is_awaited() && awaited.with_reader().is_none());
        assert_eq!(format!("{awaited:?}"), "held by a writer, awaited");
    }

    #[test]
    fn nobody_reads_beside_a_writer_or_what_is_poisoned_or_ended() {
        for word in [Word::WRITER, Word::POISONED, Word::ENDED] {
            assert_eq!(word.with_reader(), None, "{word:?}");
        }
    }

    #[test]
    fn a_full_count_of_readers_is_no_writer() {
        let full = Word::of((Word::MAX_READERS - 1) * Word::READER)
            .with_reader()
            .unwrap();
        assert_eq!(full.with_reader(), None);
        assert!(![Word::WRITER, Word::POISONED, Word::ENDED].contains(&full));
    }

    #[test]
    fn each_state_has_words() {
        let words = [
            Word::FREE,
            Word::of(4),
            Word::WRITER,
            Word::POISONED,
            Word::ENDED,
        ];
        assert_eq!(
            format!("{words:?}"),
            "[free, held by 2 readers, held by a writer, poisoned, ended]"
        );
    }
}

/// The reason why a caller did not get the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockError {
    /// Others hold it in a way that excludes this. Try later.
    Held,
    /// A writer panicked in the middle of its work. Nobody gets the lock before it is
    /// [cleared](crate::DataLock::clear_poison).
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
    pub(crate) const fn of(word: Word) -> Self {
        match word {
            Word::POISONED => Self::Poisoned,
            Word::ENDED => Self::Ended,
            _ => Self::Held,
        }
    }
}
