//! The way of events to processes: push the event, wake the process, enqueue it if it is Ready.

use std::cell::Cell;

use filch_event_queue::Closed;
use filch_process_state::{Reason, Wake};
use filch_processors::{Awaited, Processors};

use crate::table::body::Item;
use crate::table::slot::{CLOSED, IDLE_PRIORITY, LIMITED, Slot, Task, URGENT};
use crate::{Event, Handle, Pid, Protocol, SendError, Undelivered};

impl<P: Protocol> Handle<P> {
    /// Sends `message` to the process `to`. Lock-free.
    ///
    /// Messages of one thread arrive in the order sent; its earlier acts happen before the step
    /// that sees the message. A message that is not read before the process ends is dropped with
    /// it, by the worker that ends it, or by `send` if the two meet: none is left once the exit has
    /// been told and no such call is under way, even while a [handle](crate::ProcessHandle) is
    /// kept. A message for another node goes to the [`Receiver`](crate::Receiver) for it.
    ///
    /// # Errors
    /// [`SendError`], with the message, if the process has ended or never was, or its mailbox is
    /// full, or it is a future, or it lives on a node that is not connected; or the error of that
    /// node's receiver.
    #[doc(alias = "cast")]
    pub fn send(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        self.send_and(to, message, move |slot| self.enqueue(slot))
    }

    /// As [`send`](Self::send), for a thread outside that then waits until `is_over`. If the
    /// process waits for a message, and a worker is idle, none is woken: the calling thread takes
    /// the step that gets the message itself, on its own stack. Workers take all later steps, and
    /// all of a process with [idle priority](crate::Submission::idle_priority), or on a [thread of
    /// its own](crate::BoundThread).
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_as_guest(
        &self,
        to: Pid,
        message: P::Message,
        is_over: impl Fn() -> bool,
    ) -> Result<(), SendError<P>> {
        self.send_and(to, message, |slot| {
            if slot.has(IDLE_PRIORITY) || slot.bound_to() != 0 {
                return self.enqueue(slot);
            }
            let step = OneStep {
                is_over: &is_over,
                is_taken: Cell::new(false),
            };
            self.shared().processors.run_awaited(Task::of(slot), &step);
        })
    }

    /// Sends the message. If that makes the process Ready, `run` enqueues it, or runs it.
    #[inline]
    pub(crate) fn send_and(
        &self,
        to: Pid,
        message: P::Message,
        run: impl Fn(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        let table = self.table();
        if let Some(slot) = table.find(to)
            && !slot.has(LIMITED)
            && let Some(claim) = table.claim(to, slot)
        {
            // A message may be large: from its caller into the queue, it is moved here alone.
            claim.fill(Item::Event(Event::Message(message)));
            if table.wake(slot, Reason::Message) == Wake::Enqueue {
                run(slot);
            }
            return Ok(());
        }
        self.send_otherwise(to, message, run)
    }

    /// As `send_and`, for a process that has ended or is another node's, or a mailbox that is
    /// limited, or takes nothing. With a pin: room must be reserved in the mailbox of that process
    /// and no other.
    #[cold]
    fn send_otherwise(
        &self,
        to: Pid,
        message: P::Message,
        run: impl Fn(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        if to.node() != self.table().node() {
            return self.send_away(to, message);
        }
        let Some(process) = self.pin(to) else {
            return Err(refused(to, Undelivered::NoSuchProcess, message));
        };
        let slot = process.slot();
        if slot.has(CLOSED) {
            let reason = match slot.events.is_closed() {
                true => Undelivered::NoSuchProcess,
                false => Undelivered::Future,
            };
            return Err(refused(to, reason, message));
        }
        match self.policy(slot) {
            Some(policy) => policy.send(&self.door(slot, &run), message),
            None => self.push_message(to, slot, message, run),
        }
    }

    /// Puts a message into the queue of the process in that slot, which the caller has pinned. If
    /// that makes the process Ready, `run` enqueues it, or runs it.
    pub(crate) fn push_message(
        &self,
        to: Pid,
        slot: &Slot<P>,
        message: P::Message,
        run: impl Fn(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        let item = Item::Event(Event::Message(message));
        let pushed = self.push(slot, item, Reason::Message, run);
        pushed.map(drop).map_err(|item| handed_back(to, item))
    }

    /// Puts an item into the queue of the process in that slot, which the caller has pinned, and
    /// wakes it. If that makes the process Ready, `run` enqueues it, or runs it.
    ///
    /// [`Wake::Refused`]: the process has not been Ready yet, and will find the item then; or it
    /// has ended since the push. Else a turn, or the end, will see the item.
    ///
    /// # Errors
    /// The item, if the process has ended.
    #[inline]
    pub(crate) fn push(
        &self,
        slot: &Slot<P>,
        item: Item<P>,
        reason: Reason,
        run: impl Fn(&Slot<P>),
    ) -> Result<Wake, Item<P>> {
        let is_urgent = reason == Reason::Cancel && matches!(item, Item::Signal(_));
        slot.events.push(item).map_err(|Closed(item)| item)?;
        if is_urgent {
            slot.raise(URGENT);
        }
        let wake = self.table().wake(slot, reason);
        if wake == Wake::Enqueue {
            run(slot);
        }
        Ok(wake)
    }

    /// Checks if the process has not ended; true for all processes of other nodes.
    pub fn takes_messages(&self, to: Pid) -> bool {
        to.node() != self.table().node() || self.table().lives(to)
    }

    /// Puts a process that is Ready again into a run queue: its worker's, to be run next, if the
    /// caller is one.
    #[inline]
    pub(crate) fn enqueue(&self, slot: &Slot<P>) {
        self.enqueue_by(slot, Processors::wake);
    }

    /// Puts a process that has yielded behind the others; ends its turn.
    pub(crate) fn requeue(&self, slot: &Slot<P>) {
        self.enqueue_by(slot, Processors::give_way_at_end);
    }

    #[inline]
    pub(crate) fn enqueue_by(
        &self,
        slot: &Slot<P>,
        schedule: impl FnOnce(&Processors<Task<P>>, Task<P>),
    ) {
        let processors = &self.shared().processors;
        if slot.has(IDLE_PRIORITY) {
            processors.schedule_idle(Task::of(slot));
        } else {
            schedule(processors, Task::of(slot));
        }
    }

    /// Wakes the process when the reason itself is the event.
    pub(crate) fn wake(&self, slot: &Slot<P>, reason: Reason) {
        if self.table().wake(slot, reason) == Wake::Enqueue {
            self.enqueue(slot);
        }
    }
}

/// The one step that gets the message. In it the process may pass on what its sender waits for, and
/// its next step may then wait for the sender.
struct OneStep<'a, F> {
    is_over: &'a F,
    is_taken: Cell<bool>,
}

impl<T, F: Fn() -> bool> Awaited<T> for OneStep<'_, F> {
    fn is_over(&self) -> bool {
        (self.is_over)()
    }

    fn is(&self, _: &T) -> bool {
        !self.is_taken.replace(true)
    }
}

/// Makes the error for a message that the queue has refused, as its process has ended.
#[cold]
fn handed_back<P: Protocol>(to: Pid, item: Item<P>) -> SendError<P> {
    match item {
        Item::Event(Event::Message(message)) => refused(to, Undelivered::NoSuchProcess, message),
        _ => unreachable!("the queue hands back what was pushed"),
    }
}

#[cold]
pub(crate) fn refused<P: Protocol>(
    to: Pid,
    reason: Undelivered,
    message: P::Message,
) -> SendError<P> {
    SendError {
        to,
        reason,
        message,
    }
}
