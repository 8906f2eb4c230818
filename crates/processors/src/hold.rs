//! The right to run, as a value: whoever has a processor's [`Hold`] may reach its owner's part, and nobody else.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use filch_sync::CachePadded;
use filch_sync::cell::UnsafeCell;

/// The right to run on one processor. There is one for each processor, wherever it is at the moment: with a machine, as an
/// entry of the idle stack, in a machine's grant, or at rest in the roster.
///
/// It can be handed to another thread, but two may not use it at once: Send, not Sync.
#[derive(PartialEq, Eq)]
#[must_use = "a processor whose hold is dropped never runs again"]
pub struct Hold {
    processor: usize,
    not_sync: PhantomData<Cell<()>>,
}

impl Hold {
    /// The hold of a processor that was given up as a number.
    ///
    /// # Safety
    /// No other hold for that processor exists: the number comes from [`into_number`](Self::into_number) of the only one
    /// there was, which happened before, or the processor is a new one; and nobody else makes a hold of it too.
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

    /// Gives the right up, to whoever is told the number.
    pub fn into_number(self) -> usize {
        self.processor
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold({})", self.processor)
    }
}

/// The owner's part of each processor: only its holder can reach it.
pub(crate) struct Owners<O>(Box<[CachePadded<UnsafeCell<O>>]>);

// SAFETY: an `O` is reached through `get` alone, with the hold of its processor borrowed for as long. There is one such hold,
// and it is not Sync: one thread has it at a time. From thread to thread it goes by one of the edges that `Crew` lists
// (idle stack, grant, roster's lock), each of which is a happens-before edge; so `O` must be Send, and need not be Sync.
unsafe impl<O: Send> Sync for Owners<O> {}

impl<O> Owners<O> {
    pub(crate) fn new(owners: impl IntoIterator<Item = O>) -> Self {
        let pad = |owner| CachePadded::new(UnsafeCell::new(owner));
        Self(owners.into_iter().map(pad).collect())
    }

    /// The owner's part of the processor that `hold` is for: one of the same pool.
    #[inline]
    pub(crate) fn get<'a>(&'a self, hold: &'a Hold) -> &'a O {
        // SAFETY: shared references only, and all of them on the thread that has the hold: see `Sync` above.
        self.0[hold.processor].with(|owner| unsafe { &*owner })
    }
}
