//! A block of slots, and every access to what is in them.

use core::array;
use core::mem::MaybeUninit;

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::position::Link;

/// Set in a block's `states` when the item is in slot `index`.
const fn filled(index: u32) -> u64 {
    1 << index
}

/// Set in a block's `states` when a consumer has given slot `index` up.
const fn burnt(index: u32) -> u64 {
    1 << (32 + index)
}

/// `SLOTS` slots, reused for ever, as one block of the queue after another.
///
/// * `next` and `states` may be looked at by anyone at any time: the sequence in `next`, and for `states` that in `head`,
///   tell a stale visitor that the block is another now.
/// * A slot may be touched by the producer that claimed its index from `tail`, and by the consumer that claimed it
///   from `head`, until each has counted it in `done`, or handed that duty to the other by the slot's state.
/// * All of it belongs to one thread from [`finish`](Self::finish) that returned true, through the slab's free
///   list, to the [`link`](Self::link) that puts the block into the queue again.
///
/// The state of a slot is two bits of `states`:
///
/// | filled | burnt | who may touch the value |
/// |---|---|---|
/// | 0 | 0 | the producer that claimed the slot |
/// | 1 | 0, or set later | the consumer that claimed it |
/// | 0, or set later | 1 | the producer, which takes its item back |
///
/// Each bit is set at most once in the life of a block, by an addition, whose result tells whether the other was
/// first. So whichever of the two comes second knows of the other.
#[repr(C)]
pub(crate) struct Block<T, const SLOTS: usize> {
    /// What consumers look at, and producers write.
    front: CachePadded<Front>,
    slots: [UnsafeCell<MaybeUninit<T>>; SLOTS],
    /// Slots whose item was taken or taken back, and 1 when `head` has left the block.
    done: CachePadded<AtomicU32>,
}

struct Front {
    states: AtomicU64,
    next: AtomicU64,
}

// SAFETY: the cells hold items that pass from one thread to another (`T: Send`), and are never shared: the
// contract above gives each one user at a time.
unsafe impl<T: Send, const SLOTS: usize> Sync for Block<T, SLOTS> {}

/// Slots of a block that are filled, as bits; the one that was asked for is the lowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled(u64);

