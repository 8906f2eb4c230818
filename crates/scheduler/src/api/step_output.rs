//! What a step tells the scheduler.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;

use filch_promise::Prepared;
use filch_sync::panic::{drop_all_contained, drop_contained};

use crate::api::open_call::OpenCall;
use crate::api::process_error::{Exit, FutureOutput, Outcome};
use crate::{Caller, Process, ProcessError, Protocol};

/// What a step tells the scheduler: commands to dispatch, and what the process does next. It makes
/// the [calls](Self::call) of other processes at once.
///
/// [`go_on`](Self::go_on), [`wait`](Self::wait), [`idle`](Self::idle), [`done`](Self::done) and
/// [`upgrade`](Self::upgrade) each replace what was said before. A step that says nothing is idle.
///
/// One output serves all steps of a worker, so yielding soon allocates nothing. After a step with
/// more than 1024 commands the worker gives their memory back.
pub struct StepOutput<P: Protocol> {
    /// With their tags.
    commands: Vec<(u64, P::Command)>,
    calls: Calls<P>,
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

/// What becomes of the calls of a step.
enum Calls<P: Protocol> {
    /// They are made at once, so many so far.
    Made(u32),
    /// A test makes them by hand.
    Listed(Vec<OpenCall<P>>),
}

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
        Self::with_calls(Calls::Made(0))
    }

    /// Of a step that a test has a process take.
    pub(crate) fn of_test() -> Self {
        Self::with_calls(Calls::Listed(Vec::new()))
    }

    fn with_calls(calls: Calls<P>) -> Self {
        Self {
            commands: Vec::new(),
            calls,
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

    /// One more call, which its caller is to make at once; or to put there, in a test.
    #[inline]
    pub(crate) fn one_more_call(&mut self) -> Option<&mut Vec<OpenCall<P>>> {
        match &mut self.calls {
            Calls::Made(count) => {
                *count += 1;
                self.has_more = true;
                None
            }
            Calls::Listed(calls) => Some(calls),
        }
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
    /// [dump](crate::Handle::dump) names the processes. (In the original of this scheduler, a
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
        self.over(Outcome::Process(output));
    }

    /// The process waits to be woken, with an event or without.
    pub(crate) fn pending(&mut self) {
        self.say(Status::Pending);
    }

    /// Whether the step has said that it is [`pending`](Self::pending).
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.status, Status::Pending)
    }

    /// The process waits for an event, as an idle one does.
    pub(crate) fn pending_for_events(&mut self) {
        self.say(Status::PendingForEvents);
    }

    /// The async function has ended, and failed with this error. What it returned goes.
    #[cold]
    pub(crate) fn function_failed(&mut self, error: Box<dyn Error + Send + Sync>) {
        let Over = self.fail(ProcessError::FunctionFailed(error));
        self.status = Status::Over;
    }

    /// The future has ended with `output`.
    #[inline]
    pub(crate) fn ready(&mut self, output: FutureOutput) {
        self.over(Outcome::Future(output));
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

    /// Answers a [call](crate::Handle::call). The caller gets the answer when the step is over, and
    /// what belongs to it: when its commands have been handed to the handler, and, if it was the
    /// last one, the process has been [closed](Process::close).
    ///
    /// So the caller, which perhaps holds a lock, waits for all that the step waits for, be it a
    /// worker or the caller's own thread that takes the step. An answer that was given before the
    /// step failed or panicked is still an answer.
    ///
    /// What this cannot help: a step that passes the [`Caller`] on to another process, or drops it,
    /// ends the call while the step goes on. If it then waits for what the caller keeps until the
    /// call has returned, a lock for instance, and it is the caller's thread that takes the step,
    /// this waits for ever.
    pub fn answer<R: Send + 'static>(&mut self, caller: Caller<R>, answer: R) {
        self.answers.push_back(caller.prepare(answer));
        self.has_more = true;
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

    /// How many calls the step has made.
    pub(crate) fn take_made(&mut self) -> u32 {
        match &mut self.calls {
            Calls::Made(count) => std::mem::take(count),
            Calls::Listed(_) => 0,
        }
    }

    /// The calls that a test is to make.
    pub(crate) fn take_listed(&mut self) -> Vec<OpenCall<P>> {
        match &mut self.calls {
            Calls::Made(_) => Vec::new(),
            Calls::Listed(calls) => std::mem::take(calls),
        }
    }

    /// After the commands have been drained: gives their memory back, if there were very many.
    #[inline]
    pub(crate) fn settled(&mut self) {
        if self.commands.capacity() > MOST_KEPT {
            self.commands = Vec::new();
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
        self.take_made();
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
