//! What a user writes: a process, and why it may refuse to start.

use std::fmt;

use crate::protocol::error_by_display;
use crate::{Context, Events, ExitReason, Protocol, StepOutput};

/// A state machine that the scheduler drives, one step at a time.
///
/// It runs on one worker at a time, and perhaps on another one at each step. What one step wrote to
/// `self`, the next one sees, whichever thread it runs on.
///
/// From its first step on it does not move until it is dropped: a process may poll a future that is
/// part of it, and rely on that in `unsafe` code.
///
/// Each life ends with exactly one [`close`](Self::close), be it after `done`, an error, a panic, a
/// refused `init`, or a shutdown. A panic in any of the three methods ends this process alone.
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

    /// Advances by the next `events`, and writes to `out` what to do next. There is at least one
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

    /// Releases what the process holds. Called once, after the last step, with the reason why there
    /// is no other one.
    ///
    /// A command of the process may still run on another thread. Nobody reads its answer; a process
    /// that knows how to interrupt it does so here, or a shutdown waits for it until its time is
    /// over. See the example `sockets` of this crate.
    ///
    /// A process that must hear of this end [watches](crate::Handle::monitor) it.
    fn close(&mut self, reason: &ExitReason) {
        let _ = reason;
    }

    /// What reports call it: see [`Builder::journal`](crate::Builder::observer). By default that is
    /// the name of its type.
    fn type_name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// Why [`Process::init`] refused.
#[non_exhaustive]
pub enum InitError<P: Protocol> {
    /// The process has no entry point of that name.
    UnknownMethod {
        /// What was asked for.
        method: String,
        /// What there is.
        known: &'static [&'static str],
    },
    /// The process's own error.
    Failed(P::Error),
    /// `init` panicked with this message.
    Panicked(String),
}

impl<P: Protocol> InitError<P> {
    /// No entry point `method`; these are the `known` ones.
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
        }
    }
}

error_by_display!(InitError<P: Protocol>);
