//! A process in its slot: its body while it lives, and then its exit, from the worker that ends the
//! process to the thread that joins it.

use std::mem::ManuallyDrop;
use std::task::{Poll, Waker};
use std::{mem, ptr};

use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::panic::catch_panic;

use crate::Protocol;
use crate::process::context;
use crate::process::error::Exit;
use crate::protocol::debug_fields;
use crate::table::body::Body;

/// The state of a slot's occupant: its body while it lives, then its exit, in the same place.
///
/// | `word` | `content` belongs to |
/// |---|---|
/// | null: the process lives, nobody waits | the submitter, from `occupy` until it makes the process Ready; then the worker that made it Running, until it lets go |
/// | a waiter's word: it lives, and that one is to be told of its end | the same |
/// | `nobody`: it lives, and nobody wants its exit | the same |
/// | `ended`: it has ended | the process's handle, or the call that was left in its place; after these, the last thread out of the slot |
pub struct LifeCell<P: Protocol> {
    word: AtomicPtr<Waiter<P>>,
    content: UnsafeCell<Life<P>>,
}

/// Body and exit in one place: an exit comes when the body is gone.
enum Life<P: Protocol> {
    /// Neither of them.
    Nothing,
    Body(Body<P>),
    Exit(Exit<P>),
}

/// The word of a process that has ended: no waiter lies at an odd address.
fn ended<P: Protocol>() -> *mut Waiter<P> {
    ptr::without_provenance_mut(1)
}

