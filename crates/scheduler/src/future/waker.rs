//! The waker of a future: a pin on the slot of its process.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::Protocol;
use crate::api::pinned::Pinned;
use crate::table::body::Slot;

/// What a future is polled with: its waker, which is not counted while the process itself has it.
/// Each clone holds a pin of its own, and is nothing else.
///
/// # Safety
/// The slot is of a scheduler's table, whose owner is the scheduler; and the caller has the process
/// for as long as it uses the waker.
#[inline]
pub(crate) unsafe fn lent_waker<P: Protocol>(slot: &Slot<P>) -> ManuallyDrop<Waker> {
    // SAFETY: the functions are for such a pointer. The process's own pin keeps the slot, and the
    // waker is never dropped, so it needs none.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw(NonNull::from(slot))) })
}

/// The waker that has that pin, or will have one while it is used.
fn raw<P: Protocol>(slot: NonNull<Slot<P>>) -> RawWaker {
    RawWaker::new(slot.as_ptr().cast(), &Wake::<P>::FUNCTIONS)
}

/// What a waker does. The data is the slot.
struct Wake<P: Protocol>(PhantomData<P>);

impl<P: Protocol> Wake<P> {
    const FUNCTIONS: RawWakerVTable =
        RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    /// The pin of the waker with that data.
    ///
    /// # Safety
    /// The data is that of a waker that lives. The result stands for its pin: it is dropped if the
    /// waker goes.
    unsafe fn pin(data: *const ()) -> ManuallyDrop<Pinned<P>> {
        // SAFETY: made of a slot's address (contract), which is not null, and has a pin.
        ManuallyDrop::new(unsafe { Pinned::new(NonNull::new_unchecked(data.cast_mut().cast())) })
    }

    unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: the waker lives, and stays.
        let pinned = unsafe { Self::pin(data) };
        // SAFETY: the waker's pin, or the process's.
        unsafe { pinned.slot().share_pin() };
        raw::<P>(NonNull::from(pinned.slot()))
    }

    unsafe fn wake(data: *const ()) {
        // SAFETY: the waker lives, and goes.
        let pinned = ManuallyDrop::into_inner(unsafe { Self::pin(data) });
        pinned.nudge();
    }

    /// Running: it is polled once more. Ended: nothing happens.
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: the waker lives, and stays.
        unsafe { Self::pin(data) }.nudge();
    }

    unsafe fn drop(data: *const ()) {
        // SAFETY: the waker lives, and goes.
        drop(ManuallyDrop::into_inner(unsafe { Self::pin(data) }));
    }
}
