//! The events of a process that is an async function.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::task::{self, Poll, Waker};

use filch_scheduler::{Event, Events, Handle, Pid, Protocol, SendError};
use filch_sync::panic::drop_all_contained;
use filch_sync::{Arc, Mutex, lock};

use crate::mailbox::drop_oldest::{DropOldestMailbox, Sender, is_message, tell};

/// The events of a process that is an async function, and what it knows of the world; from
/// [`HandleExt::spawn_with`](crate::HandleExt::spawn_with).
///
/// Events wait here until the function reads them. With a [limit](crate::SubmissionExt::mailbox), a
/// message takes its room until it has been read.
pub struct Inbox<P: Protocol> {
    handle: Handle<P>,
    pid: Pid,
    mail: Arc<Mail<P>>,
    /// Events that were taken out together, under one lock.
    taken: VecDeque<Event<P>>,
}

/// The events that the process puts and the function reads. Both run on one thread in turn, unless
/// the function has given its inbox away, so the lock is hardly contended.
pub(crate) struct Mail<P: Protocol>(Mutex<Unread<P>>);

struct Unread<P: Protocol> {
    events: VecDeque<Event<P>>,
    /// The mailbox, if it keeps the latest messages; `None` keeps all.
    latest: Option<DropOldestMailbox<P>>,
    /// The data address of the process's own waker, to recognize it.
    own: usize,
    /// The waker of the waiting code; `None` if that is the process's own, which is polled anyway.
    waker: Option<Waker>,
    /// Set by a poll that waits for an event with the process's own waker.
    awaited: bool,
    /// Set once the function has dropped its inbox.
    abandoned: bool,
    /// The error with which the function fails when it returns.
    failure: Option<Failure>,
}

type Failure = Box<dyn Error + Send + Sync>;

impl<P: Protocol> Mail<P> {
    /// Appends the events of a step, or leaves them if the function has dropped its inbox. Returns
    /// the messages beyond the limit, if any.
    pub(crate) fn put(&self, events: &mut Events<'_, P>) -> Option<VecDeque<Event<P>>> {
        if events.len() == 0 {
            return None;
        }
        let mut unread = lock(&self.0);
        if unread.abandoned {
            return None;
        }
        unread.events.extend(events);
        let waker = unread.waker.take();
        let Unread { events, latest, .. } = &mut *unread;
        let too_many = latest
            .as_ref()
            .and_then(|latest| latest.take_oldest(events));
        drop(unread);
        if let Some(waker) = waker {
            waker.wake();
        }
        too_many
    }

    /// Remembers `waker` as the process's own.
    pub(crate) fn know(&self, waker: &Waker) {
        lock(&self.0).own = waker.data().addr();
    }

    /// Checks after a poll if the function has read all events and waits for more: in that poll, or
    /// in a part of it that has a waker of its own.
    pub(crate) fn is_awaited(&self) -> bool {
        let mut unread = lock(&self.0);
        mem::take(&mut unread.awaited) || unread.waker.is_some()
    }

    /// Takes the error with which the function fails, once it has returned.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        lock(&self.0).failure.take()
    }
}

impl<P: Protocol> Unread<P> {
    /// Takes the next event; and its sender, which a mailbox with the latest messages keeps. Where
    /// all are kept, takes the others as well.
    fn next(&mut self, others: &mut VecDeque<Event<P>>) -> Option<(Event<P>, Option<Sender<P>>)> {
        let Some(latest) = &self.latest else {
            mem::swap(&mut self.events, others);
            return Some((others.pop_front()?, None));
        };
        let event = self.events.pop_front()?;
        let sender = is_message(&event).then(|| latest.read());
        Some((event, sender))
    }
}

impl<P: Protocol> Inbox<P> {
    /// Makes an empty one, which keeps the unread messages that the `latest` would, or all.
    pub(crate) fn new(handle: Handle<P>, pid: Pid, latest: Option<DropOldestMailbox<P>>) -> Self {
        let mail = Mail(Mutex::new(Unread {
            events: VecDeque::new(),
            latest,
            own: 0,
            waker: None,
            awaited: false,
            abandoned: false,
            failure: None,
        }));
        Self {
            handle,
            pid,
            mail: Arc::new(mail),
            taken: VecDeque::new(),
        }
    }

    pub(crate) fn mail(&self) -> Arc<Mail<P>> {
        Arc::clone(&self.mail)
    }

    /// Returns the process's PID, for others to send to.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns the handle to the scheduler.
    pub fn handle(&self) -> &Handle<P> {
        &self.handle
    }

