//! What a step tells the scheduler.

use std::any::Any;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;

use filch_promise::Prepared;
use filch_sync::panic::{drop_all_contained, drop_contained};

use crate::process::command::OpenCommand;
use crate::process::error::{AnyOutput, Exit, Outcome};
use crate::table::inline_box::InlineBox;
use crate::{Context, Process, ProcessError, Protocol};

/// What a step tells the scheduler: commands to dispatch, and what the process does next.
///
/// [`go_on`](Self::go_on), [`wait`](Self::wait), [`idle`](Self::idle), [`done`](Self::done) and
/// [`upgrade`](Self::upgrade) each replace what was said before. A step that says nothing is idle.
///
/// One output serves all steps of a worker, so yielding soon allocates nothing. After a step with
/// more than 1024 commands the worker gives their memory back.
pub struct StepOutput<P: Protocol> {
    /// With their tags.
    commands: Vec<(u64, P::Command)>,
    /// The tags of those that others than the handler do.
    opened: Vec<u64>,
    /// Given when the turn is over.
    answers: VecDeque<Prepared>,
    /// Whether there are any of these: one look, as most steps have none.
    has_more: bool,
    status: Status<P>,
    /// Of a process that ends. It stays here until it goes where the handle finds it: it is large,
    /// and would be moved from function to function.
    exit: Option<Exit<P>>,
}

/// A worker keeps memory for this many commands from step to step.
const MOST_KEPT: usize = 1024;

/// What a process does after a step.
pub(crate) enum Status<P: Protocol> {
    Continue,
    Wait,
    Idle,
    /// A future that is pending: it waits for its waker, which leaves no event.
    Pending,
    /// A future that is pending, and waits for an event, too.
    PendingForEvents,
    /// With an exit.
    Over,
    Upgrade(Box<Successor<P>>),
}

/// The process ends, with the exit that its step's output has.
pub(crate) struct Over;

