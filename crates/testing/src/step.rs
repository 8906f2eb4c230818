//! The outcome of a step of a process under test.

use std::fmt;

#[doc(inline)]
pub use filch_scheduler::testing::Successor as NewVersion;
use filch_scheduler::testing::{ProcessSlot, Said, Status};
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
        status,
        answers,
    } = slot.step(process, events);
    let mut status = match status {
        Ok(Status::Wait) if outstanding + commands.len() + opened.len() == 0 => {
            StepStatus::Failed(ProcessError::WaitsForNothing)
        }
        Ok(Status::Continue) => StepStatus::GoOn,
        Ok(Status::Wait) => StepStatus::Wait,
        Ok(Status::Upgrade(version)) => StepStatus::Upgrade(*version),
        // One that is over has its exit.
        Ok(Status::Idle | Status::Pending | Status::PendingForEvents | Status::Over) => {
            StepStatus::Idle
        }
        Err(Ok(output)) => StepStatus::Done(output),
        Err(Err(error)) => StepStatus::Failed(error),
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
