//! A worker's turn: the worker, its home, and its way to let others run.

use std::thread;

use crate::request::Request;
use crate::worker::bound::Denied;
use crate::worker::cell::WorkerCell;
use crate::worker::home::Home;
use crate::worker::public::WaitsFor;

/// The way in which a worker lets others run.
pub(crate) trait GiveWay {
    /// Returns when it is the worker's turn again.
    fn give_way(&self);
}

/// A worker's turn.
pub(crate) struct Turn<'a> {
    pub(crate) worker: &'a WorkerCell,
    pub(crate) home: &'a Home,
    pub(crate) way: &'a dyn GiveWay,
}

impl Turn<'_> {
    /// Gives way, as the worker cannot get its data.
    ///
    /// # Errors
    /// The data, if code around this has locked it.
    pub(crate) fn wait_out(&self, denied: Denied) -> Result<(), Request> {
        if let Denied::Nested(request) = denied {
            return Err(request);
        }
        self.worker.denied(denied);
        if let Denied::Held(_) = denied {
            self.give_way(false);
        }
        if self.is_ending() {
            self.worker.show_wait(None);
        }
        Ok(())
    }

    /// Returns whether the worker must end.
    pub(crate) fn is_ending(&self) -> bool {
        // Code that unwinds ends its worker. A destructor that waits meanwhile would let others run
        // on a thread that seems to panic.
        self.worker.is_ending() || thread::panicking()
    }

    /// Lets others run once. The worker's turn comes again soon if it `is_polled`, and otherwise
    /// when its scheduler is woken.
    pub(crate) fn give_way(&self, is_polled: bool) {
        if thread::panicking() {
            return;
        }
        if is_polled {
            self.home.is_polled();
        }
        self.way.give_way();
    }

    /// Shows the thing that the worker waits for, or that it goes on.
    pub(crate) fn wait_for(&self, what: Option<WaitsFor>) {
        self.worker.show_wait(what);
        if what.is_none() {
            self.home.has_progressed();
        }
    }
}