impl<P: Protocol> LifeCell<P> {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicPtr::new(ptr::null_mut()),
            content: UnsafeCell::new(Life::Nothing),
        }
    }

    /// Puts the body into the cell. To be called before `init` runs on it: a body that is prepared
    /// on the stack is moved more often.
    ///
    /// # Safety
    /// The caller is the submitter, before the process became Ready.
    #[expect(
        clippy::mut_from_ref,
        reason = "the cell's point: exclusivity is the caller's duty, which has the slot"
    )]
    pub(crate) unsafe fn begin(&self, body: Body<P>) -> &mut Body<P> {
        // SAFETY: the content is the caller's (contract). What is overwritten is `Nothing`: the
        // last thread out of the slot has cleared it.
        self.content
            .with_mut(|content| unsafe { content.write(Life::Body(body)) });
        // SAFETY: as above.
        match unsafe { self.body() } {
            Some(body) => body,
            None => unreachable!("written just now"),
        }
    }

    /// Returns the body, if there is one.
    ///
    /// # Safety
    /// The caller has the process: it is the worker that made it Running and has not let go; and it
    /// holds no other reference to the body.
    #[expect(
        clippy::mut_from_ref,
        reason = "the cell's point: exclusivity is the caller's duty, by the process state"
    )]
    #[inline]
    pub(crate) unsafe fn body(&self) -> Option<&mut Body<P>> {
        // SAFETY: exclusivity is the caller's obligation, above.
        self.content
            .with_mut(|content| match unsafe { &mut *content } {
                Life::Body(body) => Some(body),
                Life::Nothing | Life::Exit(_) => None,
            })
    }

    /// Ends the process: `exit` makes the exit, which is written to its place and not moved on the
    /// way. Wakes the waiter, or makes the call that was left. A panic in there is
    /// contained, as there is nobody to tell.
    ///
    /// # Safety
    /// The caller ends the process, calls this once, and has a pin on the slot.
    #[inline]
    pub(crate) unsafe fn set(&self, exit: impl FnOnce() -> Exit<P>) {
        // SAFETY: the process lives by the word, and it is the caller who ends it (contract), so
        // that the content is the caller's.
        let _ = unsafe { self.discard() };
        // SAFETY: as above. What is overwritten is `Nothing`.
        self.content
            .with_mut(|content| unsafe { content.write(Life::Exit(exit())) });
        // ORDERING: Release, partner of the Acquires in `await_end` and `is_set`: a thread that
        // sees the end sees the exit. Acquire, partner of the Release in `await_end`: the waiter's
        // box is seen.
        let word = self.word.swap(ended(), Ordering::AcqRel);
        if !word.is_null() {
            // SAFETY: the process has ended. The word was not `ended` yet, so `await_end` has put
            // this there, and it is taken out once.
            unsafe { self.tell(Waiter::from_word(word)) };
        }
    }

    /// Wakes the waiter; or makes its call with the exit. Both are user code.
    ///
    /// # Safety
    /// The process has ended, which the caller has acquired. If the waiter is a call, the handle is
    /// used up, and has left the exit to it.
    unsafe fn tell(&self, waiter: Waiter<P>) {
        let _ = match waiter {
            Waiter::Waker(waker) => catch_panic(|| waker.wake()),
            Waiter::Call(call) => {
                // SAFETY: the caller's.
                let exit = unsafe { self.take() };
                // Without a call, a box of nothing: no allocation.
                catch_panic(|| call.unwrap_or_else(|| Box::new(drop))(exit))
            }
        };
    }

    /// Returns the exit, if it is there; else leaves the waker, in place of the one that was left
    /// before. Lock-free, except for memory; a waker that `is_own` needs none. The process's acts
    /// happen before the return of its exit.
    ///
    /// # Safety
    /// The caller has the process's handle, and calls neither this nor `leave` once it has the
    /// exit. Only the waker of a process of this protocol [is own](crate::Handle::is_own_waker).
    pub unsafe fn poll(&self, waker: &Waker, is_own: bool) -> Poll<Exit<P>> {
        if !self.is_set() {
            // ORDERING: Relaxed: only the address matters. If the end has come since, it has woken
            // the process.
            if is_own && self.word.load(Ordering::Relaxed) == process_word(waker) {
                return Poll::Pending;
            }
            let waiter = Waiter::Waker(waker.clone());
            self.forget();
            if self.await_end(waiter, is_own).is_ok() {
                return Poll::Pending;
            }
        }
        // SAFETY: the process has ended, which was acquired; the exit is the handle's, which the
        // caller has.
        Poll::Ready(unsafe { self.take() })
    }

    /// Returns the slot address of the process whose waker awaits the end, if one does.
    pub(crate) fn awaited_by(&self) -> Option<usize> {
        // ORDERING: Relaxed: only the address matters, for reports.
        let word = self.word.load(Ordering::Relaxed).addr();
        (word & (PROCESS | 1) == PROCESS).then_some(word & !PROCESS)
    }

    /// Drops the waker that was left, if there is one, unless the process has ended. The caller has
    /// the handle, and has not left the exit to others.
    #[inline]
    pub fn forget(&self) {
        // ORDERING: Relaxed: only the address matters, and this thread has left it, or has the
        // handle from the one that did.
        let word = self.word.load(Ordering::Relaxed);
        if !word.is_null() && word != ended() {
            self.take_back(word);
        }
    }

    /// Takes back the waiter that was left. Few handles that are dropped have left one.
    #[cold]
    #[inline(never)]
    fn take_back(&self, word: *mut Waiter<P>) {
        // ORDERING: Relaxed on success: the box is as this thread has made it. Relaxed on failure:
        // the process has ended, and has told the waiter; the caller looks again.
        let withdrawn =
            self.word
                .compare_exchange(word, ptr::null_mut(), Ordering::Relaxed, Ordering::Relaxed);
        if withdrawn.is_ok() {
            // SAFETY: `await_end` has put it there, and it was taken out just now.
            drop(unsafe { Waiter::from_word(word) });
        }
    }

    /// Gives the exit to `call` at the end: on the worker that ends the process, or here, if it has
    /// ended. The process's acts happen before the call. Without a call, the exit is dropped then,
    /// and not by the last thread out of the slot; wait-free. A panic is contained, as there is
    /// nobody to tell.
    ///
    /// # Safety
    /// As for `poll`, and the caller gives the handle's right to the exit up. No waker is left.
    pub unsafe fn leave(&self, call: Option<Box<dyn FnOnce(Exit<P>) + Send>>) {
        if let Err(waiter) = self.await_end(Waiter::Call(call), false) {
            // SAFETY: the process has ended, which was acquired; the rest is the caller's.
            unsafe { self.tell(waiter) };
        }
    }

    /// Leaves a waiter to be told of the end. A process's waker `is_own`.
    ///
    /// # Errors
    /// The waiter, if the process has ended.
    fn await_end(&self, waiter: Waiter<P>, is_own: bool) -> Result<(), Waiter<P>> {
        let word = waiter.into_word(is_own);
        // ORDERING: Release, partner of the swap in `set`, which will read the box. On failure
        // Acquire: as in `is_set`.
        let waits =
            self.word
                .compare_exchange(ptr::null_mut(), word, Ordering::Release, Ordering::Acquire);
        // SAFETY: made just now, and not put there.
        waits
            .map(drop)
            .map_err(|_| unsafe { Waiter::from_word(word) })
    }

    /// Takes the exit out.
    ///
    /// # Safety
    /// The process has ended, which the caller has acquired, and the exit is the caller's.
    pub(crate) unsafe fn take(&self) -> Exit<P> {
        // SAFETY: the caller's.
        let content = self
            .content
            .with_mut(|content| unsafe { mem::replace(&mut *content, Life::Nothing) });
        let Life::Exit(exit) = content else {
            unreachable!("one handle takes the exit, once")
        };
        exit
    }

    /// Drops the content in place: the body of a process that ends, or an exit.
    ///
    /// # Safety
    /// The content is the caller's: for a body, as for `body`.
    ///
    /// # Errors
    /// The message of the destructor's panic; the content is gone all the same.
    pub(crate) unsafe fn discard(&self) -> Result<(), String> {
        self.content.with_mut(|content| {
            // SAFETY: the caller's.
            let content = unsafe { &mut *content };
            match content {
                Life::Nothing => Ok(()),
                _ => catch_panic(|| *content = Life::Nothing),
            }
        })
    }

    /// Checks if the process has ended. Its acts happen before `true`.
    pub fn is_set(&self) -> bool {
        // ORDERING: Acquire, partner of the Release in `set`.
        self.word.load(Ordering::Acquire) == ended()
    }

    /// Clears the cell for the next occupant, and drops an exit that nobody has taken.
    ///
    /// # Safety
    /// The caller is the last thread out of the slot.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: no handle is left, nor the worker that ended the process: theirs were pins, which
        // the caller has acquired.
        let _ = unsafe { self.discard() };
        // ORDERING: Relaxed: published with the slot, by the slab.
        self.word.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

