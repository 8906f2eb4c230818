//! Commands: the handler that does them, and the right to complete one.

use std::fmt;

use filch_sync::panic::drop_contained;

use crate::api::outstanding::{OpenCommand, answer_panics};
use crate::{
    CommandError, EndCall, ExitReason, Handle, Pid, ProcessError, ProcessHandle, Protocol,
};

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
    /// Before the handle: with the last one goes the scheduler.
    command: OpenCommand<P>,
    scheduler: Handle<P>,
}

impl<P: Protocol> Completion<P> {
    /// Of a command of that scheduler's.
    pub(crate) fn new(scheduler: &Handle<P>, command: OpenCommand<P>) -> Self {
        let scheduler = scheduler.clone();
        Self { command, scheduler }
    }

    /// The process that yielded the command.
    pub fn pid(&self) -> Pid {
        self.command.pid()
    }

    /// The tag that the process gave the command.
    pub fn tag(&self) -> u64 {
        self.command.tag()
    }

    /// The scheduler of the process that yielded the command.
    pub fn handle(&self) -> &Handle<P> {
        &self.scheduler
    }

    /// Whether the process still lives. If not, the answer has no reader, and work for it can be
    /// spared.
    pub fn is_wanted(&self) -> bool {
        self.command.is_wanted()
    }

    /// The command is done: the process's next step gets `reply`. Lock-free.
    pub fn complete(self, reply: P::Reply) {
        self.command.answer(Ok(reply));
    }

    /// The command failed: the process's next step gets `error`. Lock-free.
    pub fn fail(self, error: P::Error) {
        self.command.answer(Err(CommandError::Failed(error)));
    }

    /// Answers with what `work` returns, or panics with.
    pub fn answer_by(self, work: impl FnOnce() -> Result<P::Reply, P::Error>) {
        self.command.answer_by(work);
    }

    /// Has the exit of `process`, through `reply`, answer. No thread waits for that. `reply` runs
    /// where the process ends; if it panics, the command completes with that message.
    pub fn follow(
        self,
        process: ProcessHandle<P>,
        reply: impl FnOnce(Result<P::Output, ProcessError<P>>) -> Result<P::Reply, P::Error>
        + Send
        + 'static,
    ) {
        process.on_exit(|exit| self.answer_by(|| reply(exit)));
    }

    /// Has `call` called when the process that yielded the command has ended, and nobody waits for
    /// its answer any more: to give up a request, a timer, a place in a line. See
    /// [`Handle::at_end`].
    pub fn at_end(&self, call: impl FnOnce(&ExitReason) + Send + 'static) -> EndCall {
        self.scheduler.at_end(self.pid(), call)
    }
}

impl<P: Protocol> fmt::Debug for Completion<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion")
            .field("pid", &self.pid())
            .field("tag", &self.tag())
            .finish_non_exhaustive()
    }
}

/// Hands one command to the handler, if there is one, and answers for the handler if it panics.
pub(crate) fn dispatch<P: Protocol>(
    handler: Option<&dyn CommandHandler<P>>,
    command: P::Command,
    scheduler: &Handle<P>,
    outstanding: OpenCommand<P>,
) {
    let Some(handler) = handler else {
        outstanding.answer(Err(CommandError::NoHandler));
        return drop_contained(command);
    };
    let completion = Completion::new(scheduler, outstanding);
    answer_panics::<P>(|| handler.handle(command, completion));
}
