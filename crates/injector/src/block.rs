//! A block of slots, and every access to what is in them.

use core::array;
use core::mem::MaybeUninit;

use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::position::Link;

/// No item is in the slot.
const EMPTY: u32 = 0;
/// The item is in the slot, for the consumer who claims it.
const FULL: u32 = 1;
/// There will be no item: the consumer would not wait for it, or the producer has none. Who comes
/// second finishes the slot.
const BURNT: u32 = 2;

/// One place for one item.
///
/// | state | who may touch the value |
/// |---|---|
/// | EMPTY | the producer that claimed the slot |
/// | FULL | the consumer that claimed it |
/// | BURNT | the producer, which takes its item back |
///
/// The producer swaps FULL in, or BURNT if it has claimed more slots than it had items for; a
/// consumer that has claimed the slot and finds it not full swaps BURNT in. Whichever comes second
/// gets the other's word, and its own is then for nobody: nothing looks at the slot again in this
/// life.
struct Slot<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// `SLOTS` slots, reused for ever, as one block of the queue after another.
///
/// * `next` may be touched by anyone at any time; its sequence tells a stale visitor that the block
///   is another now. The states may be looked at by anyone at any time; what a look was worth is
///   for the exchange of `head` to say.
/// * A slot may be touched by the producer that claimed its index from `tail`, and by the consumer
///   that claimed it from `head`, until each has counted it in `done`, or handed that duty to the
///   other by the slot's state.
/// * All of it belongs to one thread from [`finish`](Self::finish) that returned true, through the
///   slab's free list, to the [`link`](Self::link) that puts the block into the queue again.
pub(crate) struct Block<T, const SLOTS: usize> {
    next: AtomicU64,
    /// Slots whose item was taken or taken back, and 1 when `head` has left the block.
    done: AtomicU32,
    slots: [Slot<T>; SLOTS],
}

// SAFETY: the cells hold items that pass from one thread to another (`T: Send`), and are never
// shared: the contract above gives each one user at a time.
unsafe impl<T: Send, const SLOTS: usize> Sync for Block<T, SLOTS> {}

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

/// What a consumer finds in a slot that it will not wait for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Burn {
    /// The item, after all.
    Full,
    /// Nothing yet: the slot is its producer's to finish.
    Open,
    /// Its producer has none for it: the slot is the consumer's to finish.
    GivenUp,
}

impl<T, const SLOTS: usize> Block<T, SLOTS> {
    /// A block that is ready to be the queue's first, with sequence 0.
    pub(crate) fn new() -> Self {
        Self {
            next: AtomicU64::new(unlinked(0)),
            done: AtomicU32::new(0),
            slots: array::from_fn(|_| Slot {
                state: AtomicU32::new(EMPTY),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            }),
        }
    }

    /// Makes this the block `sequence` of a queue that is still to be linked, with `first` in its
    /// first slot.
    ///
    /// # Safety
    ///
    /// The caller has the block's number from the slab, and has not linked it. The pair of block
    /// and `sequence` has never been in `tail`.
    pub(crate) unsafe fn prepare(&self, sequence: u32, first: T) {
        let [slot, rest @ ..] = &self.slots[..] else {
            unreachable!("a block has a slot");
        };
        // SAFETY: the block is the caller's alone: every user of its former life has counted itself
        // in `done` before the slab's release edge. No item is in the slot (all were taken, or this
        // block is new).
        slot.value
            .with_mut(|value| unsafe { (*value).write(first) });
        // ORDERING (these three): Relaxed: nobody looks at them now; `link` publishes them to all
        // who come to the block through the queue.
        slot.state.store(FULL, Ordering::Relaxed);
        for slot in rest {
            slot.state.store(EMPTY, Ordering::Relaxed);
        }
        self.done.store(0, Ordering::Relaxed);
        // ORDERING: Release: pairs with the Acquire of `next`. A stale visitor that finds the new
        // sequence learns by it that `head` and `tail` have left the former life, so that it will
        // not find its old position there again.
        self.next.store(unlinked(sequence), Ordering::Release);
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
        // ORDERING: Acquire: pairs with the Release of `link`: the next block is seen as prepared,
        // by this thread and by those to whom it passes the number on through `head` or `tail`. And
        // with that of `prepare`, which see.
        let link = Link::unpack(self.next.load(Ordering::Acquire));
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
        // ORDERING: success Release: pairs with the Acquire of `next`, publishes what `prepare`
        // wrote. Failure Relaxed: the caller starts anew.
        self.next
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
        // SAFETY: the slot is not full, so the claimed slot's value is this producer's. What a
        // former life of the block did to it happened before the `link` that this thread acquired
        // through `tail`.
        slot.value.with_mut(|value| unsafe { (*value).write(item) });
        // A swap and not a store: an item in a burnt slot is where nobody looks any more. ORDERING:
        // Release: pairs with the Acquire of `run` and `burn`, publishes the item. Nothing to
        // acquire: who burns a slot wrote nothing that this thread reads.
        if slot.state.swap(FULL, Ordering::Release) != BURNT {
            return Ok(());
        }
        // SAFETY: the slot was burnt: the consumer has left it for good without touching the value,
        // which is what this thread just wrote.
        Err(unsafe { self.take(index) })
    }

