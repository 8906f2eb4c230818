//! One slot, and how it is constructed.

use core::mem::MaybeUninit;
use core::ptr;

use filch_sync::atomic::AtomicU32;

/// A value, and the link that the free list threads through it while the index is free.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    pub(crate) link: AtomicU32,
    pub(crate) value: T,
}

/// How the value of a slot is constructed.
pub(crate) enum Make<T> {
    /// It is returned, and then moved into the slot.
    Value(fn(u32) -> T),
    /// It is written where it stays.
    InPlace(fn(u32, &mut MaybeUninit<T>) -> &mut T),
}

impl<T> Make<T> {
    /// Constructs the slot `index` in its place, which is initialized when this returns.
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
                // A reference to a `T` in that place means that the place is initialized.
                assert!(ptr::eq(made, place), "constructed in another place");
            }
        }
    }
}

/// Apart, so that the other way needs no room for a value on the stack.
#[inline(never)]
fn construct_by_value<T>(make: fn(u32) -> T, index: u32, place: &mut MaybeUninit<T>) {
    place.write(make(index));
}
