//! Blocks of slots: all access to memory that producers and the consumer share, except the queue's
//! words.

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::array;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::{self, NonNull};

use filch_sync::atomic::{AtomicU8, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::position::{ALIGN, Position};

/// A slot that is not claimed, or claimed by a push that is under way.
const EMPTY: u8 = 0;
/// The value is there.
const FULL: u8 = 1;
/// Nothing to deliver: see [`State::Done`]. (A slot that is emptied in its turn stays `FULL`: the
/// head says that it is emptied.)
const DONE: u8 = 2;

/// The state of a claimed slot, as the consumer sees it.
#[derive(PartialEq, Eq)]
pub(crate) enum State {
    /// Its push is under way.
    InFlight,
    Full,
    /// Nothing to deliver: the push came from an earlier life, and cancelled the slot; or the
    /// consumer has emptied it, while a slot before it was not.
    Done,
}

/// The fields after the slots. Which thread may touch what, and when:
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
    slots: u32,
}

/// The memory of an event that is there, was there, or will be.
type Value<T> = UnsafeCell<MaybeUninit<T>>;

/// The number of slots that have their states side by side.
const GROUP: usize = 8;

/// Slots come in groups, states last. So a state costs one byte, whatever alignment the events
/// need, and lies near its event. There is never a reference to a group: the last one may begin
/// with the block's last slot.
#[repr(C)]
struct Group<T> {
    values: [Value<T>; GROUP],
    states: [AtomicU8; GROUP],
}

/// A block, by the address of its header. It may outlive the block: each use has the contract that
/// that is live.
///
/// ```text
///  last slot          slot 1   slot 0   the block's address
///  ────────── ... ─── groups ──────────┴─ header ─
/// ```
///
/// Slots lie downwards from the header. So one is found by what a [`Position`] counts, whatever the
/// block's size, and yet they are used upwards, the last one first, as processors fetch ahead.
pub(crate) struct Block<T> {
    header: NonNull<Header>,
    events: PhantomData<*mut T>,
}

/// Sizes and distances, in bytes.
impl<T> Block<T> {
    /// The alignment of the header, and of the whole block.
    const ALIGN: usize = if align_of::<Group<T>>() > ALIGN {
        align_of::<Group<T>>()
    } else {
        ALIGN
    };

    /// The number of slots that a block of so many bytes has; `at_least` so many, so that large
    /// events are not all allocation.
    pub(crate) const fn slots_in(bytes: usize, at_least: usize) -> usize {
        let slots = (bytes - size_of::<Header>()) / size_of::<Group<T>>() * GROUP;
        if slots < at_least { at_least } else { slots }
    }

    /// The distance from the beginning of a block's memory to its header.
    const fn header_at(slots: usize) -> usize {
        let groups = slots.div_ceil(GROUP);
        let missing = groups * GROUP - slots;
        let reach = groups * size_of::<Group<T>>() - missing * size_of::<Value<T>>();
        reach.next_multiple_of(Self::ALIGN)
    }

    fn layout(slots: usize) -> Layout {
        Layout::from_size_align(Self::header_at(slots) + size_of::<Header>(), Self::ALIGN)
            .expect("a few slots fit the address space")
    }

    /// The distance from the header to the group of slot `index`, or to where it would begin; and
    /// the slot's number in there, upwards.
    const fn group_and_place(index: usize) -> (isize, usize) {
        // The slot's number if the header is at 0: slot 0 lies just below.
        let upwards = !index.cast_signed();
        let group = (upwards >> GROUP.ilog2()) * size_of::<Group<T>>().cast_signed();
        (group, upwards.cast_unsigned() % GROUP)
    }
}

impl<T> Block<T> {
    /// The block whose address a word of the queue gave; not 0.
    pub(crate) fn at(address: usize) -> Self {
        debug_assert!(address != 0);
        Self {
            // SAFETY: not 0: every caller has checked, or follows a link that leads to a block.
            header: unsafe { NonNull::new_unchecked(ptr::with_exposed_provenance_mut(address)) },
            events: PhantomData,
        }
    }

    /// A new block with `slots` empty slots, which no other thread can reach.
    ///
    /// # Panics
    /// If a word cannot keep the address.
    pub(crate) fn allocate(slots: usize) -> Self {
        let layout = Self::layout(slots);
        // SAFETY: the size is not 0: there is a header.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: within the memory, which has `layout`, and so aligned; not null.
        let header = unsafe {
            let header = memory.byte_add(Self::header_at(slots)).cast::<Header>();
            header.write(Header {
                prev: UnsafeCell::new(0),
                next: UnsafeCell::new(0),
                slots: slots as u32,
            });
            NonNull::new_unchecked(header)
        };
        let block = Self {
            header,
            events: PhantomData,
        };
        // SAFETY: the memory is this thread's alone, and large and aligned enough.
        unsafe {
            block.empty();
            for index in 0..slots {
                let value = UnsafeCell::new(MaybeUninit::uninit());
                block.value(index).write(value);
            }
            let is_kept = block.start().block() == header.addr().get();
            assert!(
                is_kept,
                "an address with more bits than a queue's word keeps"
            );
        }
        block
    }

