//! A process that a test steps by hand.

use std::fmt;
use std::marker::PhantomData;

use filch_scheduler::testing::ProcessSlot;
use filch_scheduler::{
    Event, ExitReason, Handle, InitError, Pid, Process, ProcessError, Protocol, Scheduler,
};
use filch_sync::panic::catch_panic;

use crate::mailbox::Mailbox;
use crate::no_step::{NoStep, WhyNoStep};
use crate::step::{NewVersion, Step, StepStatus, step};

/// A process that a test steps by hand, on its own thread: the test chooses the events, and looks
/// at what each step yields. It refuses steps that no worker would take.
///
/// The process has a PID in a scheduler, where a [`Mailbox`] stands for it. Its effects there are
/// real: it sends to processes, submits them, monitors them. The test's thread is no worker: calls
/// that must not wait on a worker, such as `join`, wait here.
pub struct ProcessTest<P: Protocol, T: Process<P>> {
    life: Life<P, T>,
    /// The tags of the commands and calls that have not been completed.
    outstanding: Vec<u64>,
    mailbox: Mailbox<P>,
    /// The slot of the mailbox.
    slot: ProcessSlot<P>,
    /// The scheduler, if the test made none.
    scheduler: Option<Scheduler<P>>,
}

/// A new version, of unknown type.
type Upgraded<P> = ProcessTest<P, Box<dyn Process<P>>>;

/// A process that is closed when it is dropped, unless it was before.
struct Life<P: Protocol, T: Process<P>> {
    process: T,
    stage: Stage,
    protocol: PhantomData<fn() -> P>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    /// It takes a step, with events or without.
    Runnable,
    Idle,
    Waits,
    /// It has said that it goes on as a new version.
    Upgrades,
    Closed,
}

impl<P: Protocol, T: Process<P>> ProcessTest<P, T> {
    /// Tests a process in a scheduler of its own, with one worker.
    ///
    /// # Panics
    /// If the system refuses the worker's thread.
    pub fn new(process: T) -> Self {
        let scheduler = match Scheduler::builder().workers(1).build() {
            Ok(scheduler) => scheduler,
            Err(error) => panic!("there is no scheduler: {error}"),
        };
        let test = Self::on(&scheduler, process);
        Self {
            scheduler: Some(scheduler),
            ..test
        }
    }

    /// Tests a process in a scheduler of the test. Drop this before you shut that down.
    ///
    /// # Panics
    /// If the scheduler admits no process.
    pub fn on(scheduler: &Handle<P>, process: T) -> Self {
        let mailbox = Mailbox::new(scheduler);
        let Some(slot) = ProcessSlot::of(scheduler, mailbox.pid()) else {
            panic!("the scheduler has been shut down");
        };
        Self {
            life: Life {
                process,
                stage: Stage::New,
                protocol: PhantomData,
            },
            outstanding: Vec::new(),
            mailbox,
            slot,
            scheduler: None,
        }
    }

    /// Calls [`init`](Process::init). If it refuses, the process is closed.
    ///
    /// # Errors
    /// As `init`, and [`InitError::Panicked`].
    ///
    /// # Panics
    /// If it was called before.
    pub fn init(&mut self, method: &str, input: P::Input) -> Result<(), InitError<P>> {
        assert!(self.life.stage == Stage::New, "it has had its `init`");
        let started = self.slot.init(&mut self.life.process, method, input);
        self.life.stage = Stage::Runnable;
        started.inspect_err(|error| {
            let _ = self.life.close(&ExitReason::not_started(error));
        })
    }

    /// Lets the process take a step with these events. If it ends with that, it is closed, and
    /// callers then get the answers of the step.
    ///
    /// # Errors
    /// [`NoStep`], with the events, if a scheduler would not let the process take it.
    pub fn step(
        &mut self,
        events: impl IntoIterator<Item = Event<P>>,
    ) -> Result<Step<P>, NoStep<P>> {
        let events: Vec<_> = events.into_iter().collect();
        match self.outstanding_after(&events) {
            Ok(outstanding) => self.outstanding = outstanding,
            Err(reason) => return Err(NoStep { reason, events }),
        }
        let left = self.outstanding.len();
        let step = step(&mut self.life.process, &self.slot, events, left);
        let commands = step.commands.iter().map(|(tag, _)| *tag);
        self.outstanding
            .extend(commands.chain(step.opened.iter().copied()));
        self.life.stage = match &step.status {
            StepStatus::GoOn => Stage::Runnable,
            StepStatus::Wait => Stage::Waits,
            StepStatus::Idle => Stage::Idle,
            StepStatus::Upgrade(_) => Stage::Upgrades,
            StepStatus::Done(_) | StepStatus::Failed(_) => Stage::Closed,
        };
        Ok(step)
    }

