//! The table by itself, and a method for each of its callers: the calls that one makes, in order.
//! The table, its slots, the lives in them and the way in which a process ends are the shipped
//! ones.

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Instant;

use filch_parker::poll_until;
use filch_process_state::{LetGo, Reason, Wake};
use filch_scheduler::table::{Item, Placement, Slot, Table};
use filch_scheduler::{Event, Node, Outcome, Pid, Protocol};
use filch_slab::Batch;
use filch_sync::Arc;

/// The processes of a scheduler without workers. A body is nothing here, as the models are about
/// what is sent and how a process ends.
pub(crate) struct Processes(Table<Model>);

/// A protocol with messages and exits that loom watches.
pub(crate) enum Model {}

impl Protocol for Model {
    type Input = ();
    type Message = Arc<usize>;
    type Command = ();
    type Reply = ();
    type Output = Arc<usize>;
    type Error = String;
}

impl Processes {
    /// Makes an empty table.
    pub(crate) fn new() -> Self {
        Self(Table::new(Node::default()))
    }

    fn slot(&self, pid: Pid) -> &Slot<Model> {
        self.0.slot(pid.slot())
    }

    /// Submits as `Handle::submit` does: the process is Ready, and the caller has its handle.
    pub(crate) fn submit(&self) -> Pid {
        let slot = self.0.occupy(Placement::default()).unwrap();
        let pid = self.0.pid_of(slot);
        slot.state.submit().expect("the slot is vacant");
        pid
    }

    /// Starts a process as a worker does that took it out of a run queue.
    pub(crate) fn start(&self, pid: Pid) {
        let started = self.slot(pid).state.start();
        started.expect("a process in a run queue is Ready");
    }

    /// Steps as `Driver::step` does, for a process that only keeps what it is sent.
    ///
    /// # Safety
    /// The caller has started the process.
    pub(crate) unsafe fn receive(&self, pid: Pid) -> Vec<Arc<usize>> {
        let mut items = Vec::new();
        // SAFETY: the caller's.
        unsafe {
            self.slot(pid)
                .events
                .drain(|item| items.push(message(item)))
        };
        items
    }

    /// Lets go as `Driver::let_go` does, of a waiting process. Returns whether it is Ready again.
    pub(crate) fn let_go(&self, pid: Pid) -> bool {
        let let_go = self.slot(pid).state.idle();
        let_go.expect("the caller has started it") == LetGo::Enqueue
    }

    /// Ends a process as `Driver::end` does.
    ///
    /// # Safety
    /// The caller has started the process, and ends it once.
    pub(crate) unsafe fn end(&self, pid: Pid, exit: Arc<usize>) {
        let slot = self.slot(pid);
        slot.events.close();
        let mut batch = Batch::default();
        // SAFETY: the caller's; the process's pin is given up by this alone.
        unsafe {
            self.0.complete(slot, drop);
            self.0
                .tell_into(slot, &mut batch, || Ok(Outcome::Output(exit)));
        }
        self.0.give_back(&mut batch);
    }

    /// Sends as `Handle::send` does. Returns whether the process became Ready by it, so that the
    /// caller must see to its turn.
    ///
    /// # Errors
    /// The item, if the process is gone.
    pub(crate) fn send(&self, to: Pid, sent: Arc<usize>) -> Result<bool, Arc<usize>> {
        let Some(slot) = self.0.find(to) else {
            return Err(sent);
        };
        let Some(claim) = self.0.claim(to, slot) else {
            return Err(sent);
        };
        claim.fill(Item::Event(Event::Message(sent)));
        Ok(self.0.wake(slot, Reason::Message) == Wake::Enqueue)
    }

    /// Asks as `ProcessHandle::has_ended` does.
    pub(crate) fn has_ended(&self, pid: Pid) -> bool {
        self.slot(pid).life.is_set()
    }

    /// Joins as `ProcessHandle::join` does, except for the handle's drop.
    ///
    /// # Safety
    /// The caller has the handle, and has not got the exit by it.
    pub(crate) unsafe fn join(&self, pid: Pid, deadline: Option<Instant>) -> Option<Arc<usize>> {
        // SAFETY: the caller's.
        let exit = poll_fn(|context| unsafe { self.poll(pid, context.waker()) });
        let exit = poll_until(deadline, exit);
        self.forget(pid);
        exit
    }

    /// Polls as a `ProcessHandle` is polled.
    ///
    /// # Safety
    /// As for `join`.
    pub(crate) unsafe fn poll(&self, pid: Pid, waker: &Waker) -> Poll<Arc<usize>> {
        // SAFETY: the caller's.
        unsafe { self.slot(pid).life.poll(waker, false) }.map(output)
    }

    /// Forgets as the drop of a `ProcessHandle` that was polled does, except for its pin.
    pub(crate) fn forget(&self, pid: Pid) {
        self.slot(pid).life.forget();
    }

    /// Watches as `ProcessHandle::on_exit` does.
    ///
    /// # Safety
    /// As for `join`, and the caller gives the handle up.
    pub(crate) unsafe fn on_exit(&self, pid: Pid, call: impl FnOnce(Arc<usize>) + Send + 'static) {
        // SAFETY: the caller's.
        unsafe {
            self.slot(pid)
                .life
                .leave(Some(Box::new(|exit| call(output(exit)))));
        };
        self.drop_handle(pid);
    }

    /// Lets go as the drop of a `JoinHandle` that has not asked does, except for its pin.
    ///
    /// # Safety
    /// As for `join`, and the caller gives the right to the exit up.
    pub(crate) unsafe fn let_go_of_exit(&self, pid: Pid) {
        // SAFETY: the caller's.
        unsafe { self.slot(pid).life.leave(None) };
    }

    /// Shares the pin as the clone of a future's waker does, which holds one.
    ///
    /// # Safety
    /// The caller has a pin, or the process.
    pub(crate) unsafe fn share_pin(&self, pid: Pid) {
        // SAFETY: the caller's.
        unsafe { self.slot(pid).share_pin() };
    }

    /// Drops the `ProcessHandle` that the caller has.
    pub(crate) fn drop_handle(&self, pid: Pid) {
        // SAFETY: the handle's pin; each model gives up each handle once.
        let _ = unsafe { self.0.unpin(self.slot(pid)) };
    }
}

fn message(item: Item<Model>) -> Arc<usize> {
    match item {
        Item::Event(Event::Message(message)) => message,
        _ => unreachable!("nothing else is sent"),
    }
}

fn output<E>(exit: Result<Outcome<Model>, E>) -> Arc<usize> {
    match exit {
        Ok(Outcome::Output(output)) => output,
        _ => unreachable!("it has ended well"),
    }
}
