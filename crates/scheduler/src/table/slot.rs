//! A slot of the table: the fields of its occupant, and the threads that may touch them.

use std::sync::atomic::AtomicU32;

use filch_event_queue::EventQueue;
use filch_process_state::ProcessState;
use filch_slab::Occupancy;
use filch_sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering, fence};
use filch_sync::panic::catch_panic;

use crate::Protocol;
use crate::handle::handle::Block;
use crate::table::body::Item;
use crate::table::life::LifeCell;
use crate::table::mailbox::{Mailbox, Takes};
use crate::table::stats::ProcessStats;

/// A slot of the [`Table`](crate::table::table::Table), for one process after another.
///
/// | field | who touches it |
/// |---|---|
/// | `occupancy`, `state` | any thread: atomic words |
/// | `events` | producers: a thread that holds a pin, and any thread for the generation that its PID names; consumer: the worker that has the process; once that is over, the thread that its `state` gives the queue to |
/// | `mailbox` | set by the submitter before `occupy`, opened by the worker that replaces a future; atomic words for a thread that holds a pin, and a hint for a sender without one |
/// | `kind`, `bound_to`, `owner` | set by the submitter before `occupy`, `kind` again by the worker that replaces a future; atomic words for a thread that holds a pin, has made the process Ready, or has it from a run queue |
/// | `urgency` | reset by the submitter before `occupy`; an atomic word for a thread that holds a pin, and the worker that has the process |
/// | `stats` | reset by the submitter before `occupy`; written by the worker that has the process; read by a thread that holds a pin |
/// | `has_handle` | set by the submitter before `occupy`, reset by the thread that drops the handle; read by a thread that holds a pin |
/// | `life` | the submitter, then the worker that made the process Running; then its handle, then the last thread out: see [`LifeCell`] |
///
/// A worker *has* the process from its successful `start` until it lets go of the process or ends
/// it. The *last thread out* is the one that gets [`Last`](filch_slab::Unpinned::Last) when it
/// gives back a pin.
///
/// # Safety of the unsafe methods
///
/// The unsafe methods of a slot, of its `events` and its `life` rely on these roles, which the
/// edges of `state` hand from thread to thread. So a thread that calls such a method vouches that
/// every user of the table takes these edges as the roles say: `submit` by the submitter, `start`
/// by a worker that got the process from a run queue, all others by the worker that has it.
pub struct Slot<P: Protocol> {
    /// Its number in the table.
    pub(crate) index: u32,
    pub(crate) occupancy: Occupancy,
    /// The state: Ready, Running, waiting or over.
    pub state: ProcessState,
    /// The items sent to the process.
    pub events: EventQueue<Item<P>>,
    /// The messages that the process takes.
    pub mailbox: Mailbox<P>,
    /// The figures of the process, and the commands or waker that it waits for.
    pub stats: ProcessStats,
    /// Urgent signals, which a worker must know before it drains `events`.
    pub urgency: Urgency,
    /// [`IDLE_PRIORITY`] and [`FUTURE`].
    kind: AtomicU8,
    /// The number of the thread that it runs on; 0 if any will do.
    bound_to: AtomicU32,
    /// Its body while it lives, then its exit.
    pub life: LifeCell<P>,
    /// The owner of the table: see [`Table::set_owner`](crate::table::table::Table::set_owner).
    owner: AtomicPtr<Block<P>>,
    /// Set while one of the pins is the handle's.
    pub(crate) has_handle: AtomicBool,
}

/// The placement of a process in the table, for its whole life.
#[derive(Debug)]
pub struct Placement<P: Protocol> {
    /// The messages that it takes.
    pub mailbox: Takes<P>,
    /// Set if it runs only when nothing else can.
    pub idle_priority: bool,
    /// The number of the thread that it runs on; 0 if any will do.
    pub bound_to: u32,
    /// Set if it is a future.
    pub is_future: bool,
}

/// The occupant runs only when nothing else can.
const IDLE_PRIORITY: u8 = 1;
/// The occupant is a future.
const FUTURE: u8 = 2;

impl<P: Protocol> Default for Placement<P> {
    fn default() -> Self {
        Self {
            mailbox: Takes::default(),
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
            urgency: Urgency::new(),
            kind: AtomicU8::new(0),
            bound_to: AtomicU32::new(0),
            life: LifeCell::new(),
            owner: AtomicPtr::default(),
            has_handle: AtomicBool::new(false),
        }
    }

    /// Prepares the slot for a new occupant. The caller has it from the slab.
    pub(crate) fn furnish(&self, placement: Placement<P>, owner: *mut Block<P>) {
        self.stats.reset();
        self.urgency.reset();
        // ORDERING: Relaxed, all: `Occupancy::occupy` releases them to the threads that get a pin.
        self.kind.store(placement.kind(), Ordering::Relaxed);
        self.bound_to.store(placement.bound_to, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
        self.has_handle.store(true, Ordering::Relaxed);
        self.mailbox.open(placement.mailbox);
    }

    /// Returns its number in the table.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the generation of the occupant, which the caller has pinned.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.occupancy.generation()
    }

    /// Checks if the occupant, which the caller has pinned, is a future.
    pub fn is_future(&self) -> bool {
        // ORDERING: Relaxed: as `furnish` says; a thread that does not see that a future has been
        // replaced asks about an earlier moment.
        self.kind.load(Ordering::Relaxed) & FUTURE != 0
    }

