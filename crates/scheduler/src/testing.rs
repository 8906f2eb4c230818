//! Steps that a test has a process take, in place of a worker: the door of `filch-testing`.

use std::collections::VecDeque;
use std::fmt;

use filch_sync::panic::catch_panic;

use crate::handle::process_handle::with_output;
use crate::process::life_cycle;
use crate::process::output::{Status, Successor};
use crate::table::pinned::Pinned;
use crate::{Event, Events, Handle, InitError, Pid, Process, ProcessError, Protocol, StepOutput};

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

    /// Has the process take a step with these events on the calling thread.
    pub fn step(&self, process: &mut dyn Process<P>, events: Vec<Event<P>>) -> Said<P> {
        let context = self.process.context(&self.handle);
        let (mut output, mut events) = (StepOutput::new(), VecDeque::from(events));
        let stepped = catch_panic(|| process.step(&context, Events::new(&mut events), &mut output));
        let failed = match stepped {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(ProcessError::Failed(error)),
            Err(message) => Some(ProcessError::Panicked(message)),
        };
        if let Some(error) = failed {
            output.fail(error);
            output.forget_commands();
        }
        Said(output)
    }
}

impl<P: Protocol> fmt::Debug for ProcessSlot<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessSlot").finish_non_exhaustive()
    }
}

/// What a step has said. When it is dropped, callers get their answers.
#[derive(Debug)]
pub struct Said<P: Protocol>(StepOutput<P>);

/// What a process does after a step.
pub enum Next<P: Protocol> {
    /// It takes another step.
    GoOn,
    /// It waits for its commands.
    Wait,
    /// It waits for whatever comes.
    Idle,
    /// It has ended.
    Over(Result<P::Output, ProcessError<P>>),
    /// It goes on as this process, by this method, with this input.
    Upgrade(Box<dyn Process<P>>, Box<str>, P::Input),
}

crate::protocol::debug_fields!(Next<P>, "Next");

impl<P: Protocol> Said<P> {
    /// The commands, and the tags of those that were opened.
    pub fn commands(&mut self) -> (Vec<(u64, P::Command)>, Vec<u64>) {
        (
            self.0.drain_commands().collect(),
            self.0.drain_opened().collect(),
        )
    }

    /// What it does next.
    pub fn what_next(&mut self) -> Next<P> {
        match self.0.take_status() {
            _ if self.0.error().is_some() => Next::Over(with_output(self.0.take_exit())),
            Status::Over => Next::Over(with_output(self.0.take_exit())),
            Status::Continue => Next::GoOn,
            Status::Wait => Next::Wait,
            Status::Idle | Status::Pending | Status::PendingForEvents => Next::Idle,
            Status::Upgrade(successor) => {
                let Successor {
                    process,
                    method,
                    input,
                } = *successor;
                Next::Upgrade(process, method, input)
            }
        }
    }
}

impl<P: Protocol> Drop for Said<P> {
    fn drop(&mut self) {
        self.0.give_answers();
    }
}
