//! How events reach processes: push the event, wake the process, and who is told "enqueue it" does.

use filch_event_queue::Closed;
use filch_process_state::{Reason, Wake};

use crate::body::Slot;
use crate::driver::Task;
use crate::signal::Item;
use crate::{CommandError, Event, Handle, Pid, Protocol, SendError, Undelivered};
use filch_process_table::panic::drop_contained;

/// What a wake-up met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// A turn, or the end, will see the event.
    Heard,
    /// The process is not Ready for the first time yet, and will find the event in its queue then;
    /// or it has ended since the push.
    Refused,
}

impl<P: Protocol> Handle<P> {
    /// Sends `message` to the process `to`. Lock-free.
    ///
    /// Messages of one thread arrive in the order sent; what the thread did before happens before
    /// the step that sees the message. A message that is accepted and not read before the process
    /// ends is dropped with it.
    ///
    /// A PID of another node goes to the [`Receiver`](crate::Receiver) that is connected for that
    /// one.
    ///
    /// # Errors
    /// [`SendError`], with the message, if the process has ended or never was, or its
    /// [mailbox](crate::Submission::mailbox) is full, or it lives on a node that is not connected;
    /// or what the receiver for that node says.
    pub fn send(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        let gone = |message| SendError {
            to,
            reason: Undelivered::Gone,
            message,
        };
        let Some(slot) = self.table().find(to) else {
            if to.node() != self.table().node() {
                return self.send_away(to, message);
            }
            return Err(gone(message));
        };
        if slot.mailbox.is_limited() {
            return self.send_limited(to, message);
        }
        let posted = self.table().post(
            to,
            slot,
            Item::Event(Event::Message(message)),
            Reason::Message,
        );
        match posted {
            Ok(woken) => {
                self.follow(woken, slot);
                Ok(())
            }
            Err(Item::Event(Event::Message(message))) => Err(gone(message)),
            Err(_) => unreachable!("the queue hands back what was pushed"),
        }
    }

    /// As `send`, if the mailbox was found to be limited. With a pin: the room that is reserved
    /// must be in the process's own.
    #[cold]
    fn send_limited(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        let refused = |reason, message| SendError {
            to,
            reason,
            message,
        };
        let Some(process) = self.table().pin(to) else {
            return Err(refused(Undelivered::Gone, message));
        };
        let slot = process.slot();
        if let Err(limit) = slot.mailbox.reserve() {
            // Of one that has ended, nobody will ever empty the mailbox.
            let reason = if slot.events.is_closed() {
                Undelivered::Gone
            } else {
                Undelivered::Full { limit }
            };
            return Err(refused(reason, message));
        }
        match slot.events.push(Item::Event(Event::Message(message))) {
            Ok(()) => {
                self.wake(slot, Reason::Message);
                Ok(())
            }
            Err(Closed(Item::Event(Event::Message(message)))) => {
                Err(refused(Undelivered::Gone, message))
            }
            Err(Closed(_)) => unreachable!("the queue hands back what was pushed"),
        }
    }

    /// Delivers a completion. The caller holds a pin on the slot.
    pub(crate) fn deliver_completion(
        &self,
        pid: Pid,
        tag: u64,
        result: Result<P::Reply, CommandError<P>>,
    ) {
        let slot = self.table().slot(pid.slot());
        // Refused: the process has ended without waiting for its command.
        let completed = Item::Event(Event::Completed { tag, result });
        match slot.events.push(completed) {
            Ok(()) => {
                self.wake(slot, Reason::Completion);
            }
            Err(refused) => drop_contained(refused),
        }
    }

    /// Asks the process to end, if it still lives.
    pub(crate) fn cancel(&self, pid: Pid) {
        if let Some(process) = self.table().pin(pid)
            && process
                .slot()
                .events
                .push(Item::Event(Event::Cancel))
                .is_ok()
        {
            self.wake(process.slot(), Reason::Cancel);
        }
    }

    /// Has the process take another turn, if it still lives: without an event.
    pub(crate) fn nudge(&self, pid: Pid) {
        if let Some(process) = self.table().pin(pid) {
            self.wake(process.slot(), Reason::Message);
        }
    }

    /// Puts a process that has become Ready into a run queue: the caller's own, to be run next.
    #[inline]
    pub(crate) fn enqueue(&self, slot: &Slot<P>) {
        if slot.has_idle_priority() {
            self.shared.processors.schedule_idle(Task::of(slot));
        } else {
            self.shared.processors.schedule(Task::of(slot));
        }
    }

    /// Puts a process that has given way to others behind them.
    pub(crate) fn requeue(&self, slot: &Slot<P>) {
        if slot.has_idle_priority() {
            self.shared.processors.schedule_idle(Task::of(slot));
        } else {
            self.shared.processors.inject(Task::of(slot));
        }
    }

    /// After an event was pushed, or the reason itself is the event.
    pub(crate) fn wake(&self, slot: &Slot<P>, reason: Reason) -> Woken {
        self.follow(slot.state.wake(reason), slot)
    }

    /// Does what a wake-up has its caller do.
    #[inline]
    fn follow(&self, wake: Wake, slot: &Slot<P>) -> Woken {
        match wake {
            Wake::Enqueue => {
                self.enqueue(slot);
                Woken::Heard
            }
            Wake::Noted => Woken::Heard,
            Wake::Refused => Woken::Refused,
        }
    }
}
