//! Steps that a test makes a process take, instead of a worker: the interface for `filch-testing`.

use std::collections::VecDeque;
use std::mem;

use filch_sync::panic::catch_panic;

use crate::handle::life_cycle;
use crate::handle::process_handle::with_output;
pub use crate::process::output::{Status, Successor};
use crate::protocol::debug_fields;
use crate::table::pinned::Pinned;
use crate::{Event, Events, Handle, InitError, Pid, Process, ProcessError, Protocol, StepOutput};

/// The slot of a process under test: in fact that of a process that stands in for it.
pub struct ProcessSlot<P: Protocol> {
    process: Pinned<P>,
    handle: Handle<P>,
}

impl<P: Protocol> ProcessSlot<P> {
    /// Pins the slot of the process `pid`, if that has not ended.
    pub fn of(handle: &Handle<P>, pid: Pid) -> Option<Self> {
        let (process, handle) = (handle.pin(pid)?, handle.clone());
        Some(Self { process, handle })
    }

    /// Returns the handle to the scheduler.
    pub fn handle(&self) -> &Handle<P> {
        &self.handle
    }

    /// Calls [`init`](Process::init) on the calling thread.
    ///
    /// # Errors
    /// As `init`, and [`InitError::Panicked`].
    pub fn init(
        &self,
        process: &mut dyn Process<P>,
        method: &str,
        input: P::Input,
    ) -> Result<(), InitError<P>> {
        life_cycle::init(process, &self.process.context(&self.handle), method, input)
    }

    /// Makes the process take a step with these events on the calling thread.
    pub fn step(&self, process: &mut dyn Process<P>, events: Vec<Event<P>>) -> Said<P> {
        let context = self.process.context(&self.handle);
        let (mut output, mut events) = (StepOutput::new(), VecDeque::from(events));
        let stepped = catch_panic(|| process.step(&context, Events::new(&mut events), &mut output));
        let stepped = stepped.map_err(ProcessError::Panicked);
        if let Err(error) = stepped.and_then(|returned| returned.map_err(ProcessError::Failed)) {
            output.fail(error);
            output.forget_commands();
        }
        let status = output.take_status();
        Said {
            commands: mem::take(&mut output.commands),
            opened: mem::take(&mut output.opened),
            status: match output.exit.take() {
                Some(exit) => Err(with_output(exit)),
                None => Ok(status),
            },
            answers: output,
        }
    }
}

debug_fields!(ProcessSlot<P>, "ProcessSlot");

/// The output of a step.
pub struct Said<P: Protocol> {
    /// The commands, with their tags.
    pub commands: Vec<(u64, P::Command)>,
    /// The tags of the commands that were opened.
    pub opened: Vec<u64>,
    /// The status of the process after the step, or the exit of one that has ended.
    pub status: Result<Status<P>, Result<P::Output, ProcessError<P>>>,
    /// Dropping this gives callers their answers.
    pub answers: StepOutput<P>,
}

debug_fields!(Said<P>, "Said", opened);
