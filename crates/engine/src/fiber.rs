//! A stack of a worker's own.

use std::io;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::worker::turn::GiveWay;

/// Code on a stack of its own, to and from which its thread switches.
pub(crate) struct Fiber(Coroutine<(), (), ()>);

impl Fiber {
    /// # Errors
    /// If there is no memory for a stack of that many bytes.
    pub(crate) fn new(bytes: usize, code: impl FnOnce(&dyn GiveWay) + 'static) -> io::Result<Self> {
        // The crate adds a page to it, and would overflow.
        if bytes > isize::MAX as usize / 2 {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let stack = DefaultStack::new(bytes)?;
        let run = move |switch: &Yielder<(), ()>, ()| code(&Switch(switch));
        Ok(Self(Coroutine::with_stack(stack, run)))
    }

    /// Runs the code until it gives way, or returns. Must not be called after the return.
    pub(crate) fn resume(&mut self) {
        let _: CoroutineResult<(), ()> = self.0.resume(());
    }
}

/// Gives way by switching back.
struct Switch<'a>(&'a Yielder<(), ()>);

impl GiveWay for Switch<'_> {
    fn give_way(&self) {
        self.0.suspend(());
    }
}
