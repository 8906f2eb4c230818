//! The end of a process, edge by edge, in the one order that senders, watchers and joiners rely on.
//!
//! The values are made by one step and used up by the next, so no caller can take the steps in
//! another order.

use filch_process_state::Ending;
use filch_slab::Batch;

use crate::Protocol;
use crate::process::error::Exit;
use crate::table::body::Item;
use crate::table::slot::Slot;
use crate::table::table::Table;

/// A process whose senders are refused, and which still counts as Running.
#[must_use = "the process has begun to end"]
#[derive(Debug)]
pub struct Closed<'table, P: Protocol> {
    table: &'table Table<P>,
    slot: &'table Slot<P>,
}

/// A process whose wake-ups are refused, and whose queue is empty, except for pushes that are under
/// way. It still has its PID and slot.
#[must_use = "nobody has been told of the end yet"]
#[derive(Debug)]
pub struct Completed<'table, P: Protocol>(Closed<'table, P>);

impl<'table, P: Protocol> Closed<'table, P> {
    /// Begins the end of the process in that slot: its senders are refused from here on.
    ///
    /// # Safety
    /// The slot is one of the table. The caller has made the process Running, neither lets go of it
    /// nor ends it a second time, and holds the process's pin.
    pub unsafe fn begin(table: &'table Table<P>, slot: &'table Slot<P>) -> Self {
        slot.events.close();
        Self { table, slot }
    }

    /// Ends the process. The items left in its queue go to `sink`, to be dropped or answered.
    ///
    /// An item whose wake-up came before the end goes there, even if it appears after the queue was
    /// emptied once. Every later wake-up is refused, and its item is dropped. Lock-free.
    pub fn complete(self, mut sink: impl FnMut(Item<P>)) -> Completed<'table, P> {
        loop {
            // SAFETY: this worker has made the process Running, which it is still (contract of
            // `begin`), so it is the queue's consumer; the queue is closed.
            unsafe { self.slot.discard_events(&mut sink) };
            match self.slot.state.complete() {
                Ok(Ending::Over) => break,
                Ok(Ending::Drain) => {}
                Err(_) => unreachable!("only the worker that made it Running completes it"),
            }
        }
        Completed(self)
    }
}

impl<P: Protocol> Completed<'_, P> {
    /// Leaves the exit to the process's handle, and gives back the process's pin. If the slot is
    /// vacant then, it is given back with others of the batch. The caller is one of the table's
    /// owners, and [gives the batch back](Table::give_back) before it leaves.
    #[inline]
    pub fn tell_into(self, batch: &mut Batch, exit: impl FnOnce() -> Exit<P>) {
        let Closed { table, slot } = self.0;
        // SAFETY: this worker ends the process, once, and holds the process's pin (contract of
        // `begin`).
        unsafe { slot.life.set(exit) };
        if table.vacate(slot.occupancy.unpin(), slot) {
            // There is an owner: this is not the end of the table.
            let _ = table.slots.release_into(batch, slot.index);
        }
    }

    /// Gives back the process's pin, and tells nobody: for a process without a handle.
    pub fn leave(self) {
        let Closed { table, slot } = self.0;
        // SAFETY: this worker ends the process, once, and holds its pin (contract of `begin`).
        let _ = unsafe { table.unpin(slot) };
    }
}
