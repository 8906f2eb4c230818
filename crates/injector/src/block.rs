//! A block of slots, and every access to the slots' contents; and all blocks of a queue.

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;
use core::mem::MaybeUninit;

use filch_slab::{AllocateError, Slab};
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::injector::MAX_BLOCKS;

/// No item is in the slot.
const EMPTY: u32 = 0;
/// The item is in the slot, for the consumer that claims it.
const FULL: u32 = 1;
/// No item will come: the consumer would not wait for it, or the producer has none. The second of
/// the two finishes the slot.
const ABANDONED: u32 = 2;

/// One place for one item.
///
/// | state | who may touch the value |
/// |---|---|
/// | EMPTY | the producer that claimed the slot |
/// | FULL | the consumer that claimed it |
/// | ABANDONED | the producer, which takes its item back |
///
/// The producer swaps FULL in, or ABANDONED if it has claimed more slots than it had items for; a
/// consumer that has claimed a slot which is not full swaps ABANDONED in. The second swap returns
/// the word of the first, and nobody reads the second word in this life of the slot.
struct Slot<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// `SLOTS` slots, reused for ever, as one block of the queue after another.
///
/// * `next` may be touched by any thread at any time: its sequence tells a stale visitor that the
///   block is in another life. The states may be read by any thread at any time: the exchange of
///   `head` decides what a look was worth.
/// * A slot may be touched by the producer that claimed its index from `tail`, and by the consumer
///   that claimed it from `head`, until each has counted it in `done`, or has passed that duty to
///   the other by the slot's state.
/// * From a [`finish`](Self::finish) that returned true, through the slab's free list, to the
///   [`link`](Self::link) that puts the block into the queue again, all of it belongs to one
///   thread.
pub(crate) struct Block<T, const SLOTS: usize> {
    next: AtomicU64,
    /// Slots whose item was taken or taken back, and 1 when `head` has left the block.
    done: AtomicU32,
    slots: [Slot<T>; SLOTS],
}

// SAFETY: the cells hold items that pass from one thread to another (`T: Send`), and are never
// shared: the contract above gives each one user at a time.
unsafe impl<T: Send, const SLOTS: usize> Sync for Block<T, SLOTS> {}

/// The successor of a block of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Unknown: the memory serves as another block of the queue now.
    Stale,
    /// None yet: it is the last block.
    None,
    /// The block with this number.
    Block(u32),
}

/// The contents of a slot that a consumer abandons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abandon {
    /// The item: it has come after all.
    Full,
    /// Nothing yet: the producer will finish the slot.
    First,
    /// The producer abandoned it before: the consumer must finish the slot.
    Second,
}

impl<T, const SLOTS: usize> Block<T, SLOTS> {
    /// Makes a block in `place`, ready to be the queue's first, with sequence 0. As a block may be
    /// larger than the stack, at most one slot at a time is on it.
    pub(crate) fn construct(place: &mut MaybeUninit<Self>) -> &mut Self {
        let block = place.as_mut_ptr();
        // SAFETY: fields of the block, which is lent exclusively; all of them are written.
        unsafe {
            (&raw mut (*block).next).write(AtomicU64::new(unlinked(0)));
            (&raw mut (*block).done).write(AtomicU32::new(0));
            let slots = (&raw mut (*block).slots).cast::<Slot<T>>();
            for slot in 0..SLOTS {
                slots.add(slot).write(Slot {
                    state: AtomicU32::new(EMPTY),
                    value: UnsafeCell::new(MaybeUninit::uninit()),
                });
            }
            place.assume_init_mut()
        }
    }

