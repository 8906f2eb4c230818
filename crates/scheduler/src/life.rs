//! A process in its slot: its body while it lives, and its exit, from the worker that ends it to
//! whoever joins it.

use std::mem;
use std::ptr;
use std::time::Instant;

use filch_parker::{Parker, Unparker};
use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::Protocol;
use crate::backlog::Backlog;
use crate::bond::Bonds;
use crate::contain::{contain, dispose};
use crate::exit::Exit;
use crate::resident::Resident;

/// What runs in a slot: touched only by the one who has the process.
pub(crate) struct Body<P: Protocol> {
    pub(crate) process: Resident<P>,
    /// What it said at the end of its last step.
    pub(crate) waits: Waits,
    /// Whether the end of a linked process is an event for it.
    pub(crate) trap_exits: bool,
    /// What few have, in a box of its own.
    pub(crate) held: Option<Box<Held<P>>>,
}

/// What the worker keeps for a process from turn to turn.
pub(crate) struct Held<P: Protocol> {
    /// What was drained before a step could have it.
    pub(crate) backlog: Backlog<P>,
    /// Whether there was more than a step is given, and it has not caught up since.
    pub(crate) behind: bool,
    /// Since when it has gone on so, step after step.
    pub(crate) since: Option<Instant>,
    /// Who must hear of its end.
    pub(crate) bonds: Bonds,
}

impl<P: Protocol> Body<P> {
    pub(crate) fn held(&mut self) -> &mut Held<P> {
        self.held.get_or_insert_with(|| {
            Box::new(Held {
                backlog: Backlog::new(),
                behind: false,
                since: None,
                bonds: Bonds::default(),
            })
        })
    }
}

/// What a process that is not running waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Its turn: it was submitted, or it goes on.
    Turn,
    /// The completion of a command.
    Commands,
    /// Any event.
    Events,
    /// To be woken, with an event or without.
    Wakes,
}

/// Who is told of the end.
enum Waiter<P: Protocol> {
    /// A thread, which then takes the exit.
    Thread(Unparker),
    /// Nobody waits: this is called with the exit.
    Call(Box<dyn FnOnce(Exit<P>) + Send>),
}

/// A process in its slot: what runs, while it lives; then how it ended, in the same place.
///
/// | `word` | `content` belongs to |
/// |---|---|
/// | null: the process lives, nobody waits | the submitter, from `occupy` until it makes the process Ready; then the worker that made it Running, until it lets go |
/// | a [`Waiter`]'s address: it lives, and somebody is to be told of its end | the same |
/// | [`ended`]: it has ended | whoever has the process's handle, or has left a call in its place; after that one, the last to leave the slot |
pub(crate) struct LifeCell<P: Protocol> {
    word: AtomicPtr<Waiter<P>>,
    content: UnsafeCell<Life<P>>,
}

/// What a slot has of its occupant. The two have one place: an exit comes when the body is gone.
enum Life<P: Protocol> {
    /// Nothing yet, or not any more.
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

