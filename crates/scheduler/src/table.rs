//! The process table: which process a PID means, and who may touch what of it.

use std::fmt;
use std::sync::atomic::AtomicU32;

use filch_event_queue::{EventQueue, PushError, ReopenError};
use filch_injector::Injector;
use filch_process_state::{ProcessState, Reason, State, Wake};
use filch_processors::BoundId;
use filch_slab::{Occupancy, Slab, SlabFull, Unpinned};
use filch_sync::atomic::{AtomicBool, Ordering};

use crate::contain::contain;
use crate::figures::{Awaited, Figures};
use crate::life::LifeCell;
use crate::mailbox::Mailbox;
use crate::names::Names;
use crate::options::Options;
use crate::pid::Origin;
use crate::signal::{Item, Signal};
use crate::urgency::Urgency;
use crate::{Node, Pid, Protocol};

/// One place of the table, for one process after another.
///
/// | field | who touches it |
/// |---|---|
/// | `occupancy`, `state`, `named` | anybody: atomic words |
/// | `events` | producers: whoever holds a pin, and anybody else for the life that the PID names; consumer: whoever may touch the body, and the last one out |
/// | `mailbox` | opened by the submitter before `occupy`; atomic words for whoever holds a pin, and a hint for a sender without one |
/// | `idle_priority`, `bound_to` | set by the submitter before `occupy`; atomic words for whoever holds a pin, has made the process Ready, or has it from a run queue |
/// | `urgency` | reset by the submitter before `occupy`; an atomic word for whoever holds a pin, and whoever may touch the body |
/// | `figures`, `awaited` | reset by the submitter before `occupy`; written as the body is; read by whoever holds a pin |
/// | `life` | the submitter, then the worker that made the process Running; then its handle, then the last one out: see there |
pub(crate) struct Slot<P: Protocol> {
    /// Its place in the table.
    pub(crate) index: u32,
    pub(crate) occupancy: Occupancy,
    pub(crate) state: ProcessState,
    pub(crate) events: EventQueue<Item<P>>,
    pub(crate) mailbox: Mailbox,
    pub(crate) figures: Figures,
    pub(crate) awaited: Awaited,
    pub(crate) urgency: Urgency,
    /// Whether it runs only when nothing else can.
    idle_priority: AtomicBool,
    /// The thread that it runs on, as [`BoundId::to_bits`] has it; or 0.
    bound_to: AtomicU32,
    pub(crate) life: LifeCell<P>,
    /// Whether the occupant has names. Set under a pin, read and reset by the last one out.
    pub(crate) named: AtomicBool,
}

// SAFETY: the words and the queue's producer side are made for sharing, and events are Send. The
// queue's consumer side and the content of `life` are reached through unsafe methods by one thread
// at a time, as the table at the type says; they are handed from thread to thread by the orderings
// of `state`, `occupancy`, `life` and the run queues, and all they hold is Send.
unsafe impl<P: Protocol> Sync for Slot<P> {}

impl<P: Protocol> Slot<P> {
    fn vacant(index: u32) -> Self {
        Self {
            index,
            occupancy: Occupancy::new(),
            state: ProcessState::new_complete(),
            events: EventQueue::with_one_slot(),
            mailbox: Mailbox::new(),
            figures: Figures::new(),
            awaited: Awaited::new(),
            urgency: Urgency::new(),
            idle_priority: AtomicBool::new(false),
            bound_to: AtomicU32::new(0),
            life: LifeCell::new(),
            named: AtomicBool::new(false),
        }
    }

    /// Drops the events that nobody will read, and passes the signals to `heed`. Destructors may
    /// panic: each panic costs one event, not the rest.
    ///
    /// # Safety
    /// As for `EventQueue::drain`; and the queue is closed, so that this ends.
    pub(crate) unsafe fn discard_events(&self, mut heed: impl FnMut(Signal<P>)) {
        let mut discard = |item| match item {
            Item::Event(event) => drop(event),
            Item::Signal(signal) => heed(signal),
        };
        // SAFETY: the caller's.
        while contain(|| unsafe { self.events.drain(&mut discard) }).is_err() {}
    }

    /// The thread that the occupant runs on. Asked by the worker that has it from a run queue.
    #[inline]
    pub(crate) fn bound_to(&self) -> Option<BoundId> {
        // ORDERING: Relaxed: set before the occupant was submitted, which happened before it was in a
        // run queue: also where a late sender to an earlier occupant has put it there, whose `wake`
        // acquired the submission.
        BoundId::from_bits(self.bound_to.load(Ordering::Relaxed))
    }

