//! The right to run on a processor, as a value: only the thread that has a processor's [`Permit`]
//! reaches its local part.

use std::cell::Cell;
use std::marker::PhantomData;

use filch_sync::CachePadded;
use filch_sync::cell::UnsafeCell;

/// The right to run on one processor. There is one for each processor, wherever it is at the
/// moment: with a machine, as an entry of the idle stack, in a machine's grant, or inactive under
/// the lock.
///
/// It can be handed to another thread, but two may not use it at once: Send, not Sync.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a processor whose permit is dropped never runs again"]
pub struct Permit {
    processor: usize,
    not_sync: PhantomData<Cell<()>>,
}

impl Permit {
    /// The permit of a processor that was given up as a number.
    ///
    /// # Safety
    /// No other permit for that processor exists: the number comes from
    /// [`into_number`](Self::into_number) of the only one there was, which happened before, or the
    /// processor is a new one; and no other thread makes a permit of the number too.
    pub unsafe fn from_number(processor: usize) -> Self {
        Self {
            processor,
            not_sync: PhantomData,
        }
    }

    /// The number of the processor.
    pub fn processor(&self) -> usize {
        self.processor
    }

    /// Gives the right up, to the thread that is told the number.
    pub fn into_number(self) -> usize {
        self.processor
    }
}

/// The local part of each processor: only the thread with its permit reaches it.
pub(crate) struct Locals<L>(Box<[CachePadded<UnsafeCell<L>>]>);

// SAFETY: an `L` is reached through `get` alone, with the permit of its processor borrowed for as
// long. There is one such permit, and it is not Sync: one thread has it at a time. From thread to
// thread it goes by one of the edges that `coordinator.rs` lists (idle stack, grant, lock), each of
// which is a happens-before edge; so `L` must be Send, and need not be Sync.
unsafe impl<L: Send> Sync for Locals<L> {}

impl<L> Locals<L> {
    pub(crate) fn new(locals: impl IntoIterator<Item = L>) -> Self {
        let pad = |local| CachePadded::new(UnsafeCell::new(local));
        Self(locals.into_iter().map(pad).collect())
    }

    /// The local part of the processor that `permit` is for: one of the same pool.
    #[inline]
    pub(crate) fn get<'a>(&'a self, permit: &'a Permit) -> &'a L {
        // SAFETY: shared references only, and all of them on the thread that has the permit: see
        // `Sync` above.
        self.0[permit.processor].with(|local| unsafe { &*local })
    }
}
