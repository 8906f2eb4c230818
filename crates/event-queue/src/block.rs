//! Blocks of slots: all access to memory that producers and the consumer share, except the queue's
//! words.

use alloc::alloc::dealloc;
use core::array;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use filch_sync::atomic::{AtomicU8, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::content::{Content, Full, Value};
use crate::position::Position;
use crate::shape::{GROUP, Header, Shape};

/// Not claimed, or claimed by a push that is under way.
const EMPTY: u8 = 0;
/// The value is there.
const FULL: u8 = 1;
/// The push that claimed the slot came from an earlier life and cancelled it: there is no value.
const CANCELLED: u8 = 2;
/// Emptied by the consumer, while a slot before it was not. (A slot that is emptied in its turn
/// keeps its state: the head says that it is emptied.)
const TAKEN: u8 = 3;

/// A block, by its pointer. It may outlive the block: each use has the contract that that is live.
///
/// [`Shape`] says where its parts lie.
pub(crate) struct Block<T> {
    header: NonNull<Header>,
    events: PhantomData<*mut T>,
}

impl<T> Clone for Block<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Block<T> {}

impl<T> Block<T> {
    /// The block whose address a word of the queue gave; not 0.
    pub(crate) fn at(address: usize) -> Self {
        debug_assert!(address != 0);
        Self {
            // SAFETY: not 0: every caller has checked, or follows a link that leads to a block, and
            // a block has a header.
            header: unsafe {
                NonNull::new_unchecked(ptr::with_exposed_provenance_mut::<Header>(
                    address - Shape::<T>::HEADER_BELOW,
                ))
            },
            events: PhantomData,
        }
    }

    /// # Safety
    /// The block is live for as long as the reference is used.
    unsafe fn header<'a>(self) -> &'a Header {
        // SAFETY: live (contract); mutable parts are in cells.
        unsafe { self.header.as_ref() }
    }

    /// # Safety
    /// The block is live, and has a slot `index`, or another one of that group.
    unsafe fn state(self, index: usize) -> *mut AtomicU8 {
        let header = self.header.as_ptr();
        // SAFETY: within the block's memory (contract), whose provenance the pointer has: a group
        // has all its states, also if it is the last one. No reference is made.
        unsafe { header.byte_offset(Shape::<T>::state_at(index)).cast() }
    }

    /// # Safety
    /// The block is live, and has a slot `index`.
    unsafe fn value(self, index: usize) -> *mut Value<T> {
        let header = self.header.as_ptr();
        // SAFETY: as above; the last group reaches down to its last slot.
        unsafe { header.byte_offset(Shape::<T>::value_at(index)).cast() }
    }

    /// How many slots the block has.
    ///
    /// # Safety
    /// The block is live, and its installation was acquired.
    pub(crate) unsafe fn slots(self) -> usize {
        // SAFETY: live (contract).
        unsafe { self.header() }.slots as usize
    }

    /// The address by which a word names the block.
    fn address(self) -> usize {
        self.header.addr().get() + Shape::<T>::HEADER_BELOW
    }

    /// The place before the block's first slot.
    ///
    /// # Safety
    /// As for `slots`.
    pub(crate) unsafe fn start<const ALL_WIDE: bool>(self) -> Position<ALL_WIDE> {
        // SAFETY: as ours.
        Position::before(self.address(), unsafe { self.slots() })
    }

    /// Writes `value` into a claimed slot, and passes the slot to the consumer.
    ///
    /// # Safety
    /// The block is live, and the caller claimed its slot `index` and has not filled it. The block
    /// may be freed as soon as this has stored the state.
    #[inline]
    pub(crate) unsafe fn fill(self, index: usize, value: T) {
        // SAFETY: live (contract): the consumer frees the block only after each claimed slot was
        // filled.
        let slot = unsafe { self.value(index) };
        // SAFETY: until the state is stored, the slot is this thread's alone by its claim. The
        // consumer's reads of it in an earlier life of the block happen before: the claim acquired
        // the consumer's rewind, or the installation.
        unsafe { (*slot).with_mut(|cell| (*cell).write(value)) };
        // SAFETY: as ours, and the value is there.
        unsafe { self.complete(index, FULL) };
    }

    /// Cancels a claimed slot: passes it to the consumer without a value.
    ///
    /// # Safety
    /// As for [`fill`](Self::fill).
    pub(crate) unsafe fn cancel(self, index: usize) {
        // SAFETY: as ours.
        unsafe { self.complete(index, CANCELLED) };
    }

    /// # Safety
    /// As for [`fill`](Self::fill), and if `state` is [`FULL`], the value is there.
    #[inline]
    unsafe fn complete(self, index: usize, state: u8) {
        // SAFETY: live until this store, the last access. No reference to the slot is an argument:
        // it would have to stay valid until this returns. ORDERING: Release, with the Acquire load
        // in `look`: the value is written before the consumer sees the state, and this thread is
        // done with the block before the consumer frees it.
        unsafe { (*self.state(index)).store(state, Ordering::Release) };
    }

    /// Looks into slot `index`.
    ///
    /// # Safety
    /// The block is live. The caller is the consumer, has acquired the block's installation, and
    /// has not emptied this slot since it was last claimed, or has noted it by `set_taken`.
    pub(crate) unsafe fn look(self, index: usize) -> Content<T> {
        // SAFETY: live (contract).
        let (slot_state, slot_value) = unsafe { (&*self.state(index), self.value(index)) };
        // ORDERING: Acquire, with the Release store in `fill`: else the value might not be written
        // yet.
        match slot_state.load(Ordering::Acquire) {
            EMPTY => Content::Empty,
            // SAFETY: within a block, so not null.
            FULL => Content::Event(Full::new(unsafe { NonNull::new_unchecked(slot_value) })),
            _ => Content::Done,
        }
    }

    /// Makes the slots from `left` up claimable once more.
    ///
    /// # Safety
    /// The block is live. The caller is the consumer, and these slots are emptied.
    pub(crate) unsafe fn clear_from(self, left: usize) {
        // SAFETY: as ours.
        let slots = unsafe { self.slots() };
        for index in left..slots {
            // SAFETY: as ours.
            unsafe { self.clear(index) };
        }
    }

    /// Makes slot `index` claimable once more.
    ///
    /// # Safety
    /// As for `clear_from`.
    #[inline]
    pub(crate) unsafe fn clear(self, index: usize) {
        // SAFETY: live (contract).
        // ORDERING: Relaxed: no producer owns the slot; the next one to claim it acquires the
        // rewind or the installation, which comes after this store.
        unsafe { (*self.state(index)).store(EMPTY, Ordering::Relaxed) };
    }

    /// Makes all slots claimable, upwards in memory, a group at a time: the stores go to different
    /// lines, and none of them waits for another.
    ///
    /// # Safety
    /// The block is live, and the caller's alone; it has that many slots.
    unsafe fn empty(self, slots: usize) {
        for group in (0..slots.div_ceil(GROUP)).rev() {
            // SAFETY: the block is this thread's alone (contract), and large enough for the states
            // of all groups.
            unsafe {
                self.state(group * GROUP + GROUP - 1)
                    .cast::<[AtomicU8; GROUP]>()
                    .write(array::from_fn(|_| AtomicU8::new(EMPTY)));
            }
        }
    }

    /// Notes that slot `index` is emptied.
    ///
    /// # Safety
    /// As for `look`, which has found the slot full or cancelled.
    pub(crate) unsafe fn set_taken(self, index: usize) {
        // SAFETY: live (contract). ORDERING: Relaxed: only the consumer reads it; the next producer
        // of this slot acquires the rewind or the installation, before which the slot is cleared.
        unsafe { (*self.state(index)).store(TAKEN, Ordering::Relaxed) };
    }

    /// Address of the block before this one. Whether that one is live, the caller must know.
    ///
    /// # Safety
    /// The block is live. The caller is the consumer and acquired a tail that was written after
    /// this block was installed.
    pub(crate) unsafe fn prev(self) -> usize {
        // SAFETY: live; written before the block's installation, which happens before (contract),
        // and not since.
        unsafe { self.header().prev.with(|prev| *prev) }
    }

    /// Address of the block after this one, if the consumer has linked it; else 0.
    ///
    /// # Safety
    /// The block is live, and the caller is the consumer.
    pub(crate) unsafe fn next(self) -> usize {
        // SAFETY: live; only the consumer, which is the caller, touches this field.
        unsafe { self.header().next.with(|next| *next) }
    }

    /// Links the block after this one.
    ///
    /// # Safety
    /// The block is live, and the caller is the consumer.
    pub(crate) unsafe fn set_next(self, next: usize) {
        // SAFETY: as for `next`.
        unsafe { self.header().next.with_mut(|cell| *cell = next) };
    }

    /// Makes a block of fresh memory, with `slots` empty slots.
    ///
    /// # Safety
    /// The memory is this thread's alone, and was allocated by the [layout](Shape::layout) for
    /// `slots`.
    pub(crate) unsafe fn begin(memory: NonNull<u8>, slots: usize) -> Self {
        // SAFETY: the memory is this thread's alone, and large and aligned enough (contract, here
        // and below).
        let header = unsafe { memory.byte_add(Shape::<T>::header_at(slots)) }.cast();
        let block = Self {
            header,
            events: PhantomData,
        };
        // SAFETY: as above.
        unsafe {
            block.header.write(Header {
                prev: UnsafeCell::new(0),
                next: UnsafeCell::new(0),
                slots: slots as u32,
            });
            block.empty(slots);
            for index in 0..slots {
                block
                    .value(index)
                    .write(UnsafeCell::new(MaybeUninit::uninit()));
            }
        }
        block
    }

    /// Makes a used block as good as new.
    ///
    /// # Safety
    /// The block is live, and this thread's alone; its slots are emptied.
    pub(crate) unsafe fn renew(self) {
        // SAFETY: as ours.
        unsafe {
            self.empty(self.slots());
            self.set_next(0);
        }
    }

    /// Names the block that this one is to follow, and returns the place before its first slot,
    /// by which others may find the block.
    ///
    /// # Safety
    /// The block is live, and this thread's alone.
    pub(crate) unsafe fn follow<const ALL_WIDE: bool>(self, prev: usize) -> Position<ALL_WIDE> {
        self.header.as_ptr().expose_provenance();
        // SAFETY: as ours.
        unsafe {
            self.header().prev.with_mut(|cell| *cell = prev);
            self.start()
        }
    }

    /// Frees the block. Values still in it are not dropped.
    ///
    /// # Safety
    /// The block is live, no word and no link leads to it any more, and each of its slots is
    /// emptied or was never claimed: producers are done with it, and the caller has acquired their
    /// last access, the store of the state.
    pub(crate) unsafe fn free(self) {
        // SAFETY: live (contract); allocated with this layout (`begin`). Neither the header nor
        // emptied slots need a drop.
        unsafe {
            let slots = self.slots();
            let memory = self.header.as_ptr().byte_sub(Shape::<T>::header_at(slots));
            dealloc(memory.cast(), Shape::<T>::layout(slots));
        }
    }
}
