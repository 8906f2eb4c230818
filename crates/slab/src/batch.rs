//! Slots that a thread gives back together.

use core::mem;

use filch_sync::atomic::Ordering;

use crate::slab::Slab;

/// Slots that one thread gives back to a slab, [`SIZE`](Self::SIZE) at a time: the list of free
/// slots, which all threads write, is written once for all of them.
///
/// Until then nobody allocates them. Give a batch [back](Slab::give_back) before you drop it; else
/// its slots are lost.
#[derive(Debug, Default)]
pub struct Batch {
    /// The slots' links lead from here to the last one.
    first: u32,
    last: u32,
    slots: u32,
}

impl Batch {
    /// The number of slots that fill a batch. A larger one would save little: the shared write
    /// costs each slot a thirty-second part already.
    pub const SIZE: u32 = 32;
}

impl<T> Slab<T> {
    /// As [`release`](Self::release), into a batch, which is given back when it is full. All slots
    /// of a batch must be from one slab.
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

    /// Gives back the slots of the batch and empties it. Lock-free. Returns true if these were the
    /// last slots of a [retired](Self::retire) slab: then the caller owns the slab.
    pub fn give_back(&self, batch: &mut Batch) -> bool {
        let Batch { first, last, slots } = mem::take(batch);
        slots > 0 && self.push_free(first, self.link(last), slots)
    }
}
