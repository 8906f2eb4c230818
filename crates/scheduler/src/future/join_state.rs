//! How a handle that is awaited learns of the end of its process.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use filch_promise::{Promised, promise};
use filch_sync::panic::drop_contained;

use crate::Protocol;
use crate::api::joins::WakerId;
use crate::api::pinned::Pinned;
use crate::api::process_error::Exit;

/// How the handle learns of the end.
pub(crate) enum JoinState<P: Protocol> {
    /// It has not asked, and has the right to.
    Asks,
    /// It is awaited.
    Awaited(Awaited<P>),
    /// It has been told.
    Told,
}

/// The end of a process, which a future awaits.
pub(crate) struct Awaited<P: Protocol> {
    /// Of the future, while the scheduler knows that it waits.
    known: Option<WakerId>,
    promised: Promised<Exit<P>>,
}

impl<P: Protocol> Awaited<P> {
    /// # Safety
    /// The caller has the right to the process's exit, and gives it up.
    unsafe fn new(process: &Pinned<P>) -> Self {
        let (resolver, promised) = promise();
        // SAFETY: the caller's.
        unsafe { process.watch(|exit| resolver.resolve(exit)) };
        Self {
            known: None,
            promised,
        }
    }

    fn poll(&mut self, process: &Pinned<P>, context: &mut Context<'_>) -> Poll<Exit<P>> {
        let waker = WakerId::of(context.waker());
        if self.known != Some(waker) {
            // Before the promise lets go of that waker.
            self.forget(process);
        }
        let exit = Pin::new(&mut self.promised).poll(context);
        if exit.is_ready() {
            self.forget(process);
        } else if self.known.is_none() {
            let scheduler = process.scheduler();
            scheduler.shared.joins.insert(process.pid(), waker);
            self.known = Some(waker);
        }
        exit
    }

    pub(crate) fn is_over(&self) -> bool {
        self.promised.is_resolved()
    }

    /// Nobody awaits it any more. The exit is the user's, and its destructor may panic.
    pub(crate) fn give_up(mut self, process: &Pinned<P>) {
        self.forget(process);
        drop_contained(self.promised);
    }

    /// The scheduler does not know any more that the future waits.
    fn forget(&mut self, process: &Pinned<P>) {
        if self.known.take().is_some() {
            process.scheduler().shared.joins.remove(process.pid());
        }
    }
}

impl<P: Protocol> JoinState<P> {
    /// The exit; or leaves the waker for it, for which the first such poll allocates.
    ///
    /// # Safety
    /// It is the state of the handle to that process.
    pub(crate) unsafe fn poll(
        &mut self,
        process: &Pinned<P>,
        context: &mut Context<'_>,
    ) -> Poll<Exit<P>> {
        if let Self::Asks = self {
            if process.life().is_set() {
                // SAFETY: the right to the exit is given up.
                let exit = unsafe { self.ask(process) };
                return Poll::Ready(exit);
            }
            // SAFETY: as above.
            *self = Self::Awaited(unsafe { Awaited::new(process) });
        }
        let Self::Awaited(awaited) = self else {
            panic!("polled again after it was ready");
        };
        let exit = ready!(awaited.poll(process, context));
        *self = Self::Told;
        Poll::Ready(exit)
    }

    /// Waits for the exit, as long as it takes.
    ///
    /// # Safety
    /// It is the state of the handle to that process, and has the right to ask.
    pub(crate) unsafe fn ask(&mut self, process: &Pinned<P>) -> Exit<P> {
        *self = Self::Told;
        // SAFETY: the caller's.
        match unsafe { process.exit_until(None) } {
            Some(exit) => exit,
            None => unreachable!("it waits without a deadline"),
        }
    }
}
