//! A process, written by the user, and the error of one that does not start.

use std::fmt;

use crate::protocol::error_by_display;
use crate::{Context, Events, ExitReason, Protocol, StepOutput};

/// A state machine that the scheduler drives, one step at a time.
///
/// It runs on one worker at a time, perhaps on another one at each step. Each step sees all writes
/// of the one before to `self`.
///
/// From its first step on it does not move until it is dropped: so it may poll a future that is
/// part of it, and rely on that in `unsafe` code.
///
/// Each life ends with exactly one [`close`](Self::close): after `done`, an error, a panic, a
/// refused `init`, or a shutdown. A panic in any of the three methods ends this process alone.
#[doc(alias = "Actor")]
#[doc(alias = "gen_server")]
#[doc(alias = "GenServer")]
pub trait Process<P: Protocol>: Send {
    /// Prepares the process to run from the entry point `method`. Runs on the submitting thread.
    ///
    /// # Errors
    /// [`InitError::unknown_method`] for an entry point that this process does not have, or the
    /// process's own error. `submit` returns it, after the process has been closed.
    fn init(
        &mut self,
        context: &Context<'_, P>,
        method: &str,
        input: P::Input,
    ) -> Result<(), InitError<P>>;

    /// Advances by the next `events`, and writes its next status to `out`. There is at least one
    /// event, except in the first step, in that of a [new version](StepOutput::upgrade), and after
    /// [`go_on`](StepOutput::go_on).
    ///
    /// # Errors
    /// The process ends with [`ProcessError::Failed`](crate::ProcessError::Failed).
    fn step(
        &mut self,
        context: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error>;

    /// Releases the process's resources. Called once, after the last step, with the reason.
    ///
    /// A command of the process may still run on another thread, and nobody will read its answer.
    /// Interrupt it here if you can: a shutdown waits for it until its time is over. See the
    /// example `sockets` of `filch-actors`.
    ///
    /// A process that must be told of this end [watches](crate::Handle::monitor) this process.
    #[doc(alias = "terminate")]
    fn close(&mut self, _reason: &ExitReason) {}

    /// Returns its name in reports: see [`Builder::observer`](crate::Builder::observer).
    /// Default: the name of its type.
    fn type_name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// The reason why a process was not started: its [`init`](Process::init) or the
/// [hook](crate::LifeCycle::on_start) refused.
#[non_exhaustive]
pub enum InitError<P: Protocol> {
    /// The process has no entry point of that name.
    UnknownMethod {
        /// The entry point that was asked for.
        method: String,
        /// The entry points that there are.
        known: &'static [&'static str],
    },
    /// The process's own error.
    Failed(P::Error),
    /// `init` panicked with this message, which ends with the process.
    Panicked(String),
    /// The hook returned this error.
    Refused(P::Error),
    /// The hook panicked with this message.
    HookPanicked(String),
}

impl<P: Protocol> InitError<P> {
    /// Makes the error for an entry point `method` that is not among the `known` ones.
    pub fn unknown_method(method: &str, known: &'static [&'static str]) -> Self {
        Self::UnknownMethod {
            method: method.to_owned(),
            known,
        }
    }
}

impl<P: Protocol> fmt::Display for InitError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMethod { method, known: [] } => {
                write!(f, "no method `{method}`; this process names none")
            }
            Self::UnknownMethod { method, known } => {
                let known = known.join(", ");
                write!(f, "no method `{method}`; this process has: {known}")
            }
            Self::Failed(error) => write!(f, "init failed: {error}"),
            Self::Panicked(message) => write!(f, "init panicked: {message}"),
            Self::Refused(error) => write!(f, "the start was refused: {error}"),
            Self::HookPanicked(message) => write!(f, "the start hook panicked: {message}"),
        }
    }
}

error_by_display!(InitError<P: Protocol>);

/// Makes a process whose steps are calls of `step`, with nothing to prepare: it accepts any entry
/// point, and ignores its input.
///
/// ```
/// # enum Sums {}
/// # impl filch_scheduler::Protocol for Sums {
/// #     type Input = (); type Message = u64; type Command = (); type Reply = ();
/// #     type Output = u64; type Error = String;
/// # }
/// # use filch_scheduler::{Event, Scheduler, from_fn};
/// # let scheduler = Scheduler::<Sums>::builder().workers(1).build()?;
/// let mut sum = 0;
/// let adder = from_fn(move |_context, events, out| {
///     for event in events {
///         match event {
///             Event::Message(number) => sum += number,
///             _ => out.done(sum),
///         }
///     }
///     Ok(())
/// });
/// let adder = scheduler.submit(adder, "run", ())?;
/// scheduler.send(adder.pid(), 40)?;
/// scheduler.send(adder.pid(), 2)?;
/// scheduler.cancel(adder.pid(), "that is all")?;
/// assert_eq!(adder.join()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_fn<P, F>(step: F) -> impl Process<P>
where
    P: Protocol,
    F: FnMut(&Context<'_, P>, Events<'_, P>, &mut StepOutput<P>) -> Result<(), P::Error> + Send,
{
    FromFn(step)
}

struct FromFn<F>(F);

impl<P, F> Process<P> for FromFn<F>
where
    P: Protocol,
    F: FnMut(&Context<'_, P>, Events<'_, P>, &mut StepOutput<P>) -> Result<(), P::Error> + Send,
{
    fn init(&mut self, _: &Context<'_, P>, _: &str, _: P::Input) -> Result<(), InitError<P>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        (self.0)(context, events, out)
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}

/// Forwards, for a process whose type was chosen at run time, or that was handed back.
impl<P: Protocol, T: Process<P> + ?Sized> Process<P> for Box<T> {
    fn init(
        &mut self,
        context: &Context<'_, P>,
        method: &str,
        input: P::Input,
    ) -> Result<(), InitError<P>> {
        (**self).init(context, method, input)
    }

    fn step(
        &mut self,
        context: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        (**self).step(context, events, out)
    }

    fn close(&mut self, reason: &ExitReason) {
        (**self).close(reason);
    }

    fn type_name(&self) -> &'static str {
        (**self).type_name()
    }
}
