//! What the consumer finds in a slot.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use filch_sync::cell::UnsafeCell;

/// An event, or what was one, or will be.
pub(crate) type Value<T> = UnsafeCell<MaybeUninit<T>>;

/// What the consumer finds in a slot.
pub(crate) enum Content<T> {
    /// No push has completed here.
    Empty,
    /// An event.
    Event(Full<T>),
    /// Nothing: the push that completed here left nothing, or the consumer has emptied the slot
    /// before.
    Void,
}

/// A slot with an event in it, which is still to be moved out.
///
/// Not the event itself: an enum with that in it would share the event's niche, so that the event
/// is taken apart, its first word from the rest, and soon read as a whole again. The processor
/// waits for each such read until the pieces are in its cache. (Where an event is passed on and on:
/// 3 to 5.5 ns a hop, the copies included.)
pub(crate) struct Full<T>(NonNull<Value<T>>);

impl<T> Full<T> {
    /// The slot with this value.
    pub(crate) fn new(value: NonNull<Value<T>>) -> Self {
        Self(value)
    }

    /// Moves the event out.
    ///
    /// # Safety
    /// The slot was found full by the consumer, which is the caller still, and has neither found
    /// the slot again since, nor taken its block out of use.
    #[inline]
    pub(crate) unsafe fn take(self) -> T {
        // SAFETY: the block is live; full, so initialised and not the producer's (acquired when it
        // was found); not emptied yet.
        unsafe { self.0.as_ref().with(|cell| (*cell).assume_init_read()) }
    }
}
