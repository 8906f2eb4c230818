//! The events of a process that is an async function.

use std::any::Any;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::{mem, ptr};

use filch_scheduler::{Event, Events, Handle, MailboxPolicy, Pid, Protocol, SendError};
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use filch_sync::panic::drop_all_contained;
use filch_sync::{Mutex, lock};

use crate::mailbox::drop_oldest::{DropOldestMailbox, Sender, is_message, tell};

/// The events of a process that is an async function, and what it knows of the world; from
/// [`HandleExt::spawn_with`](crate::HandleExt::spawn_with).
///
/// Events wait here until the function reads them. With a [limit](crate::SubmissionExt::mailbox), a
/// message takes its room until it has been read.
#[doc(alias = "mpsc")]
pub struct Inbox<P: Protocol> {
    handle: Handle<P>,
    pid: Pid,
    pub(crate) mail: Arc<Mail<P>>,
    /// Events that were taken out together, under one lock.
    taken: VecDeque<Event<P>>,
}

/// The events that the process puts and the function reads. Both run on one thread in turn, unless
/// the function has given its inbox away, so the lock is hardly contended.
pub(crate) struct Mail<P: Protocol> {
    unread: Mutex<Unread<P>>,
    /// Decides on the process's messages, if there is a limit.
    policy: Option<Policy<P>>,
    /// The address of the waker that the process lends to the poll that is under way, or 0. Code
    /// that has this waker runs in that poll, behind what the step did before.
    lent: AtomicUsize,
    /// Checked in such a poll, instead of the lock.
    has_events: AtomicBool,
    /// Set by such a poll that waits for an event.
    awaited: AtomicBool,
}

struct Unread<P: Protocol> {
    events: VecDeque<Event<P>>,
    /// The mailbox, if it keeps the latest messages; `None` keeps all.
    latest: Option<Arc<DropOldestMailbox<P>>>,
    /// The waker of waiting code that has one of its own.
    waker: Option<Waker>,
    /// Set once the function has dropped its inbox.
    abandoned: bool,
    /// The error with which the function fails when it returns.
    failure: Option<Failure>,
}

type Failure = Box<dyn Error + Send + Sync>;
type Policy<P> = Arc<dyn MailboxPolicy<P>>;

impl<P: Protocol> Mail<P> {
    /// Appends the events of a step, or leaves them if the function has dropped its inbox. Returns
    /// the messages beyond the limit, if any.
    pub(crate) fn put(&self, events: &mut Events<'_, P>) -> Option<VecDeque<Event<P>>> {
        if events.len() == 0 {
            return None;
        }
        let mut unread = lock(&self.unread);
        if unread.abandoned {
            return None;
        }
        unread.events.extend(events);
        // ORDERING: Relaxed: the poll that follows is this thread's. See `lent`.
        self.has_events.store(true, Ordering::Relaxed);
        let waker = unread.waker.take();
        let Unread { events, latest, .. } = &mut *unread;
        let latest = latest.as_ref();
        let too_many = latest.and_then(|latest| latest.take_oldest(events));
        drop(unread);
        if let Some(waker) = waker {
            waker.wake();
        }
        too_many
    }

    /// Gives back the mailbox room of so many messages, which were read or will not be.
    pub(crate) fn give_room(&self, messages: usize) {
        if let Some(policy) = &self.policy {
            policy.delivered(messages);
        }
    }

    /// Begins a poll of the function, by that waker.
    pub(crate) fn lend(&self, waker: &Waker) {
        // ORDERING: Relaxed: see `lent`.
        (self.lent).store(ptr::from_ref(waker).addr(), Ordering::Relaxed);
    }

    /// Ends the poll. Checks if the function has read all events and waits for more: in that poll,
    /// or in a part of it that has a waker of its own.
    pub(crate) fn is_awaited(&self) -> bool {
        // ORDERING: Relaxed, all: the poll was this thread's. See `lent`.
        self.lent.store(0, Ordering::Relaxed);
        let awaited = self.awaited.load(Ordering::Relaxed);
        self.awaited.store(false, Ordering::Relaxed);
        awaited || lock(&self.unread).waker.is_some()
    }

