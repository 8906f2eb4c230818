//! Values whose destructors panic.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The panic of a [`Bomb`], with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explosion(pub u32);

/// A value with memory of its own, which notes its drop, and then panics if it is live.
#[derive(Debug)]
pub struct Bomb {
    number: Box<u32>,
    is_live: bool,
    dropped: Dropped,
}

type Dropped = Arc<Mutex<Vec<u32>>>;

impl Bomb {
    /// Returns its number.
    pub fn number(&self) -> u32 {
        *self.number
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.push(*self.number);
        drop(dropped);
        if self.is_live {
            // A panic without the hook, which prints and keeps memory.
            resume_unwind(Box::new(Explosion(*self.number)));
        }
    }
}

/// Makes bombs, and knows which of them were dropped.
#[derive(Debug)]
pub struct Squad {
    live: Vec<u32>,
    dropped: Dropped,
}

impl Squad {
    /// Makes a squad; bombs with these numbers are live.
    pub fn new(live: impl IntoIterator<Item = u32>) -> Self {
        Self {
            live: live.into_iter().collect(),
            // Room for all, so that a drop allocates nothing.
            dropped: Arc::new(Mutex::new(Vec::with_capacity(1 << 16))),
        }
    }

    /// Makes the bomb with that number.
    pub fn bomb(&self, number: u32) -> Bomb {
        Bomb {
            number: Box::new(number),
            is_live: self.live.contains(&number),
            dropped: Arc::clone(&self.dropped),
        }
    }

    /// Makes the bombs with these numbers.
    pub fn bombs(&self, numbers: impl IntoIterator<Item = u32>) -> impl Iterator<Item = Bomb> {
        numbers.into_iter().map(|number| self.bomb(number))
    }

    /// Returns the numbers of dropped bombs, in the order of the drops.
    pub fn dropped(&self) -> Vec<u32> {
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.clone()
    }

    /// Asserts that exactly the bombs `0..count` were dropped, each once, in any order.
    ///
    /// # Panics
    /// If not.
    #[track_caller]
    pub fn assert_dropped(&self, count: u32) {
        let mut dropped = self.dropped();
        dropped.sort_unstable();
        let wrong = dropped
            .iter()
            .zip(0..)
            .find(|(found, expected)| *found != expected);
        assert_eq!((dropped.len(), wrong), (count as usize, None));
    }
}

/// Returns the bomb whose panic came out of `code`, if one did. Another panic goes on.
pub fn explosion_of(code: impl FnOnce()) -> Option<u32> {
    let payload = catch_unwind(AssertUnwindSafe(code)).err()?;
    match payload.downcast::<Explosion>() {
        Ok(explosion) => Some(explosion.0),
        Err(other) => resume_unwind(other),
    }
}