    /// Gives the cell a body: before `init` is called on the process in it, as a value that is on
    /// the stack first is moved more often.
    ///
    /// # Safety
    /// The caller is the submitter, before the process became Ready.
    #[expect(
        clippy::mut_from_ref,
        reason = "the cell's point: exclusivity is the caller's, who has the slot"
    )]
    pub(crate) unsafe fn begin(&self, body: Body<P>) -> &mut Body<P> {
        self.content.with_mut(|content| {
            // SAFETY: the content is the caller's (contract). What is overwritten is nothing: the
            // last one out of the slot has cleared it.
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

    /// The body, if there is one.
    ///
    /// # Safety
    /// The caller has the process: it is the worker that made it Running and has not let go; and it
    /// holds no other reference to the body.
    #[expect(
        clippy::mut_from_ref,
        reason = "the cell's point: exclusivity is the caller's, by the process state"
    )]
    pub(crate) unsafe fn body(&self) -> Option<&mut Body<P>> {
        // SAFETY: exclusivity is the caller's obligation, above.
        self.content
            .with_mut(|content| match unsafe { &mut *content } {
                Life::Body(body) => Some(body),
                Life::Nothing | Life::Exit(_) => None,
            })
    }

    /// Takes the body out, if there is one: the process ends.
    ///
    /// # Safety
    /// As for `body`.
    pub(crate) unsafe fn take_body(&self) -> Option<Body<P>> {
        // SAFETY: exclusivity is the caller's obligation, above.
        let content = self
            .content
            .with_mut(|content| unsafe { mem::replace(&mut *content, Life::Nothing) });
        match content {
            Life::Body(body) => Some(body),
            Life::Nothing | Life::Exit(_) => None,
        }
    }

    /// The process has ended like that. Wakes whoever waits for it, or calls what is to be called.
    ///
    /// # Safety
    /// The caller ends the process, and has not said so before; it has a pin on the slot.
    pub(crate) unsafe fn set(&self, exit: Exit<P>) {
        // SAFETY: the process lives by the word, and it is the caller who ends it (contract).
        self.content
            .with_mut(|content| unsafe { *content = Life::Exit(exit) });
        // ORDERING: Release, partner of the Acquires in `await_end` and `is_set`: whoever sees the
        // end sees the exit. Acquire, partner of the Release in `await_end`: the waiter is all
        // there.
        let waiter = self.word.swap(ended(), Ordering::AcqRel);
        if waiter.is_null() {
            return;
        }
        // SAFETY: the word was not `ended` yet, so this is the box that `await_end` has put there;
        // it is taken out once.
        match *unsafe { Box::from_raw(waiter) } {
            Waiter::Thread(unparker) => {
                let _ = unparker.unpark();
            }
            Waiter::Call(call) => {
                // SAFETY: the process has ended; the handle is used up, and has left the exit to
                // the call.
                let exit = unsafe { self.take() };
                // A panic in it has nobody to be told to: see `ProcessHandle::on_exit`.
                let _ = contain(|| call(exit));
            }
        }
    }

    /// Waits for the end, until `deadline` if there is one. Blocking. `None` if the deadline came
    /// first.
    ///
    /// # Safety
    /// The caller has the process's handle, and calls neither this nor `watch` when it has got the
    /// exit.
    pub(crate) unsafe fn wait(&self, deadline: Option<Instant>) -> Option<Exit<P>> {
        if !self.is_set() {
            let parker = Parker::new();
            if let Ok(waiter) = self.await_end(Waiter::Thread(parker.unparker())) {
                while !self.is_set() {
                    let woken = match deadline {
                        Some(deadline) => parker.park_deadline(deadline),
                        None => {
                            parker.park();
                            true
                        }
                    };
                    if !woken && self.withdraw(waiter) {
                        return None;
                    }
                }
            }
        }
        // SAFETY: the process has ended, which was acquired; the exit is the handle's, which the
        // caller has.
        Some(unsafe { self.take() })
    }

    /// Has `call` called at the end: on the worker that ends the process, or here, if it has ended.
    ///
    /// # Safety
    /// As for `wait`, and the caller gives the handle up.
    pub(crate) unsafe fn watch(&self, call: Box<dyn FnOnce(Exit<P>) + Send>) {
        if let Err(Waiter::Call(call)) = self.await_end(Waiter::Call(call)) {
            // SAFETY: the process has ended, which was acquired; the exit is the handle's, which
            // the caller has.
            call(unsafe { self.take() });
        }
    }

    /// Leaves word for the end. Where it lies, for `withdraw`.
    ///
    /// # Errors
    /// The waiter, if the process has ended.
    fn await_end(&self, waiter: Waiter<P>) -> Result<*mut Waiter<P>, Waiter<P>> {
        let waiter = Box::into_raw(Box::new(waiter));
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
            // SAFETY: made above, and the word never held it.
            Err(_) => Err(*unsafe { Box::from_raw(waiter) }),
        }
    }

    /// Takes back the word that was left, unless the process has ended.
    fn withdraw(&self, waiter: *mut Waiter<P>) -> bool {
        // ORDERING: Relaxed on success: the box is as this thread has made it. On failure Relaxed:
        // the caller looks again.
        let withdrawn = self.word.compare_exchange(
            waiter,
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if withdrawn.is_ok() {
            // SAFETY: it was `await_end`'s box, and now the word does not hold it any more.
            drop(unsafe { Box::from_raw(waiter) });
        }
        withdrawn.is_ok()
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

    pub(crate) fn is_set(&self) -> bool {
        // ORDERING: Acquire, partner of the Release in `set`.
        self.word.load(Ordering::Acquire) == ended()
    }

    /// Makes the cell ready for the next occupant, and drops what nobody has taken.
    ///
    /// # Safety
    /// The caller is the last one out of the slot.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: no handle is left, nor the worker that ended the process: theirs were pins, which
        // the caller has acquired.
        let left = self
            .content
            .with_mut(|content| unsafe { mem::replace(&mut *content, Life::Nothing) });
        if !matches!(left, Life::Nothing) {
            dispose(left);
        }
        // ORDERING: Relaxed: published with the slot, by the slab.
        self.word.store(ptr::null_mut(), Ordering::Relaxed);
    }
}