    /// Makes this block `sequence` of the queue, not linked yet, with `first` in its first slot.
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
        // in `done` before the slab's release edge. The slot has no item: all were taken, or this
        // block is new.
        slot.value
            .with_mut(|value| unsafe { (*value).write(first) });
        // ORDERING (these three): Relaxed: nobody looks at them now; `link` publishes them to every
        // thread that comes to the block through the queue.
        slot.state.store(FULL, Ordering::Relaxed);
        for slot in rest {
            slot.state.store(EMPTY, Ordering::Relaxed);
        }
        self.done.store(0, Ordering::Relaxed);
        // ORDERING: Release: pairs with the Acquire of `next`. A stale visitor that finds the new
        // sequence learns that `head` and `tail` have left the former life, so it does not find its
        // old position there again.
        self.next.store(unlinked(sequence), Ordering::Release);
    }

    /// Takes back the item that [`prepare`](Self::prepare) put in.
    ///
    /// # Safety
    ///
    /// The caller has prepared the block, has not linked it, and calls this once.
    pub(crate) unsafe fn unprepare(&self) -> T {
        // SAFETY: the item is there and the block is the caller's, by the contract.
        unsafe { self.take(0) }
    }

    /// Returns the successor of this block, as long as it is block `sequence` of the queue.
    pub(crate) fn next(&self, sequence: u32) -> Next {
        // ORDERING: Acquire: pairs with the Release of `link`: this thread sees the next block as
        // prepared, and so do those to which it passes the number on through `head` or `tail`. It
        // pairs with the Release of `prepare`, too: see there.
        let link = Link::unpack(self.next.load(Ordering::Acquire));
        if link.sequence != sequence {
            return Next::Stale;
        }
        link.block.map_or(Next::None, Next::Block)
    }

    /// Makes `block` follow this one, if this is block `sequence` of the queue, and the last.
    pub(crate) fn link(&self, sequence: u32, block: u32) -> bool {
        let linked = Link {
            sequence,
            block: Some(block),
        };
        // ORDERING: success Release: pairs with the Acquire of `next`, and publishes what `prepare`
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

    /// Puts `item` into a slot. If the slot is abandoned, gives the item back, and the caller must
    /// [finish](Self::finish) the slot.
    ///
    /// # Safety
    ///
    /// The caller has claimed this index of this block from `tail`, and calls this once.
    #[inline]
    pub(crate) unsafe fn fill(&self, index: u32, item: T) -> Result<(), T> {
        let slot = &self.slots[index as usize];
        // SAFETY: the slot is claimed and not full, so its value is this producer's. What a former
        // life of the block did to it happened before the `link` that this thread acquired through
        // `tail`.
        slot.value.with_mut(|value| unsafe { (*value).write(item) });
        // A swap and not a store: nobody looks for an item in an abandoned slot. ORDERING: Release:
        // pairs with the Acquire of `run` and `abandon`, and publishes the item. There is nothing
        // to acquire: a consumer that abandons a slot has written nothing that this thread reads.
        if slot.state.swap(FULL, Ordering::Release) != ABANDONED {
            return Ok(());
        }
        // SAFETY: the consumer has abandoned the slot without touching the value, which this thread
        // has just written.
        Err(unsafe { self.take(index) })
    }

    /// Returns the number of full slots in a row from `index` on, up to `max`. `index` may be the
    /// end of the block.
    ///
    /// The answer holds for this life of the block if a later exchange still finds `head` at
    /// `index`.
    #[inline]
    pub(crate) fn run(&self, index: u32, max: usize) -> u32 {
        let slots = self.slots[index as usize..].iter().take(max);
        // ORDERING: Acquire: pairs with the Release of `fill` (or, for a first slot, of `link`):
        // this thread sees the items, and a `tail` that has passed them.
        slots
            .take_while(|slot| slot.state.load(Ordering::Acquire) == FULL)
            .count() as u32
    }

    /// Abandons a claimed slot that gets no item. Returns true if the consumer did so before: then
    /// the caller must [finish](Self::finish) the slot; else the consumer will.
    ///
    /// # Safety
    ///
    /// The caller has claimed this index of this block from `tail`, has not filled it, and calls
    /// this once.
    #[must_use]
    pub(crate) unsafe fn abandon_without_item(&self, index: u32) -> bool {
        // ORDERING: Relaxed: nobody touches the slot's value any more, and the thread that finishes
        // the slot for both has read the other's swap.
        let before = self.slots[index as usize]
            .state
            .swap(ABANDONED, Ordering::Relaxed);
        before == ABANDONED
    }

    /// Returns whether the producer of a slot has abandoned it, as a hint: by now a consumer may
    /// have claimed the slot.
    pub(crate) fn is_abandoned(&self, index: u32) -> bool {
        // ORDERING: Relaxed: it decides only whether to wait.
        self.slots[index as usize].state.load(Ordering::Relaxed) == ABANDONED
    }

    /// Abandons a slot, unless it is full.
    ///
    /// # Safety
    ///
    /// The caller has claimed this index of this block from `head`, and calls this once.
    pub(crate) unsafe fn abandon(&self, index: u32) -> Abandon {
        // ORDERING: Acquire: as in `run`, if the slot is full. The producer needs no edge from
        // here: this thread has written nothing that it could see.
        let before = self.slots[index as usize]
            .state
            .swap(ABANDONED, Ordering::Acquire);
        match before {
            FULL => Abandon::Full,
            ABANDONED => Abandon::Second,
            _ => Abandon::First,
        }
    }

    /// Moves the item out of a slot.
    ///
    /// # Safety
    ///
    /// The item is there, its writing happens before this call, and it is the caller's: the slot
    /// was full and the caller has claimed it from `head`; or the caller wrote the item, and knows
    /// that no consumer will come for it. It is taken once.
    #[inline]
    pub(crate) unsafe fn take(&self, index: u32) -> T {
        // SAFETY: by the contract.
        self.slots[index as usize]
            .value
            .with(|value| unsafe { (*value).assume_init_read() })
    }

    /// Counts `slots` slots as finished, or the departure of `head` as one. Returns true for the
    /// last: the block is then the caller's alone, to release.
    #[must_use]
    pub(crate) fn finish(&self, slots: u32) -> bool {
        // ORDERING: AcqRel: Release passes what this thread did with the slots to the last thread;
        // Acquire lets the last one see all of it before it passes the block on through the slab.
        let before = self.done.fetch_add(slots, Ordering::AcqRel);
        let all = SLOTS as u32 + 1;
        debug_assert!(before + slots <= all, "a slot was finished twice");
        before + slots == all
    }
}

