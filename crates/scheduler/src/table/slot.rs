//! A slot of the table: the fields of its occupant, and the threads that may touch them.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use filch_event_queue::EventQueue;
use filch_process_state::ProcessState;
use filch_slab::Occupancy;
use filch_sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering, fence};
use filch_sync::cell::UnsafeCell;
use filch_sync::panic::{catch_panic, drop_contained};

use crate::protocol::debug_fields;
use crate::table::body::Item;
use crate::table::life::LifeCell;
use crate::table::stats::ProcessStats;
use crate::table::table::Table;
use crate::{MailboxPolicy, Protocol};

/// A slot of the [`Table`], for one process after another.
///
/// The [essay](crate::process_table) says who may touch which field, and when.
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
/// by a worker that got the process from a run queue, those of letting go by the worker that has
/// it; `vacate` by the last thread out. (`wake`, `retract` and `seize` are anybody's: see
/// `STATES.md` of process-state.)
pub struct Slot<P: Protocol> {
    /// Its number in the table.
    pub index: u32,
    pub(crate) occupancy: Occupancy,
    /// The state: Ready, Running, waiting or over.
    pub state: ProcessState,
    /// The items sent to the process.
    pub events: EventQueue<Item<P>>,
    /// The figures of the process, and the commands or waker that it waits for.
    pub stats: ProcessStats,
    /// Of [`IDLE_PRIORITY`] and its like; and [`URGENT`] and [`ENDS`].
    flags: AtomicU8,
    policy: UnsafeCell<Option<Policy<P>>>,
    /// The number of the thread that it runs on; 0 if any will do.
    bound_to: AtomicU32,
    /// Its body while it lives, then its exit.
    pub life: LifeCell<P>,
    /// The table, for threads that hold nothing but a pin.
    table: AtomicPtr<Table<P>>,
    /// Set while one of the pins is the handle's.
    pub(crate) has_handle: AtomicBool,
}

/// Decides on each message. In a box: a slot, of which most have none, keeps one word for it.
pub(crate) type Policy<P> = Box<Arc<dyn MailboxPolicy<P>>>;

/// The placement of a process in the table, for its whole life.
pub struct Placement<P: Protocol> {
    /// Goes with the kind [`POLICY`]. Without one, the process takes all messages.
    pub policy: Option<Policy<P>>,
    /// Of [`IDLE_PRIORITY`] and its like.
    pub kind: u8,
    /// The number of the thread that it runs on; 0 if any will do.
    pub bound_to: u32,
}

/// The occupant runs only when nothing else can.
pub const IDLE_PRIORITY: u8 = 1;
/// The occupant is a future.
pub const FUTURE: u8 = 2;
/// The occupant takes no message.
pub const CLOSED: u8 = 4;
/// The occupant has a policy, which decides on each message.
pub const POLICY: u8 = 8;
/// The end of a linked process is an event for the occupant.
pub(crate) const TRAP_EXITS: u8 = 16;
/// Messages count as delivered when the occupant reads them, and not when a step is given them.
pub(crate) const READS_LATER: u8 = 32;
/// The queue holds a signal that must not wait behind events.
pub const URGENT: u8 = 64;
/// The occupant is to end at once. This flag stays.
pub const ENDS: u8 = 128;
/// The occupant does not take all messages.
pub const LIMITED: u8 = CLOSED | POLICY;

impl<P: Protocol> Default for Placement<P> {
    fn default() -> Self {
        Self {
            policy: None,
            kind: 0,
            bound_to: 0,
        }
    }
}

