//! The table by itself, for the models: what runs the processes is too much for loom.
//!
//! The table, its slots, the lives in them, and the way in which a process ends are the shipped
//! ones. What stands here is who calls them when, one method for each of those.

use std::time::Instant;

use filch_process_state::{LetGo, Reason, Wake};
use filch_slab::SlabFull;

use crate::exit::Exit;
use crate::options::Options;
use crate::signal::Item;
use crate::table::{Slot, Table};
use crate::{Event, Node, Pid, Protocol};

/// The processes of a scheduler without workers.
#[derive(Debug)]
pub struct Tenants<P: Protocol>(Table<P>);

impl<P: Protocol> Tenants<P> {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "for models only")]
    pub fn new() -> Self {
        Self(Table::new(Node::default()))
    }

    fn slot(&self, pid: Pid) -> &Slot<P> {
        self.0.slot(pid.slot)
    }

    /// As `Handle::submit`: the process is in nobody's hands yet, and Ready. The caller has its
    /// handle, too.
    pub fn submit(&self) -> Result<Pid, SlabFull> {
        let (pid, slot) = self.0.occupy(&Options::default())?;
        slot.state.submit().expect("the slot is vacant");
        Ok(pid)
    }

    /// The number of the process's place.
    pub fn place(&self, pid: Pid) -> u32 {
        pid.slot
    }

    /// As a worker that has taken the process out of a run queue.
    pub fn start(&self, pid: Pid) {
        let started = self.slot(pid).state.start();
        started.expect("a process in a run queue is Ready");
    }

    /// As `Driver::step`, of a process that only keeps what it is sent.
    ///
    /// # Safety
    /// The caller has started the process.
    pub unsafe fn receive(&self, pid: Pid) -> Vec<P::Message> {
        let mut messages = Vec::new();
        // SAFETY: the caller's.
        unsafe {
            self.slot(pid).events.drain(|item| {
                if let Item::Event(Event::Message(message)) = item {
                    messages.push(message);
                }
            });
        }
        messages
    }

    /// As `Driver::let_go`, of a process that waits for events. Whether it is Ready again.
    pub fn let_go(&self, pid: Pid) -> bool {
        let release = self.slot(pid).state.idle();
        release.expect("the caller has started it") == LetGo::Enqueue
    }

    /// As `Driver::end`.
    ///
    /// # Safety
    /// The caller has started the process, and ends it once.
    pub unsafe fn end(&self, pid: Pid, output: P::Output) {
        // SAFETY: the caller's.
        let closed = unsafe { self.0.close(pid.slot) };
        closed.complete(drop).tell(Ok(Some(output)));
    }

    /// As `Handle::send`. Whether the process became Ready by it, so that the caller must see to
    /// its turn.
    ///
    /// # Errors
    /// The message, if the process is gone.
    pub fn send(&self, to: Pid, message: P::Message) -> Result<bool, P::Message> {
        let Some(slot) = self.0.find(to) else {
            return Err(message);
        };
        let item = Item::Event(Event::Message(message));
        match self.0.post(to, slot, item, Reason::Message) {
            Ok(wake) => Ok(wake == Wake::Enqueue),
            Err(Item::Event(Event::Message(message))) => Err(message),
            Err(_) => unreachable!("the queue hands back what was pushed"),
        }
    }

    /// As `ProcessHandle::has_ended`.
    pub fn has_ended(&self, pid: Pid) -> bool {
        self.slot(pid).life.is_set()
    }

    /// As `ProcessHandle::join`, but for the handle's drop.
    ///
    /// # Safety
    /// The caller has the handle, and has not got the exit by it.
    pub unsafe fn join(&self, pid: Pid, deadline: Option<Instant>) -> Option<P::Output> {
        // SAFETY: the caller's.
        unsafe { self.slot(pid).life.wait(deadline) }.map(output)
    }

    /// As `ProcessHandle::on_exit`.
    ///
    /// # Safety
    /// As for `join`, and the caller gives the handle up.
    pub unsafe fn on_exit(&self, pid: Pid, call: impl FnOnce(P::Output) + Send + 'static) {
        let call = Box::new(|exit| call(output(exit)));
        // SAFETY: the caller's.
        unsafe { self.slot(pid).life.watch(call) };
        self.drop_handle(pid);
    }

    /// As the drop of a `ProcessHandle`.
    pub fn drop_handle(&self, pid: Pid) {
        self.0.unpin(pid.slot);
    }
}

fn output<P: Protocol>(exit: Exit<P>) -> P::Output {
    let output = exit.unwrap_or_else(|_| unreachable!("processes here end well"));
    output.unwrap_or_else(|| unreachable!("each with an output"))
}
