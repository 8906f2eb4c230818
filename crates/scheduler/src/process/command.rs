//! Commands: the handler that does them, and the right to complete one.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Deref;

use filch_process_state::Reason;
use filch_sync::panic::{catch_panic, drop_contained};

use crate::table::body::Item;
use crate::table::pinned::Pinned;
use crate::{CommandError, Event, Handle, Pid, ProcessError, ProcessHandle, Protocol};

/// Does the commands: see [`Builder::handler`](crate::Builder::handler).
pub(crate) type CommandHandler<P> = dyn Fn(<P as Protocol>::Command, Completion<P>) + Send + Sync;

/// The right, and the duty, to complete one command, once, from any thread.
///
/// Dropping it completes the command with [`CommandError::Abandoned`]: no process waits for ever
/// because a handler forgot it. Completing for a process that has ended meanwhile does nothing.
///
/// It cannot be used twice:
///
/// ```compile_fail,E0382
/// fn twice<P: filch_scheduler::Protocol<Reply = ()>>(completion: filch_scheduler::Completion<P>) {
///     completion.complete(());
///     completion.complete(());
/// }
/// ```
///
/// The thread's acts before the completion happen before the step that sees it.
#[must_use = "dropping it completes the command with an error"]
pub struct Completion<P: Protocol> {
    /// Dropped before the handle: dropping the last handle drops the scheduler.
    command: OpenCommand<P>,
    scheduler: Handle<P>,
}

impl<P: Protocol> Completion<P> {
    /// Returns the handle to the scheduler of the process that yielded the command.
    pub fn handle(&self) -> &Handle<P> {
        &self.scheduler
    }

    /// Completes the command: the process's next step gets `reply`. Lock-free.
    pub fn complete(self, reply: P::Reply) {
        self.command.answer(Ok(reply));
    }

    /// Fails the command: the process's next step gets `error`. Lock-free.
    pub fn fail(self, error: P::Error) {
        self.command.answer(Err(CommandError::Failed(error)));
    }

    /// Completes the command: the process's next step gets the result. Lock-free.
    pub fn answer(self, result: Result<P::Reply, CommandError<P>>) {
        self.command.answer(result);
    }

    /// Completes the command with the result of `work`, or with its panic.
    pub fn answer_by(self, work: impl FnOnce() -> Result<P::Reply, P::Error>) {
        self.command.answer_by(work);
    }

    /// Completes the command with the exit of `process`, through `reply`. No thread waits for it.
    /// `reply` runs where the process ends; if it panics, the command completes with that message.
    pub fn follow(
        self,
        process: ProcessHandle<P>,
        reply: impl FnOnce(Result<P::Output, ProcessError<P>>) -> Result<P::Reply, P::Error>
        + Send
        + 'static,
    ) {
        process.on_exit(|exit| self.answer_by(|| reply(exit)));
    }
}

impl<P: Protocol> Deref for Completion<P> {
    type Target = OpenCommand<P>;

    fn deref(&self) -> &OpenCommand<P> {
        &self.command
    }
}

crate::protocol::debug_fields!(Completion<P>, "Completion", command);

/// Hands one command to the handler, if there is one, and answers for the handler if it panics.
pub(crate) fn dispatch<P: Protocol>(
    handler: Option<&CommandHandler<P>>,
    command: P::Command,
    scheduler: &Handle<P>,
    outstanding: OpenCommand<P>,
) {
    let Some(handler) = handler else {
        outstanding.answer(Err(CommandError::NoHandler));
        return drop_contained(command);
    };
    let completion = Completion {
        command: outstanding,
        scheduler: scheduler.clone(),
    };
    UNWOUND.set(Some(Vec::new()));
    let handled = catch_panic(|| handler(command, completion));
    let unwound = UNWOUND.take().unwrap_or_default();
    if let Err(message) = handled {
        unwound.into_iter().for_each(|answer| answer(&message));
    }
}

/// An open command of a process: the right, and the duty, to complete it, once, from any thread.
/// Dropping it completes it with [`CommandError::Abandoned`].
///
/// The handler gets one in a [`Completion`](crate::Completion). A step
/// [opens](crate::StepOutput::open_command) one for a command that the handler does not do.
///
/// Its fields are whole words: it is moved right after it is made, and reading a word that was
/// written in pieces waits until they have left the store buffer.
pub struct OpenCommand<P: Protocol> {
    /// `None` once it is answered. The pin keeps the PID from meaning another process.
    process: Option<Pinned<P>>,
    tag: u64,
    /// Its number in the journal, if there is one.
    number: u64,
}