debug_fields!(Placement<P>, "Placement", bound_to);

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
            stats: ProcessStats::default(),
            flags: AtomicU8::new(0),
            policy: UnsafeCell::new(None),
            bound_to: AtomicU32::new(0),
            life: LifeCell::new(),
            table: AtomicPtr::default(),
            has_handle: AtomicBool::new(false),
        }
    }

    /// Prepares the slot for a new occupant. The caller has it from the slab.
    #[inline]
    pub(crate) fn furnish(&self, placement: Placement<P>, table: NonNull<Table<P>>) {
        self.stats.reset();
        // ORDERING: Relaxed, all: `Occupancy::occupy` releases them to the threads that get a pin.
        self.flags.store(placement.kind, Ordering::Relaxed);
        self.bound_to.store(placement.bound_to, Ordering::Relaxed);
        self.table.store(table.as_ptr(), Ordering::Relaxed);
        self.has_handle.store(true, Ordering::Relaxed);
        if let Some(policy) = placement.policy {
            // SAFETY: the caller has the slot, in which no process lives; the last thread out has
            // cleared the cell.
            self.policy
                .with_mut(|cell| unsafe { cell.write(Some(policy)) });
        }
    }

    /// Checks if the occupant has one of these flags. For a thread that holds a pin, or has just
    /// made the occupant Ready.
    ///
    /// Without either it is a hint, perhaps about another occupant. That does no harm to a sender:
    /// if it is told [`LIMITED`] it pins, and the queue refuses items for another generation.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        // ORDERING: Relaxed: `furnish` stored it before `occupy`, whose Release a pin has acquired,
        // and so has a sender without a pin that has just made the occupant Ready, which stays
        // until it is enqueued. A thread that does not see yet that a future has been replaced asks
        // about an earlier moment; one that sees it pushes after this. A worker that has the
        // occupant sees `URGENT` and `ENDS`, if they were set before the wake-up that it has
        // acquired by `start`; one that is set too late is followed by a wake-up, and that by a
        // turn.
        self.flags.load(Ordering::Relaxed) & flags != 0
    }

    /// Sets [`ENDS`]; or [`URGENT`], after the push of the signal. The caller holds a pin, and
    /// wakes the process after this.
    pub fn raise(&self, flag: u8) {
        // ORDERING: Release, partner of the Acquire in `clear_urgent`: the worker that clears
        // `URGENT` finds the signal in the queue.
        self.flags.fetch_or(flag, Ordering::Release);
    }

    /// Clears [`URGENT`]: the caller has the process, and drains the queue for signals now.
    #[cold]
    pub fn clear_urgent(&self) {
        // ORDERING: Acquire, partner of the Release in `raise`: the drain that follows finds what
        // was pushed. The wake-up may still be to come, and the turn after it would not look.
        self.flags.fetch_and(!URGENT, Ordering::Acquire);
    }

    /// Makes the occupant no future, and open to messages, which it reads at once. The caller has
    /// the process, and replaces it.
    pub fn replace_future(&self) {
        let gone = FUTURE | CLOSED | READS_LATER;
        // ORDERING: Relaxed: see `has`.
        self.flags.fetch_and(!gone, Ordering::Relaxed);
    }

    /// Returns the policy, if there is one.
    ///
    /// # Safety
    /// The caller holds a pin on the slot for as long as it uses the result, or has the process.
    pub(crate) unsafe fn policy(&self) -> Option<&Arc<dyn MailboxPolicy<P>>> {
        if !self.has(POLICY) {
            return None;
        }
        // SAFETY: set before `occupy`, whose Release the caller has acquired; the last thread out
        // clears it, not before the pin is given back (contract).
        self.policy.with(|policy| unsafe { (*policy).as_deref() })
    }

    /// Drops what the occupant has left: its exit, if nobody took it, and its policy.
    ///
    /// # Safety
    /// The caller is the last thread out.
    #[inline]
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: no pin is held, so neither a worker nor a handle has to do with the slot any
        // more.
        unsafe { self.life.clear() };
        if self.has(POLICY) {
            // SAFETY: as above.
            drop_contained(self.policy.with_mut(|policy| unsafe { (*policy).take() }));
        }
    }

    /// Returns the occupant's thread, or 0. For the worker that has it from a run queue.
    #[inline]
    pub fn bound_to(&self) -> u32 {
        // ORDERING: Relaxed: set before the occupant was submitted, which happened before it was in
        // a run queue: also where a late sender to an earlier occupant has put it there, whose
        // `wake` acquired the submission.
        self.bound_to.load(Ordering::Relaxed)
    }

    /// Returns the table. For a thread that holds a pin.
    #[inline]
    pub(crate) fn table(&self) -> *const Table<P> {
        // ORDERING: Relaxed: it does not change while the caller holds a pin.
        self.table.load(Ordering::Relaxed)
    }

    /// Makes one more pin, which its holder will [give back](Table::unpin).
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

debug_fields!(Slot<P>, "Slot", index);

/// A process in a run queue: its slot, which no other occupant has before this one's end.
///
/// An address and not an index: it is looked up between two read-modify-writes, when nothing else
/// goes on.
pub(crate) struct Task<P: Protocol>(NonNull<Slot<P>>);

impl<P: Protocol> Task<P> {
    #[inline]
    pub(crate) fn of(slot: &Slot<P>) -> Self {
        Self(NonNull::from(slot))
    }

    /// Prefetches the slot for writing: on x86-64 alone, where std can do it. Not all of a slot
    /// that has room for a large output.
    #[inline]
    pub(crate) fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        for byte in (0..size_of::<Slot<P>>().min(256)).step_by(64) {
            use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            let line = self.0.as_ptr().wrapping_byte_add(byte);
            // SAFETY: a hint, which reads nothing: any address will do.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(line.cast()) };
        }
    }

    /// Checks if it stands for the process in that slot.
    pub(crate) fn is_of(&self, slot: &Slot<P>) -> bool {
        self.0 == NonNull::from(slot)
    }

    /// # Safety
    /// The slot's table outlives the result.
    #[inline]
    pub(crate) unsafe fn slot<'table>(&self) -> &'table Slot<P> {
        // SAFETY: it was made of a reference to a slot, and slots do not move, nor go before their
        // table does (contract).
        unsafe { self.0.as_ref() }
    }
}

// SAFETY: it stands for a reference to a slot, which is Sync.
unsafe impl<P: Protocol> Send for Task<P> {}