impl Filled {
    /// How many there are before the first gap.
    #[inline]
    pub(crate) const fn run(self) -> u32 {
        self.0.trailing_ones()
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What follows a block of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The memory serves as another block of the queue now.
    Stale,
    /// Nothing yet: it is the last.
    None,
    /// The block with this number.
    Block(u32),
}

impl<T, const SLOTS: usize> Block<T, SLOTS> {
    /// A block that is ready to be the queue's first, with sequence 0.
    pub(crate) fn new() -> Self {
        Self {
            front: CachePadded::new(Front {
                states: AtomicU64::new(0),
                next: AtomicU64::new(unlinked(0)),
            }),
            slots: array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())),
            done: CachePadded::new(AtomicU32::new(0)),
        }
    }

    /// Makes this the block `sequence` of a queue that is still to be linked, with `first` in its first slot.
    ///
    /// # Safety
    ///
    /// The caller has the block's number from the slab, and has not linked it. The pair of block and `sequence`
    /// has never been in `tail`.
    pub(crate) unsafe fn prepare(&self, sequence: u32, first: T) {
        // SAFETY: the block is the caller's alone: every user of its former life has counted itself in `done`
        // before the slab's release edge. No item is in the slot (all were taken, or this block is new).
        self.slots[0].with_mut(|value| unsafe { (*value).write(first) });
        // ORDERING (both): Relaxed: `link` publishes them to all who come to the block through the queue. Who looks
        // at them now is stale, and will find that out.
        self.front.states.store(filled(0), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        // ORDERING: Release: pairs with the Acquire of `next`. A stale visitor that finds the new sequence learns
        // by it that `head` and `tail` have left the former life, so that it will not find its old position there
        // again.
        self.front.next.store(unlinked(sequence), Ordering::Release);
    }

    /// Takes back what [`prepare`](Self::prepare) put in.
    ///
    /// # Safety
    ///
    /// The caller has prepared the block, has not linked it, and calls this once.
    pub(crate) unsafe fn unprepare(&self) -> T {
        // SAFETY: the item is there and the block is the caller's, by the contract.
        unsafe { self.take(0) }
    }

    /// What follows this block, as long as it is block `sequence` of the queue.
    pub(crate) fn next(&self, sequence: u32) -> Next {
        // ORDERING: Acquire: pairs with the Release of `link`: the next block is seen as prepared, by this thread
        // and by those to whom it passes the number on through `head` or `tail`. And with that of `prepare`, which
        // see.
        let link = Link::unpack(self.front.next.load(Ordering::Acquire));
        if link.sequence != sequence {
            return Next::Stale;
        }
        link.block.map_or(Next::None, Next::Block)
    }

    /// Makes `block` follow this one, if this one is block `sequence` of the queue, and the last.
    pub(crate) fn link(&self, sequence: u32, block: u32) -> bool {
        let linked = Link {
            sequence,
            block: Some(block),
        };
        // ORDERING: success Release: pairs with the Acquire of `next`, publishes what `prepare` wrote. Failure
        // Relaxed: the caller starts anew.
        self.front
            .next
            .compare_exchange(
                unlinked(sequence),
                linked.pack(),
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Puts `item` into a slot, or gives it back if the slot is burnt. The slot must then be
    /// [finished](Self::finish).
    ///
    /// # Safety
    ///
    /// The caller has claimed this index of this block from `tail`, and calls this once.
    #[inline]
    pub(crate) unsafe fn fill(&self, index: u32, item: T) -> Result<(), T> {
        let slot = &self.slots[index as usize];
        // SAFETY: the slot is not filled, so the claimed slot's value is this producer's. What a former life of the
        // block did to it happened before the `link` that this thread acquired through `tail`.
        slot.with_mut(|value| unsafe { (*value).write(item) });
        // A read-modify-write and not a store: an item in a burnt slot is where nobody looks any more.
        // ORDERING: Release: pairs with the Acquire of `ready` and of `burn`, publishes the item; other slots'
        // additions go on with the release sequence. Nothing to acquire: who burns a slot writes nothing else.
        let before = self
            .front
            .states
            .fetch_add(filled(index), Ordering::Release);
        if before & burnt(index) == 0 {
            return Ok(());
        }
        // SAFETY: the slot was burnt: the consumer has left it for good without touching the value, which is what
        // this thread just wrote.
        Err(unsafe { self.take(index) })
    }

    /// Which slots from `index` on are filled.
    ///
    /// This is about the life of the block in which `head` is at `index`, if a later exchange finds it there still.
    #[inline]
    pub(crate) fn filled(&self, index: u32) -> Filled {
        // ORDERING: Acquire: pairs with the Release of `fill` (or, for a first slot, of `link`): the items are seen,
        // and that `tail` has passed them.
        let filled = self.front.states.load(Ordering::Acquire) as u32;
        // In 64 bits, for the index may be 32.
        Filled(u64::from(filled) >> index)
    }

    /// Gives a slot up, unless it is filled; whether it is. If not, it is its producer's to finish.
    ///
    /// # Safety
    ///
    /// The caller has claimed this index of this block from `head`, and calls this once.
    pub(crate) unsafe fn burn(&self, index: u32) -> bool {
        // ORDERING: Acquire: as in `ready`, should the slot be filled. No edge is needed towards the producer: this
        // thread did nothing to the slot that it could see.
        let before = self.front.states.fetch_add(burnt(index), Ordering::Acquire);
        before & filled(index) != 0
    }

    /// Moves the item out of a slot.
    ///
    /// # Safety
    ///
    /// The item is there, with an edge from its writing to here, and it is the caller's: the slot is filled and the
    /// caller has claimed it from `head`; or the caller wrote the item, and knows that no consumer will come for
    /// it. It is taken once.
    #[inline]
    pub(crate) unsafe fn take(&self, index: u32) -> T {
        // SAFETY: by the contract.
        self.slots[index as usize].with(|value| unsafe { (*value).assume_init_read() })
    }

    /// Counts `slots` slots as finished, or, for `head`, its departure as one. True for the last: the block is the
    /// caller's alone, to release.
    #[must_use]
    pub(crate) fn finish(&self, slots: u32) -> bool {
        // ORDERING: AcqRel: Release hands what this thread did with the slots to the last one; Acquire lets the
        // last one see all of it, before it hands the block on through the slab.
        let before = self.done.fetch_add(slots, Ordering::AcqRel);
        let all = SLOTS as u32 + 1;
        debug_assert!(before + slots <= all, "a slot was finished twice");
        before + slots == all
    }
}

/// The `next` of a block that nothing follows yet.
const fn unlinked(sequence: u32) -> u64 {
    let link = Link {
        sequence,
        block: None,
    };
    link.pack()
}
