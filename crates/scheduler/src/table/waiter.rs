//! The waiter for the end of a process, in one word.

use std::mem::ManuallyDrop;
use std::ptr;
use std::task::Waker;

use crate::Protocol;
use crate::process::context;
use crate::process::error::Exit;

/// A waiter for the end of a process.
pub(crate) enum Waiter<P: Protocol> {
    /// A future, or a thread, which then takes the exit.
    Future(Waker),
    /// A callback for the exit; nobody waits.
    Call(Box<dyn FnOnce(Exit<P>) + Send>),
}

/// A waiter in one word: the address of its box; or, of the waker of a process of this protocol,
/// the address that the waker knows it by, marked with [`PROCESS`], which needs no box; or
/// [`nobody`].
pub(crate) struct Left<P: Protocol>(pub(crate) *mut Waiter<P>);

/// The mark of a process's waker: no box lies at such an address, nor does a slot.
pub(crate) const PROCESS: usize = 2;

/// The word of a process whose handle has [let go](crate::table::LifeCell::leave) of the exit.
pub(crate) fn nobody<P: Protocol>() -> *mut Waiter<P> {
    ptr::without_provenance_mut(3)
}

impl<P: Protocol> Left<P> {
    pub(crate) fn boxed(waiter: Waiter<P>) -> Self {
        Self(Box::into_raw(Box::new(waiter)))
    }

    /// Makes one from a clone of the waker, which is a process's of this protocol if it `is_own`.
    pub(crate) fn waker(waker: &Waker, is_own: bool) -> Self {
        if is_own {
            let waker = ManuallyDrop::new(waker.clone());
            return Self(marked(&waker));
        }
        Self::boxed(Waiter::Future(waker.clone()))
    }

    /// Returns the waiter.
    pub(crate) fn open(self) -> Waiter<P> {
        let word = ManuallyDrop::new(self).0;
        if word == nobody() {
            // A box of nothing: no allocation.
            return Waiter::Call(Box::new(drop));
        }
        if word.addr() & PROCESS == 0 {
            // SAFETY: then `boxed` has made it, and this is used up.
            return *unsafe { Box::from_raw(word) };
        }
        let data = word.map_addr(|address| address & !PROCESS);
        // SAFETY: `waker` has made it, of a waker of its own that it has not dropped.
        Waiter::Future(unsafe { context::from_data::<P>(data.cast()) })
    }
}

impl<P: Protocol> Drop for Left<P> {
    fn drop(&mut self) {
        drop(Self(self.0).open());
    }
}

/// Returns the word of a process's waker.
pub(crate) fn marked<P: Protocol>(waker: &Waker) -> *mut Waiter<P> {
    let data = waker.data().cast_mut().cast::<Waiter<P>>();
    data.map_addr(|address| address | PROCESS)
}

/// The word that a polled handle has left in a [`LifeCell`](crate::table::LifeCell), or 0.
#[derive(Debug, Default)]
pub struct Waiting(pub(crate) usize);
