//! The place where a receiver that sleeps leaves its waker.

use alloc::boxed::Box;
use core::ptr;
use core::task::Waker;

use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::cell::UnsafeCell;

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
