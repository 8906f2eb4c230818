//! One place of the table: what belongs to its occupant, and who may touch it.

use std::sync::atomic::AtomicU32;

use filch_event_queue::EventQueue;
use filch_process_state::ProcessState;
use filch_slab::Occupancy;
use filch_sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering, fence};
use filch_sync::panic::catch_panic;

use crate::Protocol;
use crate::table::body::Item;
use crate::table::life::LifeCell;
use crate::table::mailbox::{Mailbox, Takes};
use crate::table::stats::{Awaited, ProcessStats, StepCount};
use crate::table::urgency::Urgency;

/// One place of the [`Table`](crate::table::table::Table), for one process after another.
///
/// | field | who touches it |
/// |---|---|
/// | `occupancy`, `state` | any thread: atomic words |
/// | `events` | producers: a thread that holds a pin, and any thread for the generation that its PID names; consumer: the worker that has the process; once that is over, the thread that its `state` gives the queue to |
/// | `mailbox` | set by the submitter before `occupy`, opened by the worker that replaces a future; atomic words for a thread that holds a pin, and a hint for a sender without one |
/// | `kind`, `bound_to`, `owner` | set by the submitter before `occupy`, `kind` again by the worker that replaces a future; atomic words for a thread that holds a pin, has made the process Ready, or has it from a run queue |
/// | `urgency` | reset by the submitter before `occupy`; an atomic word for a thread that holds a pin, and the worker that has the process |
/// | `stats`, `awaited`, `empty_steps` | reset by the submitter before `occupy`; written by the worker that has the process; read by a thread that holds a pin |
/// | `has_handle` | set by the submitter before `occupy`, reset by the thread that drops the handle; read by a thread that holds a pin |
/// | `life` | the submitter, then the worker that made the process Running; then its handle, then the last thread out: see [`LifeCell`] |
///
/// A worker *has* the process from its successful `start` until it lets go of the process or ends
/// it. The *last thread out* is the one that is told [`Last`](filch_slab::Unpinned::Last) when it
/// gives a pin back.
///
/// # Safety of the unsafe methods
///
/// The unsafe methods of a slot, of its `events` and its `life` rely on these roles. They are
/// handed from thread to thread by the edges of `state`, so a thread that calls such a method
/// vouches that every user of the table takes these edges as the roles say: `submit` by the
/// submitter, `start` by a worker that got the process from a run queue, all others by the worker
/// that has it.
pub struct Slot<P: Protocol> {
    /// Its place in the table.
    pub(crate) index: u32,
    pub(crate) occupancy: Occupancy,
    /// Whether the process is Ready, Running, waiting or over.
    pub state: ProcessState,
    /// What the process has been sent.
    pub events: EventQueue<Item<P>>,
    /// How many messages the process may have been sent.
    pub mailbox: Mailbox<P>,
    /// What the process has done.
    pub stats: ProcessStats,
    /// What it may wait for.
    pub awaited: Awaited,
    /// How often it went on where it could have waited.
    pub empty_steps: StepCount,
    /// What a worker has to know before it drains `events`.
    pub urgency: Urgency,
    /// [`IDLE_PRIORITY`] and [`FUTURE`].
    kind: AtomicU8,
    /// The thread that it runs on, as a number; or 0.
    bound_to: AtomicU32,
    /// Its body while it lives, then its exit.
    pub life: LifeCell<P>,
    /// What has the table: see [`Table::set_owner`](crate::table::table::Table::set_owner).
    owner: AtomicPtr<()>,
    /// Whether one of the pins is the handle's.
    pub(crate) has_handle: AtomicBool,
}

/// How a process is placed in the table, for its whole life.
pub struct Placement<P: Protocol> {
    /// What it takes of messages.
    pub mailbox: Takes<P>,
    /// Whether it runs only when nothing else can.
    pub idle_priority: bool,
    /// The thread that it runs on, as a number that is not 0; or 0 for any thread.
    pub bound_to: u32,
    /// Whether it is a future.
    pub is_future: bool,
}

/// The occupant runs only when nothing else can.
const IDLE_PRIORITY: u8 = 1;
/// The occupant is a future.
const FUTURE: u8 = 2;

impl<P: Protocol> Default for Placement<P> {
    fn default() -> Self {
        Self {
            mailbox: Takes::All,
            idle_priority: false,
            bound_to: 0,
            is_future: false,
        }
    }
}

impl<P: Protocol> Placement<P> {
    fn kind(&self) -> u8 {
        let idle_priority = if self.idle_priority { IDLE_PRIORITY } else { 0 };
        let future = if self.is_future { FUTURE } else { 0 };
        idle_priority | future
    }
}

