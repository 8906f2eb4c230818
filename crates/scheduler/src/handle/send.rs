//! How events reach processes: push the event, wake the process, and enqueue it if it became Ready.

use std::cell::Cell;

use filch_event_queue::Closed;
use filch_process_state::{Reason, Wake};
use filch_processors::{Awaited, Processors};
use filch_sync::panic::drop_contained;

use crate::table::body::{Item, Task};
use crate::table::slot::Slot;
use crate::{Event, Handle, Pid, Protocol, SendError, Undelivered};

impl<P: Protocol> Handle<P> {
    /// Sends `message` to the process `to`. Lock-free.
    ///
    /// Messages of one thread arrive in the order sent; what the thread did before happens before
    /// the step that sees the message. A message that is not read before the process ends is
    /// dropped with it: by the worker that ends it, or, if the two meet, in `send`. When the exit
    /// has been told and no call that sends to the process is under way, none of its messages is
    /// left, also where its [handle](crate::ProcessHandle) is kept. A message for another node goes
    /// to the [`Receiver`](crate::Receiver) that is connected for that node.
    ///
    /// # Errors
    /// [`SendError`], with the message, if the process has ended or never was, or its
    /// mailbox is full, or it is a future, or it lives
    /// on a node that is not connected; or what the receiver for that node says.
    pub fn send(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        self.send_and(to, message, move |slot| self.enqueue(slot))
    }

