//! A process in its slot: its body while it lives, and then its exit, from the worker that ends the
//! process to the thread that joins it.

use std::mem::ManuallyDrop;
use std::task::{Poll, Waker};
use std::time::Instant;
use std::{fmt, mem, ptr};

use filch_parker::Parker;
use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::panic::{catch_panic, drop_contained};

use crate::Protocol;
use crate::process::error::Exit;
use crate::table::body::Body;
use crate::table::waiter::{Left, PROCESS, Waiter, Waiting, marked};

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

/// The word of a process whose handle has [let go](LifeCell::let_go) of the exit.
fn nobody<P: Protocol>() -> *mut Waiter<P> {
    ptr::without_provenance_mut(3)
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
        self.content.with_mut(|content| {
            // SAFETY: the content is the caller's (contract). What is overwritten is `Nothing`: the
            // last thread out of the slot has cleared it.
            let content = unsafe {
                content.write(Life::Body(body));
                &mut *content
            };
            match content {
                Life::Body(body) => body,
                Life::Nothing | Life::Exit(_) => unreachable!("written just now"),
            }
        })
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

    /// Drops the body in place, if there is one: the process ends.
    ///
    /// # Safety
    /// As for `body`.
    ///
    /// # Panics
    /// If the body's destructor does; it is gone then.
    pub unsafe fn drop_body(&self) {
        // SAFETY: exclusivity is the caller's obligation, above.
        self.content
            .with_mut(|content| unsafe { *content = Life::Nothing });
    }

    /// Ends the process: `exit` makes the exit, which is written to its place and not moved on the
    /// way. Wakes the waiting thread, or makes the call that was left. A panic in there is
    /// contained, as there is nobody to tell.
    ///
    /// # Safety
    /// The caller ends the process, calls this once, and has a pin on the slot.
    #[inline]
    pub(crate) unsafe fn set(&self, exit: impl FnOnce() -> Exit<P>) {
        // SAFETY: the process lives by the word, and it is the caller who ends it (contract), so
        // that the content is the caller's.
        unsafe { self.discard() };
        // SAFETY: as above. What is overwritten is `Nothing`.
        self.content
            .with_mut(|content| unsafe { content.write(Life::Exit(exit())) });
        // SAFETY: the exit is there, and the rest is the caller's.
        unsafe { self.announce() };
    }

    /// # Safety
    /// As for `set`, and the exit is there.
    unsafe fn announce(&self) {
        // ORDERING: Release, partner of the Acquires in `await_end` and `is_set`: a thread that
        // sees the end sees the exit. Acquire, partner of the Release in `await_end`: the waiter's
        // box is seen.
        let waiter = self.word.swap(ended(), Ordering::AcqRel);
        if waiter.is_null() {
            return;
        }
        if waiter == nobody() {
            // SAFETY: the handle has left the exit to this thread.
            unsafe { self.discard() };
            return;
        }
        // The word was not `ended` yet, so `await_end` has put this there; it is taken out once.
        match Left(waiter).open() {
            Waiter::Thread(unparker) => {
                let _ = unparker.unpark();
            }
            // It is user code.
            Waiter::Future(waker) => drop_contained(catch_panic(|| waker.wake())),
            Waiter::Call(call) => {
                // SAFETY: the process has ended; the handle is used up, and has left the exit to
                // the call.
                let exit = unsafe { self.take() };
                let _ = catch_panic(|| call(exit));
            }
        }
    }

    /// Blocks until the end, and returns the exit; or `None` at the `deadline`, if there is one.
    /// The process's acts happen before the return of its exit.
    ///
    /// # Safety
    /// The caller has the process's handle, and calls neither this nor `watch` once it has the
    /// exit.
    pub unsafe fn wait(&self, deadline: Option<Instant>) -> Option<Exit<P>> {
        if !self.is_set() {
            let parker = Parker::new();
            let waiter = Left::boxed(Waiter::Thread(parker.unparker()));
            if let Ok(waiter) = self.await_end(waiter) {
                while !self.is_set() {
                    let woken = match deadline {
                        Some(deadline) => parker.park_deadline(deadline),
                        None => {
                            parker.park();
                            true
                        }
                    };
                    if !woken && self.withdraw(waiter).is_some() {
                        return None;
                    }
                }
            }
        }
        // SAFETY: the process has ended, which was acquired; the exit is the handle's, which the
        // caller has.
        Some(unsafe { self.take() })
    }

    /// Returns the exit, if it is there; else leaves the waker, in place of the one that `waiting`
    /// remembers. Lock-free, except for memory; a waker that `is_own` needs none.
    ///
    /// # Safety
    /// As for `wait`; `waiting` is the handle's; and only the waker of a process of this protocol
    /// [is own](crate::Handle::is_own_waker).
    pub unsafe fn poll(&self, waiting: &mut Waiting, waker: &Waker, is_own: bool) -> Poll<Exit<P>> {
        if !self.is_set() {
            if is_own && waiting.0 == marked::<P>(waker).addr() {
                // It is there, unless the end has come since, which has woken it.
                return Poll::Pending;
            }
            let waiter = match self.take_back(waiting) {
                Some(left) if !is_own && left.0.addr() & PROCESS == 0 => {
                    // SAFETY: a box, which is this handle's again.
                    if let Waiter::Future(own) = unsafe { &mut *left.0 } {
                        own.clone_from(waker);
                    }
                    left
                }
                _ => Left::waker(waker, is_own),
            };
            if let Ok(waiter) = self.await_end(waiter) {
                waiting.0 = waiter.addr();
                return Poll::Pending;
            }
        }
        waiting.0 = 0;
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

    /// Takes back and drops the waker that was left, unless the process has ended.
    pub fn forget(&self, waiting: &mut Waiting) {
        drop(self.take_back(waiting));
    }

    /// Takes back the waiter that was left with a waker, unless the process has ended.
    fn take_back(&self, waiting: &mut Waiting) -> Option<Left<P>> {
        let address = mem::take(&mut waiting.0);
        // ORDERING: Relaxed: only the address matters, and this thread has left it, or has the
        // handle from the one that did.
        let word = self.word.load(Ordering::Relaxed);
        if address == 0 || word.addr() != address {
            return None;
        }
        self.withdraw(word)
    }

    /// Calls `call` at the end: on the worker that ends the process, or here, if it has ended. The
    /// process's acts happen before the call.
    ///
    /// # Safety
    /// As for `wait`, and the caller gives the handle up.
    pub unsafe fn watch(&self, call: Box<dyn FnOnce(Exit<P>) + Send>) {
        if let Err(waiter) = self.await_end(Left::boxed(Waiter::Call(call)))
            && let Waiter::Call(call) = waiter.open()
        {
            // SAFETY: the process has ended, which was acquired; the exit is the handle's, which
            // the caller has.
            call(unsafe { self.take() });
        }
    }

    /// Gives the exit up: it is dropped when the process ends, or here, if it has ended. Without
    /// this it stays until the last thread is out of the slot. A panic of its destructor is
    /// contained, as there is nobody to tell. Wait-free.
    ///
    /// # Safety
    /// As for `wait`, and the caller gives the handle's right to the exit up.
    pub unsafe fn let_go(&self) {
        // ORDERING: Relaxed on success: the thread that ends the process has nothing to see of
        // this one. On failure Acquire: as in `is_set`.
        let left = self.word.compare_exchange(
            ptr::null_mut(),
            nobody(),
            Ordering::Relaxed,
            Ordering::Acquire,
        );
        if left.is_err() {
            // SAFETY: the process has ended, which was acquired; the exit is the handle's, which
            // the caller has.
            unsafe { self.discard() };
        }
    }

    /// Leaves a waiter to be told of the end, and returns its word, for `withdraw`.
    ///
    /// # Errors
    /// The waiter, if the process has ended.
    fn await_end(&self, waiter: Left<P>) -> Result<*mut Waiter<P>, Left<P>> {
        let waiter = ManuallyDrop::new(waiter).0;
        // ORDERING: Release, partner of the swap in `set`, which will read the box. On failure
        // Acquire: as in `is_set`.
        let waits = self.word.compare_exchange(
            ptr::null_mut(),
            waiter,
            Ordering::Release,
            Ordering::Acquire,
        );
        match waits {
            Ok(_) => Ok(waiter),
            Err(_) => Err(Left(waiter)),
        }
    }

    /// Takes the waiter back, unless the process has ended.
    fn withdraw(&self, waiter: *mut Waiter<P>) -> Option<Left<P>> {
        // ORDERING: Relaxed on success: the box is as this thread has made it. Relaxed on failure:
        // the caller looks again.
        let withdrawn = self.word.compare_exchange(
            waiter,
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        withdrawn.is_ok().then(|| Left(waiter))
    }

    /// Takes the exit out.
    ///
    /// # Safety
    /// The process has ended, which the caller has acquired, and the exit is the caller's.
    unsafe fn take(&self) -> Exit<P> {
        // SAFETY: the caller's.
        let content = self
            .content
            .with_mut(|content| unsafe { mem::replace(&mut *content, Life::Nothing) });
        let Life::Exit(exit) = content else {
            unreachable!("one handle takes the exit, once")
        };
        exit
    }

    /// Drops the content in place. A panic in there is contained.
    ///
    /// # Safety
    /// The content is the caller's.
    unsafe fn discard(&self) {
        self.content.with_mut(|content| {
            // SAFETY: the caller's.
            let content = unsafe { &mut *content };
            if !matches!(content, Life::Nothing) {
                let _ = catch_panic(|| *content = Life::Nothing);
            }
        });
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
        unsafe { self.discard() };
        // ORDERING: Relaxed: published with the slot, by the slab.
        self.word.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

impl<P: Protocol> fmt::Debug for LifeCell<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LifeCell")
            .field("ended", &self.is_set())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
