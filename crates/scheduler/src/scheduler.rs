//! A scheduler, its start and its end.

use std::fmt;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use filch_processors::Machines;
use filch_sync::panic::drop_contained;

use crate::handle::threads;
use crate::turn::shutdown::{Left, shut_down};
use crate::{CalledFromInside, Handle, Protocol, ShutdownReport};

/// A running scheduler: its workers, and, by dereferencing, its [`Handle`] with all that one can do
/// with it.
///
/// Dropping it is a [`shutdown`](Self::shutdown) without patience: it closes the live processes,
/// which may take a moment, and blocks for four seconds at most, whatever the user's code does.
/// Its report is lost.
#[doc(alias = "Runtime")]
pub struct Scheduler<P: Protocol> {
    /// `None` once it is shut down.
    pub(crate) running: Option<(Handle<P>, Machines, Left)>,
}

impl<P: Protocol> Scheduler<P> {
    /// Returns a handle for other threads, and for processes.
    pub fn handle(&self) -> Handle<P> {
        Handle::clone(self)
    }

    /// Sends every process [`Event::Cancel`](crate::Event::Cancel), waits until all have ended and
    /// the calls they have begun have returned, and stops the workers. Blocking, for `patience` and
    /// three seconds at most.
    ///
    /// Processes that have not ended after `patience` are closed where they stand, and end with
    /// [`ProcessError::ShutDown`](crate::ProcessError::ShutDown). In all that time, the shutdown
    /// waits for
    ///
    /// * processes in the middle of a step, which cannot be closed;
    /// * commands that run on `BlockingThreads`, whose processes may have ended: a
    ///   [`close`](crate::Process::close) that interrupts them makes this short;
    /// * the workers, which may be in calls of [`on_exit`](crate::ProcessHandle::on_exit), or in
    ///   destructors: of outputs, of the command handler, of the hooks with the last handle;
    /// * the calls of the handler's `Timers`, if it had the last of them.
    ///
    /// The [report](ShutdownReport::running) names each call that has not returned then. Its thread
    /// is abandoned, with the memory that it needs, and leaves when the call returns. No user code
    /// runs on the calling thread, but on one of the shutdown's own, `filch-shutdown`; a destructor
    /// that keeps it may cost a fourth second. Only if the system refuses that thread is there no
    /// limit.
    ///
    /// From the call on, [`submit`](Handle::submit) refuses, and [`send`](Handle::send) refuses
    /// messages to other nodes. The acts of processes and their commands happen before the return
    /// of a [clean](ShutdownReport::is_clean) report.
    ///
    /// Called by a timer, by a call of `BlockingThreads`, or on a worker of another scheduler, it
    /// waits neither for the workers, which may wait for the calling thread, nor for the command
    /// that it is called from.
    ///
    /// # Errors
    /// [`CalledFromInside`] on one of the scheduler's own workers; the scheduler then goes on
    /// without its owner, until its last process has ended.
    pub fn shutdown(mut self, patience: Duration) -> Result<ShutdownReport, CalledFromInside> {
        self.stop(patience)
    }

    fn stop(&mut self, patience: Duration) -> Result<ShutdownReport, CalledFromInside> {
        let Some((handle, machines, left)) = self.running.take() else {
            return Ok(ShutdownReport::default());
        };
        if handle.is_worker() {
            // A worker must not wait. No process is admitted from now on, and those that live are
            // asked to end. A receiver may hold this scheduler.
            drop_contained(handle.disconnect());
            handle.cancel_all();
            machines.detach();
            return Err(CalledFromInside);
        }
        let workers = (!threads::is_ours()).then_some((machines, left));
        Ok(shut_down(handle, workers, patience))
    }
}

impl<P: Protocol> Deref for Scheduler<P> {
    type Target = Handle<P>;

    #[inline]
    fn deref(&self) -> &Handle<P> {
        match &self.running {
            Some((handle, ..)) => handle,
            None => unreachable!("it is shut down by value, or as it is dropped"),
        }
    }
}

impl<P: Protocol> Drop for Scheduler<P> {
    fn drop(&mut self) {
        // The report has no reader, and a call from inside is dealt with in `stop`.
        let _ = self.stop(Duration::ZERO);
    }
}

// A caller's panic can leave only the caller's data half done: user code does not touch the
// scheduler's own state, and each process's panic is contained.
impl<P: Protocol> UnwindSafe for Scheduler<P> {}
impl<P: Protocol> RefUnwindSafe for Scheduler<P> {}

impl<P: Protocol> fmt::Debug for Scheduler<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("stats", &self.stats())
            .finish()
    }
}
