//! What a process knows of the world.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::table::pinned::Pinned;
use crate::table::slot::Slot;
use crate::{Handle, Pid, Protocol};

/// What a process knows of the world: its PID, and the scheduler that it lives in.
pub struct Context<'a, P: Protocol> {
    handle: &'a Handle<P>,
    slot: &'a Slot<P>,
    /// Here and not asked for: it is mostly copied into a message, and to read what was written
    /// right before, in pieces, takes as long as an exchange.
    pid: Pid,
}

impl<'a, P: Protocol> Context<'a, P> {
    /// Of the process in that slot.
    ///
    /// # Safety
    /// The slot is of that scheduler's table. The caller has the process in it, or pins it, for as
    /// long as the result is there.
    #[inline]
    pub(crate) unsafe fn new(handle: &'a Handle<P>, slot: &'a Slot<P>) -> Self {
        let pid = handle.table().pid_of(slot);
        Self { handle, slot, pid }
    }

    /// A pin on the process's slot.
    #[inline]
    pub(crate) fn pin(&self) -> Pinned<P> {
        // SAFETY: the contract of `new`.
        unsafe { Pinned::share(self.slot) }
    }

    #[inline]
    pub(crate) fn slot(&self) -> &'a Slot<P> {
        self.slot
    }

    /// The process's PID, for others to send to.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether the process was submitted [as a future](crate::Submission::future): for
    /// [hooks](crate::LifeCycle).
    pub fn is_future(&self) -> bool {
        self.slot.is_future()
    }

    /// The scheduler, to keep beyond the call.
    pub fn handle(&self) -> &'a Handle<P> {
        self.handle
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
