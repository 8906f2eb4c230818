//! What the consumer finds in a slot, and how it moves an event out.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use filch_sync::cell::UnsafeCell;

/// A slot's memory: an event, what was one, or what will be one.
pub(crate) type Value<T> = UnsafeCell<MaybeUninit<T>>;

/// What the consumer finds in a slot.
pub(crate) enum Content<T> {
    /// No push has completed here.
    Empty,
    /// An event.
    Event(Full<T>),
    /// Nothing to deliver: the push cancelled the slot, or the consumer has emptied it before.
    Done,
}

/// A slot whose event is still to be moved out.
///
/// Not the event itself: an enum that holds the event would share the event's niche. The compiler
/// would then store the event's first word apart from the rest, and soon read it as a whole again;
/// the processor waits for each such read until the pieces are in its cache. (3 to 5.5 ns for each
/// hop of an event that is passed on, copies included.)
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
    /// the slot again since, nor taken its block out of use. The event is taken once.
    #[inline]
    pub(crate) unsafe fn take(&self) -> T {
        // SAFETY: the block is live; the slot was found full, with Acquire, so it is initialised
        // and no longer the producer's; it is not emptied yet.
        unsafe { self.0.as_ref().with(|cell| (*cell).assume_init_read()) }
    }
}
