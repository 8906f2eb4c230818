use std::fmt;

use filch_process_table::Placement;
use filch_processors::BoundId;

use crate::resident::Resident;
use crate::{Handle, Process, ProcessHandle, Protocol, SubmitError};

/// A process about to be submitted, and how it is to be treated; from [`Handle::submission`].
///
/// What a process cannot do without, its entry point and its input, are arguments there; what it
/// can, are methods here.
///
/// ```
/// # use filch_scheduler::{Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput};
/// # enum Logs {}
/// # impl Protocol for Logs {
/// #     type Input = (); type Message = String; type Command = (); type Reply = (); type Output = usize; type Error = String;
/// # }
/// # struct Log;
/// # impl Process<Logs> for Log {
/// #     fn init(&mut self, _: &Context<'_, Logs>, _: &str, (): ()) -> Result<(), InitError<Logs>> { Ok(()) }
/// #     fn step(&mut self, _: &Context<'_, Logs>, events: Events<'_, Logs>, out: &mut StepOutput<Logs>) -> Result<(), String> {
/// #         for event in events { if let Event::Message(_) = event { out.done(1) } }
/// #         Ok(())
/// #     }
/// # }
/// # let scheduler = Scheduler::<Logs>::builder().workers(1).build()?;
/// let log = scheduler
///     .submission(Log, "write", ())
///     .mailbox(1_000)
///     .idle_priority()
///     .trap_exits()
///     .submit()?;
/// # scheduler.send(log.pid(), String::new())?;
/// # log.join()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the process is not submitted before `submit` is called"]
pub struct Submission<'a, P: Protocol> {
    pub(crate) handle: &'a Handle<P>,
    pub(crate) process: Resident<P>,
    pub(crate) method: &'a str,
    pub(crate) input: P::Input,
    pub(crate) options: Options,
}

/// How a process is treated.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) mailbox: Option<usize>,
    pub(crate) idle_priority: bool,
    pub(crate) trap_exits: bool,
    pub(crate) bound_to: Option<BoundId>,
}

impl Options {
    /// What of it the table keeps.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            mailbox: self.mailbox,
            idle_priority: self.idle_priority,
            bound_to: self.bound_to.map_or(0, BoundId::to_bits),
        }
    }
}

impl<P: Protocol> Submission<'_, P> {
    /// How many messages it may have been sent that no step has been given yet: one more is refused
    /// with [`Undelivered::Full`](crate::Undelivered::Full), exactly. Completions, cancel events,
    /// and what monitors and links bring, are accepted always. Default: no limit. With a limit of
    /// zero it takes no messages.
    ///
    /// It costs senders a pin and a contended RMW more; those to processes without a limit, a load.
    pub fn mailbox(mut self, messages: usize) -> Self {
        self.options.mailbox = Some(messages);
        self
    }

    /// It runs only when there is nothing else to do: whenever it becomes runnable, it comes after
    /// every process that is runnable and not of its kind. Under lasting load it may never run.
    pub fn idle_priority(mut self) -> Self {
        self.options.idle_priority = true;
        self
    }

    /// The end of a process that it is [linked](Handle::link) to is an
    /// [`Event::Exited`](crate::Event::Exited) for it, be it a normal end or not, and does not end
    /// it.
    pub fn trap_exits(mut self) -> Self {
        self.options.trap_exits = true;
        self
    }

    /// Submits it. See [`Handle::submit`].
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub fn submit(self) -> Result<ProcessHandle<P>, SubmitError<P>> {
        self.handle
            .submit_with(self.process, self.method, self.input, &self.options)
    }
}

impl<P: Protocol> Handle<P> {
    /// Prepares to submit a process with options:
    /// `handle.submission(process, "run", input).trap_exits().submit()`.
    pub fn submission<'a>(
        &'a self,
        process: impl Process<P> + 'static,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        self.prepare(Resident::new(process), method, input)
    }

    /// As [`submission`](Self::submission), for a process whose type was chosen while running, or
    /// that was handed back.
    pub fn submission_boxed<'a>(
        &'a self,
        process: Box<dyn Process<P>>,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        self.prepare(Resident::boxed(process), method, input)
    }

    fn prepare<'a>(
        &'a self,
        process: Resident<P>,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        Submission {
            handle: self,
            process,
            method,
            input,
            options: Options::default(),
        }
    }
}

impl<P: Protocol> fmt::Debug for Submission<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission")
            .field("method", &self.method)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