// SAFETY: the words and the queue's producer side are made for sharing, and items are Send. The
// queue's consumer side and the content of `life` are reached through unsafe methods by one thread
// at a time, as the table at the type says; they are handed from thread to thread by the orderings
// of `state`, `occupancy`, `life` and the run queues, and all they hold is Send.
unsafe impl<P: Protocol> Sync for Slot<P> {}

impl<P: Protocol> Slot<P> {
    pub(crate) fn vacant(index: u32) -> Self {
        Self {
            index,
            occupancy: Occupancy::new(),
            state: ProcessState::new_complete(),
            events: EventQueue::new(),
            mailbox: Mailbox::new(),
            stats: ProcessStats::new(),
            awaited: Awaited::new(),
            empty_steps: StepCount::new(),
            urgency: Urgency::new(),
            kind: AtomicU8::new(0),
            bound_to: AtomicU32::new(0),
            life: LifeCell::new(),
            owner: AtomicPtr::default(),
            has_handle: AtomicBool::new(false),
        }
    }

    /// Makes the slot ready for a new occupant. The caller has it from the slab.
    pub(crate) fn furnish(&self, placement: &Placement<P>, owner: *mut ()) {
        self.mailbox.open(&placement.mailbox);
        self.stats.reset();
        self.awaited.reset();
        self.empty_steps.reset();
        self.urgency.reset();
        // ORDERING: Relaxed, all: `Occupancy::occupy` releases them to the threads that get a pin.
        self.kind.store(placement.kind(), Ordering::Relaxed);
        self.bound_to.store(placement.bound_to, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
        self.has_handle.store(true, Ordering::Relaxed);
    }

    /// Its place in the table.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The generation of the occupant, on which the caller holds a pin.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.occupancy.generation()
    }

    /// Whether the occupant, on which the caller holds a pin, is a future.
    pub fn is_future(&self) -> bool {
        // ORDERING: Relaxed: as `furnish` says; a thread that does not see that a future has been
        // replaced asks about an earlier moment.
        self.kind.load(Ordering::Relaxed) & FUTURE != 0
    }

    /// The occupant is no future from now on. The caller has the process, and replaces it.
    pub fn replace_future(&self) {
        // ORDERING: Relaxed, both: see `is_future`. The caller alone writes it now.
        let kind = self.kind.load(Ordering::Relaxed) & !FUTURE;
        // ORDERING: Relaxed: see above.
        self.kind.store(kind, Ordering::Relaxed);
        self.mailbox.unclose();
    }

    /// The thread that the occupant runs on, or 0. For the worker that has it from a run queue.
    #[inline]
    pub fn bound_to(&self) -> u32 {
        // ORDERING: Relaxed: set before the occupant was submitted, which happened before it was in
        // a run queue: also where a late sender to an earlier occupant has put it there, whose
        // `wake` acquired the submission.
        self.bound_to.load(Ordering::Relaxed)
    }

    /// Whether the occupant runs only when nothing else can. For a thread that holds a pin, or has
    /// just made the occupant Ready.
    #[inline]
    pub fn has_idle_priority(&self) -> bool {
        // ORDERING: Relaxed: it does not change while the caller holds a pin. A sender without one
        // has just made the occupant Ready, which stays until it is enqueued, and has acquired its
        // submission by that.
        self.kind.load(Ordering::Relaxed) & IDLE_PRIORITY != 0
    }

    /// What has the table. For a thread that holds a pin.
    #[inline]
    pub fn owner(&self) -> *mut () {
        // ORDERING: Relaxed: it does not change while the caller holds a pin.
        self.owner.load(Ordering::Relaxed)
    }

    /// One more pin, which its holder will [give back](crate::table::table::Table::unpin).
    /// Wait-free.
    ///
    /// # Safety
    /// The caller holds a pin on the slot, or has the process.
    ///
    /// # Panics
    /// If there are 2³⁰ pins.
    #[inline]
    pub unsafe fn share_pin(&self) {
        self.occupancy.share();
    }

    /// Passes all that is in the queue to `sink`, whose panics cost one item each, and not the
    /// rest; then gives the queue's memory back, unless a push is under way.
    ///
    /// # Safety
    /// The caller is the queue's consumer (see the type), and the queue is closed, so that this
    /// ends.
    pub unsafe fn discard_events(&self, mut sink: impl FnMut(Item<P>)) {
        // SAFETY: the caller's.
        while catch_panic(|| unsafe { self.events.drain(&mut sink) }).is_err() {}
        // SAFETY: as above.
        unsafe { self.events.shrink() };
    }
}

impl<P: Protocol> std::fmt::Debug for Slot<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

impl<P: Protocol> std::fmt::Debug for Placement<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Placement")
            .field("idle_priority", &self.idle_priority)
            .field("bound_to", &self.bound_to)
            .field("is_future", &self.is_future)
            .finish_non_exhaustive()
    }
}

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
