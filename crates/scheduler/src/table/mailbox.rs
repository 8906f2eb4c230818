//! What a process takes of messages: all, none, or what its policy says.

use std::ptr;

use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::panic::drop_contained;

use crate::table::inline_box::InlineBox;
use crate::{MailboxPolicy, Protocol};

/// A policy behind a pointer of one word. Twelve words are those of a count and a line of senders.
type Policy<P> = InlineBox<dyn MailboxPolicy<P>, 12>;

/// What a process takes of messages.
#[derive(Debug, Default)]
pub enum Takes<P: Protocol> {
    /// As many as are sent.
    #[default]
    All,
    /// None: it is a future, which has no use for them.
    None,
    /// What that says.
    By(Box<Policy<P>>),
}

impl<P: Protocol> Takes<P> {
    /// What `policy` says. One allocation.
    pub(crate) fn by<T: MailboxPolicy<P>>(policy: T) -> Self {
        // SAFETY: the cast keeps the address.
        let policy = unsafe { Policy::new(policy, |room| room.cast::<T>(), |one| Box::new(one)) };
        Self::By(Box::new(policy))
    }
}

/// The same, in one word of a slot: null, `none`, or the address of a box, which is the slot's.
#[derive(Debug)]
pub struct Mailbox<P: Protocol>(AtomicPtr<Policy<P>>);

/// No policy lies at an odd address.
fn none<P: Protocol>() -> *mut Policy<P> {
    ptr::without_provenance_mut(1)
}

impl<P: Protocol> Mailbox<P> {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::default())
    }

    /// For a new occupant, before `occupy` publishes it.
    #[inline]
    pub(crate) fn open(&self, takes: Takes<P>) {
        let word = match takes {
            Takes::All => ptr::null_mut(),
            Takes::None => none(),
            Takes::By(policy) => Box::into_raw(policy),
        };
        // ORDERING: Relaxed: `Occupancy::occupy` releases it to the threads that get a pin.
        self.0.store(word, Ordering::Relaxed);
    }

    /// The occupant takes messages from now on, if it took none. The caller has the process.
    pub(crate) fn unclose(&self) {
        // ORDERING: Relaxed, both: only the worker that has the process changes it. A sender that
        // does not see it yet is refused, as it was before; one that sees it pushes after this, so
        // the message is drained after this.
        if self.0.load(Ordering::Relaxed) == none() {
            self.0.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// Whether not all messages are taken. Without a pin a hint, which may be about another
    /// occupant.
    #[inline]
    pub fn is_limited(&self) -> bool {
        // ORDERING: Relaxed: a thread that has a pin, or got the PID from the submitter, sees what
        // was stored before `occupy`. An answer about another occupant does no harm: a sender that
        // is told "limited" pins, and the queue refuses items for another generation.
        !self.0.load(Ordering::Relaxed).is_null()
    }

    /// Whether none is taken.
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Relaxed: see `unclose`.
        self.0.load(Ordering::Relaxed) == none()
    }

    /// The policy, if there is one.
    ///
    /// # Safety
    /// The caller holds a pin on the slot for as long as it uses the result, or has the process.
    pub(crate) unsafe fn policy(&self) -> Option<&dyn MailboxPolicy<P>> {
        // ORDERING: Relaxed: it was stored before `occupy`, whose Release the pin has acquired.
        let word = self.0.load(Ordering::Relaxed);
        if word.is_null() || word == none() {
            return None;
        }
        // SAFETY: `open` has put a box there, and the last thread out takes it: not before the pin
        // is given back (contract).
        Some(unsafe { &**word })
    }

    /// Ready for the next occupant.
    ///
    /// # Safety
    /// The caller is the last thread out of the slot.
    pub(crate) unsafe fn clear(&self) {
        // ORDERING: Relaxed, both: no pin is left, and the slab hands the slot on.
        let word = self.0.load(Ordering::Relaxed);
        if !word.is_null() {
            self.0.store(ptr::null_mut(), Ordering::Relaxed);
            // SAFETY: `open` has put it there, and nobody uses it any more.
            unsafe { drop_word(word) };
        }
    }
}

/// # Safety
/// It is not null, came from `open`, and nobody uses it any more.
#[cold]
#[inline(never)]
unsafe fn drop_word<P: Protocol>(word: *mut Policy<P>) {
    if word != none() {
        // SAFETY: a box (contract). Its destructor is user code.
        drop_contained(unsafe { Box::from_raw(word) });
    }
}
