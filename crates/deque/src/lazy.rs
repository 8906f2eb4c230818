//! What an owner says of a lazy deque before it uses it.

use crate::policy::{Lazy, MAX_PRIVATE};
use crate::worker::Worker;

impl<T> Worker<T, Lazy> {
    /// An empty lazy deque with room for `capacity` items, rounded up to a power of two, at least
    /// one. It grows when it must.
    ///
    /// # Panics
    ///
    /// If `capacity` is greater than 2³⁰.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::lazy(64);
    /// worker.push('a');
    /// worker.push('b');
    /// worker.push('c');
    /// // One is in reach. The others are private, but now the owner knows that a thief wants more.
    /// assert_eq!(worker.stealer().steal(), Steal::Success('a'));
    /// assert_eq!(worker.stealer().steal(), Steal::Empty);
    /// worker.push('d');
    /// assert_eq!(worker.stealer().steal(), Steal::Success('b'));
    /// ```
    pub fn lazy(capacity: usize) -> Self {
        Self::make(capacity, 0)
    }

    /// No more than so many items are private between two calls; 16 is the default. With 0 each
    /// push is public at once, and costs some nanoseconds more: for jobs that take so long that
    /// one that is hidden is missed. The deque must be empty.
    ///
    /// # Panics
    ///
    /// If it is not.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::lazy(64).with_max_private(0);
    /// worker.push("seen");
    /// assert_eq!(worker.stealer().steal(), Steal::Success("seen"));
    /// ```
    #[must_use]
    pub fn with_max_private(mut self, items: u32) -> Self {
        assert!(self.is_empty(), "the deque has items already");
        self.max_private = items.min(MAX_PRIVATE.into()) as u8;
        self
    }

    /// Has `prepare` called with each item that is about to become public. It belongs to the owner
    /// at that moment, and what `prepare` does happens before the item is stolen: what only a thief
    /// needs of an item can wait until then, and most items never need it. One that the owner has
    /// taken back from the thieves is prepared again when it becomes public again. The deque must
    /// be empty; `prepare` must not use it. If it panics, so does the call in which it was called,
    /// and what that has popped is dropped.
    ///
    /// # Panics
    ///
    /// If it is not empty.
    ///
    /// ```
    /// use filch_deque::Worker;
    /// use std::cell::Cell;
    ///
    /// thread_local!(static PREPARED: Cell<u32> = const { Cell::new(0) });
    ///
    /// let worker = Worker::lazy(64).prepared_by(|_| PREPARED.set(PREPARED.get() + 1));
    /// worker.push("public");
    /// worker.push("private");
    /// assert_eq!(PREPARED.get(), 1);
    /// worker.flush();
    /// assert_eq!(PREPARED.get(), 2);
    /// ```
    #[must_use]
    pub fn prepared_by(mut self, prepare: fn(&T)) -> Self {
        assert!(self.is_empty(), "the deque has items already");
        self.prepare = Some(prepare);
        self
    }

    /// [`lazy`](Self::lazy), for tests: tag and index begin at `start`, so that they soon wrap.
    #[doc(hidden)]
    pub fn lazy_starting_at(capacity: usize, start: u32) -> Self {
        Self::make(capacity, start)
    }
}