    /// As [`send`](Self::send), for a thread outside that then waits until `is_over`. If the
    /// process waits for a message, and a worker is idle, none is woken: the calling thread takes
    /// the step that gets the message itself, on its own stack and beside its thread-local values,
    /// as in `execute`. Further steps are left to the workers, and so is a process
    /// with [idle priority](crate::Submission::idle_priority), or on a [thread of its
    /// own](crate::BoundThread).
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
            if slot.has_idle_priority() || slot.bound_to() != 0 {
                return self.enqueue(slot);
            }
            let step = OneStep {
                is_over,
                is_taken: Cell::new(false),
            };
            self.shared().processors.run_awaited(Task::of(slot), &step);
        })
    }

    /// Sends it. If the process has become Ready by that, `run` has it run.
    #[inline]
    pub(crate) fn send_and(
        &self,
        to: Pid,
        message: P::Message,
        run: impl FnOnce(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        let Some(slot) = self.table().find(to) else {
            if to.node() != self.table().node() {
                return self.send_away(to, message);
            }
            return Err(refused(to, Undelivered::NoSuchProcess, message));
        };
        if slot.mailbox.is_limited() {
            return self.send_limited(to, message, run);
        }
        let item = Item::Event(Event::Message(message));
        match self.table().post(to, slot, item, Reason::Message) {
            Ok(wake) => {
                if wake == Wake::Enqueue {
                    run(slot);
                }
                Ok(())
            }
            Err(item) => Err(handed_back(to, item)),
        }
    }

    /// As `send_and`, if the mailbox was found to be limited, or none. With a pin: the room that is
    /// reserved must be in the mailbox of that process.
    #[cold]
    fn send_limited(
        &self,
        to: Pid,
        message: P::Message,
        run: impl FnOnce(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        let Some(process) = self.table().pin(to) else {
            return Err(refused(to, Undelivered::NoSuchProcess, message));
        };
        let slot = process.slot();
        if slot.mailbox.is_closed() {
            let over = slot.events.is_closed();
            let reason = if over {
                Undelivered::NoSuchProcess
            } else {
                Undelivered::Future
            };
            return Err(refused(to, reason, message));
        }
        match self.policy(slot) {
            Some(policy) => self.send_by(policy, slot, message, run),
            None => self.push_message(to, slot, message, run),
        }
    }

    /// Puts a message into the queue of the process in that slot, on which the caller holds a pin.
    /// If the process has become Ready by that, `run` has it run.
    pub(crate) fn push_message(
        &self,
        to: Pid,
        slot: &Slot<P>,
        message: P::Message,
        run: impl FnOnce(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        let item = Item::Event(Event::Message(message));
        let pushed = self.push(slot, item, Reason::Message, run);
        pushed.map(drop).map_err(|item| handed_back(to, item))
    }

    /// Puts an item into the queue of the process in that slot, on which the caller holds a pin,
    /// and wakes it. If the process has become Ready by that, `run` has it run.
    ///
    /// [`Wake::Refused`]: the process is not Ready for the first time yet, and will find the item
    /// then; or it has ended since the push. Else a turn, or the end, will see the item.
    ///
    /// # Errors
    /// The item, if the process has ended.
    #[inline]
    pub(crate) fn push(
        &self,
        slot: &Slot<P>,
        item: Item<P>,
        reason: Reason,
        run: impl FnOnce(&Slot<P>),
    ) -> Result<Wake, Item<P>> {
        let is_urgent = matches!(&item, Item::Signal(signal) if signal.is_urgent());
        slot.events.push(item).map_err(|Closed(item)| item)?;
        if is_urgent {
            slot.urgency.signal();
        }
        let wake = self.table().wake(slot, reason);
        if wake == Wake::Enqueue {
            run(slot);
        }
        Ok(wake)
    }

    /// Whether the process, if it is one of this node's, has not ended.
    pub fn takes_messages(&self, to: Pid) -> bool {
        let slot = self.table().find(to);
        slot.map_or(to.node() != self.table().node(), |slot| {
            !slot.events.is_closed()
        })
    }

    /// Delivers a completion. The caller holds a pin on the slot.
    #[inline(always)]
    pub(crate) fn deliver_completion(&self, slot: &Slot<P>, completed: Item<P>) {
        let pushed = self.push(slot, completed, Reason::Completion, |slot| {
            self.enqueue(slot);
        });
        if let Err(refused) = pushed {
            // The process has ended without waiting for its command.
            drop_contained(refused);
        }
    }

    /// Puts a process that has become Ready again into a run queue: the caller's, to be run next.
    #[inline]
    pub(crate) fn enqueue(&self, slot: &Slot<P>) {
        self.enqueue_by(slot, Processors::wake);
    }

    /// The same for a process that has become Ready for the first time.
    #[inline]
    pub(crate) fn enqueue_new(&self, slot: &Slot<P>) {
        self.enqueue_by(slot, Processors::schedule);
    }

    #[inline]
    fn enqueue_by(&self, slot: &Slot<P>, schedule: impl FnOnce(&Processors<Task<P>>, Task<P>)) {
        let processors = &self.shared().processors;
        if slot.has_idle_priority() {
            processors.schedule_idle(Task::of(slot));
        } else {
            schedule(processors, Task::of(slot));
        }
    }

    /// Puts a process that has given way to others behind them: the end of its turn.
    pub(crate) fn requeue(&self, slot: &Slot<P>) {
        if slot.has_idle_priority() {
            self.shared().processors.schedule_idle(Task::of(slot));
        } else {
            self.shared().processors.give_way_at_end(Task::of(slot));
        }
    }

    /// Wakes the process where the reason itself is the event.
    pub(crate) fn wake(&self, slot: &Slot<P>, reason: Reason) {
        if self.table().wake(slot, reason) == Wake::Enqueue {
            self.enqueue(slot);
        }
    }
}

/// The step that gets a message, and no other: in it the process may pass on what its sender waits
/// for, and its next step may then wait for what the sender does with that.
struct OneStep<F> {
    is_over: F,
    is_taken: Cell<bool>,
}

impl<T, F: Fn() -> bool> Awaited<T> for OneStep<F> {
    fn is_over(&self) -> bool {
        (self.is_over)()
    }

    fn is(&self, _: &T) -> bool {
        !self.is_taken.replace(true)
    }
}

/// For a message that the queue has refused: its process has ended.
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
