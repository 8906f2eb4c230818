//! Commands: the handler that does them, and the right to complete one.

use std::any::Any;
use std::cell::RefCell;

use filch_sync::panic::{catch_panic, drop_contained};

use crate::{CommandError, Handle, Pid, Protocol};

/// Does the commands that processes yield.
///
/// Called on the worker that ran the step, right after it. A short command is completed on the
/// spot; a long one is passed on with its [`Completion`], and completed from elsewhere. A handler
/// that blocks keeps the worker from running processes.
///
/// The handler is dropped by the last worker that leaves: before
/// [`shutdown`](crate::Scheduler::shutdown) returns, if that waits for the workers. A closure is a
/// handler: see the [crate](crate).
pub trait CommandHandler<P: Protocol>: Send + Sync + 'static {
    /// Does `command`, or has it done, and answers through `completion`.
    ///
    /// A panic in here completes the command with [`CommandError::Panicked`], unless it was
    /// completed before.
    fn handle(&self, command: P::Command, completion: Completion<P>);
}

impl<P: Protocol, F> CommandHandler<P> for F
where
    F: Fn(P::Command, Completion<P>) + Send + Sync + 'static,
{
    fn handle(&self, command: P::Command, completion: Completion<P>) {
        self(command, completion);
    }
}

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
/// What the thread did before it completes happens before the step that sees the completion.
#[must_use = "dropping it completes the command with an error"]
pub struct Completion<P: Protocol> {
    // Until `answered`, this holds a pin on the process's slot: the PID cannot come to mean another
    // process.
    scheduler: Handle<P>,
    pid: Pid,
    tag: u64,
    /// Its number in the journal, if there is one.
    number: u32,
    answered: bool,
}

impl<P: Protocol> Completion<P> {
    /// # Safety
    /// The caller has the process `pid`.
    pub(crate) unsafe fn new(scheduler: &Handle<P>, pid: Pid, tag: u64) -> Self {
        // SAFETY: the caller's.
        unsafe { scheduler.table().slot(pid.slot()).share_pin() };
        let journal = scheduler.shared.journal.as_ref();
        Self {
            scheduler: scheduler.clone(),
            pid,
            tag,
            number: journal.map_or(0, |journal| journal.begin_command(pid, tag)),
            answered: false,
        }
    }

    /// What is to be done is a call of the process `to`.
    pub(crate) fn note_call(&self, to: Pid, is_limited: bool) {
        if let Some(journal) = &self.scheduler.shared.journal {
            journal.note_call(self.pid, self.number, to, is_limited);
        }
    }

    /// The process that yielded the command.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The tag that the process gave the command.
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// The scheduler of the process that yielded the command.
    pub fn handle(&self) -> &Handle<P> {
        &self.scheduler
    }

    /// Whether the process still lives. If not, the answer has no reader, and work for it can be
    /// spared.
    pub fn is_wanted(&self) -> bool {
        let slot = self.scheduler.table().slot(self.pid.slot());
        !slot.events.is_closed()
    }

    /// The command is done: the process's next step gets `reply`. Lock-free.
    pub fn complete(mut self, reply: P::Reply) {
        self.answer(Ok(reply));
    }

    /// The command failed: the process's next step gets `error`. Lock-free.
    pub fn fail(mut self, error: P::Error) {
        self.answer(Err(CommandError::Failed(error)));
    }

    /// Answers with what `work` returns, or panics with.
    pub(crate) fn answer_by(mut self, work: impl FnOnce() -> Result<P::Reply, P::Error>) {
        self.answer(result_of(work));
    }

    fn answer(&mut self, result: Result<P::Reply, CommandError<P>>) {
        self.answered = true;
        // Before the process can end.
        if let Some(journal) = &self.scheduler.shared.journal {
            journal.end_command(self.pid, self.number);
        }
        let table = self.scheduler.table();
        self.scheduler
            .deliver_completion(self.pid, self.tag, result);
        // SAFETY: `answered` was false, so the pin is held; it is given up once. The handle is one
        // of the table's owners.
        let _ = unsafe { table.unpin(table.slot(self.pid.slot())) };
    }
}

impl<P: Protocol> Drop for Completion<P> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        if std::thread::panicking() && dispatching() {
            // The handler is unwinding. `dispatch` will know the message that belongs in the
            // answer.
            self.answered = true;
            let unanswered = Self {
                scheduler: self.scheduler.clone(),
                pid: self.pid,
                tag: self.tag,
                number: self.number,
                answered: false,
            };
            UNWOUND.with(|unwound| {
                let mut unwound = unwound.borrow_mut();
                unwound.get_or_insert_default().push(Box::new(unanswered));
            });
        } else {
            self.answer(Err(CommandError::Abandoned));
        }
    }
}

crate::protocol::debug_fields!(Completion<P>, "Completion", pid, tag);

/// What `work` returns, or panics with.
pub(crate) fn result_of<P: Protocol>(
    work: impl FnOnce() -> Result<P::Reply, P::Error>,
) -> Result<P::Reply, CommandError<P>> {
    match catch_panic(work) {
        Ok(Ok(reply)) => Ok(reply),
        Ok(Err(error)) => Err(CommandError::Failed(error)),
        Err(message) => Err(CommandError::Panicked(message.into())),
    }
}

thread_local! {
    /// While this thread dispatches a command: the completions that a panic of the handler dropped.
    static UNWOUND: RefCell<Option<Vec<Box<dyn Any>>>> = RefCell::new(None)
}

fn dispatching() -> bool {
    UNWOUND.with(|unwound| unwound.borrow().is_some())
}

/// Hands one command to the handler, if there is one, and answers for the handler if it panics.
pub(crate) fn dispatch<P: Protocol>(
    handler: Option<&dyn CommandHandler<P>>,
    command: P::Command,
    mut completion: Completion<P>,
) {
    let Some(handler) = handler else {
        completion.answer(Err(CommandError::NoHandler));
        return drop_contained(command);
    };
    UNWOUND.with(|unwound| unwound.replace(Some(Vec::new())));
    let outcome = catch_panic(|| handler.handle(command, completion));
    let unwound = UNWOUND.with(RefCell::take).unwrap_or_default();
    if let Err(message) = outcome {
        for unanswered in unwound {
            match unanswered.downcast::<Completion<P>>() {
                Ok(mut unanswered) => {
                    unanswered.answer(Err(CommandError::Panicked(message.as_str().into())));
                }
                // Another scheduler's: its drop calls it abandoned, now that nothing unwinds.
                Err(foreign) => drop(foreign),
            }
        }
    }
}
