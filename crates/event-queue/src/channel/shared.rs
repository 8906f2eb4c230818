//! The queue behind the ends.

use core::fmt;

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicUsize, Ordering};

use super::sleeper::Sleeper;
use crate::block::Block;
use crate::consumer::Consumer;
use crate::depth::Depth;
use crate::producers::Producers;

/// The producers' words and the consumer's lie on different lines: there are few channels, and
/// their ends are on different cores. On a third line is what every push reads and few threads
/// write.
pub(super) struct Shared<T> {
    pub(super) producers: CachePadded<Producers<T>>,
    pub(super) consumer: CachePadded<Consumer<T>>,
    pub(super) sleeper: Sleeper,
    /// The number of senders.
    senders: AtomicUsize,
}

// SAFETY: as for `EventQueue`; the one consumer is the receiver.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Bytes of the largest blocks. More where an event takes more than a cache line: the allocator
    /// takes a good part of what a backlog of these costs.
    const LARGEST: usize = if size_of::<T>() > 64 { 16_376 } else { 4088 };

    /// Makes an empty queue, without senders.
    pub(super) fn new() -> Self {
        // There are few channels, so this may be large: one rewind serves some two hundred events.
        let first = Block::<T>::slots_in(2040, 7);
        Self::with_blocks(first, Block::<T>::slots_in(Self::LARGEST, 31))
    }

    pub(super) fn with_blocks(first: usize, largest: usize) -> Self {
        Self {
            producers: CachePadded::new(Producers::new(first, largest)),
            consumer: CachePadded::new(Consumer::new()),
            sleeper: Sleeper::new(),
            senders: AtomicUsize::new(0),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.consumer.is_empty(&self.producers)
    }

    pub(super) fn depth(&self) -> Depth {
        Depth::between(self.consumer.head(), self.producers.tail().next)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.producers.tail().closed
    }

    /// Counts one more sender.
    pub(super) fn join(&self) {
        // ORDERING: Relaxed: the caller has a sender, or is the receiver; so the count is not taken
        // for 0 meanwhile.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one sender less. The last one wakes the receiver.
    pub(super) fn leave(&self) {
        // ORDERING: Release, with the Acquire in `has_senders`: this sender's pushes come before.
        if self.senders.fetch_sub(1, Ordering::Release) == 1 {
            self.sleeper.wake();
        }
    }

    /// Says whether there are senders; if not, all their pushes have happened before.
    fn has_senders(&self) -> bool {
        // ORDERING: Acquire, with the Release of every `leave`: they are RMWs, so the last one ends
        // one release sequence.
        self.senders.load(Ordering::Acquire) > 0
    }

    /// Says whether no event is there and none can come. For the receiver.
    pub(super) fn is_over(&self) -> bool {
        // In this order: a push that came before its sender went is seen in the tail.
        let has_senders = self.has_senders();
        let tail = self.producers.tail();
        (tail.closed || !has_senders) && tail.next == self.consumer.head()
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: exclusive access.
        unsafe { self.consumer.clear(&self.producers) };
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("empty", &self.is_empty())
            .field("closed", &self.is_closed())
            .field("generation", &self.producers.generation())
            // ORDERING: Relaxed: the answer is about the word alone.
            .field("senders", &self.senders.load(Ordering::Relaxed))
            .field("receiver_asleep", &self.sleeper.is_asleep())
            .finish_non_exhaustive()
    }
}
