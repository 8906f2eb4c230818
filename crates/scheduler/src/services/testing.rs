//! Steps that a test has a process take, in place of a worker. `filch-testing` offers them.

use std::collections::VecDeque;
use std::fmt;

use filch_sync::panic::catch_panic;

use crate::api::caller::{Answer, NoAnswer};
pub use crate::api::open_call::{CallReply, OpenCall};
use crate::api::pinned::Pinned;
use crate::api::process_handle::with_output;
use crate::api::step_output::{Status, Successor};
use crate::protocol::debug_fields;
use crate::worker::start;
use crate::{
    Caller, Context, Event, Events, ExitReason, Handle, InitError, Pid, Process, ProcessError,
    Protocol, StepOutput,
};

/// What a process does after a step.
pub enum StepStatus<P: Protocol> {
    /// It takes another step, with events or without.
    GoOn,
    /// It waits for the commands that it has yielded.
    Wait,
    /// It waits for whatever comes.
    Idle,
    /// It has ended with this output.
    Done(P::Output),
    /// It has ended with this error.
    Failed(ProcessError<P>),
    /// It goes on as a new version.
    Upgrade(NewVersion<P>),
}

impl<P: Protocol> StepStatus<P> {
    /// Of a process that has not ended.
    fn of(status: Status<P>) -> Self {
        match status {
            Status::Continue => Self::GoOn,
            Status::Wait => Self::Wait,
            Status::Idle => Self::Idle,
            Status::Upgrade(successor) => {
                let Successor {
                    process,
                    method,
                    input,
                } = *successor;
                Self::Upgrade(NewVersion {
                    process,
                    method,
                    input,
                })
            }
            Status::Over => unreachable!("a process that has ended has an exit"),
            Status::Pending | Status::PendingForEvents => {
                unreachable!("a future is not to be had as a process")
            }
        }
    }
}

impl<P: Protocol> fmt::Debug for StepStatus<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GoOn => f.write_str("GoOn"),
            Self::Wait => f.write_str("Wait"),
            Self::Idle => f.write_str("Idle"),
            Self::Done(_) => f.write_str("Done(..)"),
            Self::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
            Self::Upgrade(version) => version.fmt(f),
        }
    }
}

/// The new version of a process, and how it starts.
pub struct NewVersion<P: Protocol> {
    /// The new version, on which nothing has been called.
    pub process: Box<dyn Process<P>>,
    /// Its entry point.
    pub method: Box<str>,
    /// Its input.
    pub input: P::Input,
}

debug_fields!(NewVersion<P>, "NewVersion", method);

/// What a step has said.
pub struct Step<P: Protocol> {
    /// The commands, each with its tag, in the order in which they were yielded.
    pub commands: Vec<(u64, P::Command)>,
    /// The calls of other processes, in their order. They have not been made.
    pub calls: Vec<OpenCall<P>>,
    /// What the process does next.
    pub status: StepStatus<P>,
}

impl<P: Protocol> fmt::Debug for Step<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tags: Vec<_> = self.commands.iter().map(|(tag, _)| tag).collect();
        f.debug_struct("Step")
            .field("commands", &tags)
            .field("calls", &self.calls)
            .field("status", &self.status)
            .finish()
    }
}

/// The slot that a process under test lives in: that of a process that stands for it.
pub struct ProcessSlot<P: Protocol> {
    process: Pinned<P>,
    handle: Handle<P>,
}

impl<P: Protocol> ProcessSlot<P> {
    /// That of the process `pid`, which it pins; if that has not ended.
    pub fn of(handle: &Handle<P>, pid: Pid) -> Option<Self> {
        let (process, handle) = (Pinned::of(handle, pid)?, handle.clone());
        Some(Self { process, handle })
    }

    /// The scheduler.
    pub fn handle(&self) -> &Handle<P> {
        &self.handle
    }

    fn context(&self) -> Context<'_, P> {
        Context::new(&self.handle, self.process.held())
    }
}

impl<P: Protocol> fmt::Debug for ProcessSlot<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessSlot")
            .field("pid", &self.process.pid())
            .finish_non_exhaustive()
    }
}

/// Calls [`init`](Process::init) on the calling thread, for the process in that slot.
///
/// # Errors
/// As `init`, and [`InitError::Panicked`].
pub fn init<P: Protocol>(
    process: &mut dyn Process<P>,
    slot: &ProcessSlot<P>,
    method: &str,
    input: P::Input,
) -> Result<(), InitError<P>> {
    start::init(process, &slot.context(), method, input)
}

/// Has the process in that slot, of which so many commands are `outstanding`, take a step with
/// these events on the calling thread. If it ends with that, it is closed. Then the callers get
/// their answers.
pub fn step<P: Protocol>(
    process: &mut dyn Process<P>,
    slot: &ProcessSlot<P>,
    events: Vec<Event<P>>,
    outstanding: usize,
) -> Step<P> {
    let (context, mut output) = (slot.context(), StepOutput::of_test());
    let mut events = VecDeque::from(events);
    let stepped = catch_panic(|| process.step(&context, Events::new(&mut events), &mut output));
    match stepped {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            output.fail(ProcessError::Failed(error));
        }
        Err(message) => {
            output.fail(ProcessError::Panicked(message));
        }
    }
    if output.error().is_some() {
        output.forget_commands();
    }
    let commands: Vec<_> = output.drain_commands().collect();
    let calls = output.take_listed();
    let mut status = match output.take_status() {
        _ if output.error().is_some() => ended(&mut output),
        Status::Over => ended(&mut output),
        Status::Wait if outstanding + commands.len() + calls.len() == 0 => {
            StepStatus::Failed(ProcessError::WaitsForNothing)
        }
        status => StepStatus::of(status),
    };
    let reason = match &status {
        StepStatus::Done(_) => Some(ExitReason::Done),
        StepStatus::Failed(error) => Some(error.reason()),
        _ => None,
    };
    if let Some(reason) = reason
        && let Err(message) = catch_panic(|| process.close(&reason))
        && reason.is_normal()
    {
        status = StepStatus::Failed(ProcessError::Panicked(message));
    }
    output.give_answers();
    Step {
        commands,
        calls,
        status,
    }
}

fn ended<P: Protocol>(output: &mut StepOutput<P>) -> StepStatus<P> {
    match with_output(output.take_exit()) {
        Ok(output) => StepStatus::Done(output),
        Err(error) => StepStatus::Failed(error),
    }
}

/// A caller for a message, and the answer that it waits for.
pub fn caller<R: Send + 'static>() -> (Caller<R>, CallAnswer<R>) {
    let (caller, answer) = Caller::new();
    (caller, CallAnswer(Some(answer)))
}

/// The answer that a caller waits for which a test has made.
pub struct CallAnswer<R>(Option<Answer<R>>);

/// A caller was dropped without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallAbandoned;

impl fmt::Display for CallAbandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the caller was dropped without an answer")
    }
}

impl std::error::Error for CallAbandoned {}

impl<R: Send + 'static> CallAnswer<R> {
    /// Takes the answer, if it has come, or why there will be none. Never waits.
    pub fn take(&mut self) -> Option<Result<R, CallAbandoned>> {
        let answer = self.0.take_if(|answer| answer.is_there())?;
        let answer = answer.wait(None);
        Some(answer.map_err(|_: NoAnswer| CallAbandoned))
    }
}

impl<R> fmt::Debug for CallAnswer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallAnswer").finish_non_exhaustive()
    }
}
