//! A value with two owners; the first to take it gets it. The README describes the protocol.

use alloc::boxed::Box;
use core::fmt;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

use filch_sync::atomic::{AtomicU8, Ordering};
use filch_sync::cell::UnsafeCell;

/// Both owners are there.
const BOTH: u8 = 0;
/// One has gone, and left the value to the other.
const LEFT: u8 = 1;
/// One has gone with the value.
const TAKEN: u8 = 2;

/// One of the two owners of a value; the first to [take](Self::take) it gets it. For a deadline
/// that races an answer, or a cancellation that races its target. The block also holds what both
/// share, until the second owner goes.
///
/// | field | who touches it |
/// |---|---|
/// | `state` | each owner once, as it goes: it decides who has the value, and who frees the memory |
/// | `value` | each owner reads its bytes before it goes; they are a value for the one that has it |
/// | `shared` | both, as a shared reference, before they go; then the second, which drops it |
///
/// ```
/// use std::thread;
///
/// let (deadline, answer) = filch_promise::take_once("the last seat");
/// let other = thread::spawn(move || deadline.take());
/// let mine = answer.take();
/// assert!(mine.is_some() != other.join().unwrap().is_some());
/// ```
#[must_use = "dropping it leaves the value to the other owner"]
pub struct TakeOnce<T, S = ()> {
    block: NonNull<Block<T, S>>,
}

struct Block<T, S> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
    shared: S,
}

// SAFETY: the value goes to one of the threads, what is shared is Sync, and dropped by either.
unsafe impl<T: Send, S: Send + Sync> Send for TakeOnce<T, S> {}
// SAFETY: by a reference there is only what is shared.
unsafe impl<T: Send, S: Send + Sync> Sync for TakeOnce<T, S> {}

/// Makes the two owners of `value`, in one allocation.
pub fn take_once<T>(value: T) -> (TakeOnce<T>, TakeOnce<T>) {
    take_once_with(value, ())
}

/// Makes the two owners of `value`, which also share `shared`.
#[inline]
pub fn take_once_with<T, S>(value: T, shared: S) -> (TakeOnce<T, S>, TakeOnce<T, S>) {
    let mut block = Box::new_uninit();
    // Where it stays. Moved there as a whole, it would be read right after it was written in
    // pieces, which waits for all of these.
    block.write(Block {
        state: AtomicU8::new(BOTH),
        value: UnsafeCell::new(MaybeUninit::new(value)),
        shared,
    });
    // SAFETY: it has just been written.
    let block = NonNull::from(Box::leak(unsafe { block.assume_init() }));
    (TakeOnce { block }, TakeOnce { block })
}

impl<T, S> TakeOnce<T, S> {
    /// Takes the value, unless the other owner has taken it. Wait-free, except that the second
    /// owner drops what is shared.
    ///
    /// If the other owner has gone, its earlier acts happen before the return.
    #[inline]
    pub fn take(self) -> Option<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the owner goes with this.
        unsafe { this.go(TAKEN) }
    }

    /// Checks if the other owner has taken the value. Wait-free.
    pub fn is_taken(&self) -> bool {
        // ORDERING: Relaxed: nothing is read because of it.
        self.block().state.load(Ordering::Relaxed) == TAKEN
    }

    /// Returns what both owners share.
    pub fn shared(&self) -> &S {
        &self.block().shared
    }

    /// Turns the owner into an address, for code that does not know its type.
    #[inline]
    pub fn into_raw(self) -> *const () {
        ManuallyDrop::new(self).block.as_ptr().cast()
    }

    /// Turns the address back into the owner.
    ///
    /// # Safety
    /// The address is from [`into_raw`](Self::into_raw) of an owner of this type, and used once.
    #[inline]
    pub unsafe fn from_raw(address: *const ()) -> Self {
        // SAFETY: a block's address is not null (contract).
        let block = unsafe { NonNull::new_unchecked(address.cast_mut().cast()) };
        Self { block }
    }

    fn block(&self) -> &Block<T, S> {
        // SAFETY: the second owner that goes frees it, and this one is there.
        unsafe { self.block.as_ref() }
    }

    /// Lets the owner go with state `how`. Returns the value if it becomes this owner's: it takes a
    /// value that nobody has taken, or goes second and the first has left the value.
    ///
    /// # Safety
    /// The owner is not used any more.
    #[inline]
    unsafe fn go(&self, how: u8) -> Option<T> {
        let block = self.block();
        // Its bytes, before the other owner may free them.
        // SAFETY: nobody writes there, and what is read may be uninitialised.
        let value = block.value.with(|value| unsafe { value.read() });
        // ORDERING: Release, partner of the Acquire here in the owner that goes second: all that
        // this one has done with the block comes before it is freed. Acquire: that owner is this.
        let before = block.state.swap(how, Ordering::AcqRel);
        if before != BOTH {
            // SAFETY: both have gone, and the first does not touch it any more.
            drop(unsafe { Box::from_raw(self.block.as_ptr()) });
        }
        let is_ours = if before == BOTH {
            how == TAKEN
        } else {
            before == LEFT
        };
        // SAFETY: it was there from the start, and of all swaps one alone has this answer: the
        // first that takes it; or the second, where the first has left it.
        is_ours.then(|| unsafe { value.assume_init() })
    }
}

impl<T, S> Drop for TakeOnce<T, S> {
    /// Leaves the value to the other owner; the second owner to leave it drops it.
    fn drop(&mut self) {
        // SAFETY: the owner is dropped.
        drop(unsafe { self.go(LEFT) });
    }
}

impl<T, S> fmt::Debug for TakeOnce<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakeOnce")
            .field("is_taken", &self.is_taken())
            .finish_non_exhaustive()
    }
}
