//! For an owner that takes its items back in the order in which it nests them: jobs that lie on its
//! stack, in a fork/join recursion.

use crate::policy::Lazy;
use crate::worker::Worker;

/// Items that only thieves read: the owner knows what it has pushed, and takes it back unread, in
/// the reverse order. It keeps positions itself, on its stack.
impl<T: Copy> Worker<T, Lazy> {
    /// Pushes `item`, if that takes a look and two stores. `false` if there is more to do: then
    /// nothing has happened, and [`push`](Self::push) does it. Wait-free.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker = Worker::lazy(64);
    /// let outer = worker.position();
    /// worker.push("outer");
    /// let inner = worker.position();
    /// // SAFETY: the position is that of now.
    /// if !unsafe { worker.try_push_at(inner, "inner") } {
    ///     worker.push("inner");
    /// }
    /// // SAFETY: here and below: what was pushed after this item has been taken back.
    /// assert!(unsafe { worker.try_take_back(inner) } || worker.take_back());
    /// assert!(unsafe { worker.try_take_back(outer) } || worker.take_back());
    /// assert!(worker.is_empty());
    /// ```
    ///
    /// # Safety
    ///
    /// `position` is what [`position`](Self::position) answers now.
    #[inline(always)]
    pub unsafe fn try_push_at(&self, position: u64, item: T) -> bool {
        debug_assert_eq!(position, self.position.get());
        if !self.deque.stops.allow_push(position) {
            return false;
        }
        // SAFETY: this is the owner; nothing at or past bottom is published; there is room, as
        // `limit` is not past the end of it, so the slot is free.
        unsafe { self.slots.get().write(position as u32, item) };
        self.position.set(position + 1);
        true
    }

    /// Takes back the newest item, which lies at `position`, unread, if that takes a look and a
    /// store. `false` if there is more to do, because it is public or a thief asks: then nothing
    /// has happened, and [`take_back`](Self::take_back) does it. Wait-free.
    ///
    /// # Safety
    ///
    /// `position` is where the item was pushed, and all that was pushed after it has been taken
    /// back, or stolen.
    #[inline(always)]
    pub unsafe fn try_take_back(&self, position: u64) -> bool {
        debug_assert!(position < self.position.get());
        if !self.deque.stops.allow_pop(position) {
            return false;
        }
        self.position.set(position);
        true
    }

    /// Takes back the newest item, unread. `false` if a thief has it, or there is none. Wait-free,
    /// as [`pop`](Self::pop).
    #[inline]
    pub fn take_back(&self) -> bool {
        self.pop_with_care().is_some()
    }

    /// Whether items have become public since this was last asked: a thief that sleeps would want
    /// to know. If it has not seen them, what it did before its
    /// [`demand`](crate::Stealer::demand) happens before this. Wait-free.
    pub fn has_published(&self) -> bool {
        self.has_published.replace(false)
    }
}
