//! A process whose steps a test takes.

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

/// A process whose steps a test takes, one by one, on its own thread: it chooses the events, and
/// looks at what each step yields. It takes no step that a worker would not: else it would test
/// what cannot happen.
///
/// The process has a PID in a scheduler, where a [`Mailbox`] stands for it. What it does there is
/// real: it sends to processes, submits them, monitors them. The test's thread is no worker: what
/// refuses to wait on a worker, such as `join`, waits here.
pub struct ProcessTest<P: Protocol, T: Process<P>> {
    life: Life<P, T>,
    /// The tags of the commands and calls that have not been completed.
    outstanding: Vec<u64>,
    mailbox: Mailbox<P>,
    /// That of the mailbox.
    slot: ProcessSlot<P>,
    /// If it has one of its own.
    scheduler: Option<Scheduler<P>>,
}

/// A new version, whose type is not known.
type Upgraded<P> = ProcessTest<P, Box<dyn Process<P>>>;

/// A process that is closed when it is dropped, if it was not before.
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
    /// A process in a scheduler of its own, with one worker.
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

    /// A process in a scheduler that the test has made. To be dropped before that is shut down.
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

    /// Calls [`init`](Process::init). If that refuses, the process is closed.
    ///
    /// # Errors
    /// As `init`, and [`InitError::Panicked`].
    ///
    /// # Panics
    /// If that was done before.
    pub fn init(&mut self, method: &str, input: P::Input) -> Result<(), InitError<P>> {
        assert!(self.life.stage == Stage::New, "it has had its `init`");
        let started = self.slot.init(&mut self.life.process, method, input);
        self.life.stage = Stage::Runnable;
        started.inspect_err(|error| {
            let _ = self.life.close(&ExitReason::not_started(error));
        })
    }

    /// Has the process take a step with these events. If it ends with that, it is closed, and then
    /// callers get the answers of the step.
    ///
    /// # Errors
    /// [`NoStep`], with the events, if a scheduler would not have the process take it.
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
    /// What the process ends with, if the new version does not start, or the old one panics as it
    /// is closed. Both are closed then.
    ///
    /// # Panics
    /// If the last step did not say so.
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
            // It has begun, and ends by that.
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

    /// Closes the process where it stands, as a scheduler does that [terminates](Handle::terminate)
    /// it. Dropping this does so, too. Nothing, if it has ended.
    ///
    /// # Errors
    /// What [`close`](Process::close) panicked with.
    pub fn terminate(&mut self) -> Result<(), String> {
        self.life.close(&ExitReason::Terminated)
    }

    /// The process, to look at.
    pub fn process(&self) -> &T {
        &self.life.process
    }

    /// Its PID.
    pub fn pid(&self) -> Pid {
        self.mailbox.pid()
    }

    /// The scheduler that it has its PID in: for processes beside it, and what they talk of.
    pub fn handle(&self) -> &Handle<P> {
        self.slot.handle()
    }

    /// Another process of the same scheduler, which keeps what it is sent.
    ///
    /// # Panics
    /// If the scheduler admits no process.
    pub fn mailbox(&self) -> Mailbox<P> {
        Mailbox::new(self.handle())
    }

    /// What others have sent to the process, for a step: see [`Mailbox::take_events`]. The end of a
    /// process that it is linked to is among these, too, where it would have ended it.
    ///
    /// # Panics
    /// On one of the scheduler's workers.
    pub fn take_events(&self) -> Vec<Event<P>> {
        self.mailbox.take_events()
    }

    /// The tags that are outstanding after a step with these events.
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
    /// Once, if it has begun.
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