/// The value of a block's `next`: the sequence of this block in the queue, and the number of the
/// block after it.
///
/// ```text
/// 63            32 31              0
/// [   sequence    |  block or NONE  ]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The sequence of the block that the link is in.
    pub(crate) sequence: u32,
    /// The block after it.
    pub(crate) block: Option<u32>,
}

impl Link {
    const NONE: u32 = u32::MAX;

    pub(crate) fn pack(self) -> u64 {
        let block = self.block.unwrap_or(Self::NONE);
        u64::from(self.sequence) << 32 | u64::from(block)
    }

    pub(crate) const fn unpack(word: u64) -> Self {
        let block = word as u32;
        Self {
            sequence: (word >> 32) as u32,
            block: if block == Self::NONE {
                None
            } else {
                Some(block)
            },
        }
    }
}

/// The `next` of a block that has no successor yet.
fn unlinked(sequence: u32) -> u64 {
    let link = Link {
        sequence,
        block: None,
    };
    link.pack()
}

/// The memory of a queue. It never shrinks, so a stale position still leads to a block.
pub(crate) struct Blocks<T, const BLOCK: usize>(Slab<Block<T, BLOCK>>);

impl<T, const BLOCK: usize> Blocks<T, BLOCK> {
    pub(crate) fn new() -> Self {
        Self(Slab::in_place(
            |_, place| Block::construct(place),
            MAX_BLOCKS,
        ))
    }

    /// The block with this number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Block<T, BLOCK> {
        self.0
            .get(number)
            .expect("a block in the queue was allocated")
    }

    /// Allocates a block for the caller alone, which prepares and links it, or releases it.
    ///
    /// # Panics
    ///
    /// If all of them are in use. Without memory for one more the program ends, as it does when a
    /// `Vec` cannot grow.
    #[inline]
    pub(crate) fn allocate(&self) -> u32 {
        match self.0.allocate() {
            Ok(number) => number,
            Err(AllocateError::Full) => {
                panic!("the injector is full: {MAX_BLOCKS} blocks are in use")
            }
            Err(AllocateError::NoMemory) => handle_alloc_error(Layout::new::<Block<T, BLOCK>>()),
        }
    }

    /// Gets the memory for one more block.
    #[inline]
    pub(crate) fn reserve(&self) -> Result<(), AllocateError> {
        self.0.reserve()
    }

    /// Releases a block that is the caller's alone. Out of line: it happens once per block, and no
    /// push or pop of an item pays for its registers.
    #[cold]
    pub(crate) fn release(&self, number: u32) {
        self.0.release(number);
    }

    /// Counts `shares` of `block` as finished; the last share releases the block. `number` is the
    /// block's.
    #[inline]
    pub(crate) fn finish(&self, number: u32, block: &Block<T, BLOCK>, shares: u32) {
        if block.finish(shares) {
            self.release(number);
        }
    }

    /// Returns the most blocks that were ever in use at once.
    pub(crate) fn high_water(&self) -> u32 {
        self.0.high_water()
    }
}

#[cfg(test)]
mod tests {
    use super::Link;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn links_survive_packing(sequence: u32, block in prop::option::of(0..u32::MAX)) {
            let link = Link { sequence, block };
            prop_assert_eq!(Link::unpack(link.pack()), link);
        }
    }
}
