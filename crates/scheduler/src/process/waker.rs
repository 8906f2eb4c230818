//! The waker of a process: a pin on its slot.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::table::pinned::Pinned;
use crate::{Context, Handle, Protocol};

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
        let data = ptr::from_ref(self.slot()).cast();
        let functions = self.handle().shared().waker_functions;
        // SAFETY: the functions are for such a pointer. The process is had, or pinned, for as long
        // as the context is there, which this borrows; and the waker is never dropped, so it needs
        // no pin.
        let waker = unsafe { Waker::new(data, functions) };
        ProcessWaker {
            waker: ManuallyDrop::new(waker),
            lent: PhantomData,
        }
    }
}

impl<P: Protocol> Handle<P> {
    /// Whether that is the waker of a process of this protocol. Of a scheduler that was built
    /// elsewhere in the program it may not be found out.
    pub(crate) fn is_own_waker(&self, waker: &Waker) -> bool {
        ptr::eq(waker.vtable(), self.shared().waker_functions)
    }
}

/// What the wakers of processes do. There may be several copies in a program: each scheduler has
/// one, by which it knows its wakers.
pub(crate) fn functions<P: Protocol>() -> &'static RawWakerVTable {
    &Wake::<P>::FUNCTIONS
}

/// The waker of a process again.
///
/// # Safety
/// The data is that of a waker with [such functions](functions), which the result takes over.
pub(crate) unsafe fn from_data<P: Protocol>(data: *const ()) -> Waker {
    // SAFETY: the caller's.
    unsafe { Waker::new(data, functions::<P>()) }
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
        let functions = pinned.scheduler().shared().waker_functions;
        RawWaker::new(data, functions)
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
