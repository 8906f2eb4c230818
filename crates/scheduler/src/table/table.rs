//! The process table: it finds the process that a PID means, and keeps it there for pins.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU32};

use filch_event_queue::{Claim, PushError};
use filch_process_state::{Disposal, Ending, Reason, Wake};
use filch_slab::{AllocateError, Batch, Slab, Stale, Unpinned};
use filch_sync::atomic::Ordering;

use crate::Protocol;
use crate::handle::handle::Block;
use crate::process::error::Exit;
use crate::protocol::debug_fields;
use crate::table::body::Item;
use crate::table::pid::{Node, Pid, origin};
use crate::table::pinned::Pinned;
use crate::table::slot::{Placement, Slot};

/// All processes, by PID. [`Slot`] says which threads may touch which fields.
pub struct Table<P: Protocol> {
    /// The common part of all PIDs of this table.
    origin: u64,
    pub(crate) slots: Slab<Slot<P>>,
    owner: AtomicPtr<Block<P>>,
}

impl<P: Protocol> Table<P> {
    /// Makes an empty table, whose PIDs differ from those of all other tables of the program.
    pub fn new(node: Node) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self {
            // ORDERING: Relaxed: only to be different each time.
            origin: origin(node, NEXT.fetch_add(1, Ordering::Relaxed)),
            slots: Slab::new(Slot::vacant),
            owner: AtomicPtr::default(),
        }
    }

    /// Sets the owner of the table, for threads that hold nothing but a pin. To be called before
    /// the table has an occupant.
    pub(crate) fn set_owner(&self, owner: NonNull<Block<P>>) {
        // ORDERING: Relaxed: the table is not shared yet.
        self.owner.store(owner.as_ptr(), Ordering::Relaxed);
    }

    /// Returns the owner of the table: `None`, if it stands without a scheduler.
    #[inline]
    pub(crate) fn owner(&self) -> Option<NonNull<Block<P>>> {
        // ORDERING: Relaxed: set before the table was shared.
        NonNull::new(self.owner.load(Ordering::Relaxed))
    }

    /// Returns the PID of the process in the slot. The caller has pinned it, or has the process.
    #[inline]
    pub fn pid_of(&self, slot: &Slot<P>) -> Pid {
        self.pid(slot.index, slot.occupancy.generation())
    }

    #[inline]
    fn pid(&self, slot: u32, generation: u32) -> Pid {
        Pid::new(self.origin, slot, generation)
    }

    /// Returns the node that the processes live on.
    pub fn node(&self) -> Node {
        self.pid(0, 0).node()
    }

    /// Takes a slot for a new process, which its [PID](Self::pid_of) means from now on. The caller,
    /// its submitter, gets two pins: the process's and that of its handle. Lock-free, except for
    /// memory.
    ///
    /// # Errors
    /// [`AllocateError::Full`]: 2³² − 2 processes live. [`AllocateError::NoMemory`]: all existing
    /// slots have occupants, and there is no memory for more slots.
    pub fn occupy(&self, placement: Placement<P>) -> Result<&Slot<P>, AllocateError> {
        let slot = self.slot(self.slots.allocate()?);
        slot.furnish(placement, NonNull::from(self));
        let generation = slot.occupancy.occupy(2);
        debug_assert_eq!(generation, slot.events.generation(), "counted alike");
        Ok(slot)
    }

    /// Returns the slot of a process that the caller has pinned, or has.
    ///
    /// # Panics
    /// If the index is of another table.
    pub fn slot(&self, index: u32) -> &Slot<P> {
        match self.slots.get(index) {
            Some(slot) => slot,
            // Its number would be written to memory at each call, to be printed.
            None => unreachable!("a slot that was never allocated"),
        }
    }

    /// Returns the process that lives in the slot, if any. For people: it may have left by now.
    pub fn occupant(&self, slot: u64) -> Option<Pid> {
        let index = u32::try_from(slot).ok()?;
        let occupancy = &self.slots.get(index)?.occupancy;
        Some(self.pid(index, occupancy.generation()))
    }

    /// Returns the slot of the process `pid`, if it is still there. It may leave at any moment. Its
    /// submitter's writes to the slot are visible. Wait-free.
    ///
    /// A PID can be made from any number, and so name a process that is yet to come. The queue of
    /// its slot may be open already: only this check keeps items out of it.
    #[inline]
    pub fn find(&self, pid: Pid) -> Option<&Slot<P>> {
        if pid.origin != self.origin {
            return None;
        }
        let slot = self.slots.get(pid.slot())?;
        slot.occupancy.is_current(pid.generation()).then_some(slot)
    }

    /// Claims a place in the queue of the process `pid`, whose slot was [found](Self::find), for an
    /// item; then [wake](Self::wake) it. Lock-free, and without a pin: the queue itself refuses
    /// items for an earlier generation. If the process ends before it is woken, the item is dropped
    /// with it, and the wake-up may reach the slot's next occupant, which then takes a turn for
    /// nothing. `None` if the process has ended.
    #[inline]
    pub fn claim<'a>(&self, pid: Pid, slot: &'a Slot<P>) -> Option<Claim<'a, Item<P>>> {
        match slot.events.claim_in(pid.generation()) {
            Ok(claim) => Some(claim),
            Err(error) => self.not_claimed(slot, error),
        }
    }

    /// Cleans up after a claim that was refused.
    #[cold]
    fn not_claimed<C>(&self, slot: &Slot<P>, error: PushError<()>) -> Option<C> {
        // It may have claimed a place in the queue of a later occupant, and given it up.
        if matches!(error, PushError::Stale(())) && slot.state.retract() == Wake::Dispose {
            // SAFETY: told to, just now. Senders belong to the table's owners.
            unsafe { self.dispose_late(slot) };
        }
        None
    }

    /// Wakes the process in that slot, after a push into its queue, or when the reason itself is
    /// the event. Lock-free. The answer says what the caller must do, and is never
    /// [`Wake::Dispose`]: if the process has ended and no thread has its queue, this empties it:
    /// [`Wake::Refused`]. So the last of the late senders leaves nothing there, even if a pin keeps
    /// the process in the table.
    #[inline]
    pub fn wake(&self, slot: &Slot<P>, reason: Reason) -> Wake {
        match slot.state.wake(reason) {
            Wake::Dispose => {
                // SAFETY: told to, just now. The caller has a pin, or is one of the table's owners.
                unsafe { self.dispose_late(slot) };
                Wake::Refused
            }
            wake => wake,
        }
    }

    /// Keeps the process `pid` from leaving the table while the pin lives. `None` if it has left.
    /// Wait-free, except for the last thread out.
    ///
    /// # Safety
    /// The table stays where it is, and is not dropped, while the pin lives.
    pub unsafe fn pin(&self, pid: Pid) -> Option<Pinned<P>> {
        let slot = self.find(pid)?;
        self.pinned(slot, slot.occupancy.pin(pid.generation()))
    }

    fn pinned<T>(&self, slot: &Slot<P>, pinned: Result<T, Stale>) -> Option<Pinned<P>> {
        match pinned {
            // SAFETY: the pin was made just now.
            Ok(_) => Some(unsafe { Pinned::new(NonNull::from(slot)) }),
            Err(Stale(unpinned)) => {
                let _ = self.leave(unpinned, slot, |index| self.slots.release(index));
                None
            }
        }
    }

    /// Checks if the process `pid` is of this table and has not begun to end.
    pub fn lives(&self, pid: Pid) -> bool {
        // Pinned: else its slot might be cleared in between, and its queue be open for the next.
        // SAFETY: the table is here, and the pin goes at once.
        let process = unsafe { self.pin(pid) };
        process.is_some_and(|process| !process.slot().events.is_closed())
    }

    /// Pins the live processes, one after another. Those that arrive meanwhile may be missed.
    ///
    /// A process that is missed has [occupied](Self::occupy) its slot after this has looked there:
    /// what the caller of this did before happens before the return of that `occupy`.
    ///
    /// # Safety
    /// As for [`pin`](Self::pin).
    pub unsafe fn iter(&self) -> impl Iterator<Item = Pinned<P>> {
        let pinned = (0..self.slots.high_water()).filter_map(|index| {
            let slot = self.slot(index);
            self.pinned(slot, slot.occupancy.pin_current())
        });
        pinned.filter(Pinned::is_live)
    }

    /// Gives back one pin on the slot. Returns true if it was the last one of a table that is
    /// [retired](Self::retire): then the caller must free the table. Else the table may be gone on
    /// return, unless the caller is one of its owners.
    ///
    /// # Safety
    /// The slot is one of the table. The caller holds that pin, by [`occupy`](Self::occupy) or
    /// [`Slot::share_pin`], and gives it up.
    #[must_use = "true: the table is the caller's, to be freed"]
    pub unsafe fn unpin(&self, slot: &Slot<P>) -> bool {
        self.leave(slot.occupancy.unpin(), slot, |index| {
            self.slots.release(index)
        })
    }

    /// Cleans the slot and gives it back by `release`, if the caller is the last thread out: the
    /// next occupant must find the queue open and empty. Returns true if `release` does.
    #[inline]
    fn leave(&self, unpinned: Unpinned, slot: &Slot<P>, release: impl FnOnce(u32) -> bool) -> bool {
        if unpinned == Unpinned::Others {
            return false;
        }
        // SAFETY: `Unpinned::Last`: no pin is held.
        unsafe { slot.clear() };
        let is_vacant = match slot.state.vacate() {
            // Mostly the queue was emptied when the process ended.
            // SAFETY: it is the caller's: it was nobody's, and no pin is held.
            Ok(true) => unsafe { slot.events.reopen().is_ok() || self.dispose(slot) },
            // A sender that came too late has the queue, and will be told.
            Ok(false) => false,
            Err(_) => unreachable!("a process has a pin until it is over"),
        };
        is_vacant && release(slot.index)
    }

    /// Gives back the slots of a [batch](Self::tell_into). The batch's owner, who is an owner of
    /// the table, too, calls this before it leaves the table.
    pub fn give_back(&self, batch: &mut Batch) {
        let _ = self.slots.give_back(batch);
    }

    /// Lets the table's last owner leave, once. Returns true if no pin is left: then the caller
    /// must free the table. Else the thread that gives [back](Self::unpin) the last pin must, and
    /// the table is used only under a pin. All acts under any pin happen before the `true`.
    #[must_use = "true: the table is the caller's, to be freed"]
    pub fn retire(&self) -> bool {
        self.slots.retire()
    }

    /// Ends the process in that slot, which has closed its queue. The items left in there go to
    /// `sink`, to be dropped or answered. Nobody is told of the end before
    /// [`tell_into`](Self::tell_into).
    ///
    /// An item whose wake-up came before the end goes there, even if it appears after the queue was
    /// emptied once. Every later wake-up is refused, and its item is dropped. Lock-free.
    ///
    /// # Safety
    /// The slot is one of the table. The caller has made the process Running, neither lets go of it
    /// nor ends it a second time, and holds the process's pin, which it gives back after this.
    pub unsafe fn complete(&self, slot: &Slot<P>, mut sink: impl FnMut(Item<P>)) {
        debug_assert!(slot.events.is_closed(), "its senders are refused first");
        loop {
            // SAFETY: this worker has made the process Running, which it is still (contract), so it
            // is the queue's consumer; the queue is closed.
            unsafe { slot.discard_events(&mut sink) };
            match slot.state.complete() {
                Ok(Ending::Over) => return,
                Ok(Ending::Drain) => {}
                Err(_) => unreachable!("only the worker that made it Running completes it"),
            }
        }
    }

    /// Leaves the exit to the process's handle, and gives back the process's pin. If the slot is
    /// vacant then, it is given back with others of the batch. The caller is one of the table's
    /// owners, and [gives the batch back](Self::give_back) before it leaves.
    ///
    /// # Safety
    /// The caller has [ended](Self::complete) the process in that slot, and calls this once,
    /// instead of [`unpin`](Self::unpin).
    #[inline]
    pub unsafe fn tell_into(
        &self,
        slot: &Slot<P>,
        batch: &mut Batch,
        exit: impl FnOnce() -> Exit<P>,
    ) {
        // SAFETY: this worker has ended the process, and holds its pin (contract).
        unsafe { slot.life.set(exit) };
        // There is an owner: this is not the end of the table.
        let _ = self.leave(slot.occupancy.unpin(), slot, |index| {
            self.slots.release_into(batch, index)
        });
    }

    /// Drops the items in the queue of a process that has ended, and gives the slot back if it is
    /// vacant: this is not the end of the table.
    ///
    /// # Safety
    /// As for `dispose`, and the caller keeps the table.
    #[cold]
    unsafe fn dispose_late(&self, slot: &Slot<P>) {
        // SAFETY: the caller's.
        if unsafe { self.dispose(slot) } {
            let _ = self.slots.release(slot.index);
        }
    }

    /// Drops the items in the queue of a process that has ended, until no sender comes late.
    /// Returns true if the slot is vacant, to be given back: no process, no pin, no push under way.
    /// (A sender in the middle of a push is not waited for, as other processes get other slots: it
    /// will be told to dispose.)
    ///
    /// # Safety
    /// The process has ended, and its queue is the caller's: its wake-up was answered
    /// [`Wake::Dispose`], or it has vacated the slot.
    #[cold]
    unsafe fn dispose(&self, slot: &Slot<P>) -> bool {
        loop {
            let vacated = match slot.state.dispose() {
                Ok(Disposal::Drain { vacated }) => vacated,
                Ok(Disposal::Done) => return false,
                Err(_) => unreachable!("the queue is the caller's"),
            };
            // SAFETY: the caller's; the queue was closed when the process ended.
            unsafe { slot.discard_events(drop) };
            // SAFETY: the caller's, and no pin is held on a slot that is vacated.
            if vacated && unsafe { slot.events.reopen() }.is_ok() {
                return true;
            }
        }
    }
}

debug_fields!(Table<P>, "Table", origin);