    /// Takes the next event; and its sender, which a mailbox with the latest messages keeps. Where
    /// all are kept, takes the others as well.
    fn next(&self, others: &mut VecDeque<Event<P>>) -> Option<(Event<P>, Option<Sender<P>>)> {
        let unread = &mut *lock(&self.unread);
        let Some(latest) = &unread.latest else {
            mem::swap(&mut unread.events, others);
            // ORDERING: Relaxed, here and below: no other code takes events. See `lent`.
            self.has_events.store(false, Ordering::Relaxed);
            return Some((others.pop_front()?, None));
        };
        let event = unread.events.pop_front()?;
        let sender = is_message(&event).then(|| latest.read());
        // ORDERING: Relaxed: as above.
        (self.has_events).store(!unread.events.is_empty(), Ordering::Relaxed);
        Some((event, sender))
    }

    /// Takes the error with which the function fails, once it has returned.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        lock(&self.unread).failure.take()
    }
}

impl<P: Protocol> Inbox<P> {
    /// Makes an empty one, of a process whose mailbox has that policy.
    pub(crate) fn new(handle: Handle<P>, pid: Pid, policy: Option<Policy<P>>) -> Self {
        let any = |policy| -> Arc<dyn Any + Send + Sync> { policy };
        let latest = (policy.clone()).and_then(|policy| any(policy).downcast().ok());
        let unread = Unread {
            events: VecDeque::new(),
            latest,
            waker: None,
            abandoned: false,
            failure: None,
        };
        let mail = Mail {
            unread: Mutex::new(unread),
            policy,
            lent: AtomicUsize::new(0),
            has_events: AtomicBool::new(false),
            awaited: AtomicBool::new(false),
        };
        Self {
            handle,
            pid,
            mail: Arc::new(mail),
            taken: VecDeque::new(),
        }
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
    #[doc(alias = "recv")]
    #[doc(alias = "receive")]
    pub async fn next(&mut self) -> Event<P> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Returns the next event, if it has come. See [`next`](Self::next).
    pub fn poll_next(&mut self, context: &mut task::Context<'_>) -> Poll<Event<P>> {
        if let Some(event) = self.taken.pop_front() {
            return Poll::Ready(self.count((event, None)));
        }
        let (mail, waker) = (&self.mail, context.waker());
        // ORDERING: Relaxed, all: code that has this waker is behind what the step did.
        if mail.lent.load(Ordering::Relaxed) == ptr::from_ref(waker).addr()
            && !mail.has_events.load(Ordering::Relaxed)
        {
            mail.awaited.store(true, Ordering::Relaxed);
            return Poll::Pending;
        }
        if let Some(event) = self.try_next() {
            return Poll::Ready(event);
        }
        // Not under the lock: another's waker is user code.
        let waker = waker.clone();
        let mut unread = lock(&self.mail.unread);
        if !unread.events.is_empty() {
            // They have just come.
            drop(unread);
            return self.poll_next(context);
        }
        let old = unread.waker.replace(waker);
        drop(unread);
        drop(old);
        Poll::Pending
    }

    /// Returns the next event, if it has come. Never waits.
    #[doc(alias = "try_recv")]
    pub fn try_next(&mut self) -> Option<Event<P>> {
        let taken = self.taken.pop_front().map(|event| (event, None));
        let next = taken.or_else(|| self.mail.next(&mut self.taken))?;
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
        let last = lock(&self.mail.unread).failure.replace(error);
        // Not under the lock: that is user code.
        drop(last);
    }

    /// Gives back the mailbox room of a message that was read, or tells its sender.
    fn count(&self, (event, sender): (Event<P>, Option<Sender<P>>)) -> Event<P> {
        match sender {
            Some(sender) => tell(sender, Ok(())),
            None if is_message(&event) => self.mail.give_room(1),
            None => {}
        }
        event
    }
}

impl<P: Protocol> Drop for Inbox<P> {
    /// Drops the unread events, whose destructors are user code.
    fn drop(&mut self) {
        let mut unread = lock(&self.mail.unread);
        unread.abandoned = true;
        let mut left = mem::take(&mut self.taken);
        left.append(&mut unread.events);
        drop(unread);
        let messages = left.iter().filter(|event| is_message(event)).count();
        self.mail.give_room(messages);
        drop_all_contained(left);
    }
}

impl<P: Protocol> fmt::Debug for Inbox<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unread = self.taken.len() + lock(&self.mail.unread).events.len();
        f.debug_struct("Inbox")
            .field("pid", &self.pid())
            .field("unread", &unread)
            .finish_non_exhaustive()
    }
}
