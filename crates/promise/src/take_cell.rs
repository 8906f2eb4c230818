//! The cell whose value the first that comes for it takes. The README draws its states.

use core::fmt;
use core::mem::MaybeUninit;

use filch_sync::atomic::{AtomicU8, Ordering};
use filch_sync::cell::UnsafeCell;

/// The value is yet to be put there.
const EMPTY: u8 = 0;
/// The value is there.
const FULL: u8 = 1;
/// Somebody has come for the value.
const TAKEN: u8 = 2;

/// A value that goes to the first that [takes](Self::take) it: what a deadline, a cancellation and
/// an answer race for.
///
/// | field | who touches it |
/// |---|---|
/// | `state` | all: it decides who may touch the value |
/// | `value` | the one that puts it, before its exchange makes the state `FULL`; then the one whose swap finds that; and an exclusive borrow, which may fill it anew |
///
/// The value is there exactly while the state is `FULL`.
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
///
/// use filch_promise::TakeCell;
///
/// let cell = Arc::new(TakeCell::new("the last seat"));
/// let other = Arc::clone(&cell);
/// let other = thread::spawn(move || other.take());
/// let mine = cell.take();
/// assert!(mine.is_some() != other.join().unwrap().is_some());
/// ```
pub struct TakeCell<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value goes from thread to thread, as the table says.
unsafe impl<T: Send> Send for TakeCell<T> {}
// SAFETY: as above; no `&T` is ever shared.
unsafe impl<T: Send> Sync for TakeCell<T> {}

impl<T> TakeCell<T> {
    /// With a value.
    pub fn new(value: T) -> Self {
        Self {
            state: AtomicU8::new(FULL),
            value: UnsafeCell::new(MaybeUninit::new(value)),
        }
    }

    /// Without a value, which is to be [put](Self::put) there.
    pub fn empty() -> Self {
        Self {
            state: AtomicU8::new(EMPTY),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Puts the value there. Wait-free.
    ///
    /// What the caller did before happens before the [`take`](Self::take) that gets the value.
    ///
    /// # Errors
    /// The value, if somebody has come for it before.
    ///
    /// # Safety
    /// The cell was made [empty](Self::empty), was never [filled](Self::fill), and this is called
    /// once.
    pub unsafe fn put(&self, value: T) -> Result<(), T> {
        // SAFETY: until the state is FULL the cell is the caller's, which alone makes it so.
        self.value.with_mut(|cell| unsafe { (*cell).write(value) });
        // ORDERING: Release, partner of the Acquire in `take`: the value is seen. Relaxed on
        // failure: what has come for it has touched nothing.
        let full = self
            .state
            .compare_exchange(EMPTY, FULL, Ordering::Release, Ordering::Relaxed);
        match full {
            Ok(_) => Ok(()),
            // SAFETY: the value is in its cell, and the state, which is TAKEN, was never FULL.
            Err(_) => Err(unsafe { self.read() }),
        }
    }

    /// Puts the value there, in place of what is there, or was taken. Wait-free, except for what is
    /// dropped.
    pub fn fill(&mut self, value: T) {
        drop(self.take());
        // SAFETY: the borrow is exclusive.
        self.value.with_mut(|cell| unsafe { (*cell).write(value) });
        self.state = AtomicU8::new(FULL);
    }

    /// The value, if it is there, and nobody has come for it before. Nobody who comes later gets
    /// it, nor does one that is put there later. Wait-free.
    pub fn take(&self) -> Option<T> {
        // ORDERING: Acquire, partner of the Release in `put`: the value is seen. One that was there
        // from the start came with the reference to this.
        if self.state.swap(TAKEN, Ordering::Acquire) != FULL {
            return None;
        }
        // SAFETY: the state was FULL, and this swap alone has found that: the value is ours.
        Some(unsafe { self.read() })
    }

    /// Moves the value out.
    ///
    /// # Safety
    /// It is there, and the caller's. It is not read again.
    unsafe fn read(&self) -> T {
        // SAFETY: the caller's.
        self.value
            .with(|cell| unsafe { (*cell).assume_init_read() })
    }

    /// Whether somebody has come for the value. Wait-free.
    pub fn is_taken(&self) -> bool {
        // ORDERING: Relaxed: nothing is read because of it.
        self.state.load(Ordering::Relaxed) == TAKEN
    }
}

impl<T> Drop for TakeCell<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T> fmt::Debug for TakeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakeCell")
            .field("taken", &self.is_taken())
            .finish_non_exhaustive()
    }
}