impl<P: Protocol> OpenCommand<P> {
    /// Opens a command of the process, with that tag.
    #[inline]
    pub(crate) fn new(process: Pinned<P>, tag: u64) -> Self {
        let scheduler = process.scheduler();
        let observer = scheduler.shared().observer.as_ref();
        let number = observer.map_or(0, |observer| observer.begin_command(process.pid(), tag));
        Self {
            process: Some(process),
            tag,
            number,
        }
    }

    fn process(&self) -> &Pinned<P> {
        match &self.process {
            Some(process) => process,
            None => unreachable!("an answer uses it up"),
        }
    }

    /// Tells reports that the command is a call of the process `to`.
    pub fn note_call(&self, to: Pid, is_limited: bool) {
        if let Some(observer) = &self.process().scheduler().shared().observer {
            observer.note_call(self.pid(), self.number, to, is_limited);
        }
    }

    /// Returns the PID of the process that yielded it.
    pub fn pid(&self) -> Pid {
        self.process().pid()
    }

    /// Returns the tag that it was given.
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Checks if the process still lives. If not, nobody reads the answer, and the work for it can
    /// be saved. To be told of that, use [`Handle::at_end`].
    pub fn is_wanted(&self) -> bool {
        !self.process().slot().events.is_closed()
    }

    /// Completes it with the result of `work`, or with its panic.
    #[inline]
    pub fn answer_by(mut self, work: impl FnOnce() -> Result<P::Reply, P::Error>) {
        // Delivered in there, a reply goes by registers.
        let answered = catch_panic(|| match work() {
            Ok(reply) => self.deliver(Ok(reply)),
            Err(error) => self.fail(CommandError::Failed(error)),
        });
        if let Err(message) = answered {
            self.fail(CommandError::Panicked(message.into()));
        }
    }

    /// Completes it: the process's next step gets the result. Lock-free.
    pub fn answer(mut self, result: Result<P::Reply, CommandError<P>>) {
        self.deliver(result);
    }

    #[cold]
    fn fail(&mut self, error: CommandError<P>) {
        self.deliver(Err(error));
    }

    #[inline(always)]
    fn deliver(&mut self, result: Result<P::Reply, CommandError<P>>) {
        let Some(process) = self.process.take() else {
            return;
        };
        let scheduler = process.scheduler();
        // Before the process can end.
        if let Some(observer) = &scheduler.shared().observer {
            observer.end_command(process.pid(), self.number);
        }
        let slot = process.slot();
        let Some(claim) = slot.events.claim() else {
            // The process has ended without waiting for its command.
            return drop_contained(result);
        };
        let tag = self.tag;
        claim.fill(Item::Event(Event::Completed { tag, result }));
        scheduler.wake(slot, Reason::Completion);
    }

    #[cold]
    fn abandon(&mut self) {
        if !std::thread::panicking() || UNWOUND.with_borrow(Option::is_none) {
            return self.fail(CommandError::Abandoned);
        }
        // The handler is unwinding. `dispatch` will know the message that belongs in the answer.
        let command = Self {
            process: self.process.take(),
            ..*self
        };
        let answer: Unwound = Box::new(|message| {
            command.answer(Err(CommandError::Panicked(message.into())));
        });
        UNWOUND.with_borrow_mut(|unwound| unwound.get_or_insert_default().push(answer));
    }
}

impl<P: Protocol> Drop for OpenCommand<P> {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.abandon();
        }
    }
}

/// The process, the tag and the label of a command that a blocking thread does.
pub(crate) type CommandLabel = (Pid, u64, Option<Cow<'static, str>>);

/// Answers a dropped command with the panic's message.
type Unwound = Box<dyn FnOnce(&str)>;

thread_local! {
    /// The commands that a panic of the handler dropped; `None` unless this thread calls a handler.
    static UNWOUND: RefCell<Option<Vec<Unwound>>> = RefCell::new(None)
}

crate::protocol::debug_fields!(OpenCommand<P>, "OpenCommand", tag);
