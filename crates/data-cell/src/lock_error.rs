//! The reasons for a refusal.

use core::error::Error;
use core::fmt;

use crate::word::Word;

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
