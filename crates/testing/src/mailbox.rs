//! A process that keeps its events, for a test to read.

use std::fmt;
use std::mem;
use std::sync::Arc;

use filch_actors::prelude::*;
use filch_scheduler::{Event, Handle, Pid, Protocol, StandstillError};
use filch_sync::{Mutex, lock};

/// A process that keeps its events, for a test to read: a process under test sends to mailboxes in
/// place of other processes. It traps exits. It ends when this is dropped.
pub struct Mailbox<P: Protocol> {
    handle: Handle<P>,
    pid: Pid,
    events: Arc<Mutex<Vec<Event<P>>>>,
}

impl<P: Protocol> Mailbox<P> {
    /// Starts a mailbox in that scheduler.
    ///
    /// # Panics
    /// If the scheduler admits none.
    pub fn new(scheduler: &Handle<P>) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&events);
        let keeper = scheduler.submission_with(|mut inbox| async move {
            loop {
                let event = inbox.next().await;
                let is_last = matches!(&event, Event::Cancel(cancel) if cancel.is_shutdown());
                lock(&kept).push(event);
                if is_last {
                    break;
                }
            }
        });
        match keeper.trap_exits().spawn() {
            Ok(keeper) => Self {
                handle: scheduler.clone(),
                pid: keeper.pid(),
                events,
            },
            Err(error) => panic!("there is no mailbox: {error}"),
        }
    }

    /// Returns the process's PID, to send to.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Waits until nothing can run any more in the scheduler, and takes the events. Blocks for ever
    /// if a process never stops running.
    ///
    /// # Panics
    /// On one of the scheduler's workers.
    pub fn take_events(&self) -> Vec<Event<P>> {
        match self.handle.wait_for_standstill() {
            Ok(_) | Err(StandstillError::ShutDown) => mem::take(&mut lock(&self.events)),
            Err(error) => panic!("the mailbox is not to be read: {error}"),
        }
    }

    /// As [`take_events`](Self::take_events), of a mailbox that gets only messages.
    ///
    /// # Panics
    /// If another event has come; or on one of the scheduler's workers.
    pub fn take_messages(&self) -> Vec<P::Message> {
        let events = self.take_events().into_iter();
        let message = |event| match event {
            Event::Message(message) => message,
            event => panic!("this is no message: {event:?}"),
        };
        events.map(message).collect()
    }
}

impl<P: Protocol> Drop for Mailbox<P> {
    fn drop(&mut self) {
        // It may have ended with its scheduler.
        let _ = self.handle.terminate(self.pid);
    }
}

impl<P: Protocol> fmt::Debug for Mailbox<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