    /// Sends a message. See [`Handle::send`].
    ///
    /// # Errors
    /// As [`Handle::send`].
    pub fn send(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        self.handle.send(to, message)
    }

    /// Waits for the next event. There is always one more: the shutdown sends a
    /// [`Cancel`](Event::Cancel). Dropping the future while it waits loses no event.
    pub async fn next(&mut self) -> Event<P> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Returns the next event, if it has come. See [`next`](Self::next).
    pub fn poll_next(&mut self, context: &mut task::Context<'_>) -> Poll<Event<P>> {
        if let Some(event) = self.taken.pop_front() {
            return Poll::Ready(self.count((event, None)));
        }
        let mut unread = lock(&self.mail.0);
        if unread.own != context.waker().data().addr() && unread.events.is_empty() {
            drop(unread);
            return self.poll_by_another(context);
        }
        if let Some(next) = unread.next(&mut self.taken) {
            drop(unread);
            return Poll::Ready(self.count(next));
        }
        unread.awaited = true;
        let old = unread.waker.take();
        drop(unread);
        drop(old);
        Poll::Pending
    }

    /// Polls for a part of the function that has a waker of its own.
    fn poll_by_another(&mut self, context: &mut task::Context<'_>) -> Poll<Event<P>> {
        // Not under the lock: another's waker is user code.
        let waker = context.waker().clone();
        let mut unread = lock(&self.mail.0);
        if let Some(next) = unread.next(&mut self.taken) {
            drop(unread);
            return Poll::Ready(self.count(next));
        }
        let old = unread.waker.replace(waker);
        drop(unread);
        drop(old);
        Poll::Pending
    }

    /// Returns the next event, if it has come. Never waits.
    pub fn try_next(&mut self) -> Option<Event<P>> {
        let taken = self.taken.pop_front().map(|event| (event, None));
        let next = taken.or_else(|| lock(&self.mail.0).next(&mut self.taken))?;
        Some(self.count(next))
    }

    /// Makes the function fail with this error when it returns, whatever it returns, as a step that
    /// [returns an error](filch_scheduler::Process::step) does. Its handle gets the error itself,
    /// in [`ProcessError::FunctionFailed`](filch_scheduler::ProcessError::FunctionFailed);
    /// processes that watch it, or are linked to it, get
    /// [`ExitReason::Failed`](filch_scheduler::ExitReason::Failed), with the error's text. Of
    /// several errors the last one counts.
    ///
    /// ```
    /// # enum Any {}
    /// # impl filch_scheduler::Protocol for Any {
    /// #     type Input = (); type Message = (); type Command = (); type Reply = ();
    /// #     type Output = (); type Error = String;
    /// # }
    /// # use filch_actors::prelude::*;
    /// # use filch_scheduler::{JoinError, ProcessError, Scheduler};
    /// # let scheduler = Scheduler::<Any>::builder().workers(1).build()?;
    /// let parser = scheduler.spawn_with(|inbox| async move {
    ///     if let Err(error) = "forty-two".parse::<u32>() {
    ///         inbox.fail(error);
    ///     }
    /// })?;
    /// let Err(JoinError::Process(ProcessError::FunctionFailed(error))) = parser.join() else {
    ///     panic!("it has failed");
    /// };
    /// assert!(error.is::<std::num::ParseIntError>());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fail(&self, error: impl Into<Box<dyn Error + Send + Sync>>) {
        let error = error.into();
        let last = lock(&self.mail.0).failure.replace(error);
        // Not under the lock: that is user code.
        drop(last);
    }

    /// Gives back the mailbox room of a message that was read, or tells its sender.
    fn count(&self, (event, sender): (Event<P>, Option<Sender<P>>)) -> Event<P> {
        match sender {
            Some(sender) => tell(sender, Ok(())),
            None if is_message(&event) => self.handle.give_room(self.pid, 1),
            None => {}
        }
        event
    }
}

impl<P: Protocol> Drop for Inbox<P> {
    /// Drops the unread events, whose destructors are user code.
    fn drop(&mut self) {
        let mut unread = lock(&self.mail.0);
        unread.abandoned = true;
        let mut left = mem::take(&mut self.taken);
        left.append(&mut unread.events);
        drop(unread);
        let messages = left.iter().filter(|event| is_message(event)).count();
        self.handle.give_room(self.pid, messages);
        drop_all_contained(left);
    }
}

impl<P: Protocol> fmt::Debug for Inbox<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("pid", &self.pid())
            .field(
                "unread",
                &(self.taken.len() + lock(&self.mail.0).events.len()),
            )
            .finish_non_exhaustive()
    }
}
