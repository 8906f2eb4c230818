//! The context of a process: its PID and its scheduler.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::table::pinned::Pinned;
use crate::table::slot::{FUTURE, Slot};
use crate::{Handle, Pid, Protocol};

/// The context of a process: its PID, and the scheduler that it lives in.
pub struct Context<'a, P: Protocol> {
    handle: &'a Handle<P>,
    slot: &'a Slot<P>,
    /// A copy: the PID is mostly copied into a message, and reading it where it was just written,
    /// in pieces, takes as long as an exchange.
    pid: Pid,
}

impl<'a, P: Protocol> Context<'a, P> {
    /// Makes the context of the process in that slot.
    ///
    /// # Safety
    /// The slot is of that scheduler's table. The caller has the process in it, or pins it, for as
    /// long as the result is there.
    #[inline]
    pub(crate) unsafe fn new(handle: &'a Handle<P>, slot: &'a Slot<P>) -> Self {
        let pid = handle.table().pid_of(slot);
        Self { handle, slot, pid }
    }

    /// Returns a pin on the process's slot.
    #[inline]
    pub(crate) fn pin(&self) -> Pinned<P> {
        // SAFETY: the contract of `new`.
        unsafe { Pinned::share(self.slot) }
    }

    #[inline]
    pub(crate) fn slot(&self) -> &'a Slot<P> {
        self.slot
    }

    /// Returns the process's PID, for others to send to.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Checks if the process was submitted [as a future](crate::Submission::future): for
    /// [hooks](crate::LifeCycle).
    pub fn is_future(&self) -> bool {
        self.slot.has(FUTURE)
    }

    /// Returns the handle to the scheduler, to keep beyond the call.
    pub fn handle(&self) -> &'a Handle<P> {
        self.handle
    }

    /// Lends the process's waker, to poll a future with. Waking it makes the process take a turn,
    /// with an event or without; one that says [`pending`](crate::StepOutput::pending) takes its
    /// next step then. The lent waker is not counted; each clone only holds the process's slot in
    /// the table.
    #[inline]
    pub fn waker(&self) -> impl Deref<Target = Waker> + '_ {
        let data = ptr::from_ref(self.slot()).cast();
        let functions = self.handle().shared().waker_functions;
        // SAFETY: the functions are for such a pointer. The process is had, or pinned, for as long
        // as the context is there, which the result borrows; and the waker is never dropped, so it
        // needs no pin.
        ManuallyDrop::new(unsafe { Waker::new(data, functions) })
    }
}

impl<P: Protocol> Deref for Context<'_, P> {
    type Target = Handle<P>;

    #[inline]
    fn deref(&self) -> &Handle<P> {
        self.handle
    }
}

crate::protocol::debug_fields!(Context<'_, P>, "Context", pid);

impl<P: Protocol> Handle<P> {
    /// Checks if that is the waker of a process of this protocol. It may not recognize one of a
    /// scheduler that was built elsewhere in the program.
    pub(crate) fn is_own_waker(&self, waker: &Waker) -> bool {
        ptr::eq(waker.vtable(), self.shared().waker_functions)
    }
}

/// Returns the functions of the processes' wakers. A program may contain several copies: each
/// scheduler has one, by which it recognizes its wakers.
pub(crate) fn functions<P: Protocol>() -> &'static RawWakerVTable {
    &Wake::<P>::FUNCTIONS
}

/// Makes the waker of a process from its data.
///
/// # Safety
/// The data is that of a waker with [such functions](functions), which the result takes over.
pub(crate) unsafe fn from_data<P: Protocol>(data: *const ()) -> Waker {
    // SAFETY: the caller's.
    unsafe { Waker::new(data, functions::<P>()) }
}

/// The functions of a waker, whose data is the slot.
struct Wake<P: Protocol>(PhantomData<P>);

impl<P: Protocol> Wake<P> {
    const FUNCTIONS: RawWakerVTable =
        RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    /// Returns the pin of the waker with that data.
    ///
    /// # Safety
    /// The data is that of a live waker. The result stands for its pin: drop it only if the waker
    /// goes.
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

    /// Wakes the process: if it runs, it is polled once more; if it has ended, nothing happens.
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: the waker lives, and stays.
        unsafe { Self::pin(data) }.nudge();
    }

    unsafe fn drop(data: *const ()) {
        // SAFETY: the waker lives, and goes.
        drop(ManuallyDrop::into_inner(unsafe { Self::pin(data) }));
    }
}
