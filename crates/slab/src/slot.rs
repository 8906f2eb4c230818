//! One slot, and the ways to construct it.

use core::mem::MaybeUninit;
use core::ptr;

use filch_sync::atomic::AtomicU32;

/// A value, and the link that the free list threads through it while the index is free.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    pub(crate) link: AtomicU32,
    pub(crate) value: T,
}

/// A way to construct the value of a slot.
pub(crate) enum Make<T> {
    /// By returning it; it is then moved into the slot.
    Value(fn(u32) -> T),
    /// By writing it to its place.
    InPlace(fn(u32, &mut MaybeUninit<T>) -> &mut T),
}

impl<T> Make<T> {
    /// Constructs the slot `index` in its place; on return it is initialized.
    pub(crate) fn construct(&self, index: u32, slot: &mut MaybeUninit<Slot<T>>) {
        let slot = slot.as_mut_ptr();
        // SAFETY: fields of the slot, which is lent exclusively. The value is lent as what it is,
        // uninitialized.
        let value = unsafe {
            (&raw mut (*slot).link).write(AtomicU32::new(index));
            &mut *(&raw mut (*slot).value).cast::<MaybeUninit<T>>()
        };
        match self {
            Self::Value(make) => construct_by_value(*make, index, value),
            Self::InPlace(make) => {
                let place = value.as_ptr();
                let made: *const T = make(index, value);
                // A reference to a `T` in that place proves that it is initialized.
                assert!(ptr::eq(made, place), "constructed in another place");
            }
        }
    }
}

/// Out of line, so that `InPlace` needs no room for a value on the stack.
#[inline(never)]
fn construct_by_value<T>(make: fn(u32) -> T, index: u32, place: &mut MaybeUninit<T>) {
    place.write(make(index));
}