    /// How many slots from `index` on are full, without a gap; `most` at most. `index` may be the
    /// end of the block.
    ///
    /// This is about the life of the block in which `head` is at `index`, if a later exchange finds
    /// it there still.
    #[inline]
    pub(crate) fn run(&self, index: u32, most: usize) -> u32 {
        let slots = self.slots[index as usize..].iter().take(most);
        // ORDERING: Acquire: pairs with the Release of `fill` (or, for a first slot, of `link`):
        // the items are seen, and that `tail` has passed them.
        slots
            .take_while(|slot| slot.state.load(Ordering::Acquire) == FULL)
            .count() as u32
    }

    /// Gives up the slot of an item that will not be pushed. True if its consumer did so before:
    /// then it must be [finished](Self::finish); if not, it is the consumer's.
    ///
    /// # Safety
    ///
    /// The caller has claimed this index of this block from `tail`, has not filled it, and calls
    /// this once.
    #[must_use]
    pub(crate) unsafe fn give_up(&self, index: u32) -> bool {
        // ORDERING: Relaxed: the slot's value is not touched, and who finishes the slot for both
        // comes after this swap by having read it.
        let before = self.slots[index as usize]
            .state
            .swap(BURNT, Ordering::Relaxed);
        before == BURNT
    }

    /// Whether the producer of a slot that no consumer has claimed has given it up. A hint: `index`
    /// may be another's by now.
    pub(crate) fn is_given_up(&self, index: u32) -> bool {
        // ORDERING: Relaxed: only whether to wait depends on it.
        self.slots[index as usize].state.load(Ordering::Relaxed) == BURNT
    }

    /// Gives a slot up, unless it is full.
    ///
    /// # Safety
    ///
    /// The caller has claimed this index of this block from `head`, and calls this once.
    pub(crate) unsafe fn burn(&self, index: u32) -> Burn {
        // ORDERING: Acquire: as in `run`, should the slot be full. No edge is needed towards the
        // producer: this thread did nothing to the slot that it could see.
        let before = self.slots[index as usize]
            .state
            .swap(BURNT, Ordering::Acquire);
        match before {
            FULL => Burn::Full,
            BURNT => Burn::GivenUp,
            _ => Burn::Open,
        }
    }

    /// Moves the item out of a slot.
    ///
    /// # Safety
    ///
    /// The item is there, with an edge from its writing to here, and it is the caller's: the slot
    /// was full and the caller has claimed it from `head`; or the caller wrote the item, and knows
    /// that no consumer will come for it. It is taken once.
    #[inline]
    pub(crate) unsafe fn take(&self, index: u32) -> T {
        // SAFETY: by the contract.
        self.slots[index as usize]
            .value
            .with(|value| unsafe { (*value).assume_init_read() })
    }

    /// Counts `slots` slots as finished, or, for `head`, its departure as one. True for the last:
    /// the block is the caller's alone, to release.
    #[must_use]
    pub(crate) fn finish(&self, slots: u32) -> bool {
        // ORDERING: AcqRel: Release hands what this thread did with the slots to the last one;
        // Acquire lets the last one see all of it, before it hands the block on through the slab.
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
