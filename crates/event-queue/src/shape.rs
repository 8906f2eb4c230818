//! Where in a block's memory its parts lie.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::offset_of;

use filch_sync::atomic::AtomicU8;
use filch_sync::cell::UnsafeCell;

use crate::content::Value;
use crate::position::block_align;

/// The fields after the slots. Which thread may touch what, and when:
///
/// | field | while its block is one thread's own | afterwards |
/// |---|---|---|
/// | `slots` | written by its creator | read by the consumer |
/// | `prev` | written by the producer that installs it | read by the consumer |
/// | `next` | reset by the producer that installs it | the consumer only |
/// | a slot | emptied by the producer that installs it | its producer from the claim to the store of `state`; then the consumer |
#[repr(C)]
pub(crate) struct Header {
    /// Address of the block before this one; 0 if there was none.
    pub(crate) prev: UnsafeCell<usize>,
    /// Address of the block after this one; 0 while the consumer has not looked for it.
    pub(crate) next: UnsafeCell<usize>,
    /// How many slots there are.
    pub(crate) slots: u32,
}

/// Slots come in groups, states last. So a state costs one byte, whatever alignment the events
/// need, and lies near its event.
///
/// This type gives offsets only; there is never a reference to one: the last group may begin with
/// the block's last slot.
#[repr(C)]
struct Group<T> {
    values: [Value<T>; GROUP],
    states: [AtomicU8; GROUP],
}

/// How many slots have their states side by side.
pub(crate) const GROUP: usize = 8;

/// The shape of a block for events of this type: sizes and distances, in bytes.
///
/// ```text
///  last slot          slot 1   slot 0   header   a word   the block's address
///  ────────── ... ─── groups ──────────┴────────┴────────┘
/// ```
///
/// A word names a block by the address where it ends, which is aligned; slots lie downwards from
/// there. So a slot is found by what a [`Position`](crate::position::Position) counts, whatever the
/// block's size, and yet the slots are used upwards, as the last one is the first: processors fetch
/// ahead what is used upwards.
pub(crate) struct Shape<T>(PhantomData<T>);

impl<T> Shape<T> {
    /// How far below the block's address the header begins, and the slots end. Some allocators keep
    /// a word beside each allocation: there is room for it, so that no multiple of the alignment is
    /// left by a word.
    pub(crate) const HEADER_BELOW: usize =
        (size_of::<Header>() + size_of::<usize>()).next_multiple_of(align_of::<Group<T>>());

    /// How far below the block's address the last one of that many slots begins.
    const fn reach(slots: usize) -> usize {
        let groups = slots.div_ceil(GROUP);
        let missing = groups * GROUP - slots;
        Self::HEADER_BELOW + groups * size_of::<Group<T>>() - missing * size_of::<Value<T>>()
    }

    /// How many slots fit into `bytes` with their header: at least `min`, and then as many as their
    /// memory has room for; at most `max`.
    pub(crate) const fn slots_in(bytes: usize, min: usize, max: usize) -> usize {
        let (asked, least) = (bytes + size_of::<usize>(), Self::extent(min));
        let room = if asked > least { asked } else { least };
        let mut slots = min;
        while slots < max && Self::reach(slots + 1) <= room {
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

    /// How far below its address the block's memory begins.
    const fn extent(slots: usize) -> usize {
        // The next multiple, without a division: the compiler does not see that an alignment is a
        // power of two.
        let mask = Self::align(slots) - 1;
        (Self::reach(slots) + mask) & !mask
    }

    /// The layout of a block's memory, which ends a word below its address.
    pub(crate) fn layout(slots: usize) -> Layout {
        Layout::from_size_align(Self::extent(slots) - size_of::<usize>(), Self::align(slots))
            .expect("a few slots fit the address space")
    }

    /// How far above the beginning of its memory the block's header is.
    pub(crate) const fn header_at(slots: usize) -> usize {
        Self::extent(slots) - Self::HEADER_BELOW
    }

    /// Where the state of slot `index` is, from the header.
    pub(crate) const fn state_at(index: usize) -> isize {
        let states = offset_of!(Group<T>, states) + Self::place(index) * size_of::<AtomicU8>();
        Self::group_at(index) + states.cast_signed()
    }

    /// Where the value of slot `index` is, from the header.
    pub(crate) const fn value_at(index: usize) -> isize {
        let values = offset_of!(Group<T>, values) + Self::place(index) * size_of::<Value<T>>();
        Self::group_at(index) + values.cast_signed()
    }

    /// Where the group of slot `index` begins, or would, from the header.
    const fn group_at(index: usize) -> isize {
        (Self::upwards(index) >> GROUP.ilog2()) * size_of::<Group<T>>().cast_signed()
    }

    /// Which slot of its group slot `index` is, upwards.
    const fn place(index: usize) -> usize {
        Self::upwards(index).cast_unsigned() % GROUP
    }

    /// What slot `index` is called if the header is at 0: slot 0, which lies just below, -1.
    const fn upwards(index: usize) -> isize {
        !index.cast_signed()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Shape;

    /// Slots are used from the last to the first.
    fn is_used_upwards<T>(slots: usize) {
        let layout = Shape::<T>::layout(slots);
        let address = layout.size() + size_of::<usize>();
        assert_eq!(address % layout.align(), 0);
        let memory = Shape::<T>::header_at(slots).cast_signed();
        assert!(Shape::<T>::value_at(slots - 1) >= -memory);
        for index in 1..slots {
            let (earlier, later) = (Shape::<T>::value_at(index), Shape::<T>::value_at(index - 1));
            assert!(
                later >= earlier + size_of::<T>().cast_signed(),
                "slot {index}"
            );
            assert_eq!(earlier % align_of::<T>().cast_signed(), 0);
            assert_ne!(Shape::<T>::state_at(index), Shape::<T>::state_at(index - 1));
        }
    }

    #[test]
    fn slots_are_used_upwards_and_lie_in_the_memory() {
        for slots in [1, 3, 7, 8, 9, 31, 511] {
            is_used_upwards::<u8>(slots);
            is_used_upwards::<u64>(slots);
            is_used_upwards::<[u8; 243]>(slots);
            is_used_upwards::<u128>(slots);
        }
    }
}
