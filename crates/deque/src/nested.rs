//! For an owner that takes its items back in the order in which it nests them: jobs that lie on its
//! stack, in a fork/join recursion.

use crate::worker::Worker;

/// The short ways of a push and a pop, for a caller that keeps positions itself, and in whose code
/// they are inlined.
impl<T> Worker<T> {
    /// Pushes `item`. `false`: [`settle`](Self::settle) is to be called next. Wait-free.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker = Worker::biased(64);
    /// let outer = worker.position();
    /// worker.push("outer");
    /// let inner = worker.position();
    /// // SAFETY: the position is that of now, and `settle` follows.
    /// if !unsafe { worker.push_at(inner, "inner") } {
    ///     worker.settle();
    /// }
    /// // SAFETY: here and below: what was pushed after this item has been taken back.
    /// assert!(unsafe { worker.take_back(inner) || worker.take_back_slowly(inner) });
    /// assert!(unsafe { worker.take_back(outer) || worker.take_back_slowly(outer) });
    /// assert!(worker.is_empty());
    /// ```
    ///
    /// # Safety
    ///
    /// `position` is what [`position`](Self::position) answers now. After a `false`, `settle` is
    /// called before anything else of this worker's.
    #[inline(always)]
    #[must_use = "`settle` is to follow if it is false"]
    pub unsafe fn push_at(&self, position: u64, item: T) -> bool {
        debug_assert_eq!(position, self.position());
        // Read before the slot is written, which the compiler must take for any memory.
        let deque = &*self.deque;
        // SAFETY: this is the owner, and the newest ring; nothing at or past bottom is in the
        // deque; there is room for one between its calls.
        unsafe { self.slots.get().write(position as u32, item) };
        deque.extend(position + 1)
    }
}

/// Items that only thieves read: the owner knows what it has pushed, and takes it back unread.
impl<T: Copy> Worker<T> {
    /// Takes back the newest item, which lies at `position`, unread, if that takes a store and a
    /// look. `false`: [`take_back_slowly`](Self::take_back_slowly) is to be called next. Wait-free.
    ///
    /// # Safety
    ///
    /// `position` is where the item was pushed, and all that was pushed after it has been taken
    /// back, or stolen. After a `false`, `take_back_slowly` is called before anything else of this
    /// worker's.
    #[inline(always)]
    #[must_use = "`take_back_slowly` is to follow if it is false"]
    pub unsafe fn take_back(&self, position: u64) -> bool {
        debug_assert!(position < self.position());
        self.deque.retract(position)
    }

    /// Takes that item back. `false` if a thief has it. Wait-free.
    ///
    /// # Safety
    ///
    /// [`take_back`](Self::take_back) has just said `false` of this position.
    pub unsafe fn take_back_slowly(&self, position: u64) -> bool {
        match self.may_bias {
            true => self.reclaim(position),
            false => self.take_shared(position),
        }
    }
}