    /// Goes on with the new version, as [`StepStatus::Upgrade`] says: calls its `init`, and closes
    /// the old one.
    ///
    /// # Errors
    /// The error of the process, if the new version does not start, or the old one panics in its
    /// close. Both are closed then.
    ///
    /// # Panics
    /// If the last step was not an upgrade.
    pub fn upgrade(mut self, version: NewVersion<P>) -> Result<Upgraded<P>, ProcessError<P>> {
        assert!(
            self.life.stage == Stage::Upgrades,
            "the last step did not upgrade"
        );
        let mut new = Life {
            process: version.process,
            stage: Stage::Runnable,
            protocol: PhantomData,
        };
        let (method, input) = (&version.method, version.input);
        let started = self.slot.init(&mut new.process, method, input);
        if let Err(error) = started {
            let _ = new.close(&ExitReason::not_started(&error));
            let error = ProcessError::Upgrade(error);
            let _ = self.life.close(&ExitReason::failed(&error));
            return Err(error);
        }
        if let Err(message) = self.life.close(&ExitReason::Upgraded) {
            // It has begun, and ends with the panic.
            let _ = new.close(&ExitReason::Panicked(message.as_str().into()));
            return Err(ProcessError::Panicked(message));
        }
        Ok(ProcessTest {
            life: new,
            outstanding: self.outstanding,
            mailbox: self.mailbox,
            slot: self.slot,
            scheduler: self.scheduler,
        })
    }

    /// Closes the process, as a scheduler does that [terminates](Handle::terminate) it. Does
    /// nothing if it has ended. Dropping this closes it, too.
    ///
    /// # Errors
    /// The message of a panic of [`close`](Process::close).
    pub fn terminate(&mut self) -> Result<(), String> {
        self.life.close(&ExitReason::Terminated)
    }

    /// Returns the process, to look at.
    pub fn process(&self) -> &T {
        &self.life.process
    }

    /// Returns its PID.
    pub fn pid(&self) -> Pid {
        self.mailbox.pid()
    }

    /// Returns the scheduler of its PID: for other processes beside it.
    pub fn handle(&self) -> &Handle<P> {
        self.slot.handle()
    }

    /// Starts another process in the same scheduler, which keeps its events.
    ///
    /// # Panics
    /// If the scheduler admits no process.
    pub fn mailbox(&self) -> Mailbox<P> {
        Mailbox::new(self.handle())
    }

    /// Takes the events sent to the process, for a step: see [`Mailbox::take_events`]. Among them
    /// is the end of a linked process, even one that would have ended this process.
    ///
    /// # Panics
    /// On one of the scheduler's workers.
    pub fn take_events(&self) -> Vec<Event<P>> {
        self.mailbox.take_events()
    }

    /// Returns the tags that are outstanding after a step with these events.
    fn outstanding_after(&self, events: &[Event<P>]) -> Result<Vec<u64>, WhyNoStep> {
        let ends_wait = |event| matches!(event, &Event::Completed { .. } | &Event::Cancel(_));
        match self.life.stage {
            Stage::New => return Err(WhyNoStep::NotStarted),
            Stage::Upgrades | Stage::Closed => return Err(WhyNoStep::Over),
            Stage::Idle if events.is_empty() => return Err(WhyNoStep::NoEvent),
            Stage::Waits if !events.iter().any(ends_wait) => return Err(WhyNoStep::Waits),
            Stage::Runnable | Stage::Idle | Stage::Waits => {}
        }
        let mut outstanding = self.outstanding.clone();
        for event in events {
            if let &Event::Completed { tag, .. } = event {
                let place = outstanding.iter().position(|other| *other == tag);
                outstanding.remove(place.ok_or(WhyNoStep::NotOutstanding { tag })?);
            }
        }
        Ok(outstanding)
    }
}

impl<P: Protocol, T: Process<P>> Life<P, T> {
    /// Closes the process once, if it has begun.
    fn close(&mut self, reason: &ExitReason) -> Result<(), String> {
        if matches!(self.stage, Stage::New | Stage::Closed) {
            return Ok(());
        }
        self.stage = Stage::Closed;
        catch_panic(|| self.process.close(reason))
    }
}

impl<P: Protocol, T: Process<P>> Drop for Life<P, T> {
    fn drop(&mut self) {
        let _ = self.close(&ExitReason::Terminated);
    }
}

impl<P: Protocol, T: Process<P>> fmt::Debug for ProcessTest<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessTest")
            .field("pid", &self.pid())
            .field("stage", &self.life.stage)
            .field("outstanding", &self.outstanding)
            .field("scheduler", &self.scheduler)
            .finish_non_exhaustive()
    }
}