    /// Makes the occupant no future from now on. The caller has the process, and replaces it.
    pub fn replace_future(&self) {
        // ORDERING: Relaxed, both: see `is_future`. The caller alone writes it now.
        let kind = self.kind.load(Ordering::Relaxed) & !FUTURE;
        // ORDERING: Relaxed: see above.
        self.kind.store(kind, Ordering::Relaxed);
        self.mailbox.unclose();
    }

    /// Returns the occupant's thread, or 0. For the worker that has it from a run queue.
    #[inline]
    pub fn bound_to(&self) -> u32 {
        // ORDERING: Relaxed: set before the occupant was submitted, which happened before it was in
        // a run queue: also where a late sender to an earlier occupant has put it there, whose
        // `wake` acquired the submission.
        self.bound_to.load(Ordering::Relaxed)
    }

    /// Checks if the occupant runs only when nothing else can. For a thread that holds a pin, or
    /// has just made the occupant Ready.
    #[inline]
    pub fn has_idle_priority(&self) -> bool {
        // ORDERING: Relaxed: it does not change while the caller holds a pin. A sender without one
        // has just made the occupant Ready, which stays until it is enqueued, and has acquired its
        // submission by that.
        self.kind.load(Ordering::Relaxed) & IDLE_PRIORITY != 0
    }

    /// Returns the owner of the table, if it is a scheduler's. For a thread that holds a pin.
    #[inline]
    pub(crate) fn owner(&self) -> *mut Block<P> {
        // ORDERING: Relaxed: it does not change while the caller holds a pin.
        self.owner.load(Ordering::Relaxed)
    }

    /// Makes one more pin, which its holder will [give back](crate::table::table::Table::unpin).
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

    /// Passes all items of the queue to `sink`, whose panics cost one item each; then frees the
    /// queue's memory, unless a push is under way.
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

impl<P: Protocol> Slot<P> {
    /// Marks the handle as gone: the same thread gives its pin back after this.
    pub fn handle_goes(&self) {
        // ORDERING: Relaxed: released by giving the pin back, which is what `waker_clones` looks
        // at first.
        self.has_handle.store(false, Ordering::Relaxed);
    }

    /// Returns the number of pins besides the occupant's, its handle's and the caller's: those of
    /// the clones of a future's waker.
    ///
    /// At most one too many while the [handle is dropped](Self::handle_goes), and one for each
    /// other thread that pins the slot for a moment; never too few. Acts of a thread that has given
    /// its pin back, so that it is not counted, happen before this returns: if it woke the future,
    /// the caller finds it woken. Wait-free.
    ///
    /// The caller has the process, and holds a pin besides.
    pub fn waker_clones(&self) -> usize {
        let others = self.occupancy.pins() as usize - 2;
        // ORDERING: Acquire, partner of the Release with which pins are given back. For the
        // handle's: if it is not counted any more, its mark is not seen either.
        fence(Ordering::Acquire);
        // ORDERING: Relaxed: see above.
        others.saturating_sub(usize::from(self.has_handle.load(Ordering::Relaxed)))
    }
}

/// A byte of the slot, set if the queue holds a signal that must not wait behind events, or if the
/// process is to end at once.
#[derive(Debug)]
pub struct Urgency(AtomicU8);

/// The queue holds an urgent signal.
const SIGNAL: u8 = 1;
/// The process is to end. This bit stays set.
const END: u8 = 2;

/// The urgent thing to do.
#[must_use = "the bit that announced signals has been cleared"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgent {
    /// Nothing is urgent.
    Nothing,
    /// The queue holds a signal that must be found before the next step.
    Signal,
    /// The process is to end.
    End,
}

#[expect(
    clippy::new_without_default,
    reason = "one constructor is enough for a slot"
)]
impl Urgency {
    /// Makes one in which nothing is urgent.
    pub fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// Resets it for a new occupant. [`Table::occupy`](crate::table::Table::occupy) publishes it.
    #[inline]
    pub fn reset(&self) {
        // ORDERING: Relaxed: `Occupancy::occupy` releases it to the threads that get a pin.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Asks the process to end. The caller holds a pin, and wakes the process after this.
    pub fn end(&self) {
        // ORDERING: Relaxed: the RMWs on the state order it: a wake before a `start`, or before the
        // `submit`, is acquired by it; after a later one the process runs once more, and its worker
        // looks here again.
        self.0.fetch_or(END, Ordering::Relaxed);
    }

    /// Announces a signal, just pushed. The caller holds a pin, and wakes the process after this.
    pub fn signal(&self) {
        // ORDERING: Release, partner of the Acquire in `take_signal`: the worker that clears this
        // bit finds the signal in the queue.
        self.0.fetch_or(SIGNAL, Ordering::Release);
    }

    /// Returns the urgent thing, and clears the bit of signals: the caller has the process, and
    /// drains the queue for them now. Wait-free.
    #[inline]
    pub fn take(&self) -> Urgent {
        // ORDERING: Relaxed: as in `end`. A bit that is set too late to be seen here is followed by
        // a wake-up, and that by a turn.
        match self.0.load(Ordering::Relaxed) {
            0 => Urgent::Nothing,
            word => self.take_signal(word),
        }
    }

    #[cold]
    fn take_signal(&self, word: u8) -> Urgent {
        if word & END != 0 {
            return Urgent::End;
        }
        // ORDERING: Acquire, partner of the Release in `signal`: the drain that follows finds what
        // was pushed. The wake-up may still be to come, and the turn after it would not look.
        self.0.fetch_and(!SIGNAL, Ordering::Acquire);
        Urgent::Signal
    }
}