debug_fields!(LifeCell<P>, "LifeCell");

/// A waiter for the end of a process.
enum Waiter<P: Protocol> {
    /// A future, or a thread, which then takes the exit.
    Waker(Waker),
    /// A callback for the exit, which is dropped without one; nobody waits.
    Call(Option<Box<dyn FnOnce(Exit<P>) + Send>>),
}

/// The mark of a process's waker: no box lies at such an address, nor does a slot.
const PROCESS: usize = 2;

/// The word of a process whose handle has [let go](crate::table::LifeCell::leave) of the exit.
fn nobody<P: Protocol>() -> *mut Waiter<P> {
    ptr::without_provenance_mut(3)
}

/// Returns the word of a process's waker: the address that the waker knows it by, marked.
fn process_word<P: Protocol>(waker: &Waker) -> *mut Waiter<P> {
    let data = waker.data().cast_mut().cast::<Waiter<P>>();
    data.map_addr(|address| address | PROCESS)
}

impl<P: Protocol> Waiter<P> {
    /// Turns it into one word, which owns it: the address of its box, unless it is a process's own
    /// waker, or nobody.
    fn into_word(self, is_own: bool) -> *mut Self {
        match self {
            Self::Waker(waker) if is_own => process_word(&ManuallyDrop::new(waker)),
            Self::Call(None) => nobody(),
            boxed => Box::into_raw(Box::new(boxed)),
        }
    }

    /// Returns the waiter of that word.
    ///
    /// # Safety
    /// `into_word` has made it, and it is used up.
    unsafe fn from_word(word: *mut Self) -> Self {
        if word == nobody() {
            return Self::Call(None);
        }
        if word.addr() & PROCESS == 0 {
            // SAFETY: a box, then, which is the caller's (contract).
            return *unsafe { Box::from_raw(word) };
        }
        let data = word.map_addr(|address| address & !PROCESS);
        // SAFETY: of a waker that `into_word` has not dropped (contract).
        Self::Waker(unsafe { context::from_data::<P>(data.cast()) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