    /// Frees the block. Values still in it are not dropped.
    ///
    /// # Safety
    /// The block is live, no word and no link leads to it any more, and each of its slots is
    /// emptied or was never claimed: producers are done with it, and the caller has acquired their
    /// last access, the store of the state.
    pub(crate) unsafe fn free(self) {
        // SAFETY: live (contract); allocated with this layout. Nothing in it needs a drop.
        unsafe {
            let slots = self.slots();
            let memory = self.header.as_ptr().byte_sub(Self::header_at(slots));
            dealloc(memory.cast(), Self::layout(slots));
        }
    }

    /// # Safety
    /// The block is live for as long as the reference is used.
    unsafe fn header(&self) -> &Header {
        // SAFETY: live (contract); mutable parts are in cells.
        unsafe { self.header.as_ref() }
    }

    /// # Safety
    /// The block is live, and has a slot `index`, or another one of that group.
    unsafe fn state(&self, index: usize) -> *mut AtomicU8 {
        let (group, place) = Self::group_and_place(index);
        let state = offset_of!(Group<T>, states) + place * size_of::<AtomicU8>();
        let distance = group + state.cast_signed();
        // SAFETY: within the block's memory (contract), whose provenance the pointer has: a group
        // has all its states, also if it is the last one. No reference is made.
        unsafe { self.header.as_ptr().byte_offset(distance).cast() }
    }

    /// # Safety
    /// The block is live, and has a slot `index`.
    unsafe fn value(&self, index: usize) -> *mut Value<T> {
        let (group, place) = Self::group_and_place(index);
        let distance = group + (place * size_of::<Value<T>>()).cast_signed();
        // SAFETY: as above; the last group reaches down to its last slot.
        unsafe { self.header.as_ptr().byte_offset(distance).cast() }
    }

    /// The number of slots.
    ///
    /// # Safety
    /// The block is live, and its installation was acquired.
    pub(crate) unsafe fn slots(&self) -> usize {
        // SAFETY: live (contract).
        unsafe { self.header() }.slots as usize
    }

    /// The place before the block's first slot.
    ///
    /// # Safety
    /// As for `slots`.
    pub(crate) unsafe fn start(&self) -> Position {
        // SAFETY: as ours.
        Position::before(self.header.addr().get(), unsafe { self.slots() })
    }

    /// Writes `value` into a claimed slot, and passes the slot to the consumer.
    ///
    /// # Safety
    /// The block is live, and the caller claimed its slot `index` and has not filled it. The block
    /// may be freed as soon as this has stored the state.
    #[inline]
    pub(crate) unsafe fn fill(&self, index: usize, value: T) {
        // SAFETY: live (contract): the consumer frees the block only after each claimed slot was
        // filled.
        let slot = unsafe { self.value(index) };
        // SAFETY: until the state is stored, the slot is this thread's alone by its claim. The
        // consumer's reads of it in an earlier life of the block happen before: the claim acquired
        // the consumer's rewind, or the installation.
        unsafe { ptr::write((*slot).with_mut(<*mut _>::cast), value) };
        // SAFETY: as ours, and the value is there.
        unsafe { self.complete(index, FULL) };
    }

    /// Cancels a claimed slot: passes it to the consumer without a value.
    ///
    /// # Safety
    /// As for [`fill`](Self::fill).
    pub(crate) unsafe fn cancel(&self, index: usize) {
        // SAFETY: as ours.
        unsafe { self.complete(index, DONE) };
    }

    /// # Safety
    /// As for [`fill`](Self::fill), and if `state` is [`FULL`], the value is there.
    #[inline]
    unsafe fn complete(&self, index: usize, state: u8) {
        // SAFETY: live until this store, the last access. No reference to the slot is an argument:
        // it would have to stay valid until this returns. ORDERING: Release, with the Acquire load
        // in `look`: the value is written before the consumer sees the state, and this thread is
        // done with the block before the consumer frees it.
        unsafe { (*self.state(index)).store(state, Ordering::Release) };
    }

