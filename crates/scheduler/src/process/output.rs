//! The output of a step.

use std::any::Any;
use std::error::Error;

use filch_promise::DeferredWake;
use filch_sync::panic::{drop_all_contained, drop_contained};

use crate::process::command::OpenCommand;
use crate::process::error::{AnyOutput, Exit, Outcome};
use crate::process::inline_box::InlineBox;
use crate::protocol::debug_fields;
use crate::{Context, ExitRef, Process, ProcessError, Protocol};

/// The output of a step: commands to dispatch, and the process's next status.
///
/// [`go_on`](Self::go_on), [`wait`](Self::wait), [`idle`](Self::idle), [`done`](Self::done) and
/// [`upgrade`](Self::upgrade) each replace the status set before. The default is idle.
///
/// One output serves all steps of a worker, so that yielding soon allocates nothing. After a step
/// with more than 1024 commands the worker frees their memory.
pub struct StepOutput<P: Protocol> {
    /// The commands with their tags.
    pub(crate) commands: Vec<(u64, P::Command)>,
    /// The tags of the commands that the handler does not do.
    pub(crate) opened: Vec<u64>,
    /// The answers to give when the turn is over.
    answers: Vec<DeferredWake>,
    /// Set if there are any of these: one check, as most steps have none.
    pub(crate) has_more: bool,
    status: Status<P>,
    /// The exit of a process that ends. It stays here until it goes where the handle finds it: it
    /// is large, and would be moved from function to function.
    pub(crate) exit: Option<Exit<P>>,
}

/// A worker keeps memory for this many commands from step to step.
const MOST_KEPT: usize = 1024;

/// The status of a process after a step.
pub enum Status<P: Protocol> {
    /// It takes another step.
    Continue,
    /// It waits for its commands.
    Wait,
    /// It waits for any event.
    Idle,
    /// A future that is pending: it waits for its waker, which leaves no event.
    Pending,
    /// A future that is pending, and waits for an event, too.
    PendingForEvents,
    /// The process ends; its exit is in the output.
    Over,
    /// It goes on as a new version.
    Upgrade(Box<Successor<P>>),
}

debug_fields!(Status<P>, "Status");

/// The process ends; its exit is in the step's output.
pub(crate) struct Over;

/// The new version of a process, with its entry point and input.
pub struct Successor<P: Protocol> {
    /// The new version; no method was called on it yet.
    pub process: Box<dyn Process<P>>,
    /// Its entry point.
    pub method: Box<str>,
    /// Its input.
    pub input: P::Input,
}

debug_fields!(Successor<P>, "NewVersion", method);

impl<P: Protocol> Successor<P> {
    pub(crate) fn new(process: Box<dyn Process<P>>, method: &str, input: P::Input) -> Box<Self> {
        let method = method.into();
        Box::new(Self {
            process,
            method,
            input,
        })
    }
}

impl<P: Protocol> StepOutput<P> {
    pub(crate) fn new() -> Self {
        Self {
            commands: Vec::new(),
            opened: Vec::new(),
            answers: Vec::new(),
            has_more: false,
            status: Status::Idle,
            exit: None,
        }
    }

    /// Yields `command` to the handler. Its completion arrives as
    /// [`Event::Completed`](crate::Event::Completed) with this `tag`, which need not be unique.
    pub fn yield_command(&mut self, tag: u64, command: P::Command) {
        self.commands.push((tag, command));
        self.has_more = true;
    }

    /// Opens a command that the handler does not do: the holder of the result completes it. For the
    /// process it is like any other: it [waits](Self::wait) for it, and is told with this `tag`.
    /// The `context` is that of the step.
    #[inline]
    pub fn open_command(&mut self, context: &Context<'_, P>, tag: u64) -> OpenCommand<P> {
        self.opened.push(tag);
        self.has_more = true;
        OpenCommand::new(context.pin(), tag)
    }

    /// Gives `answer` when the turn is over: when the step's commands have been handed to the
    /// handler, and, after a last step, the process has been [closed](Process::close). A step that
    /// fails or panics afterwards does not take it back.
    pub fn give_after_turn(&mut self, answer: DeferredWake) {
        self.answers.push(answer);
        self.has_more = true;
    }

    /// Says that the process has more to do, with events or without, and yields: all runnable
    /// processes come first, and those that have yielded before it, in that order. Beside processes
    /// that never rest each worker runs a yielded one every 400 µs, or after as many steps as take
    /// so long. Not needed for events that wait.
    ///
    /// **With commands under way this does not wait for them**: the process takes step after step,
    /// most of them without an event, and keeps a worker busy. One that has no other work meanwhile
    /// says [`wait`](Self::wait). [`ProcessInfo::empty_steps`](crate::ProcessInfo::empty_steps) and
    /// the worker's count such steps. (In this scheduler's original, a process that yields commands
    /// always waits for them.)
    #[doc(alias = "yield_now")]
    pub fn go_on(&mut self) {
        self.say(Status::Continue);
    }