/// The new version of a process, and how it starts.
pub(crate) struct Successor<P: Protocol> {
    pub(crate) process: Box<dyn Process<P>>,
    pub(crate) method: Box<str>,
    pub(crate) input: P::Input,
}

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
            answers: VecDeque::new(),
            has_more: false,
            status: Status::Idle,
            exit: None,
        }
    }

    /// Has `command` done by the handler. Its completion arrives as
    /// [`Event::Completed`](crate::Event::Completed) with this `tag`, which need not be unique.
    pub fn yield_command(&mut self, tag: u64, command: P::Command) {
        self.commands.push((tag, command));
        self.has_more = true;
    }

    /// Begins a command that the handler does not do: whoever has what this returns completes it.
    /// To the process it is as any other: it [waits](Self::wait) for it, and is told with this
    /// `tag`. The `context` is that of the step.
    #[inline]
    pub fn open_command(&mut self, context: &Context<'_, P>, tag: u64) -> OpenCommand<P> {
        self.opened.push(tag);
        self.has_more = true;
        OpenCommand::new(context.pin(), tag)
    }

    /// Has something given when the step is over, and what belongs to it: when its commands have
    /// been handed to the handler, and, if it was the last one, the process has been
    /// [closed](Process::close). A step that fails or panics afterwards does not take it back.
    pub fn give_after_turn(&mut self, answer: Prepared) {
        self.answers.push_back(answer);
        self.has_more = true;
    }

    /// The process has more to do, with events or without, and gives way to others: all that are
    /// runnable now come first, and those that have given way before it, in that order. Beside
    /// processes that never rest each worker runs one that has given way every 400 µs, or after as
    /// many steps as take so long. Not needed for events that wait.
    ///
    /// **With commands under way this does not wait for them**: the process takes step after step,
    /// most of them without an event, until they complete, and a worker is busy with that. It is
    /// for a process that has other work meanwhile; one that has none says [`wait`](Self::wait).
    /// [`WorkerStats::empty_steps`](crate::WorkerStats::empty_steps) and
    /// [`ProcessInfo::empty_steps`](crate::ProcessInfo::empty_steps) count such steps, and a
    /// dump names the processes. (In the original of this scheduler, a
    /// process that yields commands waits for them whatever else it says.)
    pub fn go_on(&mut self) {
        self.say(Status::Continue);
    }

    /// The process waits for the commands that it yielded. Messages do not wake it. (One that
    /// arrives at the moment of a completion may still come in a separate step.) The step that ends
    /// the wait has the completion, or a [`Cancel`](crate::Event::Cancel), and the oldest messages.
    ///
    /// With no command outstanding the process ends with
    /// [`ProcessError::WaitsForNothing`](crate::ProcessError::WaitsForNothing).
    pub fn wait(&mut self) {
        self.say(Status::Wait);
    }

    /// The process waits for whatever comes: a message, or the completion of a command.
    pub fn idle(&mut self) {
        self.say(Status::Idle);
    }

    /// The process has ended with `output`. Commands that this step yielded are still dispatched;
    /// nobody will see their completions.
    #[inline]
    pub fn done(&mut self, output: P::Output) {
        self.over(Outcome::Output(output));
    }

    /// The process has ended with an output of another type than its protocol's, which the reader
    /// of its [`Outcome`](crate::ProcessHandle::poll_outcome) knows. The rest is as with
    /// [`done`](Self::done).
    #[inline]
    pub fn done_with<T: Any + Send>(&mut self, output: T) {
        self.over(Outcome::Other(AnyOutput(InlineBox::any(output))));
    }

    /// The process fails with an error of another type than its protocol's, whatever it has said.
    #[cold]
    pub fn fail_with(&mut self, error: Box<dyn Error + Send + Sync>) {
        let Over = self.fail(ProcessError::FunctionFailed(error));
        self.status = Status::Over;
    }

    /// The process waits for its [waker](crate::Context::waker), which leaves no event. A
    /// standstill takes it for a future that is pending.
    pub fn pending(&mut self) {
        self.say(Status::Pending);
    }

    /// The same, of a process that also waits for an event, as an idle one does.
    pub fn pending_for_events(&mut self) {
        self.say(Status::PendingForEvents);
    }

    /// The process goes on as a new version: when this step has returned and its commands are
    /// dispatched, `process` gets its [`init`](Process::init), with `method` and `input`, in which
    /// the old version hands its state over; and the old one is closed. All else is as after
    /// [`Handle::upgrade`](crate::Handle::upgrade). The new version's first step comes after the
    /// others that are runnable, and may have no events.
    pub fn upgrade(&mut self, process: impl Process<P> + 'static, method: &str, input: P::Input) {
        let successor = Successor::new(Box::new(process), method, input);
        self.say(Status::Upgrade(successor));
    }

    /// In place of what was said before.
    #[inline]
    fn say(&mut self, status: Status<P>) {
        self.status = status;
        self.exit = None;
    }

    /// The exit first: if the destructor of an earlier one panics, and the step goes on, this does
    /// not say that there is one where there is none.
    #[inline(always)]
    fn over(&mut self, outcome: Outcome<P>) {
        self.exit = Some(Ok(outcome));
        self.status = Status::Over;
    }

    /// Takes the status of the step that just ran and leaves the next one its default.
    pub(crate) fn take_status(&mut self) -> Status<P> {
        std::mem::replace(&mut self.status, Status::Idle)
    }

    /// The process ends with this error, whatever its step has said.
    #[cold]
    pub(crate) fn fail(&mut self, error: ProcessError<P>) -> Over {
        drop_contained(self.take_status());
        drop_contained(self.exit.replace(Err(Box::new(error))));
        Over
    }

    /// The error of a process that ends, if it has one.
    pub(crate) fn error(&self) -> Option<&ProcessError<P>> {
        match &self.exit {
            Some(Err(error)) => Some(error),
            _ => None,
        }
    }

    /// The exit of a process that ends.
    #[inline]
    pub(crate) fn take_exit(&mut self) -> Exit<P> {
        match self.exit.take() {
            Some(exit) => exit,
            None => unreachable!("a process that ends has an exit"),
        }
    }

    /// Whether there are commands or answers.
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    pub(crate) fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    pub(crate) fn drain_commands(&mut self) -> std::vec::Drain<'_, (u64, P::Command)> {
        self.commands.drain(..)
    }

    /// The tags of the commands that the step has opened.
    pub(crate) fn drain_opened(&mut self) -> std::vec::Drain<'_, u64> {
        self.opened.drain(..)
    }

    /// After the commands have been drained: gives their memory back, if there were very many.
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

    /// Gives the callers their answers. The commands have been drained.
    pub(crate) fn give_answers(&mut self) {
        while let Some(answer) = self.answers.pop_front() {
            // An answer whose caller has gone is dropped here: that is user code.
            drop_contained(answer);
        }
        if self.answers.capacity() > MOST_KEPT {
            self.answers = VecDeque::new();
        }
        self.has_more = false;
    }

    /// Forgets the commands of a step that failed half-way, but not its answers: what these say has
    /// happened before. Nor its calls, which are made.
    #[cold]
    pub(crate) fn forget_commands(&mut self) {
        drop_all_contained(self.commands.drain(..));
        self.opened.clear();
        self.settled();
    }
}

impl<P: Protocol> fmt::Debug for StepOutput<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            Status::Continue => "continue",
            Status::Wait => "wait",
            Status::Idle => "idle",
            Status::Pending | Status::PendingForEvents => "pending",
            Status::Over => "over",
            Status::Upgrade(_) => "upgrade",
        };
        f.debug_struct("StepOutput")
            .field("commands", &self.commands.len())
            .field("answers", &self.answers.len())
            .field("status", &status)
            .finish()
    }
}
