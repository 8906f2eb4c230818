//! The queue behind the ends, and the place where a receiver that sleeps leaves its waker.

use alloc::boxed::Box;
use core::task::Waker;
use core::{fmt, ptr};

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::block::Block;
use crate::consumer::Consumer;
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

/// The waker of the receiver while it sleeps, or is about to.
///
/// The receiver [registers](Self::register) it; one producer takes it out, and so wakes the
/// receiver once. It is a pointer, so that each of the two is one swap, and the receiver may
/// register another waker at any time without waiting for a producer that is waking the last one.
pub(super) struct Sleeper {
    /// The waker, from a box; null: the receiver is awake, or is being woken.
    waker: AtomicPtr<UnsafeCell<Waker>>,
}

impl Sleeper {
    pub(super) fn new() -> Self {
        Self {
            waker: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Says whether a waker is there.
    #[inline]
    pub(super) fn is_asleep(&self) -> bool {
        // ORDERING: Relaxed: the caller's claim has acquired the registration if it must see it
        // (`Producers::tail_after_notice`), and the swap in `wake` decides.
        !self.waker.load(Ordering::Relaxed).is_null()
    }

    /// Says whether the last waker is there still. For the receiver.
    #[inline]
    pub(super) fn is_left(&self) -> bool {
        // ORDERING: Relaxed: this may be older than the swap of a push that wakes nobody any more.
        let waker = self.waker.load(Ordering::Relaxed);
        // ORDERING: Relaxed, both: the order of the word alone decides.
        let left = self
            .waker
            .compare_exchange(waker, waker, Ordering::Relaxed, Ordering::Relaxed);
        !waker.is_null() && left.is_ok()
    }

    /// Leaves `waker` for a producer. The receiver withdraws it at the latest when it is dropped.
    pub(super) fn register(&self, waker: Waker) {
        drop(self.swap(Box::into_raw(Box::new(UnsafeCell::new(waker)))));
    }

    /// Takes the waker back, if it is there still.
    pub(super) fn withdraw(&self) {
        drop(self.swap(ptr::null_mut()));
    }

    /// Wakes the receiver, if it sleeps and nobody else wakes it.
    #[cold]
    #[inline(never)]
    pub(super) fn wake(&self) {
        if let Some(waker) = self.swap(ptr::null_mut()) {
            // SAFETY: the swap has brought the box to this thread alone, with what is in it.
            waker.with(|waker| unsafe { (*waker).wake_by_ref() });
        }
    }

    fn swap(&self, waker: *mut UnsafeCell<Waker>) -> Option<Box<UnsafeCell<Waker>>> {
        // ORDERING: Release and Acquire, with each other: the waker is written before the swap that
        // brings it out reads it. Also between the last sender, which wakes, and the receiver,
        // which registers: if the sender comes first, the receiver sees that no sender is left. All
        // changes are RMWs, so they are one release sequence.
        let old = self.waker.swap(waker, Ordering::AcqRel);
        // SAFETY: what is not null came from a box in `register`, and the swap gave it to this
        // thread alone.
        (!old.is_null()).then(|| unsafe { Box::from_raw(old) })
    }
}
