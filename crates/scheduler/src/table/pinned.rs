//! A pin on a process's slot, which keeps the scheduler's memory, too.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use filch_process_state::{Reason, State};
use filch_processors::Awaited;

use crate::table::pid::Pid;
use crate::table::slot::{Slot, Task};
use crate::table::table::Table;
use crate::{Context, Handle, Protocol};

/// A pin on a process's slot: while it lives, the PID means this process, and the scheduler's
/// memory is kept, as by a [`Handle`]. One word, which leads to both.
///
/// Unlike a handle it is not counted: the pin is there anyway, and all threads would write the
/// count's cache line for each process that they submit.
pub struct Pinned<P: Protocol>(NonNull<Slot<P>>);

// SAFETY: it stands for references to the slot and the scheduler, which are shared by all threads.
unsafe impl<P: Protocol> Send for Pinned<P> {}
// SAFETY: as above.
unsafe impl<P: Protocol> Sync for Pinned<P> {}

impl<P: Protocol> Pinned<P> {
    /// Takes over a pin on the slot.
    ///
    /// # Safety
    /// The caller has the pin, and gives it up. The slot's table stays where it is until then, or
    /// is a scheduler's, which the pin keeps.
    #[inline]
    pub(crate) unsafe fn new(slot: NonNull<Slot<P>>) -> Self {
        Self(slot)
    }

    /// Makes one more pin on the slot.
    ///
    /// # Safety
    /// The caller has the process in it, or pins it; the table as for `new`.
    #[inline]
    pub(crate) unsafe fn share(slot: &Slot<P>) -> Self {
        // SAFETY: the caller's; this is that pin.
        unsafe {
            slot.share_pin();
            Self::new(NonNull::from(slot))
        }
    }

    /// Returns the context of the pinned process in its scheduler.
    #[inline]
    pub(crate) fn context<'a>(&'a self, scheduler: &'a Handle<P>) -> Context<'a, P> {
        // SAFETY: the slot is of a scheduler's table (contract of `new`), and pinned.
        unsafe { Context::new(scheduler, self.slot()) }
    }

    /// Returns the process's PID.
    #[inline]
    pub fn pid(&self) -> Pid {
        self.table().pid_of(self.slot())
    }

    #[inline]
    fn table(&self) -> &Table<P> {
        // SAFETY: the pin keeps it (contract of `new`).
        unsafe { &*self.slot().table() }
    }

    /// Returns the scheduler, which may have no owner any more: do not clone it.
    #[inline]
    pub(crate) fn scheduler(&self) -> ManuallyDrop<Handle<P>> {
        let Some(owner) = self.table().owner() else {
            unreachable!("a table of models has no scheduler")
        };
        // SAFETY: the owner of the table, which the pin keeps.
        unsafe { Handle::lent(owner) }
    }

    /// Returns the slot of the process.
    #[inline]
    pub fn slot(&self) -> &Slot<P> {
        // SAFETY: slots do not move, and the pin keeps the table.
        unsafe { self.0.as_ref() }
    }

    /// Checks that the process has neither ended nor been refused by its `init`, so that only pins
    /// keep it. (Closed but not Complete: `close` is running. Complete but not closed: `init` is.)
    pub fn is_live(&self) -> bool {
        let slot = self.slot();
        !(slot.events.is_closed() && slot.state.state() == State::Complete)
    }

    /// Makes the process take another turn, without an event, if it still lives.
    pub(crate) fn nudge(&self) {
        self.scheduler().wake(self.slot(), Reason::Message);
    }
}

/// Awaits the end of the process.
impl<P: Protocol> Awaited<Task<P>> for Pinned<P> {
    fn is_over(&self) -> bool {
        self.slot().life.is_set()
    }

    fn is(&self, task: &Task<P>) -> bool {
        task.is_of(self.slot())
    }

    /// The process waits for its commands: a task that its handler has made runnable may be the one
    /// that completes them.
    fn needs_others(&self) -> bool {
        self.slot().state.state() == State::Blocked
    }
}

impl<P: Protocol> Drop for Pinned<P> {
    #[inline]
    fn drop(&mut self) {
        let table = self.table();
        // SAFETY: the pin, which goes with this.
        if unsafe { table.unpin(self.slot()) }
            // A table without a scheduler is freed by its user.
            && let Some(owner) = table.owner()
        {
            // SAFETY: the table is retired, and this was the last pin: the table says so.
            unsafe { Handle::lent(owner).free() };
        }
    }
}

crate::protocol::debug_fields!(Pinned<P>, "Pinned");
