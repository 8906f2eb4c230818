//! Blocks of slots: all access to memory that producers and the consumer share, except the queue's
//! words.

use alloc::alloc::dealloc;
use core::alloc::Layout;
use core::array;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::{self, NonNull};

use filch_sync::atomic::{AtomicU8, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::content::{Content, Full, Value};
use crate::position::{MAX_SLOTS_OF_SMALL, Position, block_align};

/// The fields before the slots. Which thread may touch what, and when:
///
/// | field | while its block is one thread's own | afterwards |
/// |---|---|---|
/// | `slots` | written by its creator | read by the consumer |
/// | `prev` | written by the producer that installs it | read by the consumer |
/// | `next` | reset by the producer that installs it | the consumer only |
/// | a slot | emptied by the producer that installs it | its producer from the claim to the store of `state`; then the consumer |
#[repr(C)]
struct Header {
    /// Address of the block before this one; 0 if there was none.
    prev: UnsafeCell<usize>,
    /// Address of the block after this one; 0 while the consumer has not looked for it.
    next: UnsafeCell<usize>,
    /// How many slots follow.
    slots: u32,
}

/// Slots come in groups, states first. So a state costs one byte, whatever alignment the events
/// need, and lies on its event's cache line or on the one before.
///
/// This type gives offsets only; there is never a reference to one: a block's last group may end
/// with the block's last slot.
#[repr(C)]
struct Group<T> {
    states: [AtomicU8; GROUP],
    values: [Value<T>; GROUP],
}

/// How many slots have their states side by side.
const GROUP: usize = 8;

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
    /// Where the slots begin.
    const GROUPS_AT: usize = size_of::<Header>().next_multiple_of(align_of::<Group<T>>());

    /// The size of a block with that many slots: up to the end of the last one's value.
    const fn size(slots: usize) -> usize {
        let rest = match slots % GROUP {
            0 => 0,
            some => offset_of!(Group<T>, values) + some * size_of::<Value<T>>(),
        };
        Self::GROUPS_AT + slots / GROUP * size_of::<Group<T>>() + rest
    }

    /// How many slots fit into `bytes` with their header: at least `min`, and then as many as their
    /// memory has room for; at most `max`.
    pub(crate) const fn slots_in(bytes: usize, min: usize, max: usize) -> usize {
        let least = Self::padded_size(min);
        let room = if bytes > least { bytes } else { least };
        let mut slots = min;
        while slots < max && Self::size(slots + 1) <= room {
            slots += 1;
        }
        slots
    }

    /// At least the header's.
    const fn align(slots: usize) -> usize {
        let (for_words, for_events) = (block_align(slots), align_of::<Group<T>>());
        if for_words > for_events {
            for_words
        } else {
            for_events
        }
    }

    /// The size, and what the allocator leaves empty behind it.
    const fn padded_size(slots: usize) -> usize {
        let size = Self::size(slots);
        if slots <= MAX_SLOTS_OF_SMALL {
            return size;
        }
        // Some allocators keep a word beside each allocation. With it, the size is a multiple of
        // the alignment; otherwise they may leave as much again empty before the next block.
        (size + size_of::<usize>()).next_multiple_of(Self::align(slots)) - size_of::<usize>()
    }

    pub(crate) fn layout(slots: usize) -> Layout {
        Layout::from_size_align(Self::padded_size(slots), Self::align(slots))
            .expect("a few slots fit the address space")
    }

    /// The block whose address a word of the queue gave; not 0.
    pub(crate) fn at(address: usize) -> Self {
        debug_assert!(address != 0);
        Self {
            // SAFETY: not 0: every caller has checked, or follows a link that leads to a block.
            header: unsafe {
                NonNull::new_unchecked(ptr::with_exposed_provenance_mut::<Header>(address))
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
    /// The block is live, and has a slot `index`.
    unsafe fn group(self, index: usize) -> *mut Group<T> {
        // SAFETY: it begins within the block's allocation (contract), whose provenance the pointer
        // has.
        unsafe {
            self.header
                .as_ptr()
                .byte_add(Self::GROUPS_AT)
                .cast::<Group<T>>()
                .add(index / GROUP)
        }
    }

    /// # Safety
    /// As for `group`.
    unsafe fn state(self, index: usize) -> *mut AtomicU8 {
        // SAFETY: as ours: the group reaches to this slot at least. No reference is made.
        unsafe {
            (&raw mut (*self.group(index)).states)
                .cast::<AtomicU8>()
                .add(index % GROUP)
        }
    }

    /// # Safety
    /// The block is live, and has a slot `index`.
    unsafe fn value(self, index: usize) -> *mut Value<T> {
        // SAFETY: as ours: the group reaches to this slot at least. No reference is made.
        unsafe {
            (&raw mut (*self.group(index)).values)
                .cast::<Value<T>>()
                .add(index % GROUP)
        }
    }

    /// How many slots the block has.
    ///
    /// # Safety
    /// The block is live, and its installation was acquired.
    pub(crate) unsafe fn slots(self) -> usize {
        // SAFETY: live (contract).
        unsafe { self.header() }.slots as usize
    }

    /// The place before the block's first slot.
    ///
    /// # Safety
    /// As for `slots`.
    pub(crate) unsafe fn start<const ALL_WIDE: bool>(self) -> Position<ALL_WIDE> {
        // SAFETY: as ours.
        Position::before(self.header.addr().get(), unsafe { self.slots() })
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

    /// Makes all slots claimable, a group at a time: the stores go to different lines, and none of
    /// them waits for another.
    ///
    /// # Safety
    /// The block is live, and the caller's alone; it has that many slots.
    unsafe fn empty(self, slots: usize) {
        for group in (0..slots).step_by(GROUP) {
            // SAFETY: the block is this thread's alone (contract), and large enough for the states
            // of all groups.
            unsafe {
                (&raw mut (*self.group(group)).states)
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
    /// The memory is this thread's alone, and was allocated by the [layout](Self::layout) for
    /// `slots`.
    pub(crate) unsafe fn begin(memory: NonNull<u8>, slots: usize) -> Self {
        let block = Self {
            header: memory.cast(),
            events: PhantomData,
        };
        // SAFETY: the memory is this thread's alone, and large and aligned enough (contract).
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
        unsafe { dealloc(self.header.as_ptr().cast(), Self::layout(self.slots())) };
    }
}
