//! How a process ended, from the worker that ends it to whoever joins it.

use std::fmt;
use std::ptr;

use filch_parker::{Parker, Unparker};
use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::contain::dispose;
use crate::{Handle, JoinError, Pid, ProcessError, Protocol};

/// How a process ended, once it has.
pub(crate) type Exit<P> = Result<<P as Protocol>::Output, ProcessError<P>>;

/// Where the worker that ends a process leaves its exit. A part of the process's slot.
///
/// | `word` | `exit` belongs to |
/// |---|---|
/// | null: the process lives, nobody waits | the worker that ends the process |
/// | an [`Unparker`]'s address: it lives, and a thread waits | the same |
/// | [`ended`]: it has ended | whoever has the process's handle; after that one, the last to leave the slot |
pub(crate) struct ExitCell<P: Protocol> {
    word: AtomicPtr<Unparker>,
    exit: UnsafeCell<Option<Exit<P>>>,
}

/// The word of a process that has ended: no unparker lies at an odd address.
fn ended() -> *mut Unparker {
    ptr::without_provenance_mut(1)
}

impl<P: Protocol> ExitCell<P> {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicPtr::new(ptr::null_mut()),
            exit: UnsafeCell::new(None),
        }
    }

    /// The process has ended like that. Wakes whoever waits for it.
    ///
    /// # Safety
    /// The caller ends the process, and has not said so before; it has a pin on the slot.
    pub(crate) unsafe fn set(&self, exit: Exit<P>) {
        // SAFETY: the process lives by the word, and it is the caller who ends it (contract).
        self.exit.with_mut(|cell| unsafe { *cell = Some(exit) });
        // ORDERING: Release, partner of the Acquires in `wait` and `is_set`: whoever sees the end sees the exit. Acquire,
        // partner of the Release in `wait`: the waiter's unparker is all there.
        let waiter = self.word.swap(ended(), Ordering::AcqRel);
        if !waiter.is_null() {
            // SAFETY: the word was not `ended` yet, so this is the box that `wait` has put there; it is taken out once.
            let waiter = unsafe { Box::from_raw(waiter) };
            let _ = waiter.unpark();
        }
    }

    /// Waits for the end. Blocking.
    ///
    /// # Safety
    /// The caller has the process's handle, and calls this once.
    unsafe fn wait(&self) -> Exit<P> {
        if !self.is_set() {
            let parker = Parker::new();
            let waiter = Box::into_raw(Box::new(parker.unparker()));
            // ORDERING: Release, partner of the swap in `set`, which will read the box. On failure Acquire: as in `is_set`.
            let waits = self.word.compare_exchange(
                ptr::null_mut(),
                waiter,
                Ordering::Release,
                Ordering::Acquire,
            );
            if waits.is_ok() {
                while !self.is_set() {
                    parker.park();
                }
            } else {
                // SAFETY: made above, and the word never held it.
                drop(unsafe { Box::from_raw(waiter) });
            }
        }
        // SAFETY: the process has ended, which was acquired; the exit is the handle's, which the caller has.
        let exit = self.exit.with_mut(|cell| unsafe { (*cell).take() });
        exit.unwrap_or_else(|| unreachable!("one handle takes the exit, once"))
    }

    fn is_set(&self) -> bool {
        // ORDERING: Acquire, partner of the Release in `set`.
        self.word.load(Ordering::Acquire) == ended()
    }

    /// Makes the cell ready for the next tenant, and drops what nobody has taken.
    ///
    /// # Safety
    /// The caller is the last one out of the slot.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: no handle is left, nor the worker that ended the process: theirs were pins, which the caller has acquired.
        if let Some(exit) = self.exit.with_mut(|cell| unsafe { (*cell).take() }) {
            dispose(exit);
        }
        // ORDERING: Relaxed: published with the slot, by the slab.
        self.word.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

/// A submitted process, to whoever wants to know how it ends. Dropping it lets the process go on unwatched.
///
/// It keeps the process's place in the table, where the exit is left, until it is dropped.
#[must_use = "dropping it is fine, but says that nobody will learn how the process ended"]
pub struct ProcessHandle<P: Protocol> {
    /// Of a process on whose slot this holds a pin.
    pid: Pid,
    scheduler: Handle<P>,
}

impl<P: Protocol> ProcessHandle<P> {
    /// Takes over a pin on the process's slot. There is one handle to a process.
    pub(crate) fn new(pid: Pid, scheduler: Handle<P>) -> Self {
        Self { pid, scheduler }
    }

    /// The process's PID.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether the process has ended, so that [`join`](Self::join) would not wait.
    pub fn has_ended(&self) -> bool {
        self.exit().is_set()
    }

    /// Waits until the process has ended, and says how. Blocking.
    ///
    /// What the process did, in whatever thread, happens before the return.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the handle, on a worker of the
    /// same scheduler when the process has not [ended](Self::has_ended): the processes behind it would be kept waiting.
    pub fn join(self) -> Result<P::Output, JoinError<P>> {
        if self.scheduler.is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        // SAFETY: this is the handle, and it is used up.
        let exit = unsafe { self.exit().wait() };
        exit.map_err(JoinError::Process)
    }

    fn exit(&self) -> &ExitCell<P> {
        &self.scheduler.table().slot(self.pid.slot).exit
    }
}

impl<P: Protocol> Drop for ProcessHandle<P> {
    fn drop(&mut self) {
        self.scheduler.table().unpin(self.pid.slot);
    }
}

impl<P: Protocol> fmt::Debug for ProcessHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
