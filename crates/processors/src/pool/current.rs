//! The link from a thread to its pool: work that becomes runnable on a machine's thread goes to the
//! deque of its processor.

use std::cell::{Cell, OnceCell};
use std::num::NonZeroU64;
use std::ptr::{self, NonNull};

use filch_parker::Parker;
use filch_sync::thread_local;

use crate::protocol::state::grant::{ShownTask, task_label};
use crate::protocol::{Coordinator, Permit};
use crate::queues::source::{Source, SourceSlot};
use crate::queues::task_queues::Shared;

/// The part of a machine, or a guest, that the code which it runs can reach.
pub(crate) struct Current<'thread> {
    pub(crate) place: Place<'thread>,
    /// The permit of its processor; none while it is in a blocking call, or a
    /// [visitor](crate::Processors::visit), which keeps its processor in one.
    pub(crate) permit: Cell<Option<Permit>>,
    /// `None` for a guest, which is soon gone: the source knows threads that stay.
    pub(crate) source: Option<&'thread SourceSlot>,
}

/// The role in which the protocol knows the thread.
pub(crate) enum Place<'thread> {
    Machine(usize, &'thread Parker),
    Guest {
        /// The machine that waits to get the processor back, until the guest blocks.
        lender: usize,
        /// The guest's own place, once it has blocked.
        place: &'thread OnceCell<(usize, Parker)>,
        /// The place where its task is shown until then.
        task: &'thread ShownTask,
    },
}

impl<'thread> Current<'thread> {
    /// Makes that of a guest, without a permit.
    pub(crate) fn guest(
        lender: usize,
        place: &'thread OnceCell<(usize, Parker)>,
        task: &'thread ShownTask,
    ) -> Self {
        Self {
            place: Place::Guest {
                lender,
                place,
                task,
            },
            permit: Cell::new(None),
            source: None,
        }
    }

    /// The number of its processor.
    #[inline]
    pub(crate) fn processor(&self) -> Option<usize> {
        // SAFETY: it leaves the cell alone.
        unsafe { self.with_permit(Permit::processor) }
    }

    /// Calls `look` with the permit, if there is one.
    ///
    /// # Safety
    /// `look` leaves `permit` alone, and so runs no task.
    #[inline]
    pub(crate) unsafe fn with_permit<R>(&self, look: impl FnOnce(&Permit) -> R) -> Option<R> {
        // SAFETY: the cell is this thread's, and nothing changes it while `look` has it (contract).
        unsafe { &*self.permit.as_ptr() }.as_ref().map(look)
    }

    /// The label of the task that it runs, if that has one.
    pub(crate) fn label(&self, coordinator: &Coordinator) -> Option<NonZeroU64> {
        let machine = match &self.place {
            Place::Machine(machine, _) => *machine,
            Place::Guest { place, task, .. } => match place.get() {
                Some((machine, _)) => *machine,
                None => return task_label(task.get()),
            },
        };
        task_label(coordinator.machine(machine).task.get())
    }

    /// The thread's machine, and its parker. A guest gets a place if it has none; `None` if it
    /// cannot have one.
    pub(crate) fn machine(&self, coordinator: &Coordinator) -> Option<(usize, &Parker)> {
        match &self.place {
            Place::Machine(machine, parker) => Some((*machine, parker)),
            Place::Guest {
                lender,
                place,
                task,
            } => {
                if place.get().is_none() {
                    let registered = coordinator.register(*lender)?;
                    coordinator.machine(registered.0).task.show(task.get());
                    let _ = place.set(registered);
                }
                place.get().map(|(machine, parker)| (*machine, parker))
            }
        }
    }
}

/// The pool that the thread works for, and its machine.
#[derive(Clone, Copy)]
struct Registration {
    pool: *const (),
    current: NonNull<Current<'static>>,
}

thread_local! {
    static REGISTRATION: Cell<Option<Registration>> = Cell::new(None)
}

/// Registers the thread as a machine of `pool` while `work` runs.
pub(crate) fn enter<T, R>(pool: &Shared<T>, current: &Current<'_>, work: impl FnOnce() -> R) -> R {
    /// Puts back what was there, also when `work` unwinds.
    struct Restore(Option<Registration>);

    impl Drop for Restore {
        fn drop(&mut self) {
            REGISTRATION.with(|current| current.set(self.0));
        }
    }

    let registration = Registration {
        pool: ptr::from_ref(pool).cast(),
        current: NonNull::from(current).cast(),
    };
    let _restore = Restore(REGISTRATION.with(|current| current.replace(Some(registration))));
    work()
}

/// Returns whether the thread is a machine of any pool: from its first task until its last one.
pub fn is_machine() -> bool {
    REGISTRATION.with(Cell::get).is_some()
}

/// Calls `with` with what the thread shows of itself, if it is a machine of `pool`.
pub(crate) fn with_current<T, R>(
    pool: &Shared<T>,
    with: impl FnOnce(&Current<'_>) -> R,
) -> Option<R> {
    with_any(
        |registered| ptr::eq(registered, ptr::from_ref(pool).cast()),
        with,
    )
}

/// Calls `with` with the [source](Source) of the pool that the calling thread is a machine of, if
/// that has one, and it is an `S`. Wait-free.
pub fn with_source<S: Source, R>(with: impl FnOnce(&S) -> R) -> Option<R> {
    with_any(|_| true, |current| current.source?.get().map(with)).flatten()
}

/// Calls `with` with what the thread shows of itself, if it is a machine of a pool that is `right`.
#[inline]
fn with_any<R>(
    right: impl FnOnce(*const ()) -> bool,
    with: impl FnOnce(&Current<'_>) -> R,
) -> Option<R> {
    let registration = REGISTRATION.with(Cell::get)?;
    if !right(registration.pool) {
        return None;
    }
    // SAFETY: this thread made the registration, in `enter`, whose borrow of the `Current` lasts
    // until the registration is gone. The reference does not outlive the call, and `with` takes a
    // `Current` of any lifetime.
    let current = unsafe { registration.current.as_ref() };
    Some(with(current))
}
