//! Blocks of slots: all access to memory that producers and the consumer share, except the two
//! words in the queue.

use alloc::boxed::Box;
use core::array;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::position::{BLOCK_ALIGN, MAX_CAP};

/// A run of `CAP` slots. Who may touch what, and when:
///
/// | field | before it is installed | afterwards |
/// |---|---|---|
/// | `prev` | written by the producer that owns it | read by the consumer |
/// | `consumer` | | the consumer only |
/// | a slot | | its producer from the claim to the store of `full`; then the consumer |
#[repr(C, align(64))]
pub(crate) struct Block<T, const CAP: usize> {
    /// Address of the block before this one; 0 if there was none.
    prev: UnsafeCell<usize>,
    consumer: UnsafeCell<ConsumerPart>,
    slots: [Slot<T>; CAP],
}

/// What the consumer notes in a block.
struct ConsumerPart {
    /// Address of the block after this one; 0 while the consumer has not looked for it.
    next: usize,
    /// Bit i: slot i has been emptied.
    taken: u32,
}

/// The flag stands beside its value: a push touches one cache line of the block, not two.
struct Slot<T> {
    /// Set by the producer, as its last access to the block. Cleared by the consumer when it
    /// rewinds the block.
    full: AtomicBool,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T, const CAP: usize> Block<T, CAP> {
    /// Checked when the type is first used: the index fits the word, a mask of the slots fits
    /// `taken`.
    const ALL_TAKEN: u32 = {
        assert!(CAP > 0 && CAP <= MAX_CAP && MAX_CAP < 32);
        assert!(align_of::<Self>() >= BLOCK_ALIGN);
        (1 << CAP) - 1
    };

    fn new() -> Self {
        Self {
            prev: UnsafeCell::new(0),
            consumer: UnsafeCell::new(ConsumerPart { next: 0, taken: 0 }),
            slots: array::from_fn(|_| Slot {
                full: AtomicBool::new(false),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            }),
        }
    }

    /// The block whose address a word of the queue gave.
    ///
    /// # Safety
    /// `address` is that of a published block, which is not freed while the pointer is
    /// dereferenced.
    pub(crate) unsafe fn at(address: usize) -> *mut Self {
        ptr::with_exposed_provenance_mut(address)
    }

    /// Writes `value` into a claimed slot and hands the slot to the consumer.
    ///
    /// # Safety
    /// `block` is live, and the caller claimed its slot `index` and has not filled it. The block
    /// may be freed as soon as the slot is full: a pointer and not a reference, because a reference
    /// argument would have to stay valid until this returns.
    pub(crate) unsafe fn fill(block: *mut Self, index: usize, value: T) {
        // SAFETY: the block is live (contract): the consumer frees it only once each slot was full.
        let slot = unsafe { &raw const (*block).slots[index] };
        // SAFETY: the slot is claimed by this thread alone, until the store below. What the
        // consumer read from it in an earlier life of the block happens before: the claim acquired
        // the consumer's rewind.
        unsafe { (*slot).value.with_mut(|cell| (*cell).write(value)) };
        // SAFETY: the block is live until this store, the last access.
        // ORDERING: Release, with the Acquire load in `take`: the value is written before the flag
        // is seen, and this thread is done with the block before the consumer frees it.
        unsafe { (*slot).full.store(true, Ordering::Release) };
    }

    /// Empties slot `index`, if it is full and was not emptied before.
    ///
    /// # Safety
    /// The caller is the consumer, and the slot was claimed before a snapshot of the tail that the
    /// caller acquired.
    pub(crate) unsafe fn take(&self, index: usize) -> Option<T> {
        let bit = 1 << index;
        // SAFETY: only the consumer, which is the caller, touches this part.
        if self.consumer.with(|part| unsafe { (*part).taken }) & bit != 0 {
            return None;
        }
        let slot = &self.slots[index];
        // ORDERING: Acquire, with the Release store in `fill`: else the value might not be written
        // yet.
        if !slot.full.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: as above; noted before the value moves out, so that it moves out once.
        self.consumer
            .with_mut(|part| unsafe { (*part).taken |= bit });
        // SAFETY: full, so initialised and no longer the producer's (acquired above); not taken, so
        // still there.
        Some(
            slot.value
                .with(|cell| unsafe { (*cell).assume_init_read() }),
        )
    }

    /// How many slots are emptied without a gap, from the first one: the index of the oldest that
    /// is not.
    ///
    /// # Safety
    /// The caller is the consumer.
    pub(crate) unsafe fn first_left(&self) -> usize {
        // SAFETY: only the consumer, which is the caller, touches this part.
        let taken = self.consumer.with(|part| unsafe { (*part).taken });
        taken.trailing_ones() as usize
    }

    /// Whether every slot was filled and emptied: no producer will touch the block any more.
    ///
    /// # Safety
    /// The caller is the consumer.
    pub(crate) unsafe fn is_spent(&self) -> bool {
        // SAFETY: only the consumer, which is the caller, touches this part.
        self.consumer.with(|part| unsafe { (*part).taken }) == Self::ALL_TAKEN
    }

    /// Clears the flags of the first `count` slots, the first half of their reuse in place.
    ///
    /// # Safety
    /// The caller is the consumer, and these slots are emptied.
    pub(crate) unsafe fn clear_flags(&self, count: usize) {
        for slot in &self.slots[..count] {
            // ORDERING: Relaxed: no producer owns the slot; the next one to claim it acquires the
            // consumer's rewind of the tail, which comes after this store.
            slot.full.store(false, Ordering::Relaxed);
        }
    }

    /// Forgets which slots are emptied, the second half: the tail was rewound to this block's first
    /// slot.
    ///
    /// # Safety
    /// The caller is the consumer, it called `clear_flags`, and rewound the tail.
    pub(crate) unsafe fn forget_taken(&self) {
        // SAFETY: only the consumer, which is the caller, touches this part.
        self.consumer.with_mut(|part| unsafe { (*part).taken = 0 });
    }

    /// Address of the block before this one. The block there may be freed: the caller must know.
    ///
    /// # Safety
    /// The caller is the consumer and acquired a tail that was written after this block was
    /// installed.
    pub(crate) unsafe fn prev(&self) -> usize {
        // SAFETY: written before the block was installed, which happens before (contract), and
        // never since.
        self.prev.with(|prev| unsafe { *prev })
    }

    /// Address of the block after this one, if the consumer has linked it.
    ///
    /// # Safety
    /// The caller is the consumer.
    pub(crate) unsafe fn next(&self) -> usize {
        // SAFETY: only the consumer, which is the caller, touches this part.
        self.consumer.with(|part| unsafe { (*part).next })
    }

    /// Links the block after this one.
    ///
    /// # Safety
    /// The caller is the consumer.
    pub(crate) unsafe fn set_next(&self, next: usize) {
        // SAFETY: only the consumer, which is the caller, touches this part.
        self.consumer
            .with_mut(|part| unsafe { (*part).next = next });
    }

    /// Frees the block. Values still in it are not dropped.
    ///
    /// # Safety
    /// `address` is that of a published block which no word and no link leads to any more, and each
    /// slot of which is either emptied or was never claimed.
    pub(crate) unsafe fn free(address: usize) {
        // SAFETY: published blocks come from `Box`; nobody else can reach this one (contract), and
        // producers are done with it: their last access, the store of `full`, was acquired.
        drop(unsafe { Box::from_raw(Self::at(address)) });
    }
}

/// A block that no other thread knows yet.
pub(crate) struct NewBlock<T, const CAP: usize>(NonNull<Block<T, CAP>>);

impl<T, const CAP: usize> NewBlock<T, CAP> {
    pub(crate) fn new() -> Self {
        Self(NonNull::from(Box::leak(Box::new(Block::new()))))
    }

    /// Names the block that this one is to follow, and returns its own address.
    pub(crate) fn follow(&mut self, prev: usize) -> usize {
        // SAFETY: not published, so this thread's alone.
        unsafe { self.0.as_ref() }
            .prev
            .with_mut(|cell| unsafe { *cell = prev });
        self.0.as_ptr().expose_provenance()
    }

    /// The queue owns the block from here on.
    pub(crate) fn published(self) {
        core::mem::forget(self);
    }
}

impl<T, const CAP: usize> Drop for NewBlock<T, CAP> {
    fn drop(&mut self) {
        // SAFETY: from `Box::leak`, and never published.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
