//! The outcome of a step of a process under test.

use std::fmt;

use filch_scheduler::testing::{Next, ProcessSlot, Said};
use filch_scheduler::{Event, ExitReason, Process, ProcessError, Protocol};
use filch_sync::panic::catch_panic;

/// The process's state after a step.
pub enum StepStatus<P: Protocol> {
    /// It takes another step, with events or without.
    GoOn,
    /// It waits for the commands that it has yielded.
    Wait,
    /// It waits for any event.
    Idle,
    /// It has ended with this output.
    Done(P::Output),
    /// It has ended with this error.
    Failed(ProcessError<P>),
    /// It goes on as a new version.
    Upgrade(NewVersion<P>),
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

/// The new version of a process, with its entry point and input.
pub struct NewVersion<P: Protocol> {
    /// The new version; no method was called on it yet.
    pub process: Box<dyn Process<P>>,
    /// Its entry point.
    pub method: Box<str>,
    /// Its input.
    pub input: P::Input,
}

impl<P: Protocol> fmt::Debug for NewVersion<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewVersion")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// The outcome of a step.
pub struct Step<P: Protocol> {
    /// The commands, each with its tag, in the order in which they were yielded.
    pub commands: Vec<(u64, P::Command)>,
    /// The tags of the commands that it has [opened](filch_scheduler::StepOutput::open_command),
    /// which others than the handler complete: also its calls of other processes, which are made.
    pub opened: Vec<u64>,
    /// The process's state after the step.
    pub status: StepStatus<P>,
}

impl<P: Protocol> fmt::Debug for Step<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tags: Vec<_> = self.commands.iter().map(|(tag, _)| tag).collect();
        f.debug_struct("Step")
            .field("commands", &tags)
            .field("opened", &self.opened)
            .field("status", &self.status)
            .finish()
    }
}

/// Lets the process in that slot, which has `outstanding` commands, take a step with these events
/// on this thread. If it ends with that, it is closed. Then the callers get their answers.
pub(crate) fn step<P: Protocol>(
    process: &mut dyn Process<P>,
    slot: &ProcessSlot<P>,
    events: Vec<Event<P>>,
    outstanding: usize,
) -> Step<P> {
    let Said {
        commands,
        opened,
        next,
        answers,
    } = slot.step(process, events);
    let mut status = match next {
        Next::Wait if outstanding + commands.len() + opened.len() == 0 => {
            StepStatus::Failed(ProcessError::WaitsForNothing)
        }
        Next::GoOn => StepStatus::GoOn,
        Next::Wait => StepStatus::Wait,
        Next::Idle => StepStatus::Idle,
        Next::Over(Ok(output)) => StepStatus::Done(output),
        Next::Over(Err(error)) => StepStatus::Failed(error),
        Next::Upgrade(process, method, input) => StepStatus::Upgrade(NewVersion {
            process,
            method,
            input,
        }),
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
    drop(answers);
    Step {
        commands,
        opened,
        status,
    }
}
