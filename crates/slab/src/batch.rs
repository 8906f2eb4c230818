//! Slots that come back together.

use core::mem;

use filch_sync::atomic::Ordering;

use crate::slab::Slab;

/// Slots that one thread gives back to a slab, [so many](Self::SIZE) at a time: for all of them the
/// list of free slots, which all threads write, is written once.
///
/// Until then nobody allocates them. What is in a batch is to be [given back](Slab::give_back)
/// before the batch is dropped; else these slots are lost.
#[derive(Debug, Default)]
pub struct Batch {
    /// The slots' links lead from here to the last one.
    first: u32,
    last: u32,
    slots: u32,
}

impl Batch {
    /// How many slots are kept back, less one. More would save little: of what one slot costs, a
    /// thirty-second part is left.
    pub const SIZE: u32 = 32;
}

impl<T> Slab<T> {
    /// As [`release`](Self::release), into a batch, all of which is given back when it is full. The
    /// slots of a batch are of one slab, as indices are.
    ///
    /// # Panics
    ///
    /// As [`release`](Self::release).
    pub fn release_into(&self, batch: &mut Batch, index: u32) -> bool {
        let slot = self.slot(index).expect("a released index was allocated");
        if batch.slots == 0 {
            batch.last = index;
        } else {
            // ORDERING: Relaxed: the push of the batch publishes it. A `pop` that found this index
            // on top earlier may look meanwhile: as there.
            slot.link.store(batch.first, Ordering::Relaxed);
        }
        batch.first = index;
        batch.slots += 1;
        batch.slots == Batch::SIZE && self.give_back(batch)
    }

    /// Gives back what is in the batch, which is empty then. Lock-free. Whether these were the last
    /// slots of a slab that is [retired](Self::retire): then the slab is the caller's.
    pub fn give_back(&self, batch: &mut Batch) -> bool {
        let Batch { first, last, slots } = mem::take(batch);
        slots > 0 && self.push_free(first, self.link(last), slots)
    }
}