    pub(crate) fn has_idle_priority(&self) -> bool {
        // ORDERING: Relaxed: it does not change while the caller holds a pin. A sender without one
        // has just made the occupant Ready, which stays until it is enqueued, and has acquired its
        // submission by that.
        self.idle_priority.load(Ordering::Relaxed)
    }
}

/// All processes, by PID.
pub(crate) struct Table<P: Protocol> {
    /// The scheduler's own part of all its PIDs.
    origin: Origin,
    slots: Slab<Slot<P>>,
    /// Slots whose last occupant is gone, and in whose queue somebody has claimed a place and not
    /// left it yet. As many as there are threads in the middle of a send, at most. What they send
    /// is dropped when they, or the next submission, find the slot here.
    unfinished: Injector<u32>,
    pub(crate) names: Names,
}

impl<P: Protocol> Table<P> {
    pub(crate) fn new(node: Node) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self {
            // ORDERING: Relaxed: only to be different each time.
            origin: Origin::new(node, NEXT.fetch_add(1, Ordering::Relaxed)),
            slots: Slab::new(Slot::vacant),
            unfinished: Injector::new(),
            names: Names::default(),
        }
    }

    /// The PID of the process that lives in that slot in that generation.
    pub(crate) fn pid(&self, slot: u32, generation: u32) -> Pid {
        Pid {
            origin: self.origin,
            slot,
            generation,
        }
    }

    /// The node that the processes live on.
    pub(crate) fn node(&self) -> Node {
        self.origin.node()
    }

    /// A slot for a new process, and the PID that will be its own from now on. The caller holds two
    /// pins: the process's own, and that of its handle.
    pub(crate) fn occupy(&self, options: &Options) -> Result<(Pid, &Slot<P>), SlabFull> {
        self.finish();
        let index = self.slots.allocate()?;
        let slot = self.slot(index);
        slot.mailbox.open(options.mailbox);
        slot.figures.reset();
        slot.awaited.reset();
        slot.urgency.reset();
        // ORDERING: Relaxed: `occupy` releases it to whoever gets a pin.
        slot.idle_priority
            .store(options.idle_priority, Ordering::Relaxed);
        // ORDERING: Relaxed: as above.
        slot.bound_to.store(
            options.bound_to.map_or(0, BoundId::to_bits),
            Ordering::Relaxed,
        );
        let generation = slot.occupancy.occupy(2);
        debug_assert_eq!(
            generation,
            slot.events.generation(),
            "lives are counted alike"
        );
        Ok((self.pid(index, generation), slot))
    }

    /// The slot of a process that the caller has a pin on, its own or the process's.
    ///
    /// # Panics
    /// If the index is not from this table: never, for indices out of its run queues and pins.
    pub(crate) fn slot(&self, index: u32) -> &Slot<P> {
        match self.slots.get(index) {
            Some(slot) => slot,
            None => no_slot(index),
        }
    }

    /// Tries again to clean a slot that a sender had not finished with. Every submission does, and
    /// whoever has sent something to a process that was over by then: mostly that was the sender.
    pub(crate) fn finish(&self) {
        if self.unfinished.is_empty() {
            return;
        }
        if let Some(index) = self.unfinished.pop() {
            // SAFETY: whoever put it there was the last one out, which happened before; now we are.
            unsafe { self.clean(index, self.slot(index)) };
        }
    }

    /// The process that lives in the slot, if one does. For people: it may have moved out by now.
    pub(crate) fn occupant(&self, slot: u64) -> Option<Pid> {
        let index = u32::try_from(slot).ok()?;
        let occupancy = &self.slots.get(index)?.occupancy;
        Some(self.pid(index, occupancy.generation()))
    }

    /// The slot of the process `pid`, if it is still there. It may leave at any moment. What its
    /// submitter has written there is visible.
    ///
    /// A PID can be made out of a number, and so name a process that is yet to come. The queue of
    /// its slot may be open already: only this keeps messages out of it.
    #[inline]
    pub(crate) fn find(&self, pid: Pid) -> Option<&Slot<P>> {
        if pid.origin != self.origin {
            return None;
        }
        let slot = self.slots.get(pid.slot)?;
        slot.occupancy.is_current(pid.generation).then_some(slot)
    }

    /// Puts `item` into the queue of the process `pid`, whose slot was [found](Self::find), and
    /// wakes it. Without a pin: the queue itself refuses, and hands back, what was meant for an
    /// earlier life than the present one. If the process ends between the push and the wake-up, the
    /// item is dropped with it, and the wake-up may be for the slot's next occupant, whom it costs a
    /// turn at worst.
    #[inline]
    pub(crate) fn post(
        &self,
        pid: Pid,
        slot: &Slot<P>,
        item: Item<P>,
        reason: Reason,
    ) -> Result<Wake, Item<P>> {
        slot.events
            .push_in(pid.generation, item)
            .map_err(PushError::into_inner)?;
        let wake = slot.state.wake(reason);
        if wake == Wake::Refused {
            self.finish();
        }
        Ok(wake)
    }

    /// Keeps the process `pid` from leaving the table while the pin lives. `None` if it has left.
    pub(crate) fn pin(&self, pid: Pid) -> Option<Pin<'_, P>> {
        let slot = self.find(pid)?;
        match slot.occupancy.pin(pid.generation) {
            Ok(()) => Some(Pin {
                table: self,
                slot,
                pid,
            }),
            Err(gone) => {
                self.after(gone.0, pid.slot, slot);
                None
            }
        }
    }

    /// Pins the live processes, one after another. Those that arrive meanwhile may be missed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Pin<'_, P>> {
        self.pinned().filter(Pin::is_live)
    }

    fn pinned(&self) -> impl Iterator<Item = Pin<'_, P>> {
        (0..self.slots.high_water()).filter_map(|index| {
            let slot = self.slot(index);
            match slot.occupancy.pin_current() {
                Ok(generation) => Some(Pin {
                    table: self,
                    slot,
                    pid: self.pid(index, generation),
                }),
                Err(gone) => {
                    self.after(gone.0, index, slot);
                    None
                }
            }
        })
    }

    /// Gives one pin on the slot back. The caller holds it and forgets it.
    pub(crate) fn unpin(&self, index: u32) {
        let slot = self.slot(index);
        self.after(slot.occupancy.unpin(), index, slot);
    }

    /// The last one out cleans the slot: the next occupant must find the queue open and empty.
    fn after(&self, unpin: Unpinned, index: u32, slot: &Slot<P>) {
        if unpin == Unpinned::Others {
            return;
        }
        // ORDERING: Relaxed, both: `Unpinned::Last` acquired what was done under all pins, and the
        // slab hands the slot on.
        if slot.named.load(Ordering::Relaxed) {
            slot.named.store(false, Ordering::Relaxed);
            self.names.forget(index);
        }
        // SAFETY: `Unpinned::Last`: no pin is held, so neither worker nor handle has to do with it any
        // more.
        unsafe {
            slot.life.clear();
            self.clean(index, slot);
        }
    }

    /// Empties the queue and opens it for the next life, which the slot is given back for.
    ///
    /// # Safety
    /// The caller is the last one out, and the process has ended, so nobody drains.
    unsafe fn clean(&self, index: u32, slot: &Slot<P>) {
        // Events that were pushed while the process ended.
        // SAFETY: the caller's; the queue was closed when the process ended.
        unsafe { slot.discard_events(drop) };
        // SAFETY: as above.
        match unsafe { slot.events.reopen() } {
            Ok(_) => self.slots.release(index),
            Err(error) => {
                debug_assert_eq!(error, ReopenError::Unfinished, "the process has ended");
                // A sender that holds no pin is between its claim and its end. It need not be
                // waited for: others have slots.
                self.unfinished.push(index);
            }
        }
    }
}

/// Apart, and given the index by value: else it would be written to memory in each call of `slot`,
/// to be printed.
#[cold]
fn no_slot(index: u32) -> ! {
    unreachable!("slot {index} was never allocated")
}

/// A process that cannot leave the table: it may end, but its PID keeps meaning it.
pub(crate) struct Pin<'table, P: Protocol> {
    table: &'table Table<P>,
    pub(crate) slot: &'table Slot<P>,
    pub(crate) pid: Pid,
}

impl<P: Protocol> Pin<'_, P> {
    /// Whether it has neither ended nor been refused by its `init`, to be kept only by somebody's
    /// pin. (Closed alone: `close` is running. Complete alone: `init` is.)
    pub(crate) fn is_live(&self) -> bool {
        !(self.slot.events.is_closed() && self.slot.state.state() == State::Complete)
    }
}

impl<P: Protocol> Drop for Pin<'_, P> {
    fn drop(&mut self) {
        self.table
            .after(self.slot.occupancy.unpin(), self.pid.slot, self.slot);
    }
}

impl<P: Protocol> fmt::Debug for Table<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("slots", &self.slots.high_water())
            .finish()
    }
}
