//! How many clones of a future's waker there are.

use filch_sync::atomic::{Ordering, fence};

use crate::Protocol;
use crate::table::slot::Slot;

impl<P: Protocol> Slot<P> {
    /// The process's handle goes: its pin is given back after this, by the same thread.
    pub fn handle_goes(&self) {
        // ORDERING: Relaxed: released by giving the pin back, which is what `waker_clones` looks
        // at first.
        self.has_handle.store(false, Ordering::Relaxed);
    }

    /// How many pins there are besides the occupant's, its handle's and the caller's: the clones of
    /// a future's waker, each of which holds one.
    ///
    /// At most one too many while the [handle is dropped](Self::handle_goes), and one for each
    /// other thread that pins the slot for a moment; never too few. What another thread did before
    /// it gave a pin back that is not counted any more happens before this returns: if it was a
    /// wake-up, the caller finds the future woken. Wait-free.
    ///
    /// The caller holds a pin, besides having the process.
    pub fn waker_clones(&self) -> usize {
        let others = self.occupancy.pins() as usize - 2;
        // ORDERING: Acquire, partner of the Release with which pins are given back. For the
        // handle's: if it is not counted any more, its mark is not seen either.
        fence(Ordering::Acquire);
        // ORDERING: Relaxed: see above.
        others.saturating_sub(usize::from(self.has_handle.load(Ordering::Relaxed)))
    }
}