    /// Waits for the commands that the process yielded. Messages do not wake it. (One that arrives
    /// at the moment of a completion may still come in a separate step.) The step that ends the
    /// wait has the completion, or a [`Cancel`](crate::Event::Cancel), and the oldest messages.
    ///
    /// With no command outstanding the process ends with
    /// [`ProcessError::WaitsForNothing`](crate::ProcessError::WaitsForNothing).
    pub fn wait(&mut self) {
        self.say(Status::Wait);
    }

    /// Waits for any event: a message, or the completion of a command.
    pub fn idle(&mut self) {
        self.say(Status::Idle);
    }

    /// Ends the process with `output`. Commands that this step yielded are still dispatched; nobody
    /// will see their completions.
    #[inline]
    pub fn done(&mut self, output: P::Output) {
        self.over(Outcome::Output(output));
    }

    /// Ends the process with an output of another type than its protocol's, which the reader of its
    /// [`Outcome`](crate::ProcessHandle::poll_outcome) knows. Else as [`done`](Self::done).
    #[inline]
    pub fn done_with<T: Any + Send>(&mut self, output: T) {
        self.over(Outcome::Other(AnyOutput(InlineBox::any(output))));
    }

    /// Fails the process with an error of another type than its protocol's. Overrides the status.
    #[cold]
    pub fn fail_with(&mut self, error: Box<dyn Error + Send + Sync>) {
        let Over = self.fail(ProcessError::FunctionFailed(error));
        self.status = Status::Over;
    }

    /// Waits for the process's [waker](crate::Context::waker), which leaves no event. A standstill
    /// takes it for a pending future.
    pub fn pending(&mut self) {
        self.say(Status::Pending);
    }

    /// Waits for the waker or for an event, as an idle process does.
    pub fn pending_for_events(&mut self) {
        self.say(Status::PendingForEvents);
    }

    /// Replaces the process by a new version: when this step has returned and its commands are
    /// dispatched, `process` gets its [`init`](Process::init), with `method` and `input`, which
    /// carries the old version's state; and the old one is closed. Else as
    /// [`Handle::upgrade`](crate::Handle::upgrade). The new version's first step comes after the
    /// other runnable processes, and may have no events.
    #[doc(alias = "code_change")]
    pub fn upgrade(&mut self, process: impl Process<P> + 'static, method: &str, input: P::Input) {
        let successor = Successor::new(Box::new(process), method, input);
        self.say(Status::Upgrade(successor));
    }

    /// Replaces the status.
    #[inline]
    fn say(&mut self, status: Status<P>) {
        self.status = status;
        self.exit = None;
    }

    /// Sets the exit first: if the destructor of an earlier one panics, and the step goes on, the
    /// status does not promise an exit that is missing.
    #[inline(always)]
    fn over(&mut self, outcome: Outcome<P>) {
        self.exit = Some(Ok(outcome));
        self.status = Status::Over;
    }

    /// Takes the status of the step that just ran and leaves the next one its default.
    pub(crate) fn take_status(&mut self) -> Status<P> {
        std::mem::replace(&mut self.status, Status::Idle)
    }

    /// Ends the process with this error. Overrides the step's status.
    #[cold]
    pub(crate) fn fail(&mut self, error: ProcessError<P>) -> Over {
        drop_contained(self.take_status());
        drop_contained(self.exit.replace(Err(Box::new(error))));
        Over
    }

    /// Returns the exit of a process that ends.
    pub(crate) fn exit(&self) -> ExitRef<'_, P> {
        match &self.exit {
            Some(Ok(outcome)) => Ok(outcome),
            Some(Err(error)) => Err(error),
            None => unreachable!("a process that ends has an exit"),
        }
    }

    /// Takes the exit of a process that ends.
    #[inline]
    pub(crate) fn take_exit(&mut self) -> Exit<P> {
        match self.exit.take() {
            Some(exit) => exit,
            None => unreachable!("a process that ends has an exit"),
        }
    }

    /// Frees the memory of very many commands, after they have been drained.
    #[inline]
    pub(crate) fn settled(&mut self) {
        if self.commands.capacity() > MOST_KEPT {
            self.commands = Vec::new();
        }
        if self.opened.capacity() > MOST_KEPT {
            self.opened = Vec::new();
        }
        self.has_more = !self.answers.is_empty();
    }

    /// Gives the callers their answers, after the commands have been drained.
    pub(crate) fn give_answers(&mut self) {
        // An answer whose caller has gone is dropped here: that is user code.
        drop_all_contained(self.answers.drain(..));
        if self.answers.capacity() > MOST_KEPT {
            self.answers = Vec::new();
        }
        self.has_more = false;
    }

    /// Forgets the commands of a step that failed half-way, but neither its answers, as what they
    /// tell has happened, nor its calls, which are made.
    #[cold]
    pub(crate) fn forget_commands(&mut self) {
        drop_all_contained(self.commands.drain(..));
        self.opened.clear();
        self.settled();
    }
}

debug_fields!(StepOutput<P>, "StepOutput", has_more);
