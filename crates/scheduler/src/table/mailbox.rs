//! The messages that a process takes: all, none, or those that its policy chooses.

use std::mem::ManuallyDrop;
use std::ptr;

use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::panic::drop_contained;

use crate::table::inline_box::InlineBox;
use crate::{MailboxPolicy, Protocol};

/// A policy behind a one-word pointer. Twelve words have room for a count and a queue of senders.
type Policy<P> = InlineBox<dyn MailboxPolicy<P>, 12>;

/// The messages that a process takes, in one word: null takes all; one value takes none; else it is
/// the address of a box with the policy.
#[derive(Debug)]
pub struct Takes<P: Protocol>(*mut Policy<P>);

// SAFETY: it stands for a box of a policy, which is Send and Sync.
unsafe impl<P: Protocol> Send for Takes<P> {}
// SAFETY: as above.
unsafe impl<P: Protocol> Sync for Takes<P> {}

/// The word of a process that takes none: no policy lies at an odd address.
fn none<P: Protocol>() -> *mut Policy<P> {
    ptr::without_provenance_mut(1)
}

impl<P: Protocol> Default for Takes<P> {
    /// Takes all messages.
    fn default() -> Self {
        Self(ptr::null_mut())
    }
}

impl<P: Protocol> Takes<P> {
    /// Takes no messages: for a future, which has no use for them.
    pub fn none() -> Self {
        Self(none())
    }

    /// Takes messages as `policy` decides. One allocation.
    pub(crate) fn by<T: MailboxPolicy<P>>(policy: T) -> Self {
        // SAFETY: the cast keeps the address.
        let policy = unsafe { Policy::new(policy, |room| room.cast::<T>(), |one| Box::new(one)) };
        Self(Box::into_raw(Box::new(policy)))
    }
}

impl<P: Protocol> Drop for Takes<P> {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: this is dropped, and so is its box.
            unsafe { drop_word(self.0) };
        }
    }
}

/// # Safety
/// The word is not null, is that of a [`Takes`], and is not used any more.
#[cold]
#[inline(never)]
unsafe fn drop_word<P: Protocol>(word: *mut Policy<P>) {
    if word != none() {
        // SAFETY: `by` has made it of a box (contract). Its destructor is user code.
        drop_contained(unsafe { Box::from_raw(word) });
    }
}

/// The [`Takes`] of a slot's occupant; it owns the box.
#[derive(Debug)]
pub struct Mailbox<P: Protocol>(AtomicPtr<Policy<P>>);

impl<P: Protocol> Mailbox<P> {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::default())
    }

    /// Sets it for a new occupant, before `occupy` publishes it.
    #[inline]
    pub(crate) fn open(&self, takes: Takes<P>) {
        let word = ManuallyDrop::new(takes).0;
        // ORDERING: Relaxed: `Occupancy::occupy` releases it to the threads that get a pin.
        self.0.store(word, Ordering::Relaxed);
    }

    /// Opens a mailbox that took no messages. The caller has the process.
    pub(crate) fn unclose(&self) {
        // ORDERING: Relaxed, both: only the worker that has the process changes it. A sender that
        // does not see it yet is refused, as it was before; one that sees it pushes after this, so
        // the message is drained after this.
        if self.0.load(Ordering::Relaxed) == none() {
            self.0.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// Checks if not all messages are taken. Without a pin it is a hint, perhaps about another
    /// occupant.
    #[inline]
    pub fn is_limited(&self) -> bool {
        // ORDERING: Relaxed: a thread that has a pin, or got the PID from the submitter, sees what
        // was stored before `occupy`. An answer about another occupant does no harm: a sender that
        // is told "limited" pins, and the queue refuses items for another generation.
        !self.0.load(Ordering::Relaxed).is_null()
    }

    /// Checks if no message is taken.
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Relaxed: see `unclose`.
        self.0.load(Ordering::Relaxed) == none()
    }

    /// Returns the policy, if there is one.
    ///
    /// # Safety
    /// The caller holds a pin on the slot for as long as it uses the result, or has the process.
    pub(crate) unsafe fn policy(&self) -> Option<&dyn MailboxPolicy<P>> {
        // ORDERING: Relaxed: it was stored before `occupy`, whose Release the pin has acquired.
        let word = self.0.load(Ordering::Relaxed);
        if word.is_null() || word == none() {
            return None;
        }
        // SAFETY: `open` has put a box's address there, and the last thread out takes it: not
        // before the pin is given back (contract).
        Some(unsafe { &**word })
    }

    /// Clears it for the next occupant.
    ///
    /// # Safety
    /// The caller is the last thread out of the slot.
    pub(crate) unsafe fn clear(&self) {
        // ORDERING: Relaxed, both: no pin is left, and the slab hands the slot on.
        let word = self.0.load(Ordering::Relaxed);
        if !word.is_null() {
            self.0.store(ptr::null_mut(), Ordering::Relaxed);
            drop(Takes(word));
        }
    }
}
