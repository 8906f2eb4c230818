//! The word: the state of a lock, packed. No atomics here.

use core::fmt;

/// The state of a lock in 32 bits.
///
/// ```text
///    31      30        29                              0
///   ENDED  POISONED  WRITER   the readers, 0 to MAX_READERS
/// ```
///
/// At most one of the three bits is set, and then no reader counts. If all are zero, it is free.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u32);

impl Word {
    /// Nobody holds the lock.
    pub(crate) const FREE: Self = Self(0);
    /// One writer holds the lock.
    pub(crate) const WRITER: Self = Self(1 << 29);
    /// A writer panicked: nobody holds the lock, and only a taking of the data can lock it.
    pub(crate) const POISONED: Self = Self(1 << 30);
    /// The data is gone, for ever.
    pub(crate) const ENDED: Self = Self(1 << 31);
    /// The most readers at a time.
    pub(crate) const MAX_READERS: u32 = Self::WRITER.0 - 1;

    /// Returns the word with one more reader, unless a bit is set or there are too many readers.
    #[inline]
    pub(crate) const fn with_reader(self) -> Option<Self> {
        // The three bits lie above the count, so one comparison checks all.
        if self.0 < Self::MAX_READERS {
            Some(Self(self.0 + 1))
        } else {
            None
        }
    }

    /// The bits that one reader adds.
    pub(crate) const READER: u32 = 1;

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
        match *self {
            Self::FREE => f.write_str("free"),
            Self::WRITER => f.write_str("held by a writer"),
            Self::POISONED => f.write_str("poisoned"),
            Self::ENDED => f.write_str("ended"),
            Self(readers) => write!(f, "held by {readers} readers"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::format;
    use proptest::prelude::*;

    use super::Word;

    proptest! {
        /// The bits of a word are the word.
        #[test]
        fn a_word_survives_the_atomic(bits: u32) {
            prop_assert_eq!(Word::of(bits).bits(), bits);
            prop_assert_eq!(Word::of(Word::of(bits).bits()), Word::of(bits));
        }

        /// A reader joins readers only, and counts one.
        #[test]
        fn a_reader_is_one_more(readers in 0..Word::MAX_READERS) {
            let more = Word::of(readers).with_reader().unwrap();
            prop_assert_eq!(more.bits(), readers + Word::READER);
            prop_assert_eq!(more.bits() - Word::READER, readers);
        }
    }

    #[test]
    fn nobody_reads_beside_a_writer_or_what_is_poisoned_or_ended() {
        for word in [Word::WRITER, Word::POISONED, Word::ENDED] {
            assert_eq!(word.with_reader(), None, "{word:?}");
        }
    }

    #[test]
    fn a_full_count_of_readers_is_no_writer() {
        let full = Word::of(Word::MAX_READERS - 1).with_reader().unwrap();
        assert_eq!(full.with_reader(), None);
        assert!(![Word::WRITER, Word::POISONED, Word::ENDED].contains(&full));
    }

    #[test]
    fn each_state_has_words() {
        let words = [
            Word::FREE,
            Word::of(2),
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
