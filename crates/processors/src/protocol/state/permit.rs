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

/// The cell in which a machine keeps its permit while it runs tasks. Read several times per task,
/// it is a word and no `RefCell`, whose count each look would write twice.
pub(crate) struct PermitCell(Cell<usize>);

/// No permit: more than any processor's number.
const NO_PERMIT: usize = usize::MAX;

impl PermitCell {
    /// Makes a cell without a permit.
    pub(crate) fn empty() -> Self {
        Self(Cell::new(NO_PERMIT))
    }

    /// The number of the processor, if there is a permit.
    #[inline]
    pub(crate) fn processor(&self) -> Option<usize> {
        Some(self.0.get()).filter(|&number| number != NO_PERMIT)
    }

    /// Calls `look` with the permit, if there is one.
    ///
    /// # Safety
    /// `look` leaves this cell alone: what it took out would be a second permit.
    #[inline]
    pub(crate) unsafe fn with<R>(&self, look: impl FnOnce(&Permit) -> R) -> Option<R> {
        // SAFETY: the number is that of a permit which `replace` has taken apart, and which is not
        // made again while `look` has this one (contract).
        let permit = unsafe { Permit::from_number(self.processor()?) };
        Some(look(&permit))
    }

    /// Takes the permit out.
    #[inline]
    pub(crate) fn take(&self) -> Option<Permit> {
        self.replace(None)
    }

    /// Puts another one in its place, or none, and returns it.
    #[inline]
    pub(crate) fn replace(&self, permit: Option<Permit>) -> Option<Permit> {
        let number = self.processor();
        self.0.set(permit.map_or(NO_PERMIT, Permit::into_number));
        // SAFETY: the number is that of a permit which an earlier call has taken apart, and it is
        // not here any more.
        number.map(|number| unsafe { Permit::from_number(number) })
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

#[cfg(test)]
mod tests {
    use super::{Permit, PermitCell};

    #[test]
    fn a_permit_is_in_one_place() {
        // SAFETY: the only one, of a pool that does not exist.
        let permit = unsafe { Permit::from_number(3) };
        let cell = PermitCell::empty();
        assert!(cell.processor().is_none() && cell.take().is_none());
        assert!(cell.replace(Some(permit)).is_none());
        assert_eq!(cell.processor(), Some(3));
        // SAFETY: `processor` does not touch the cell.
        assert_eq!(unsafe { cell.with(Permit::processor) }, Some(3));
        let permit = cell.take().expect("put there before");
        assert_eq!(permit.processor(), 3);
        assert!(cell.processor().is_none() && cell.take().is_none());
        // SAFETY: as above.
        assert_eq!(unsafe { cell.with(Permit::processor) }, None);
    }
}
