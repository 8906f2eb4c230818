//! The right to run, as a value: whoever has a processor's [`Hold`] may reach its owner's part, and
//! nobody else.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use filch_sync::CachePadded;
use filch_sync::cell::UnsafeCell;

/// The right to run on one processor. There is one for each processor, wherever it is at the
/// moment: with a machine, as an entry of the idle stack, in a machine's grant, or at rest in the
/// roster.
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
    /// No other hold for that processor exists: the number comes from
    /// [`into_number`](Self::into_number) of the only one there was, which happened before, or the
    /// processor is a new one; and nobody else makes a hold of it too.
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

/// Where a machine has its hold while it runs tasks. Several times a task somebody looks into it,
/// so it is a word, and no `RefCell`, whose count each of them would write twice.
pub(crate) struct HoldCell(Cell<usize>);

/// No hold: more than any processor's number.
const NO_HOLD: usize = usize::MAX;

impl HoldCell {
    /// Without a hold.
    pub(crate) fn empty() -> Self {
        Self(Cell::new(NO_HOLD))
    }

    /// The number of the processor, if there is a hold.
    #[inline]
    pub(crate) fn processor(&self) -> Option<usize> {
        Some(self.0.get()).filter(|&number| number != NO_HOLD)
    }

    /// Calls `look` with the hold, if there is one.
    ///
    /// # Safety
    /// `look` leaves this cell alone: what it took out would be a second hold.
    #[inline]
    pub(crate) unsafe fn with<R>(&self, look: impl FnOnce(&Hold) -> R) -> Option<R> {
        // SAFETY: the number is that of a hold which `replace` has taken apart, and which nobody
        // makes again while `look` has this one (contract).
        let hold = unsafe { Hold::from_number(self.processor()?) };
        Some(look(&hold))
    }

    /// Takes the hold out.
    #[inline]
    pub(crate) fn take(&self) -> Option<Hold> {
        self.replace(None)
    }

    /// Puts another one in its place, or none, and returns it.
    #[inline]
    pub(crate) fn replace(&self, hold: Option<Hold>) -> Option<Hold> {
        let number = self.processor();
        self.0.set(hold.map_or(NO_HOLD, Hold::into_number));
        // SAFETY: the number is that of a hold which an earlier call has taken apart, and it is not
        // here any more.
        number.map(|number| unsafe { Hold::from_number(number) })
    }
}

/// The owner's part of each processor: only its holder can reach it.
pub(crate) struct Owners<O>(Box<[CachePadded<UnsafeCell<O>>]>);

// SAFETY: an `O` is reached through `get` alone, with the hold of its processor borrowed for as
// long. There is one such hold, and it is not Sync: one thread has it at a time. From thread to
// thread it goes by one of the edges that `Crew` lists (idle stack, grant, roster's lock), each of
// which is a happens-before edge; so `O` must be Send, and need not be Sync.
unsafe impl<O: Send> Sync for Owners<O> {}

impl<O> Owners<O> {
    pub(crate) fn new(owners: impl IntoIterator<Item = O>) -> Self {
        let pad = |owner| CachePadded::new(UnsafeCell::new(owner));
        Self(owners.into_iter().map(pad).collect())
    }

    /// The owner's part of the processor that `hold` is for: one of the same pool.
    #[inline]
    pub(crate) fn get<'a>(&'a self, hold: &'a Hold) -> &'a O {
        // SAFETY: shared references only, and all of them on the thread that has the hold: see
        // `Sync` above.
        self.0[hold.processor].with(|owner| unsafe { &*owner })
    }
}

#[cfg(test)]
mod tests {
    use super::{Hold, HoldCell};

    #[test]
    fn a_hold_is_in_one_place() {
        // SAFETY: the only one, of a pool that is not there.
        let hold = unsafe { Hold::from_number(3) };
        let cell = HoldCell::empty();
        assert!(cell.processor().is_none() && cell.take().is_none());
        assert!(cell.replace(Some(hold)).is_none());
        assert_eq!(cell.processor(), Some(3));
        // SAFETY: `processor` does not touch the cell.
        assert_eq!(unsafe { cell.with(Hold::processor) }, Some(3));
        let hold = cell.take().expect("put there before");
        assert_eq!(hold.processor(), 3);
        assert!(cell.processor().is_none() && cell.take().is_none());
        // SAFETY: as above.
        assert_eq!(unsafe { cell.with(Hold::processor) }, None);
    }
}