    /// Looks at slot `index`.
    ///
    /// # Safety
    /// The block is live. The caller is the consumer, has acquired the block's installation, and
    /// has not emptied this slot since it was last claimed, or has noted it by `set_taken`.
    #[inline]
    pub(crate) unsafe fn look(&self, index: usize) -> State {
        // SAFETY: live (contract). ORDERING: Acquire, with the Release store in `complete`: else
        // the value might not be written yet.
        match unsafe { (*self.state(index)).load(Ordering::Acquire) } {
            EMPTY => State::InFlight,
            FULL => State::Full,
            _ => State::Done,
        }
    }

    /// Moves out the event in the slot before `place`. What is passed on until then is the place:
    /// an `Option` of a large event is a copy of it.
    ///
    /// # Safety
    /// The caller is the consumer, has found the slot full by [`look`](Self::look), and takes its
    /// event once, and at once.
    #[inline]
    pub(crate) unsafe fn take(place: Position) -> T {
        // SAFETY: the block is live, as the slot is not emptied. It was found full, with Acquire,
        // so it is initialised and no longer the producer's.
        unsafe {
            let value = Self::at(place.block()).value(place.left());
            (*value).with(|cell| (*cell).assume_init_read())
        }
    }

    /// Notes that slot `index` is emptied.
    ///
    /// # Safety
    /// As for `look`, which has found the slot full or cancelled.
    pub(crate) unsafe fn set_taken(&self, index: usize) {
        // SAFETY: live (contract). ORDERING: Relaxed: only the consumer reads it; the next producer
        // of this slot acquires the rewind or the installation, before which the slot is cleared.
        unsafe { (*self.state(index)).store(DONE, Ordering::Relaxed) };
    }

    /// Makes the slots from `left` up claimable once more.
    ///
    /// # Safety
    /// The block is live. The caller is the consumer, and these slots are emptied.
    pub(crate) unsafe fn clear_from(&self, left: usize) {
        // SAFETY: live (contract).
        for index in left..unsafe { self.slots() } {
            // SAFETY: as ours.
            unsafe { self.clear(index) };
        }
    }

    /// Makes slot `index` claimable once more.
    ///
    /// # Safety
    /// As for `clear_from`.
    #[inline]
    pub(crate) unsafe fn clear(&self, index: usize) {
        // SAFETY: live (contract). ORDERING: Relaxed: no producer owns the slot; the next one to
        // claim it acquires the rewind, which comes after this store.
        unsafe { (*self.state(index)).store(EMPTY, Ordering::Relaxed) };
    }

    /// Makes all slots claimable, upwards in memory, a group at a time: the stores go to different
    /// lines, and none of them waits for another.
    ///
    /// # Safety
    /// The block is live, and the caller's alone; its slots are emptied.
    pub(crate) unsafe fn empty(&self) {
        // SAFETY: as ours.
        for group in (0..unsafe { self.slots() }.div_ceil(GROUP)).rev() {
            // SAFETY: the block is this thread's alone (contract), and large enough for the states
            // of all groups.
            unsafe {
                self.state(group * GROUP + GROUP - 1)
                    .cast::<[AtomicU8; GROUP]>()
                    .write(array::from_fn(|_| AtomicU8::new(EMPTY)));
            }
        }
    }

    /// Names the block before this one, and returns the place by which others may find this one.
    ///
    /// # Safety
    /// The block is live, and this thread's alone.
    pub(crate) unsafe fn follow(&self, prev: usize) -> Position {
        self.header.as_ptr().expose_provenance();
        // SAFETY: as ours.
        unsafe {
            self.header().prev.with_mut(|cell| *cell = prev);
            self.set_next(0);
            self.start()
        }
    }

    /// Returns the address of the block before this one; the caller must know if that is live.
    ///
    /// # Safety
    /// The block is live. The caller is the consumer and acquired a tail that was written after
    /// this block was installed.
    pub(crate) unsafe fn prev(&self) -> usize {
        // SAFETY: live; written before the block's installation, which happens before (contract),
        // and not since.
        unsafe { self.header().prev.with(|prev| *prev) }
    }

    /// Address of the block after this one, if the consumer has linked it; else 0.
    ///
    /// # Safety
    /// The block is live, and the caller is the consumer.
    pub(crate) unsafe fn next(&self) -> usize {
        // SAFETY: live; only the consumer, which is the caller, touches this field.
        unsafe { self.header().next.with(|next| *next) }
    }

    /// Links the block after this one.
    ///
    /// # Safety
    /// As for `next`.
    pub(crate) unsafe fn set_next(&self, next: usize) {
        // SAFETY: as for `next`.
        unsafe { self.header().next.with_mut(|cell| *cell = next) };
    }
}

#[cfg(test)]
mod tests;
