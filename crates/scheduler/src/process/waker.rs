//! The waker of a process: a pin on its slot.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::table::pinned::Pinned;
use crate::table::slot::Slot;
use crate::{Context, Protocol};

/// The waker of a process, lent for a call of it; from [`Context::waker`]. Waking it has the
/// process take a turn, with an event or without. It is not counted; each clone holds the process's
/// place in the table, and is nothing else.
pub struct ProcessWaker<'a> {
    waker: ManuallyDrop<Waker>,
    lent: PhantomData<&'a ()>,
}

impl Deref for ProcessWaker<'_> {
    type Target = Waker;

    fn deref(&self) -> &Waker {
        &self.waker
    }
}

impl fmt::Debug for ProcessWaker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waker.fmt(f)
    }
}

impl<P: Protocol> Context<'_, P> {
    /// The process's waker, to poll a future with. A process that says
    /// [`pending`](crate::StepOutput::pending) takes its next step when it is woken.
    #[inline]
    pub fn waker(&self) -> ProcessWaker<'_> {
        // SAFETY: the functions are for such a pointer. The process is had, or pinned, for as long
        // as the context is there, which this borrows; and the waker is never dropped, so it needs
        // no pin.
        let waker = unsafe { Waker::from_raw(raw(NonNull::from(self.slot()))) };
        ProcessWaker {
            waker: ManuallyDrop::new(waker),
            lent: PhantomData,
        }
    }
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
