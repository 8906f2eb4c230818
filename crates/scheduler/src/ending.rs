//! The end of a process, step by step, in the one order that senders, watchers and whoever joins
//! rely on.
//!
//! Each step gives what the next one needs, and nothing else does: so nobody can take them in
//! another order, be it the worker or a model.

use crate::Protocol;
use crate::exit::Exit;
use crate::signal::Signal;
use crate::table::{Slot, Table};

/// A process whose senders are refused, and which still counts as one that runs.
#[must_use = "it has begun to end"]
pub(crate) struct Closed<'table, P: Protocol> {
    table: &'table Table<P>,
    slot: &'table Slot<P>,
    index: u32,
}

/// A process whose wake-ups are refused, and whose queue is empty. It has its name and its place
/// still.
#[must_use = "nobody has been told yet"]
pub(crate) struct Completed<'table, P: Protocol>(Closed<'table, P>);

impl<P: Protocol> Table<P> {
    /// The process in that slot begins to end: its senders are refused from here on.
    ///
    /// # Safety
    /// The caller has made the process Running, and neither lets go of it nor ends it a second
    /// time.
    pub(crate) unsafe fn close(&self, index: u32) -> Closed<'_, P> {
        let slot = self.slot(index);
        slot.events.close();
        Closed {
            table: self,
            slot,
            index,
        }
    }
}

impl<'table, P: Protocol> Closed<'table, P> {
    /// The process is no more. What is left in its queue has lost its reader, but for the signals,
    /// which `heed` gets.
    ///
    /// After the edge: whose wake-up came before it is heard here, and all others are refused.
    pub(crate) fn complete(self, heed: impl FnMut(Signal<P>)) -> Completed<'table, P> {
        if self.slot.state.complete().is_err() {
            unreachable!("only the worker that made it Running completes it");
        }
        // SAFETY: the process's own pin is not given up yet, so nobody moves in, and this worker,
        // which ends it, is still the queue's one consumer.
        unsafe { self.slot.discard_events(heed) };
        Completed(self)
    }
}

impl<P: Protocol> Completed<'_, P> {
    /// Leaves the exit to whoever joins the process, and gives its place up.
    pub(crate) fn tell(self, exit: Exit<P>) {
        let Closed { table, slot, index } = self.0;
        // SAFETY: this worker ends the process, once, and holds the process's own pin.
        unsafe { slot.life.set(exit) };
        table.unpin(index);
    }
}
