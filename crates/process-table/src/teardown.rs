//! The end of a process, edge by edge, in the one order that senders, watchers and joiners rely on.
//!
//! Each value is needed for the next step and comes from nowhere else, so no caller can take the
//! steps in another order.

use std::fmt;

use crate::slot::Slot;
use crate::table::Table;

/// A process whose senders are refused, and which still counts as Running.
#[must_use = "the process has begun to end"]
pub struct Closed<'table, Body, Item, Exit> {
    table: &'table Table<Body, Item, Exit>,
    slot: &'table Slot<Body, Item, Exit>,
    index: u32,
}

/// A process whose wake-ups are refused, and whose queue is empty. It still has its PID and slot.
#[must_use = "nobody has been told of the end yet"]
pub struct Completed<'table, Body, Item, Exit>(Closed<'table, Body, Item, Exit>);

impl<'table, Body, Item: Send, Exit> Closed<'table, Body, Item, Exit> {
    /// The process in that slot begins to end: its senders are refused from here on.
    ///
    /// # Safety
    /// The caller has made the process Running, neither lets go of it nor ends it a second time,
    /// and holds the process's pin.
    pub unsafe fn begin(table: &'table Table<Body, Item, Exit>, index: u32) -> Self {
        let slot = table.slot(index);
        slot.events.close();
        Self { table, slot, index }
    }

    /// The process is over. What is left in its queue goes to `sink`, to be dropped or answered.
    ///
    /// The queue is emptied after the edge: an item whose wake-up came before the edge is found
    /// here, and every later wake-up is refused.
    pub fn complete(self, sink: impl FnMut(Item)) -> Completed<'table, Body, Item, Exit> {
        if self.slot.state.complete().is_err() {
            unreachable!("only the worker that made it Running completes it");
        }
        // SAFETY: the process's pin is not given up yet, so nobody occupies the slot, and this
        // worker, which ends the process, is still the queue's one consumer (contract of `begin`).
        unsafe { self.slot.discard_events(sink) };
        Completed(self)
    }
}

impl<Body, Item: Send, Exit> Completed<'_, Body, Item, Exit> {
    /// Leaves the exit to the process's handle, and gives the process's pin up.
    pub fn tell(self, exit: Exit) {
        let Closed { table, slot, index } = self.0;
        // SAFETY: this worker ends the process, once, and holds the process's pin until the second
        // call (contract of `begin`).
        unsafe {
            slot.life.set(exit);
            table.unpin(index);
        }
    }
}

impl<Body, Item, Exit> fmt::Debug for Closed<'_, Body, Item, Exit> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Closed").field(&self.index).finish()
    }
}

impl<Body, Item, Exit> fmt::Debug for Completed<'_, Body, Item, Exit> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Completed").field(&self.0.index).finish()
    }
}
